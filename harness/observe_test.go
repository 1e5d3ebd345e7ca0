package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
)

func observe(t *testing.T, s harness.Observed, mode harness.Mode, d time.Duration) *harness.Observation {
	t.Helper()
	o, err := s.Observe(mode, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// watch reads an observation to its end.
func watch(o *harness.Observation) (values []string, end harness.State) {
	for {
		arrivals, state := o.Next(time.Time{})
		if state != harness.Arrived {
			return values, state
		}
		for _, a := range arrivals {
			if a.Err == nil {
				values = append(values, a.Value.(string))
			}
		}
	}
}

func expectStretch(t *testing.T, o *harness.Observation, state harness.State, want ...string) {
	t.Helper()
	got, end := watch(o)
	if !slices.Equal(got, want) || end != state {
		t.Errorf("saw %q until %d, want %q until %d (err %v)", got, end, want, state, o.Err())
	}
	if o.Seen() != uint64(len(want)) {
		t.Errorf("Seen is %d of %d", o.Seen(), len(want))
	}
}

func TestWhereAnExpectationCountsFrom(t *testing.T) {
	const s1 = time.Second
	play(t, func(t *testing.T, w *world) {
		s, other, p, cmd := w.sub("/x"), w.sub("/y"), w.pub("/x"), w.cmd("/cmd")
		expect := func(what string, o *harness.Observation, start, quiet, steady harness.Mark, from time.Time, counted string) {
			t.Helper()
			same := func(a, b harness.Mark) bool { return a.Order() == b.Order() && a.Time().Equal(b.Time()) }
			if !same(o.Start, start) || !same(o.Quiet, quiet) || !same(o.Steady, steady) || !o.From.Equal(from) || !o.End.Equal(from.Add(s1)) || o.Counted != counted {
				t.Errorf("%s: start %v, quiet %v, steady %v, from %v, %s", what, o.Start, o.Quiet, o.Steady, w.rig.Timeline().Since(o.From), o.Counted)
			}
			o.Close()
		}
		begin := s.Mark()
		o := observe(t, s, harness.Effect, s1)
		expect("no stimulus yet", o, begin, begin, begin, time.Now(), "the reading point")
		o = observe(t, s, harness.Watch, s1)
		expect("watch with no stimulus yet", o, o.Call, o.Call, o.Call, time.Now(), "the call")

		m := must(cmd.Publish(t.Context(), "go"))
		time.Sleep(100 * ms)
		o = observe(t, s, harness.Watch, s1)
		expect("watch, first after the stimulus", o, m, m, o.Call, time.Now(), "the last stimulus")
		o = observe(t, s, harness.Watch, s1)
		expect("watch, not the first", o, o.Call, o.Call, o.Call, time.Now(), "the call")
		o = observe(t, s, harness.Effect, s1)
		expect("effect, not the first", o, m, m, m, time.Now(), "the last stimulus")

		m = must(cmd.Publish(t.Context(), "go"))
		time.Sleep(100 * ms)
		o = observe(t, s, harness.Effect, s1)
		expect("effect, the first", o, m, m, m, m.Time(), "the last stimulus")
		m = must(cmd.Publish(t.Context(), "go"))
		time.Sleep(100 * ms)
		observe(t, other, harness.Effect, s1).Close()
		o = observe(t, s, harness.Effect, s1)
		expect("effect, first on another topic", o, m, m, m, time.Now(), "the last stimulus")

		// A wait that held moves the reading point.
		say(p, "a")
		a := must(s.WaitForValue(t.Context()))
		o = observe(t, s, harness.Effect, s1)
		arrivals, _ := o.Next(time.Time{})
		o.Hold(arrivals[0].Order)
		o.Close()
		if d, ok := s.Decided(); !ok || d.Value != "a" || s.Mark() != a.Mark() {
			t.Errorf("decided %v, %v, reading point %v", d, ok, s.Mark())
		}
		if _, ok := other.Decided(); ok {
			t.Error("the reading point is one per subscription")
		}
		o = observe(t, s, harness.Effect, s1)
		expect("after the reading point", o, a.Mark(), a.Mark(), a.Mark(), time.Now(), "the reading point")
		o = observe(t, other, harness.Effect, s1)
		expect("another subscription", o, m, m, m, time.Now(), "the last stimulus")

		// Anchors.
		old := m
		say(cmd, "go")
		time.Sleep(100 * ms)
		for _, mode := range []harness.Mode{harness.Effect, harness.Watch} {
			o = observe(t, s.After(old), mode, s1)
			expect("after a mark", o, old, old, old, old.Time(), "the mark")
			later := old.Add(50 * ms)
			o = observe(t, s.After(later), mode, s1)
			expect("later than a mark", o, later, later, later, later.Time(), "the mark")
			o = observe(t, s.FromStart(), mode, s1)
			expect("from the start", o, begin, begin, begin, time.Now(), "the beginning of the subscription")
		}
		// A Reader has its own reading point.
		r := s.After(old)
		o = observe(t, r, harness.Effect, s1)
		o.Hold(a.Mark().Order())
		o.Close()
		if d, ok := r.Decided(); !ok || d.Value != "a" || r.Mark() != a.Mark() {
			t.Errorf("decided %v, %v", d, ok)
		}
		o = observe(t, r, harness.Effect, s1)
		expect("the reader's reading point", o, a.Mark(), a.Mark(), a.Mark(), old.Time(), "the mark")

		// A reader made after the stimulus counts from itself, not before.
		say(cmd, "go")
		time.Sleep(100 * ms)
		armed := s.FromNow()
		o = observe(t, armed, harness.Watch, s1)
		expect("watch of a reader made since", o, armed.Mark(), armed.Mark(), o.Call, time.Now(), "the reader's beginning")
		before := s.FromNow()
		m = must(cmd.Publish(t.Context(), "go"))
		o = observe(t, before, harness.Watch, s1)
		expect("watch of a reader made before", o, m, m, o.Call, time.Now(), "the last stimulus")
	})
}

func TestObserveRefuses(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, tl := w.sub("/x"), w.rig.Timeline()
		m := tl.Mark("pressed")
		if _, err := s.After(harness.Mark{}).Observe(harness.Effect, ms); err == nil || inconclusive(err) != "" || !strings.Contains(err.Error(), "the mark is zero") {
			t.Errorf("zero mark: %v", err)
		}
		if _, err := s.After(w.robot.Timeline().Now()).Observe(harness.Effect, ms); err == nil || inconclusive(err) != "" || !strings.Contains(err.Error(), "another timeline; join the participants with Config.Timeline") {
			t.Errorf("foreign mark: %v", err)
		}
		// A misuse is no expectation: the next one is still the first.
		time.Sleep(100 * ms)
		if _, from := counted(t, s, harness.Effect); !from.Equal(m.Time()) {
			t.Error("the misuse used the stimulus up")
		}
		// A stream fails later: what was counted from a reading point since is not
		// counted from a stimulus that happened.
		say(w.pub("/x"), "a")
		r := s.After(m)
		o := observe(t, r, harness.Effect, time.Second)
		arrivals, _ := o.Next(time.Time{})
		o.Hold(arrivals[0].Order)
		tl.Failed(m, errUnplugged)
		if _, err := r.Observe(harness.Effect, time.Second); !errors.Is(err, errUnplugged) || inconclusive(err) == "" {
			t.Errorf("anchored at what failed: %v", err)
		}
		if _, err := s.Observe(harness.Watch, time.Second); err != nil {
			t.Errorf("a watch from the call: %v", err)
		}
	})
}

