package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/robospec/robospec/measure"
)

// anchor is what a Reader's expectations count from.
type anchor uint8

const (
	anchorNone  anchor = iota // the last stimulus or the reading point
	anchorMark                // a mark
	anchorStart               // the beginning of the subscription
)

// Reader is a position in the log of a subscription, with the same reads. Each
// read goes on where the last one of the same Reader ended; none moves what
// expectations look at. A Reader that is dropped costs nothing. It is safe for
// use by several goroutines, which then share the position.
type Reader[T any] struct {
	sub    *Subscription[T]
	anchor anchor
	from   Mark // what it was made after; zero for the subscription's own

	mu      sync.Mutex
	next    uint64 // the log index that the next read begins at
	atMost  bool   // the first of those dropped are counted by an upper bound
	read    Mark   // the last message read, at first from
	point   Mark   // the reading point of expectations
	decided Message[T]
	has     bool
}

// Topic is the topic of the subscription.
func (r *Reader[T]) Topic() string { return r.sub.Topic() }

// Decided is the message that decided the last expectation that held on this
// reader, false when none has.
func (r *Reader[T]) Decided() (Message[T], bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decided, r.has
}

// Mark is the reading point: what expectations on this reader have used up.
func (r *Reader[T]) Mark() Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.point
}

// GomegaString prints the reader in one line.
func (r *Reader[T]) GomegaString() string {
	if r.anchor == anchorMark {
		return r.sub.print(" after " + r.from.String())
	}
	return r.sub.print("")
}

func (r *Reader[T]) position() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// claim moves the position from one index to another, behind m if it is not
// nil; false when somebody else has moved it since.
func (r *Reader[T]) claim(from, to uint64, m *Message[T]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next != from {
		return false
	}
	r.next = to
	if m != nil {
		r.read.order, r.read.at = m.order, m.Received
	}
	return true
}

// loss is what to say of messages that were dropped before they were read.
func (r *Reader[T]) loss(n uint64) *LossError {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &LossError{Topic: r.Topic(), Lost: n, atMost: r.atMost}
	r.atMost = false
	return e
}

// astray is why the mark of the reader is none to count from, nil if it is.
func (r *Reader[T]) astray() error {
	if r.anchor != anchorMark {
		return nil
	}
	return r.sub.g.tl.astray("After", r.from)
}

// wait blocks until get gives true, trying again after each arrival. wake is a
// channel of capacity 1 for its use; nil makes one.
func (r *Reader[T]) wait(ctx context.Context, op string, wake chan struct{}, get func() bool) error {
	if err := r.astray(); err != nil {
		return &WaitError{Op: op, Topic: r.Topic(), Err: err}
	}
	if get() { // what is there already needs no clock
		return nil
	}
	l := r.sub.log
	began, had := time.Now(), l.count()
	until := r.sub.g.tl.Context()
	if wake == nil {
		wake = make(chan struct{}, 1)
	}
	for {
		select {
		case <-wake: // of an earlier wait
		default:
		}
		l.arm(wake)
		if get() {
			l.forget(wake)
			return nil
		}
		var err error
		late := true
		select {
		case <-wake:
			continue
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-until.Done():
			err = context.Cause(until)
		case <-l.done:
			err, late = r.sub.Err(), false
		}
		l.forget(wake)
		if get() { // what came at the same time counts
			return nil
		}
		e := &WaitError{Op: op, Topic: r.Topic(), Waited: time.Since(began), Received: l.count() - had, Err: err}
		var soft *SoftTimeout
		if late && !errors.As(err, &soft) && e.Received == 0 && r.sub.remote != nil {
			m, _, _ := l.newest(0, time.Time{})
			e.Cause = r.sub.g.tl.silence(l, m.Received, l.life())
		}
		return e
	}
}

// WaitForValue returns the newest message since the reader's position if there
// is one, else the first to come. It does not move the position.
func (r *Reader[T]) WaitForValue(ctx context.Context) (Message[T], error) {
	var m Message[T]
	var next uint64
	asked := false
	err := r.wait(ctx, "WaitForValue", nil, func() (ok bool) {
		if !asked {
			asked = true
			m, next, ok = r.sub.log.newest(r.position(), r.from.at)
			return ok
		}
		var one [1]Message[T]
		var got []Message[T]
		if got, next, _ = r.sub.log.read(next, r.from.at, one[:0], nil); len(got) > 0 {
			m = got[0]
		}
		return len(got) > 0
	})
	if err == nil && m.err != nil {
		err = m.err
	}
	return m, err
}

// WaitForNew returns the newest message since the reader's position, waiting
// for one if there is none, and moves behind it.
func (r *Reader[T]) WaitForNew(ctx context.Context) (Message[T], error) {
	return r.waitForNew(ctx, "WaitForNew", nil)
}

func (r *Reader[T]) waitForNew(ctx context.Context, op string, wake chan struct{}) (Message[T], error) {
	var m Message[T]
	err := r.wait(ctx, op, wake, func() bool {
		for {
			from := r.position()
			newest, next, ok := r.sub.log.newest(from, r.from.at)
			if !ok {
				return false
			}
			if r.claim(from, next, &newest) {
				m = newest
				return true
			}
		}
	})
	if err == nil && m.err != nil {
		err = m.err
	}
	return m, err
}

