package harness_test

import (
	"context"
	"sync"
	"time"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

// fakeConn is a wire whose reader the test is.
type fakeConn struct {
	mu   sync.Mutex
	sink func(transports.Sample)
	done chan struct{}
	err  error
	// publish is what Publish of its publishers does.
	publish func() error
}

func newFake() *fakeConn { return &fakeConn{done: make(chan struct{})} }

// deliver hands a message that was stamped at an instant to the sink, now.
func (c *fakeConn) deliver(received time.Time, text string) {
	c.sink(transports.Sample{Payload: []byte(text), Topic: "/x", Received: received})
}

func (c *fakeConn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.done)
	}
}

func (c *fakeConn) Subscribe(_ context.Context, _ string, _ transports.Type, _ transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
	c.sink = sink
	return fakeEnd{}, nil
}

func (c *fakeConn) Advertise(context.Context, string, transports.Type, transports.QoS) (transports.Publisher, error) {
	return fakeEnd{c}, nil
}

func (c *fakeConn) Serve(context.Context, string, transports.Type, func(transports.Request)) (transports.Closer, error) {
	panic("not asked for")
}

func (c *fakeConn) Client(context.Context, string, transports.Type) (transports.Client, error) {
	panic("not asked for")
}
func (c *fakeConn) Encoding() string      { return msgs.Raw }
func (c *fakeConn) Done() <-chan struct{} { return c.done }

func (c *fakeConn) Close() error {
	c.end(transports.ErrClosed)
	return nil
}

func (c *fakeConn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

type fakeEnd struct{ c *fakeConn }

func (fakeEnd) Close() error { return nil }

func (e fakeEnd) Publish(context.Context, []byte) error { return e.c.publish() }

// settling is a wire with a reader that can be waited for.
type settling struct {
	*fakeConn
	settle func()
}

func (c settling) Settle() { c.settle() }

// living is a wire that tells who lives.
type living struct {
	*fakeConn
	life measure.Life
}

func (c living) Life(string) measure.Life { return c.life }