func TestStretchEndsInclusive(t *testing.T) {
	for at, want := range map[time.Duration]int{999 * ms: 1, time.Second: 1, time.Second + 1: 0, 1001 * ms: 0} {
		play(t, func(t *testing.T, w *world) {
			s, p := w.sub("/x"), w.pub("/x")
			o := observe(t, s, harness.Watch, time.Second)
			later(at, p, "a")
			got, state := watch(o)
			if len(got) != want || state != harness.Over || o.Err() != nil || time.Since(o.Call.Time()) != 1001*ms {
				t.Errorf("at %v: saw %q until %d after %v", at, got, state, time.Since(o.Call.Time()))
			}
			time.Sleep(time.Second)
		})
	}
}

// A message that a reader stamped in the stretch and appends after it is judged.
func TestSlowReadersAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire := newFake()
		busy := make(chan struct{})
		close(busy)
		g := harness.New(settling{wire, func() { <-busy }}, harness.Config{})
		defer g.Close()
		s := must(harness.Subscribe[string](t.Context(), g, "/x"))
		slow := func(stampAt, appendAt time.Duration, text string) {
			busy = make(chan struct{})
			go func(done chan struct{}) {
				time.Sleep(stampAt)
				stamp := time.Now()
				time.Sleep(appendAt - stampAt)
				wire.deliver(stamp, text)
				close(done)
			}(busy)
		}
		slow(time.Second, 1005*ms, "exactly at the end")
		expectStretch(t, observe(t, s, harness.Watch, time.Second), harness.Over, "exactly at the end")

		slow(time.Second+1, 1005*ms, "too late")
		expectStretch(t, observe(t, s, harness.Watch, time.Second), harness.Over)

		// Stamped before the start and appended after it: not of the stretch.
		stale := time.Now()
		time.Sleep(ms)
		m := g.Mark("go")
		r := s.FromNow()
		wire.deliver(stale, "stale")
		o := observe(t, s, harness.Effect, time.Second)
		wire.deliver(time.Now(), "fresh")
		expectStretch(t, o, harness.Over, "fresh")
		// … nor of a read that was armed after it.
		for name, r := range map[string]*harness.Reader[string]{"FromNow": r, "After": s.After(m)} {
			if got := drain(t, r); !slices.Equal(got, []string{"fresh"}) {
				t.Errorf("%s read %q", name, got)
			}
		}
		// Between waits for what was stamped before its end.
		slow(0, 3*ms, "on its way")
		synctest.Wait()
		time.Sleep(ms)
		if win := s.Between(m, g.Timeline().Now()); win.Len() != 2 {
			t.Errorf("between: %v", win)
		}
	})
}

