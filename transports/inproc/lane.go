package inproc

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/stack"
	"github.com/robospec/robospec/transports"
)

// room is how many deliveries may wait in a lane before a sender waits too.
const room = 1024

// A delivery is one message on its way: from a publisher to subscriptions, a
// request to servers, or the end of a call to its client.
type delivery struct {
	sample transports.Sample
	call   *call
	err    error
	to     []*receiver
}

// A lane is what one sender has under way. Whoever finds it idle delivers;
// whoever finds it busy queues and returns. That is what keeps the order, makes
// recursion flat, and lets Settle wait for a position in it.
type lane struct {
	net *Network
	// lost stops what is under way: the sender's link died.
	lost atomic.Bool

	mu       sync.Mutex
	err      error
	busy     bool
	queue    []delivery
	accepted uint64
	finished uint64
	waiters  []waiter

	// The delivery that runs, and its next receiver. Only whoever set busy
	// touches them.
	cur  delivery
	next int
}

type waiter struct {
	upTo    uint64
	reached chan struct{}
}

// lock returns with mu held and room in the lane, or with the reason that it
// takes no more. A sender inside a callback is never made to wait: the delivery
// it would wait for may be the one that it is part of.
func (l *lane) lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for {
		l.mu.Lock()
		if err := l.err; err != nil {
			l.mu.Unlock()
			return err
		}
		if len(l.queue) < room || insideCallback() {
			return nil
		}
		reached := l.wait(l.accepted - room/2)
		l.mu.Unlock()
		select {
		case <-reached:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// hand delivers d, or queues it where a delivery runs. It is called with mu
// held and releases it. d is stamped already for the case that it goes at once.
func (l *lane) hand(d delivery) {
	l.accepted++
	if l.busy || len(l.queue) > 0 {
		l.queue = append(l.queue, d)
		l.mu.Unlock()
		l.flush()
		return
	}
	l.busy, l.cur, l.next = true, d, 0
	l.mu.Unlock()
	l.drain()
}

// flush delivers what is queued, unless somebody does already.
func (l *lane) flush() {
	l.mu.Lock()
	if l.busy || len(l.queue) == 0 {
		l.mu.Unlock()
		return
	}
	l.busy = true
	l.pop()
	l.mu.Unlock()
	l.drain()
}

// pop makes the head of the queue the delivery that runs.
func (l *lane) pop() {
	l.cur, l.next = l.queue[0], 0
	l.cur.sample.Received = time.Now()
	l.queue[0] = delivery{}
	l.queue = l.queue[1:]
}

func (l *lane) drain() {
	whole := false
	defer func() {
		// A sink that panics or ends its goroutine (a failed assertion does) takes
		// nothing from the others: the rest is delivered while the stack unwinds.
		if !whole {
			l.drain()
		}
	}()
	for {
		for l.next < len(l.cur.to) && !l.lost.Load() {
			r := l.cur.to[l.next]
			l.next++
			deliver(r, &l.cur)
		}
		l.mu.Lock()
		l.finished++
		l.wake()
		if len(l.queue) == 0 {
			l.queue = nil
			break
		}
		l.pop()
		l.mu.Unlock()
	}
	l.busy, l.cur = false, delivery{}
	ended := l.err != nil
	l.mu.Unlock()
	if ended {
		l.net.forget(l)
	}
	whole = true
}

// wait returns a channel that is closed once the first upTo deliveries are
// finished. mu is held.
func (l *lane) wait(upTo uint64) <-chan struct{} {
	w := waiter{upTo, make(chan struct{})}
	l.waiters = append(l.waiters, w)
	return w.reached
}

func (l *lane) wake() {
	if len(l.waiters) == 0 {
		return
	}
	kept := l.waiters[:0]
	for _, w := range l.waiters {
		if w.upTo <= l.finished {
			close(w.reached)
		} else {
			kept = append(kept, w)
		}
	}
	clear(l.waiters[len(kept):])
	l.waiters = kept
}

// end refuses what comes later with err. The network's lock is held.
func (l *lane) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = err
	l.lost.Store(isLost(err))
	if !l.busy && len(l.queue) == 0 {
		delete(l.net.lanes, l)
	}
}

func isLost(err error) bool {
	var lost *transports.LinkError
	return errors.As(err, &lost)
}

// A receiver is where a delivery ends: a subscription, a server or a client.
type receiver struct {
	take func(*delivery)
	// state counts the callbacks that run, and has shutBit once none may begin.
	state atomic.Int64
	idle  chan struct{}
	once  sync.Once
}

const shutBit = 1 << 62

func newReceiver(take func(*delivery)) *receiver {
	return &receiver{take: take, idle: make(chan struct{})}
}

func deliver(r *receiver, d *delivery) {
	if r.state.Add(1)&shutBit == 0 {
		callback(r, d)
	} else {
		r.leave()
	}
}

// callback is on the stack of every sink, handler and done of this package;
// insideCallback looks for it. r has counted it.
//
//go:noinline
func callback(r *receiver, d *delivery) {
	defer r.leave()
	r.take(d)
}

func (r *receiver) leave() {
	if r.state.Add(-1) == shutBit {
		r.once.Do(func() { close(r.idle) })
	}
}

// shut lets no callback begin any more.
func (r *receiver) shut() {
	if r.state.Or(shutBit) == 0 {
		r.once.Do(func() { close(r.idle) })
	}
}

// isIdle reports whether a shut receiver runs no callback any more.
func (r *receiver) isIdle() bool {
	select {
	case <-r.idle:
		return true
	default:
		return false
	}
}

// join waits for the callbacks of shut receivers, unless it is called from one.
func join(receivers ...*receiver) {
	running := slices.ContainsFunc(receivers, func(r *receiver) bool { return !r.isIdle() })
	if !running || insideCallback() {
		return
	}
	for _, r := range receivers {
		<-r.idle
	}
}

// insideCallback reports whether the calling goroutine runs a callback of this
// package. Noting the goroutine at each delivery would cost several times what
// the delivery does, so the stack is asked, where the question comes up.
func insideCallback() bool { return stack.Has(stack.Name(callback)) }
