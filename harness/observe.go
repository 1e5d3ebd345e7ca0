package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"time"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// Mode is which of the two waits an expectation is.
type Mode uint8

const (
	// Effect looks for an effect of the last stimulus: the wait of Within.
	Effect Mode = iota
	// Watch watches for a time: the wait of Over.
	Watch
)

// Observed is live traffic that an expectation can be put on: a Subscription,
// a Reader, a Server.
type Observed interface {
	// Observe begins one expectation of length d. An error is a misuse or an
	// *measure.Inconclusive.
	Observe(mode Mode, d time.Duration) (*Observation, error)
	// MessageType is the type of its messages.
	MessageType() reflect.Type
	// GomegaString names it, in one line.
	GomegaString() string
}

// State is what Observation.Next returned for.
type State uint8

const (
	// Arrived: there are arrivals.
	Arrived State = iota
	// Due: the instant asked for is over, and everything stamped until then was
	// returned.
	Due
	// Over: the stretch is over, and everything stamped in it was returned.
	Over
	// Cut: nothing more will come, though the stretch is not over; Err says why.
	Cut
)

// sealAfter is how long after its end a stretch is judged, besides waiting for
// every reader that has stamped by then.
const sealAfter = time.Millisecond

// Observation is one expectation's view of the traffic, one message after the
// other, from the start of its stretch to the end. It is for one goroutine.
type Observation struct {
	// Topic is what is observed. Wire is false where that is a source, which is on
	// no wire.
	Topic string
	Wire  bool
	// Call is when the expectation began.
	Call Mark
	// Start is what the stretch begins after: arrivals are returned from here.
	Start Mark
	// Quiet is what judges of absence, count and order count from, Steady what
	// statistics and EveryMessage count from. Neither is before Start.
	Quiet, Steady Mark
	// From is the instant that the length of the expectation is counted from, End
	// the last instant of the stretch, inclusive.
	From, End time.Time
	// Counted says in words where Start is, such as "the last stimulus".
	Counted string

	g       *Graph
	src     source
	decide  func(order uint64)
	until   context.Context
	cut     context.Context
	cutFunc context.CancelCauseFunc
	wake    chan struct{}
	buf     []measure.Arrival

	unseen Mark // the stimulus, where the subscription began only after it
	begun  logState
	begins uint64 // index of the first message after Start
	next   uint64
	kept   uint64 // index behind the last message returned
	last   uint64 // the last order of the stretch, 0 for no bound
	missed uint64
	seen   uint64
	newest measure.Arrival // the newest arrival of the stretch, for proof of life
	before measure.Arrival // the newest message before Start
	beyond bool            // a message came after the end
	sealed bool
	err    error
}

func newObservation(src source, g *Graph, topic string) *Observation {
	o := &Observation{Topic: topic, g: g, src: src, until: g.tl.Context(), wake: make(chan struct{}, 1),
		buf: make([]measure.Arrival, 0, 32), decide: func(uint64) {}}
	o.cut, o.cutFunc = context.WithCancelCause(context.Background())
	return o
}

// begin finds the first message of the stretch.
func (o *Observation) begin() { o.beginAt(o.src.indexAfter(o.Start)) }

func (o *Observation) beginAt(i uint64) {
	o.begins, o.next, o.kept = i, i, i
	o.begun = o.src.state()
	if o.begins > o.begun.first {
		if got, _, _ := o.src.fill(o.begins-1, make([]measure.Arrival, 0, 1), nil); len(got) == 1 {
			o.before = got[0]
		}
	}
}

// Observe begins an expectation on the subscription; see Reader.Observe.
func (s *Subscription[T]) Observe(mode Mode, d time.Duration) (*Observation, error) {
	return s.root.Observe(mode, d)
}