// Without a way to wait for the reader, a millisecond is given.
func TestReadersThatCannotBeWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire := newFake()
		g := harness.New(wire, harness.Config{})
		defer g.Close()
		s := must(harness.Subscribe[string](t.Context(), g, "/x"))
		go func() {
			time.Sleep(time.Second)
			stamp := time.Now()
			time.Sleep(999 * time.Microsecond)
			wire.deliver(stamp, "at the end")
		}()
		expectStretch(t, observe(t, s, harness.Watch, time.Second), harness.Over, "at the end")
	})
}

// Newest reads are by arrival at the log, of what was stamped since the arming.
func TestNewestOfInterleavedStamps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire := newFake()
		g := harness.New(wire, harness.Config{})
		defer g.Close()
		s := must(harness.Subscribe[string](t.Context(), g, "/x"))
		stale := time.Now()
		time.Sleep(ms)
		r := s.FromNow()
		wire.deliver(time.Now(), "fresh")
		wire.deliver(stale, "stale")
		m, err := r.WaitForValue(t.Context())
		expectValue(t, "newest", m, err, "fresh")
		m, err = r.WaitForNew(t.Context())
		expectValue(t, "new", m, err, "fresh")
		go func() {
			time.Sleep(ms)
			wire.deliver(stale, "stale again")
			time.Sleep(ms)
			wire.deliver(time.Now(), "next")
		}()
		m, err = r.WaitForNext(t.Context())
		expectValue(t, "next", m, err, "next")
	})
}

