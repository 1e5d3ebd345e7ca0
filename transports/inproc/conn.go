package inproc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

// Conn is one participant of a Network. It implements transports.Conn,
// transports.Grapher, transports.Lifer and transports.Settler; its endpoints
// implement transports.Matched.
type Conn struct {
	net  *Network
	node string
	done chan struct{}

	// Guarded by net.mu.
	err       error
	endpoints map[endpoint]struct{}
	// ending are the receivers of closed endpoints whose callbacks may still run.
	ending map[*receiver]struct{}
}

// An endpoint is a publisher, subscription, server or client.
type endpoint interface {
	// describe says what it is, but for the node; net.mu is held.
	describe() transports.Endpoint
	// leave takes the endpoint off the graph, refuses what comes later with
	// err, and returns the calls that end by it; net.mu is held.
	leave(err error) []outcome
	// receiver is where its callbacks run, nil where it has none.
	receiver() *receiver
}

// declare opens an endpoint under name with the network's lock held.
func (c *Conn) declare(ctx context.Context, name string, open func(name string) endpoint) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	name, err := transports.Resolve(name)
	if err != nil {
		return err
	}
	if err := transports.CheckROSName(name); err != nil {
		return err
	}
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	c.endpoints[open(name)] = struct{}{}
	c.net.changed.fire()
	return nil
}

// end closes one endpoint.
func (c *Conn) end(e endpoint) {
	c.net.mu.Lock()
	var ended []outcome
	r := e.receiver()
	if _, open := c.endpoints[e]; open {
		delete(c.endpoints, e)
		ended = e.leave(transports.ErrClosed)
		for r := range c.ending {
			if r.isIdle() {
				delete(c.ending, r)
			}
		}
		if r != nil {
			c.ending[r] = struct{}{}
		}
		c.net.changed.fire()
	}
	c.net.mu.Unlock()
	finish(ended)
	if r != nil {
		join(r)
	}
}

// leave ends the Conn with err, if it has not ended.
func (c *Conn) leave(err error) {
	c.net.mu.Lock()
	if c.err != nil {
		c.net.mu.Unlock()
		return
	}
	c.err = err
	var ended []outcome
	for e := range c.endpoints {
		if r := e.receiver(); r != nil {
			c.ending[r] = struct{}{}
		}
		ended = append(ended, e.leave(err)...)
	}
	clear(c.endpoints)
	delete(c.net.conns, c)
	close(c.done)
	c.net.changed.fire()
	c.net.mu.Unlock()
	finish(ended)
	if c.net.emptied != nil {
		c.net.emptied()
	}
}

// Sever loses the link as if it had died: Done is closed, Err is a
// *transports.LinkError with reason, the peers see the participant leave,
// nothing is delivered to it or from it any more, and its pending calls end
// with the LinkError. A nil reason reads "severed". It does not wait for sinks
// that run, and does nothing to a Conn that has ended.
func (c *Conn) Sever(reason error) {
	if reason == nil {
		reason = errors.New("severed")
	}
	c.leave(&transports.LinkError{Peer: "inproc", Err: reason})
}

// Close implements transports.Conn.
func (c *Conn) Close() error {
	c.leave(transports.ErrClosed)
	c.net.mu.Lock()
	receivers := slices.Collect(maps.Keys(c.ending))
	c.net.mu.Unlock()
	join(receivers...)
	return nil
}

// Done implements transports.Conn.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err implements transports.Conn.
func (c *Conn) Err() error {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	return c.err
}

// Encoding is msgs.Raw.
func (c *Conn) Encoding() string { return msgs.Raw }

// Graph implements transports.Grapher. A Conn that has ended sees nobody.
func (c *Conn) Graph() (transports.Graph, <-chan struct{}) { return c.net.graph(c) }

// Life implements transports.Lifer: the publishers in the graph are known
// exactly, this Conn's own among them. A Conn that has ended cannot tell.
func (c *Conn) Life(name string) measure.Life {
	name, err := transports.Resolve(name)
	n := 0
	c.net.mu.Lock()
	if c.err != nil {
		err = c.err
	}
	if t := c.net.topics[name]; t != nil {
		n = len(t.publishers)
	}
	c.net.mu.Unlock()
	if err != nil {
		return measure.Life{Sign: err.Error()}
	}
	life := measure.Life{State: measure.LifeShown, At: time.Now()}
	switch n {
	case 0:
		life.State, life.Sign = measure.LifeNone, "no publisher in the graph"
	case 1:
		life.Sign = "1 publisher in the graph"
	default:
		life.Sign = fmt.Sprintf("%d publishers in the graph", n)
	}
	return life
}

// Settle implements transports.Settler.
func (c *Conn) Settle() { c.net.settle() }