// Observe begins an expectation by the counting rule:
//
// An Effect counts after the last stimulus or after the reading point,
// whichever is later; d runs from the stimulus for the first expectation that
// follows it, otherwise from the call. A Watch lasts d from the call; judges of
// absence, count and order begin at the last stimulus if no expectation
// followed it. After a mark, both count and measure from the mark; from the
// start, they count from there.
func (r *Reader[T]) Observe(mode Mode, d time.Duration) (*Observation, error) {
	l, tl := r.sub.log, r.sub.g.tl
	if err := r.astray(); err != nil {
		return nil, err
	}
	o := newObservation(l, r.sub.g, l.name)
	o.Wire = r.sub.remote != nil
	stim, first := tl.expect()
	o.Call = tl.Now()
	point := r.Mark()
	switch r.anchor {
	case anchorMark:
		o.Start, o.Counted = later(r.from, point), "the mark"
		o.Quiet, o.Steady = o.Start, o.Start
		o.End = r.from.at.Add(d)
	case anchorStart:
		o.Start, o.Counted = point, "the beginning of the subscription"
		o.Quiet, o.Steady = o.Start, o.Start
		o.End = o.Call.at.Add(d)
	default:
		o.End = o.Call.at.Add(d)
		if mode == Effect {
			o.Start, o.Counted = later(stim, point), "the last stimulus"
			if o.Start.order == point.order && point.order != stim.order {
				o.Counted = "the reading point"
			}
			if first {
				o.End = stim.at.Add(d)
			}
			if created := l.state().created; !stim.IsZero() && stim.order < created.order && point.order == created.order {
				o.unseen = stim
			}
			o.Quiet, o.Steady = o.Start, o.Start
			break
		}
		o.Steady, o.Quiet, o.Counted = o.Call, o.Call, "the call"
		if first {
			o.Quiet, o.Counted = stim, "the last stimulus"
			if r.from.order > stim.order {
				o.Quiet, o.Counted = r.from, "the reader's beginning"
			}
		}
		o.Start = o.Quiet
	}
	for _, m := range []Mark{o.Start, r.from} {
		if err := tl.unhappened(m); err != nil {
			o.Close()
			return nil, err
		}
	}
	o.decide = func(order uint64) { r.hold(order) }
	o.From = o.End.Add(-d)
	o.begin()
	return o, nil
}

// MessageType is the type T of the subscription.
func (s *Subscription[T]) MessageType() reflect.Type { return reflect.TypeFor[T]() }

// MessageType is the type T of the subscription.
func (r *Reader[T]) MessageType() reflect.Type { return reflect.TypeFor[T]() }

