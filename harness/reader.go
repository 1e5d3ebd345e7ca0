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
	from   Mark // of an anchored reader

	mu      sync.Mutex
	next    uint64 // the log index that the next read begins at
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
		return fmt.Sprintf("%s after %s", r.sub.GomegaString(), r.from)
	}
	return r.sub.GomegaString()
}

func (r *Reader[T]) position() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

func (r *Reader[T]) move(next uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = max(r.next, next)
}

// wait blocks until get gives true, trying again after each arrival. wake is a
// channel of capacity 1 for its use; nil makes one.
func (r *Reader[T]) wait(ctx context.Context, op string, wake chan struct{}, get func() bool) error {
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
		l.arm(wake)
		if get() {
			l.forget(wake)
			return nil
		}
		var err error
		select {
		case <-wake:
			continue
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-until.Done():
			err = context.Cause(until)
		case <-l.done:
			if get() {
				return nil
			}
			err = r.sub.Err()
		}
		l.forget(wake)
		return &WaitError{Op: op, Topic: r.Topic(), Waited: time.Since(began), Received: l.count() - had, Err: err}
	}
}

// WaitForValue returns the newest message since the reader's position if there
// is one, else the first to come. It does not move the position.
func (r *Reader[T]) WaitForValue(ctx context.Context) (Message[T], error) {
	var m Message[T]
	err := r.wait(ctx, "WaitForValue", nil, func() (ok bool) {
		m, _, ok = r.sub.log.newest(r.position())
		return ok
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
		newest, next, ok := r.sub.log.newest(r.position())
		if ok {
			m = newest
			r.move(next)
		}
		return ok
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
		var one [1]Message[T]
		r.mu.Lock()
		defer r.mu.Unlock()
		got, next, dropped := r.sub.log.read(r.next, one[:0], nil)
		if dropped > 0 {
			lost, r.next = dropped, r.next+dropped
			return true
		}
		if len(got) == 0 {
			return false
		}
		m, r.next = got[0], next
		return true
	})
	switch {
	case err != nil:
		return m, err
	case lost > 0:
		return m, &LossError{Topic: r.Topic(), Lost: lost}
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
		return false
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
		// Batches, so that a fast stream costs one lock for many messages. Each is
		// given back to the position when the loop breaks.
		batch := make([]Message[T], 0, 64)
		wake := make(chan struct{}, 1)
		for {
			if r.loopOver(ctx, "ListenReliable", yield) {
				return
			}
			var got []Message[T]
			var lost, from uint64
			err := r.wait(ctx, "ListenReliable", wake, func() bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				from = r.next
				got, r.next, lost = r.sub.log.read(r.next, batch, nil)
				return lost > 0 || len(got) > 0
			})
			var end *WaitError
			if errors.As(err, &end) {
				r.endLoop(end, yield)
				return
			}
			if lost > 0 && !yield(Message[T]{}, &LossError{Topic: r.Topic(), Lost: lost}) {
				r.giveBack(from + lost)
				return
			}
			for i := range got {
				if !yield(got[i], got[i].err) {
					r.giveBack(from + lost + uint64(i) + 1)
					return
				}
				if ctx.Err() != nil && i+1 < len(got) {
					r.giveBack(from + lost + uint64(i) + 1)
					break
				}
			}
		}
	}
}

func (r *Reader[T]) giveBack(next uint64) {
	r.mu.Lock()
	r.next = next
	r.mu.Unlock()
}

// Collect waits until d after the call, or after the mark of an anchored
// reader, and returns what arrived from the reader's position until then. It
// ends early, with an error beside what there is, when ctx ends or the link is
// lost.
func (r *Reader[T]) Collect(ctx context.Context, d time.Duration) (*measure.Window, error) {
	o, err := r.collect(d)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	stop := context.AfterFunc(ctx, func() { o.interrupt(context.Cause(ctx)) })
	defer stop()
	w, err := o.window()
	if err != nil {
		err = &WaitError{Op: "Collect", Topic: r.Topic(), Waited: time.Since(o.Call.at), Received: uint64(w.Len()), Err: err}
	}
	return w, err
}

// Between is the window of what arrived after a and not after b; a zero a is
// the beginning. It does not wait.
func (s *Subscription[T]) Between(a, b Mark) *measure.Window {
	if a.IsZero() {
		a = s.log.created
	}
	o := newObservation(s.log, s.g, s.log.name)
	defer o.Close()
	o.Start, o.End, o.last = a, b.at, b.order
	o.begin()
	o.sealed = true
	w, _ := o.window() // sealed: nothing to wait for
	return w
}