func TestDue(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		o := observe(t, s, harness.Watch, time.Second)
		t0 := time.Now()
		later(100*ms, p, "a")
		later(300*ms, p, "b")
		next := func(due time.Duration, want harness.State, n int, at time.Duration) {
			t.Helper()
			var d time.Time
			if due > 0 {
				d = t0.Add(due)
			}
			got, state := o.Next(d)
			if state != want || len(got) != n || time.Since(t0) != at {
				t.Errorf("next until %v: %d arrivals, state %d at %v; want %d, %d at %v", due, len(got), state, time.Since(t0), n, want, at)
			}
		}
		next(50*ms, harness.Due, 0, 51*ms)
		next(50*ms, harness.Due, 0, 51*ms) // over already
		next(100*ms, harness.Arrived, 1, 100*ms)
		next(100*ms, harness.Due, 0, 101*ms)
		next(300*ms, harness.Arrived, 1, 300*ms)
		next(time.Hour, harness.Over, 0, 1001*ms) // no later than the end
		next(0, harness.Over, 0, 1001*ms)
	})
}

func TestLinkDeath(t *testing.T) {
	for name, c := range map[string]struct {
		at   time.Duration
		want harness.State
	}{
		"in the stretch": {500 * ms, harness.Cut}, "at its end": {time.Second, harness.Cut},
		"between its end and the verdict": {time.Second + ms/2, harness.Over}, "after it": {2 * time.Second, harness.Over},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				s, p := w.sub("/x"), w.pub("/x")
				o := observe(t, s, harness.Watch, time.Second)
				later(100*ms, p, "a")
				time.AfterFunc(c.at, func() { w.conn.Sever(errPulled) })
				expectStretch(t, o, c.want, "a")
				st := o.Stretch(true)
				if cut := c.want == harness.Cut; lostLink(o.Err()) != cut || lostLink(st.Cut) != cut {
					t.Errorf("err %v, cut %v", o.Err(), st.Cut)
				}
				if c.want == harness.Cut && time.Since(o.Call.Time()) != c.at {
					t.Errorf("ended after %v", time.Since(o.Call.Time()))
				}
				time.Sleep(time.Second)
			})
		})
	}
	play(t, func(t *testing.T, w *world) {
		s := w.sub("/x")
		w.conn.Sever(errPulled)
		<-s.Done()
		o := observe(t, s, harness.Effect, time.Second)
		if _, state := o.Next(time.Time{}); state != harness.Cut || !lostLink(o.Err()) || !lostLink(o.Ended()) {
			t.Errorf("begun after the end: %d, %v", state, o.Err())
		}
	})
}

// What was stamped before the link died counts, though it is appended after.
func TestStampedBeforeTheLinkDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire := newFake()
		busy := make(chan struct{})
		g := harness.New(settling{wire, func() { <-busy }}, harness.Config{})
		defer g.Close()
		s := must(harness.Subscribe[string](t.Context(), g, "/x"))
		o := observe(t, s, harness.Watch, time.Second)
		go func() {
			defer close(busy)
			time.Sleep(time.Second)
			stamp := time.Now()
			time.Sleep(ms / 2)
			wire.end(errPulled)
			time.Sleep(4 * ms)
			wire.deliver(stamp, "in time")
			wire.deliver(time.Now(), "from a dead link")
		}()
		expectStretch(t, o, harness.Over, "in time")
	})
}

func TestEndOfTheSpecCuts(t *testing.T) {
	errOver := errors.New("the spec is over")
	play(t, func(t *testing.T, w *world) {
		s := w.sub("/x")
		until, end := context.WithCancelCause(t.Context())
		w.rig.Timeline().Until(until)
		o := observe(t, s, harness.Watch, time.Second)
		time.AfterFunc(100*ms, func() { end(errOver) })
		expectStretch(t, o, harness.Cut)
		if !errors.Is(o.Err(), errOver) {
			t.Error(o.Err())
		}
	})
}