// hold moves the reading point behind the message of that place.
func (r *Reader[T]) hold(order uint64) {
	l := r.sub.log
	i := l.indexAfter(Mark{order: order - 1})
	var one [1]Message[T]
	got, _, _ := l.read(i, time.Time{}, one[:0], nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(got) == 1 && got[0].order == order {
		r.decided, r.has = got[0], true
	} else { // dropped by the log since
		r.decided, r.has = Message[T]{}, false
		got = []Message[T]{{Topic: l.name, Received: r.point.at, order: order, tl: l.tl}}
	}
	if order > r.point.order {
		r.point = got[0].Mark()
	}
}

// Close releases the observation.
func (o *Observation) Close() {
	o.src.forget(o.wake)
	o.cutFunc(nil)
}

func (o *Observation) interrupt(cause error) { o.cutFunc(cause) }

// Next waits for arrivals of the stretch and returns them in order, or says
// that there are none until due (if it is not zero), until the end of the
// stretch, or any more. The slice is valid until the next call.
func (o *Observation) Next(due time.Time) ([]measure.Arrival, State) {
	dueSealed := false
	for {
		if arrivals := o.take(o.sealed || dueSealed); len(arrivals) > 0 {
			return arrivals, Arrived
		}
		switch {
		case o.sealed:
			return nil, Over
		case dueSealed:
			return nil, Due
		}
		target, isDue := o.End, false
		if !due.IsZero() && due.Before(o.End) {
			target, isDue = due, true
		}
		if seal := target.Add(sealAfter); time.Until(seal) > 0 {
			if err := o.sleep(target, seal); errors.Is(err, ErrEnded) {
				o.sealed = true
				continue
			} else if err != nil {
				if arrivals := o.take(true); len(arrivals) > 0 { // what came before the end counts
					return arrivals, Arrived
				}
				o.err = err
				return nil, Cut
			}
			if time.Until(seal) > 0 {
				continue
			}
		}
		o.src.forget(o.wake)
		o.g.Settle()
		dueSealed, o.sealed = isDue, !isDue
	}
}

// take returns the next arrivals of the stretch that are in the log already. If
// there are none and last is false, wake will tell of the next.
func (o *Observation) take(last bool) []measure.Arrival {
	wake := o.wake
	if last {
		wake = nil
	}
	for {
		var lost uint64
		var got []measure.Arrival
		got, o.next, lost = o.src.fill(o.next, o.buf[:0], wake)
		o.missed += lost
		if len(got) == 0 && lost == 0 {
			return nil
		}
		first := o.next - uint64(len(got))
		kept := got[:0]
		for i, a := range got {
			if o.holds(a) {
				kept = append(kept, a)
				o.kept = first + uint64(i) + 1
			} else if a.Received.After(o.End) {
				o.beyond = true
			}
		}
		if len(kept) > 0 {
			o.seen += uint64(len(kept))
			o.newest = kept[len(kept)-1]
			return kept
		}
	}
}

// holds reports whether a, which comes after Start, belongs to the stretch.
// Stamps of several publishers need not be in order.
func (o *Observation) holds(a measure.Arrival) bool {
	if a.Received.Before(o.Start.at) || a.Received.After(o.End) {
		return false
	}
	return o.last == 0 || a.Order <= o.last || a.Received.Before(o.End)
}

// sleep waits for a message or until the instant seal; an error is the end of
// the spec, or of the traffic not after the instant target.
func (o *Observation) sleep(target, seal time.Time) error {
	timer := time.NewTimer(time.Until(seal))
	defer timer.Stop()
	over := o.begun.done
	if st := o.src.state(); st.err != nil && st.ended.at.After(target) {
		over = nil // everything until target could arrive
	}
	select {
	case <-o.wake:
	case <-timer.C:
	case <-o.until.Done():
		return context.Cause(o.until)
	case <-o.cut.Done():
		return context.Cause(o.cut)
	case <-over:
		if st := o.src.state(); !st.ended.at.After(target) {
			return st.err
		}
	}
	return nil
}

// Sofar ranges over the messages after the start that are in the log now.
func (o *Observation) Sofar() iter.Seq[measure.Arrival] {
	return func(yield func(measure.Arrival) bool) {
		for {
			got := o.take(true)
			for _, a := range got {
				if !yield(a) {
					return
				}
			}
			if len(got) == 0 {
				return
			}
		}
	}
}

// Ended is why nothing more will arrive, nil while something may.
func (o *Observation) Ended() error { return o.src.state().err }

// Err is why the traffic ended before the stretch did, nil if it did not.
func (o *Observation) Err() error { return o.err }

// Hold says that the expectation held and which message decided it: the
// reading point moves behind it.
func (o *Observation) Hold(order uint64) {
	if order > 0 {
		o.decide(order)
	}
}

// Seen is how many arrivals Next has returned.
func (o *Observation) Seen() uint64 { return o.seen }

// Missed is how many messages of the stretch our log dropped before Next came
// to them.
func (o *Observation) Missed() uint64 { return o.missed }

// Received is how many messages the subscription got in all.
func (o *Observation) Received() uint64 { return o.src.state().received }

// startNotHeld says what kept the stretch from being observed from its start
// on: it began before the subscription, or was dropped by the log since. Nil
// when nothing did.
func (o *Observation) startNotHeld(from Mark) error {
	if o.Start.order == from.order && !o.unseen.IsZero() {
		from = o.unseen
	}
	if c := o.begun.created; from.order < c.order && !from.at.After(c.at) {
		return &measure.Inconclusive{Reason: fmt.Sprintf("the subscription to %s began %v after %s", o.Topic, c.at.Sub(from.at), from),
			Remedy: "subscribe before the stimulus, or put a Mark where the stretch is to begin"}
	}
	if o.begun.newestLost > from.order && !o.begun.lostUntil.Before(from.at) {
		return &measure.Inconclusive{Reason: fmt.Sprintf("messages since %s were dropped by the log before they could be judged", from),
			Remedy: "subscribe with a larger harness.Keep, or judge sooner", Err: ErrNotHeld}
	}
	return nil
}

// Stretch is what is known of the traffic of the stretch, seen from where
// statistics count or from where absence, count and order do.
func (o *Observation) Stretch(steady bool) measure.Stretch {
	if steady {
		return o.stretch(o.Steady)
	}
	return o.stretch(o.Quiet)
}

func (o *Observation) stretch(from Mark) measure.Stretch {
	to := o.End
	s := measure.Stretch{Topic: o.Topic, Requests: o.src.endpoint().Kind == transports.ServerEndpoint, From: from.at, To: to, Dropped: o.missed}
	if o.err != nil {
		s.Cut = o.err
	} else {
		s.Cut = o.startNotHeld(from)
	}
	s.Life = o.life(from)
	return s
}

// life says whether somebody was there to publish.
func (o *Observation) life(from Mark) measure.Life {
	tl := o.g.tl
	if l := o.src.fedBy(); l != nil {
		return fedLife(l, from)
	}
	var running string
	for _, l := range tl.living() {
		started, ended := l.Lives()
		spoke := o.before
		if o.seen > 0 {
			spoke = o.newest
		}
		published := spoke.Order > started.order
		if !published {
			continue
		}
		if ended.IsZero() {
			running = fmt.Sprintf("%s, which published here before, still runs", l.GomegaString())
			continue
		}
		if spoke.Order < ended.order && !ended.at.After(o.End) {
			return measure.Life{State: measure.LifeNone, At: ended.at,
				Sign: fmt.Sprintf("%s, which may have been the publisher, ended at %s", l.GomegaString(), tl.since(ended.at))}
		}
	}
	if o.seen > 0 && o.newest.Order > from.order {
		return measure.Life{State: measure.LifeShown, At: o.newest.Received,
			Sign: fmt.Sprintf("a message %v before the end", o.End.Sub(o.newest.Received).Round(time.Microsecond))}
	}
	if running != "" {
		return measure.Life{State: measure.LifeShown, Sign: running}
	}
	if o.before.Order > 0 && o.beyond {
		return measure.Life{State: measure.LifeShown, Sign: "messages before and after the stretch, on one link"}
	}
	return o.src.life()
}

// fedLife is the life of a source of which it is known what feeds it.
func fedLife(l Living, from Mark) measure.Life {
	_, ended := l.Lives()
	switch {
	case ended.IsZero():
		return measure.Life{State: measure.LifeShown, Sign: l.GomegaString()}
	case ended.order < from.order:
		return measure.Life{State: measure.LifeNone, At: ended.at, Sign: l.GomegaString()}
	}
	return measure.Life{State: measure.LifeShown, At: ended.at, Sign: l.GomegaString()}
}

// window waits for the whole stretch; what is known of it is told from a mark on.
func (o *Observation) window(from Mark) (*measure.Window, error) {
	var all []measure.Arrival
	for {
		got, state := o.Next(time.Time{})
		all = append(all, got...)
		if state != Arrived {
			return measure.NewWindow(o.stretch(from), all), o.err
		}
	}
}

// Before returns up to n messages before the start that the log still holds,
// newest first.
func (o *Observation) Before(n int) []measure.Arrival {
	var out []measure.Arrival
	for i := o.begins; i > 0 && len(out) < n; i-- {
		got, _, lost := o.src.fill(i-1, make([]measure.Arrival, 0, 1), nil)
		if lost > 0 || len(got) == 0 {
			break
		}
		out = append(out, got[0])
	}
	return out
}

// Held is the newest message that there was at the call, if none of the stretch
// had come by then; false if there was none.
func (o *Observation) Held() (measure.Arrival, bool) {
	return o.before, o.before.Order > 0 && o.begun.next == o.begins
}

// Again ranges over the messages of the stretch that the log still holds.
func (o *Observation) Again(yield func(measure.Arrival) bool) {
	for i := o.begins; i < o.next; {
		got, next, _ := o.src.fill(i, make([]measure.Arrival, 0, 32), nil)
		if len(got) == 0 {
			return
		}
		i = next
		for _, a := range got {
			if o.holds(a) && !yield(a) {
				return
			}
		}
	}
}

// Afterwards waits up to grace beyond the end for the first message after it
// that is wanted.
func (o *Observation) Afterwards(grace time.Duration, wanted func(measure.Arrival) bool) (measure.Arrival, bool) {
	i := o.begins
	deadline := time.NewTimer(time.Until(o.End.Add(grace)))
	defer deadline.Stop()
	for {
		got, next, lost := o.src.fill(i, make([]measure.Arrival, 0, 32), o.wake)
		i = next
		for _, a := range got {
			if a.Received.After(o.End) && wanted(a) {
				return a, true
			}
		}
		if len(got) > 0 || lost > 0 {
			continue
		}
		select {
		case <-o.wake:
		case <-deadline.C:
			o.src.forget(o.wake)
			return measure.Arrival{}, false
		case <-o.begun.done:
			return measure.Arrival{}, false
		case <-o.until.Done():
			return measure.Arrival{}, false
		}
	}
}

// Silence says why nothing arrived in the stretch, from the graph as far as the
// wire shows it, else from what is known of life.
func (o *Observation) Silence() string {
	last := time.Time{}
	if m := o.Before(1); len(m) == 1 {
		last = m[0].Received
	}
	return o.g.tl.silence(o.src, last, o.life(o.Quiet))
}

// Left says who could be received from and has left the graph in the stretch or
// since; "" if nobody has.
func (o *Observation) Left() string {
	p := o.src.peersNow()
	for i, c := range p.left {
		if c.At.at.Before(o.Start.at) {
			p.left = p.left[:i]
			break
		}
	}
	return o.g.view.farewells(p, o.Topic)
}

// Unheard says why nobody heard the publish that the stretch begins with; "" if
// somebody may have, or if it begins otherwise.
func (o *Observation) Unheard() string { return o.g.tl.whyUnheard(o.Start) }

// Graph is the participant that observes.
func (o *Observation) Graph() *Graph { return o.g }

// Timeline is the timeline observed on.
func (o *Observation) Timeline() *Timeline { return o.g.tl }