// WaitForNext returns the first message after the reader's position, however
// late it is read, and moves behind it. If the log has dropped it since, that
// is a *LossError, and the next call goes on from what is held.
func (r *Reader[T]) WaitForNext(ctx context.Context) (Message[T], error) {
	var m Message[T]
	var lost uint64
	err := r.wait(ctx, "WaitForNext", nil, func() bool {
		for {
			var one [1]Message[T]
			from := r.position()
			got, next, dropped := r.sub.log.read(from, r.from.at, one[:0], nil)
			switch {
			case dropped > 0:
				if r.claim(from, from+dropped, nil) {
					lost = dropped
					return true
				}
			case len(got) == 0:
				if r.claim(from, next, nil) {
					return false
				}
			case r.claim(from, next, &got[0]):
				m = got[0]
				return true
			}
		}
	})
	switch {
	case err != nil:
		return m, err
	case lost > 0:
		return m, r.loss(lost)
	case m.err != nil:
		return m, m.err
	}
	return m, nil
}

// Listen is Subscription.Listen from the reader's position: it begins with the
// newest message since then, if there is one.
func (r *Reader[T]) Listen(ctx context.Context) iter.Seq2[Message[T], error] {
	return func(yield func(Message[T], error) bool) {
		wake := make(chan struct{}, 1)
		for {
			if r.loopOver(ctx, "Listen", yield) {
				return
			}
			m, err := r.waitForNew(ctx, "Listen", wake)
			var end *WaitError
			if errors.As(err, &end) {
				r.endLoop(end, yield)
				return
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// loopOver ends a loop whose context has ended, though there may be messages.
func (r *Reader[T]) loopOver(ctx context.Context, op string, yield func(Message[T], error) bool) bool {
	if ctx.Err() == nil {
		if ctx = r.sub.g.tl.Context(); ctx.Err() == nil {
			return false
		}
	}
	r.endLoop(&WaitError{Op: op, Topic: r.Topic(), Err: context.Cause(ctx)}, yield)
	return true
}

// endLoop says why a loop ended, unless a soft deadline did.
func (r *Reader[T]) endLoop(end *WaitError, yield func(Message[T], error) bool) {
	var soft *SoftTimeout
	if !errors.As(end.Err, &soft) {
		yield(Message[T]{}, end)
	}
}

// ListenReliable is Subscription.ListenReliable from the reader's position.
func (r *Reader[T]) ListenReliable(ctx context.Context) iter.Seq2[Message[T], error] {
	return func(yield func(Message[T], error) bool) {
		// Batches, so that a fast stream costs the log's lock once for many
		// messages. The position moves message by message: others may share it.
		batch := make([]Message[T], 0, 64)
		wake := make(chan struct{}, 1)
		for {
			if r.loopOver(ctx, "ListenReliable", yield) {
				return
			}
			var got []Message[T]
			var next, lost, from uint64
			err := r.wait(ctx, "ListenReliable", wake, func() bool {
				from = r.position()
				got, next, lost = r.sub.log.read(from, r.from.at, batch, nil)
				if lost == 0 && len(got) == 0 {
					r.claim(from, next, nil) // what is never to be returned
					return false
				}
				return true
			})
			var end *WaitError
			if errors.As(err, &end) {
				r.endLoop(end, yield)
				return
			}
			if lost > 0 {
				if !r.claim(from, from+lost, nil) {
					continue
				}
				if from += lost; !yield(Message[T]{}, r.loss(lost)) {
					return
				}
			}
			first := next - uint64(len(got))
			for i := range got {
				to := first + uint64(i) + 1
				if ctx.Err() != nil || !r.claim(from, to, &got[i]) {
					break
				}
				if from = to; !yield(got[i], got[i].err) {
					return
				}
			}
		}
	}
}

// Collect waits until d after the call, or after the mark of a reader made by
// After, and returns what arrived from the reader's position until then; the
// position moves behind it. It ends early, with an error beside what there is,
// when ctx ends or the link is lost.
func (r *Reader[T]) Collect(ctx context.Context, d time.Duration) (*measure.Window, error) {
	if err := r.astray(); err != nil {
		return nil, &WaitError{Op: "Collect", Topic: r.Topic(), Err: err}
	}
	o := newObservation(r.sub.log, r.sub.g, r.Topic())
	defer o.Close()
	o.Call = r.sub.g.tl.Now()
	o.Start, o.End = r.from, o.Call.at.Add(d)
	if r.anchor == anchorMark {
		o.End = r.from.at.Add(d)
	}
	r.mu.Lock()
	from, read := r.next, r.read
	r.mu.Unlock()
	o.beginAt(from)
	stop := context.AfterFunc(ctx, func() { o.interrupt(context.Cause(ctx)) })
	defer stop()
	w, err := o.window(read)
	if w.Len() > 0 {
		last := w.At(w.Len() - 1)
		r.claim(from, o.kept, &Message[T]{order: last.Order, Received: last.Received})
	}
	if err != nil {
		err = &WaitError{Op: "Collect", Topic: r.Topic(), Waited: time.Since(o.Call.at), Received: uint64(w.Len()), Err: err}
	}
	return w, err
}

// Between is the window of what arrived after a and not after b; a zero a is
// the beginning. It does not wait: a window whose end has not come yet, or that
// has none, says so in Cut.
func (s *Subscription[T]) Between(a, b Mark) *measure.Window {
	if a.IsZero() {
		a = s.log.created
	}
	o := newObservation(s.log, s.g, s.log.name)
	defer o.Close()
	s.g.Settle() // what was stamped before b is in the window
	o.Start, o.End, o.last = a, b.at, b.order
	o.begin()
	o.sealed = true
	if o.err = errors.Join(s.g.tl.astray("Between", a), s.g.tl.astray("Between", b)); o.err == nil && time.Until(b.at) > 0 {
		o.err = fmt.Errorf("the end of the stretch, %s, has not come yet", b)
	}
	w, _ := o.window(a) // sealed: nothing to wait for
	return w
}
