package harness

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/robospec/robospec/internal/stack"
)

// Stream publishes at a fixed rate until it is stopped. Starting, changing and
// stopping it are stimuli; its publishes are not. It is safe for use by several
// goroutines.
type Stream[T any] struct {
	p       *Publisher[T]
	start   Mark
	cancel  context.CancelFunc
	done    chan struct{}
	stopped sync.Once

	mu      sync.Mutex
	f       func(i int) T
	err     error
	skipped uint64
}

// Every publishes f(0) now and f(k) k periods later, never drifting. What
// falls due while one publish is late is skipped and counted, so that a stall
// makes no burst. A publish that fails ends the stream, see Err, and makes what
// is counted from its start inconclusive. It panics if period is not positive,
// as time.NewTicker does. The creator stops it, or Close of the publisher does.
func (p *Publisher[T]) Every(period time.Duration, f func(i int) T) *Stream[T] {
	if period <= 0 {
		panic("harness: Every wants a positive period")
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Stream[T]{p: p, cancel: cancel, done: make(chan struct{}), f: f}
	p.shared.mu.Lock()
	closed := p.shared.closed
	if !closed {
		p.shared.streams[s] = struct{}{}
	}
	p.shared.mu.Unlock()
	s.start = p.g.tl.stimulus("start of a stream on", p.name)
	if closed {
		s.fail(ErrClosed)
		close(s.done)
		return s
	}
	go func() {
		defer close(s.done)
		inStream(func() { s.run(ctx, period) })
	}()
	return s
}

// inStream is on the stack of every stream; insideStream looks for it, so that
// one may be stopped from its own f, or from a callback that its publish runs.
//
//go:noinline
func inStream(run func()) { run() }

func insideStream() bool { return stack.Has(stack.Name(inStream)) }

func (s *Stream[T]) run(ctx context.Context, period time.Duration) {
	begin := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for k := int64(0); ; {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		f := s.f
		s.mu.Unlock()
		v := f(int(k))
		if ctx.Err() != nil {
			return
		}
		if err := s.p.send(ctx, v, s.start); err != nil {
			if ctx.Err() == nil {
				s.fail(err)
			}
			return
		}
		k++
		if due := int64(time.Since(begin) / period); due > k {
			s.mu.Lock()
			s.skipped += uint64(due - k)
			s.mu.Unlock()
			k = due
		}
		timer.Reset(time.Until(begin.Add(time.Duration(k) * period)))
	}
}

func (s *Stream[T]) fail(err error) {
	s.mu.Lock()
	s.err = err
	s.mu.Unlock()
	s.p.g.tl.Failed(s.start, err)
}

// Mark is the stimulus that started the stream.
func (s *Stream[T]) Mark() Mark { return s.start }

// Set changes what is published from the next tick on. It is a stimulus.
func (s *Stream[T]) Set(f func(i int) T) Mark {
	m := s.p.g.tl.stimulus("change of the stream on", s.p.name)
	s.mu.Lock()
	s.f = f
	s.mu.Unlock()
	return m
}

// Stop ends the stream: when it returns nothing more is published. It is a
// stimulus, the first time. Called from f or from what a stream's publish calls,
// it does not wait for a publish that another stream has under way.
func (s *Stream[T]) Stop() Mark {
	var m Mark
	s.stopped.Do(func() {
		m = s.p.g.tl.stimulus("stop of the stream on", s.p.name)
	})
	if m.IsZero() {
		m = s.p.g.tl.Now()
	}
	s.end()
	return m
}

// end ends the stream as Stop does, without being a stimulus.
func (s *Stream[T]) end() {
	s.stopped.Do(func() {})
	s.cancel()
	if !insideStream() {
		<-s.done
	}
	s.p.shared.mu.Lock()
	delete(s.p.shared.streams, s)
	s.p.shared.mu.Unlock()
}

// Err is why the stream ended by itself, nil if it did not.
func (s *Stream[T]) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Skipped is how many ticks were skipped since a publish was late.
func (s *Stream[T]) Skipped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.skipped
}

// GomegaString prints the stream in one line.
func (s *Stream[T]) GomegaString() string {
	return fmt.Sprintf("stream on %s, started at %s, %d ticks skipped", s.p.name, s.p.g.tl.since(s.start.at), s.Skipped())
}
