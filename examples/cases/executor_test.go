package cases_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

// executor runs a simulated node as a single-threaded executor of ROS 2 does:
// one callback at a time. Its goroutines end with its graph.
type executor struct {
	*harness.Graph
	tb fixtures.TB
	mu sync.Mutex
	wg sync.WaitGroup
}

// trouble fails the spec, unless it is only that the node has left.
func (e *executor) trouble(err error) {
	if err != nil && !errors.Is(err, harness.ErrClosed) && !errors.Is(err, transports.ErrClosed) {
		e.tb.Errorf("simulated node: %v", err)
	}
}

// onMessage calls f for every message on topic.
func onMessage[T any](e *executor, topic string, f func(T), opts ...harness.Option) {
	s, err := harness.Subscribe[T](context.Background(), e.Graph, topic, append(opts, harness.JSON[T]())...)
	if err != nil {
		e.trouble(err)
		return
	}
	messages := s.ListenReliable(context.Background())
	e.wg.Go(func() {
		for m, err := range messages {
			if err != nil {
				e.trouble(err)
				continue
			}
			e.call(func() { f(m.Value) })
		}
	})
}

// publisher returns what publishes on topic.
func publisher[T any](e *executor, topic string, opts ...harness.Option) func(T) {
	p, err := harness.Advertise[T](context.Background(), e.Graph, topic, append(opts, harness.JSON[T]())...)
	if err != nil {
		e.trouble(err)
		return func(T) {}
	}
	return func(v T) {
		_, err := p.Publish(context.Background(), v)
		e.trouble(err)
	}
}

// every calls f each period, first after one.
func (e *executor) every(period time.Duration, f func()) {
	e.wg.Go(func() {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				e.call(f)
			case <-e.Done():
				return
			}
		}
	})
}

// after, in a callback, calls f once: d later, or now if d is 0.
func (e *executor) after(d time.Duration, f func()) {
	if d == 0 {
		f()
		return
	}
	e.wg.Go(func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			e.call(f)
		case <-e.Done():
		}
	})
}

func (e *executor) call(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Err() == nil {
		f()
	}
}

// crash makes the node leave, as if its process had died.
func (e *executor) crash() { _ = e.Close() } // nobody is left to tell

// client calls a service.
func client[Req, Resp any](e *executor, service string, srv msgs.Service[Req, Resp]) *harness.Client[Req, Resp] {
	c, err := harness.NewClient(context.Background(), e.Graph, service, srv)
	e.trouble(err)
	return c
}
