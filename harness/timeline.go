package harness

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/measure"
)

// Timeline is the order of everything in one spec: what arrived and what the
// spec did to the system draw their places from one counter, so that order is
// known where clocks tie. Every graph, process and fault of a spec is on one
// timeline. Its methods may be called from any goroutine.
type Timeline struct {
	began time.Time
	order atomic.Uint64

	mu      sync.Mutex
	last    Mark     // the last stimulus, zero when there was none
	awaited bool     // an expectation followed it
	groups  []*group // the open ones, the innermost last
	failed  map[uint64]error
	unheard []unheard // the newest maxUnheard
	events  []Event   // a ring of the last maxEvents
	eventAt int
	lives   []Living
	watched []evidenced
	until   atomic.Pointer[context.Context]
}

const maxEvents = 512

// unheard is a publish for which nobody was there.
type unheard struct {
	order uint64
	why   func() string // as the graph is now
}

const maxUnheard = 64

// NewTimeline begins a timeline. Config.Timeline makes participants share it.
func NewTimeline() *Timeline {
	t := &Timeline{began: time.Now(), failed: map[uint64]error{}}
	t.Until(context.Background())
	return t
}

// Mark is a position on a timeline with its instant. A message is after a mark
// if its place is higher and its receive stamp not earlier. The zero Mark lies
// nowhere.
type Mark struct {
	tl     *Timeline
	order  uint64
	at     time.Time
	verb   string
	object string
	plus   time.Duration // how far Add moved it
	within *group        // what it is a part of
}

// group is one run of Stimulus.
type group struct {
	order  uint64
	within *group
}

// IsZero reports whether m lies nowhere.
func (m Mark) IsZero() bool { return m.tl == nil }

// Time is the instant of the mark.
func (m Mark) Time() time.Time { return m.at }

// Order is the place of the mark on its timeline.
func (m Mark) Order() uint64 { return m.order }

// Add is the mark that lies d later: what is after it is after m, and stamped
// at least d later.
func (m Mark) Add(d time.Duration) Mark {
	m.at, m.plus = m.at.Add(d), m.plus+d
	return m
}

// String says what the mark is and when, counted from the beginning of its
// timeline.
func (m Mark) String() string {
	if m.IsZero() {
		return "no mark"
	}
	return fmt.Sprintf("%s at %s", m.Cause(), m.tl.since(m.at.Add(-m.plus)))
}

// Cause says what the mark is, such as "publish on /cmd_vel".
func (m Mark) Cause() string {
	s := m.verb
	if m.object != "" {
		s += " " + m.object
	}
	if m.plus != 0 {
		s = fmt.Sprintf("%v after %s", m.plus, s)
	}
	return s
}

// GomegaString is String.
func (m Mark) GomegaString() string { return m.String() }

// Precedes reports whether a message of that place and stamp is after the mark.
// Every message is after the zero Mark.
func (m Mark) Precedes(order uint64, received time.Time) bool {
	return m.IsZero() || order > m.order && !received.Before(m.at)
}

// astray is why m is no mark to count from on this timeline, nil if it is one.
func (t *Timeline) astray(word string, m Mark) error {
	switch m.tl {
	case t:
		return nil
	case nil:
		return fmt.Errorf("%s(mark) of nothing: the mark is zero, since what it would mark has not happened", word)
	}
	return fmt.Errorf("%s(%s): the mark lies on another timeline; join the participants with Config.Timeline", word, m)
}

// later is the later of two marks.
func later(a, b Mark) Mark {
	if a.order > b.order || a.order == b.order && a.at.After(b.at) {
		return a
	}
	return b
}

func (t *Timeline) since(at time.Time) string {
	return fmt.Sprintf("%+.6fs", at.Sub(t.began).Seconds())
}

// Since prints an instant as seconds since the timeline began, as everything
// robospec prints does.
func (t *Timeline) Since(at time.Time) string { return t.since(at) }

// Now is the mark of this instant. It is no stimulus.
func (t *Timeline) Now() Mark {
	return Mark{tl: t, order: t.order.Add(1), at: t.now(), verb: "now"}
}

// Mark notes as a stimulus what no type of this package does, such as "operator
// pressed stop" or "SIGTERM to the talker". It is called before the act.
func (t *Timeline) Mark(label string) Mark { return t.stimulus(label, "") }

// Stimulus makes everything that act does to the system one stimulus, marked at
// its start. What other goroutines do to the system meanwhile is part of it.
func (t *Timeline) Stimulus(label string, act func()) Mark {
	t.mu.Lock()
	m := t.stimulate(label, "")
	g := &group{order: m.order, within: m.within}
	t.groups = append(t.groups, g)
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.groups = slices.DeleteFunc(t.groups, func(o *group) bool { return o == g })
		t.mu.Unlock()
	}()
	act()
	return m
}