func TestStartNotHeld(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		p, cmd := w.pub("/x"), w.cmd("/cmd")
		m := must(cmd.Publish(t.Context(), "go"))
		time.Sleep(time.Second)
		s := w.sub("/x", harness.Keep(3, 0))
		for mode, want := range map[harness.Mode]string{harness.Effect: "1s after publish on /cmd", harness.Watch: "1s after publish on /cmd"} {
			say(cmd, "go")
			time.Sleep(time.Second)
			late := w.sub("/x")
			o := observe(t, late, mode, time.Second)
			if err := o.Stretch(false).Cut; err == nil || !strings.Contains(err.Error(), want) || o.Stretch(false).Cut == nil {
				t.Errorf("mode %d: %v", mode, err)
			}
			_ = late.Close()
		}
		o := observe(t, s.After(m), harness.Effect, time.Second)
		if err := o.Stretch(false).Cut; err == nil || !strings.Contains(err.Error(), "the subscription to /x began 1s after publish on /cmd at +0.000000s") {
			t.Errorf("after a mark before the subscription: %v", err)
		}
		o = observe(t, s.After(m.Add(2*time.Second)), harness.Effect, time.Second)
		if err := o.Stretch(false).Cut; err != nil {
			t.Errorf("the stretch begins after the subscription did: %v", err)
		}

		m = must(cmd.Publish(t.Context(), "go"))
		say(p, "a", "b", "c")
		o = observe(t, s, harness.Effect, time.Second)
		if err := o.Stretch(false).Cut; err != nil {
			t.Errorf("all are held: %v", err)
		}
		say(p, "d")
		o = observe(t, s, harness.Effect, time.Second)
		if err := o.Stretch(false).Cut; !errors.Is(err, harness.ErrNotHeld) {
			t.Errorf("one was dropped: %v", err)
		}
		o = observe(t, s.FromStart(), harness.Effect, time.Second)
		if err := o.Stretch(false).Cut; !errors.Is(err, harness.ErrNotHeld) {
			t.Errorf("from the start: %v", err)
		}
		// What was dropped lies before the start, by its stamp.
		time.Sleep(2 * time.Second)
		say(p, "e")
		o = observe(t, s.After(m.Add(time.Second)), harness.Effect, time.Minute)
		if err := o.Stretch(false).Cut; err != nil {
			t.Errorf("later than what was dropped: %v", err)
		}
		arrivals, _ := o.Next(time.Time{})
		if len(arrivals) != 1 || arrivals[0].Value != "e" || o.Missed() != 0 {
			t.Errorf("saw %v, missed %d", arrivals, o.Missed())
		}
		// The log laps while it is watched: missed is counted.
		say(p, "f", "g", "h", "i", "j")
		arrivals, _ = o.Next(time.Time{})
		if len(arrivals) != 3 || o.Missed() != 2 || o.Stretch(false).Dropped != 2 {
			t.Errorf("saw %d, missed %d", len(arrivals), o.Missed())
		}
	})
}

// The message that decided was dropped since: the reading point moves behind it
// all the same.
func TestHoldOfWhatIsNotHeld(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x", harness.Keep(2, 0)), w.pub("/x")
		o := observe(t, s, harness.Effect, time.Second)
		say(p, "a")
		arrivals, _ := o.Next(time.Time{})
		order := arrivals[0].Order
		say(p, "b", "c", "d")
		o.Hold(order)
		if _, ok := s.Decided(); ok || s.Mark().Order() != order {
			t.Errorf("reading point %d, want %d", s.Mark().Order(), order)
		}
		o.Hold(0) // nothing decided
		if s.Mark().Order() != order {
			t.Error("moved by nothing")
		}
		o = observe(t, s, harness.Effect, 0)
		o.Hold(order - 1) // never back
		if s.Mark().Order() != order {
			t.Error("moved back")
		}
	})
}

