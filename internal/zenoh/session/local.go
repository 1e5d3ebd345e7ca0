package session

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what waits for the local goroutine before publishers wait for room.
const (
	manyLocal  = 64 << 10
	largeLocal = 64 << 20
)

// local carries what the session publishes to itself to its own goroutine, so
// that a publisher never runs a sink.
type local struct {
	mu      sync.Mutex
	in, out []item
	bytes   int
	room    chan struct{}
	closed  bool

	wake chan struct{}
	work work
	goid atomic.Uint64
	done chan struct{}
}

// item is a sample with its subscriptions, or anything else to run there.
type item struct {
	sample Sample
	subs   []*Subscription
	run    func()
}

func (l *local) init() {
	l.work.init()
	l.wake, l.done = make(chan struct{}, 1), make(chan struct{})
}

func (l *local) roomy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.has()
}

// has reports whether there is room. The local goroutine always has: nobody else
// would make it. l.mu is held.
func (l *local) has() bool {
	return l.closed || len(l.in) < manyLocal && l.bytes < largeLocal || goid() == l.goid.Load()
}

// wait returns when there is room or ctx ended.
func (l *local) wait(ctx context.Context) error {
	for {
		l.mu.Lock()
		if l.has() {
			l.mu.Unlock()
			return nil
		}
		if l.room == nil {
			l.room = make(chan struct{})
		}
		room := l.room
		l.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return fmt.Errorf("publish to this session's own subscriptions, whose sinks do not keep up: %w", context.Cause(ctx))
		}
	}
}

func (l *local) add(i item) {
	l.mu.Lock()
	if !l.closed {
		l.in = append(l.in, i)
		l.bytes += len(i.sample.Payload)
	}
	first := len(l.in) == 1
	l.mu.Unlock()
	if first {
		l.rouse()
	}
}

// Post runs f on one of the session's goroutines, unless the session has ended. f
// must not block.
func (s *Session) Post(f func()) { s.local.add(item{run: f}) }

func (l *local) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *local) close() {
	l.mu.Lock()
	l.closed, l.in = true, nil
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
	l.mu.Unlock()
	l.rouse()
}

// deliver is the local goroutine.
func (s *Session) deliver() {
	l := &s.local
	defer close(l.done)
	l.goid.Store(goid())
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return
		}
		if len(l.in) == 0 {
			l.mu.Unlock()
			<-l.wake
			continue
		}
		l.in, l.out = l.out[:0], l.in
		l.bytes = 0
		if l.room != nil {
			close(l.room)
			l.room = nil
		}
		l.work.begin()
		l.mu.Unlock()
		now := time.Now()
		for i := range l.out {
			it := &l.out[i]
			if it.run != nil {
				it.run()
			}
			it.sample.Received = now
			for _, sub := range it.subs {
				sub.deliver(&it.sample)
			}
			*it = item{}
		}
		if cap(l.out) > manyLocal/16 {
			l.out = nil
		}
		l.work.end()
	}
}