// stimulus marks a stimulus, before the act.
func (t *Timeline) stimulus(verb, object string) Mark {
	t.mu.Lock()
	m := t.stimulate(verb, object)
	t.mu.Unlock()
	return m
}

// stimulate is stimulus under the lock.
func (t *Timeline) stimulate(verb, object string) Mark {
	m := t.act(verb, object)
	if n := len(t.groups); n > 0 {
		m.within = t.groups[n-1]
	} else {
		t.last, t.awaited = m, false
	}
	e := t.slot()
	e.Mark, e.Stimulus, e.Text = m, true, ""
	return m
}

// now is time.Now by the monotonic clock alone, which is read in half the time.
func (t *Timeline) now() time.Time { return t.began.Add(time.Since(t.began)) }

// act is a mark that is no stimulus.
func (t *Timeline) act(verb, object string) Mark {
	return Mark{tl: t, order: t.order.Add(1), at: t.now(), verb: verb, object: object}
}

// Failed notes that the stimulus of that mark did not happen: what is counted
// from it is inconclusive. A part of a Stimulus that failed makes the whole of it
// fail, also when it fails later.
func (t *Timeline) Failed(m Mark, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed[m.order] = err
	for g := m.within; g != nil; g = g.within {
		t.failed[g.order] = err
	}
	t.record(Event{Mark: t.act("failed:", m.Cause()), Text: err.Error()})
}

// notHeard remembers that nobody was there to hear the stimulus m.
func (t *Timeline) notHeard(m Mark, why func() string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.unheard) == maxUnheard {
		t.unheard = slices.Delete(t.unheard, 0, 1)
	}
	t.unheard = append(t.unheard, unheard{m.order, why})
}

// whyUnheard says why nobody heard the stimulus m, "" if somebody may have.
func (t *Timeline) whyUnheard(m Mark) string {
	t.mu.Lock()
	i := slices.IndexFunc(t.unheard, func(u unheard) bool { return u.order == m.order })
	var why func() string
	if i >= 0 {
		why = t.unheard[i].why
	}
	t.mu.Unlock()
	if why == nil {
		return ""
	}
	return fmt.Sprintf("nobody heard %s: %s", m, why())
}

// unhappened is the *measure.Inconclusive of what is counted from a stimulus
// that failed, nil if m is none.
func (t *Timeline) unhappened(m Mark) error {
	t.mu.Lock()
	err := t.failed[m.order]
	t.mu.Unlock()
	if err == nil {
		return nil
	}
	return &measure.Inconclusive{Reason: fmt.Sprintf("the stimulus did not happen: %s: %v", m, err),
		Remedy: "mend the stimulus; what is counted from it says nothing about the system", Err: err}
}

// expect begins an expectation: it returns the last stimulus and whether this
// is the first expectation to follow it.
func (t *Timeline) expect() (last Mark, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = !t.awaited && !t.last.IsZero()
	t.awaited = true
	return t.last, first
}

// Until ends every wait on this timeline when ctx ends, with ctx's cause. It
// replaces the context of an earlier Until.
func (t *Timeline) Until(ctx context.Context) { t.until.Store(&ctx) }

// Context is the context of the last Until.
func (t *Timeline) Context() context.Context { return *t.until.Load() }

// Living is something outside the graph whose life proves that a publisher is
// there, such as a process the spec started.
type Living interface {
	// Lives returns when it started and, if it has ended, when.
	Lives() (started, ended Mark)
	// GomegaString names it, in one line.
	GomegaString() string
}

// Watch adds proof of life.
func (t *Timeline) Watch(l Living) {
	t.mu.Lock()
	t.lives = append(t.lives, l)
	t.mu.Unlock()
}

func (t *Timeline) living() []Living {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lives)
}

// Event is one line of a timeline's evidence.
type Event struct {
	Mark
	// Stimulus is true for what the spec did to the system.
	Stimulus bool
	// Text says more, such as a verdict; it may have several lines.
	Text string
}

// Note adds a line to the evidence, such as a verdict, and returns its mark. It
// is no stimulus.
func (t *Timeline) Note(verb, object, text string) Mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := Event{Mark: t.act(verb, object), Text: text}
	t.record(e)
	return e.Mark
}

func (t *Timeline) record(e Event) { *t.slot() = e }

// slot is where the next event is to be written.
func (t *Timeline) slot() *Event {
	if n := len(t.events); n < maxEvents {
		t.events = append(t.events, Event{})
		return &t.events[n]
	}
	e := &t.events[t.eventAt]
	t.eventAt = (t.eventAt + 1) % maxEvents
	return e
}

// Events returns the newest events, at most 512, oldest first.
func (t *Timeline) Events() []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Concat(t.events[t.eventAt:], t.events[:t.eventAt])
}