func TestLooksAtTheLog(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p, cmd := w.sub("/x"), w.pub("/x"), w.cmd("/cmd")
		say(p, "a", "b")
		say(cmd, "go")
		say(p, "c")
		o := observe(t, s, harness.Effect, time.Second)
		later(500*ms, p, "d")
		later(1200*ms, p, "e")
		var sofar []string
		for a := range o.Sofar() {
			sofar = append(sofar, a.Value.(string))
		}
		if got, state := watch(o); !slices.Equal(sofar, []string{"c"}) || !slices.Equal(got, []string{"d"}) || state != harness.Over {
			t.Errorf("so far %q, then %q", sofar, got)
		}
		var before, again []string
		for _, a := range o.Before(10) {
			before = append(before, a.Value.(string))
		}
		for a := range o.Again {
			again = append(again, a.Value.(string))
		}
		if !slices.Equal(before, []string{"b", "a"}) || !slices.Equal(again, []string{"c", "d"}) || len(o.Before(1)) != 1 {
			t.Errorf("before %q, again %q", before, again)
		}
		began := time.Now()
		a, ok := o.Afterwards(500*ms, func(a measure.Arrival) bool { return a.Value == "e" })
		if !ok || a.Received.Sub(o.End) != 200*ms {
			t.Errorf("afterwards %v, %v", a, ok)
		}
		if _, ok = o.Afterwards(500*ms, func(a measure.Arrival) bool { return a.Value == "never" }); ok || time.Since(began) != 499*ms {
			t.Errorf("waited %v", time.Since(began))
		}
		if o.Received() != 5 || o.Topic != "/x" || o.Graph() != w.rig || o.Timeline() != w.rig.Timeline() {
			t.Error("does not know what it observes")
		}
	})
}

// process is a harness.Living.
type process struct {
	name    string
	started harness.Mark

	mu    sync.Mutex
	ended harness.Mark
}

func (p *process) end(m harness.Mark) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = m
}

func (p *process) Lives() (started, ended harness.Mark) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started, p.ended
}
func (p *process) GomegaString() string { return p.name }

func TestLife(t *testing.T) {
	type scene struct {
		g    *harness.Graph
		wire *fakeConn
		s    *harness.Subscription[string]
	}
	say := func(sc scene) { sc.wire.deliver(time.Now(), "x") }
	for name, c := range map[string]struct {
		play   func(sc scene)
		during func(sc scene)
		late   bool
		want   measure.LifeState
		sign   string
	}{
		"nothing":             {want: measure.LifeUnknown, sign: "this wire does not show publishers"},
		"a message before":    {play: say, want: measure.LifeUnknown},
		"a message in it":     {during: say, want: measure.LifeShown, sign: "a message 500ms before the end"},
		"before and after it": {play: func(sc scene) { say(sc); time.AfterFunc(1500*ms, func() { say(sc) }) }, late: true, want: measure.LifeShown, sign: "messages before and after the stretch, on one link"},
		"only after it":       {play: func(sc scene) { time.AfterFunc(1500*ms, func() { say(sc) }) }, late: true, want: measure.LifeUnknown},
		"a process that published and runs": {play: func(sc scene) {
			p := &process{name: "talker", started: sc.g.Timeline().Mark("start of talker")}
			sc.g.Timeline().Watch(p)
			say(sc)
		}, want: measure.LifeShown, sign: "talker, which published here before, still runs"},
		"a process that never published": {play: func(sc scene) {
			say(sc)
			sc.g.Timeline().Watch(&process{name: "talker", started: sc.g.Timeline().Mark("start of talker")})
		}, want: measure.LifeUnknown},
		"a process that ended in it": {play: func(sc scene) {
			p := &process{name: "talker", started: sc.g.Timeline().Mark("start of talker")}
			sc.g.Timeline().Watch(p)
			say(sc)
			time.AfterFunc(700*ms, func() { p.end(sc.g.Timeline().Now()) })
		}, want: measure.LifeNone, sign: "talker, which may have been the publisher, ended at +0.700000s"},
		"a process that published in it and ended": {play: func(sc scene) {
			p := &process{name: "talker", started: sc.g.Timeline().Mark("start of talker")}
			sc.g.Timeline().Watch(p)
			time.AfterFunc(700*ms, func() { p.end(sc.g.Timeline().Now()) })
		}, during: say, want: measure.LifeNone, sign: "ended at +0.700000s"},
		"a process that ended after it": {play: func(sc scene) {
			p := &process{name: "talker", started: sc.g.Timeline().Mark("start of talker")}
			sc.g.Timeline().Watch(p)
			say(sc)
			time.AfterFunc(1500*ms, func() { p.end(sc.g.Timeline().Now()) })
		}, late: true, want: measure.LifeUnknown},
		"one ended, another published since": {play: func(sc scene) {
			p := &process{name: "talker", started: sc.g.Timeline().Mark("start of talker")}
			sc.g.Timeline().Watch(p)
			say(sc)
			p.end(sc.g.Timeline().Now())
		}, during: say, want: measure.LifeShown, sign: "a message 500ms before the end"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wire := newFake()
				g := harness.New(wire, harness.Config{})
				defer g.Close()
				sc := scene{g: g, wire: wire, s: must(harness.Subscribe[string](t.Context(), g, "/x"))}
				if c.play != nil {
					c.play(sc)
				}
				now := g.Timeline().Now()
				if c.during != nil {
					time.AfterFunc(500*ms, func() { c.during(sc) })
				}
				var o *harness.Observation
				if c.late {
					time.Sleep(2 * time.Second)
					o = observe(t, sc.s.After(now), harness.Watch, time.Second)
				} else {
					o = observe(t, sc.s, harness.Watch, time.Second)
				}
				watch(o)
				if l := o.Stretch(true).Life; l.State != c.want || !strings.Contains(l.Sign, c.sign) {
					t.Errorf("life is %v by %q, want %v by %q", l.State, l.Sign, c.want, c.sign)
				}
				time.Sleep(time.Second)
			})
		})
	}
}

func TestLifeAsTheWireShowsIt(t *testing.T) {
	life := func(t *testing.T, s harness.Observed) measure.Life {
		o := observe(t, s, harness.Watch, time.Second)
		watch(o)
		return o.Stretch(true).Life
	}
	play(t, func(t *testing.T, w *world) {
		s := w.sub("/x")
		if l := life(t, s); l.State != measure.LifeNone {
			t.Errorf("nobody: %+v", l)
		}
		w.pub("/x")
		if l := life(t, s); l.State != measure.LifeShown || l.Sign != "1 publisher in the graph" {
			t.Errorf("one: %+v", l)
		}
		// A source is fed by nobody the wire could show, whatever its name.
		src, _, err := harness.Source[string](w.rig, "/x")
		if err != nil {
			t.Fatal(err)
		}
		if l := life(t, src); l.State != measure.LifeUnknown || l.Sign != "nothing shows whether /x is fed" {
			t.Errorf("source: %+v", l)
		}
		// Requests come from clients.
		svc := msgs.JSONService[string, string]("demo/srv/X")
		srv := must(harness.Serve(t.Context(), w.rig, "/x", svc))
		if l := life(t, srv); l.State != measure.LifeNone || l.Sign != "no client in the graph" {
			t.Errorf("server: %+v", l)
		}
		_ = must(harness.NewClient(t.Context(), w.robot, "/x", svc))
		if l := life(t, srv); l.State != measure.LifeShown || l.Sign != "1 clients in the graph" {
			t.Errorf("served: %+v", l)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		shown := measure.Life{State: measure.LifeShown, Sign: "a token"}
		g := harness.New(living{newFake(), shown}, harness.Config{})
		defer g.Close()
		if l := life(t, must(harness.Subscribe[string](t.Context(), g, "/x"))); l != shown {
			t.Errorf("life is %+v", l)
		}
	})
}

// Observations leave nothing behind, however they end.
func TestManyObservations(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		for i := range 200 {
			o := observe(t, s, harness.Watch, 10*ms)
			if i%2 == 0 {
				later(5*ms, p, fmt.Sprint(i))
			}
			got, state := watch(o)
			if len(got) != (i+1)%2 || state != harness.Over {
				t.Fatalf("round %d: %q, %d", i, got, state)
			}
			o.Close()
		}
	})
}
