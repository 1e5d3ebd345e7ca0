package inproc

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/transports"
)

// A service is who serves and calls under one name.
type service struct {
	servers []*server
	clients []*client
}

func (s *service) rematch() {
	served := make([]int, len(s.servers))
	for _, c := range s.clients {
		c.servers = nil
		for i, srv := range s.servers {
			if meet(srv.self.Type, c.self.Type) {
				c.servers = append(c.servers, srv)
				served[i]++
			}
		}
		c.set(len(c.servers))
	}
	for i, srv := range s.servers {
		srv.set(served[i])
	}
}

func (n *Network) dropService(name string, s *service) {
	if len(s.servers) == 0 && len(s.clients) == 0 {
		delete(n.services, name)
	}
}

type server struct {
	counterparts
	conn *Conn
	self transports.Endpoint
	r    *receiver
	err  error // guarded by net.mu
}

// Serve implements transports.Conn.
func (c *Conn) Serve(ctx context.Context, name string, t transports.Type, handle func(transports.Request)) (transports.Closer, error) {
	s := &server{conn: c, counterparts: counterparts{net: c.net}}
	s.r = newReceiver(func(d *delivery) {
		r := &request{call: d.call, server: s, seq: d.sample.Seq}
		handle(transports.Request{Sample: d.sample, Reply: r.reply, Fail: r.fail})
	})
	err := c.declare(ctx, name, func(name string) endpoint {
		s.self = transports.Endpoint{Kind: transports.ServerEndpoint, Name: name, Type: t, ID: c.net.id()}
		service := c.net.service(name)
		service.servers = append(service.servers, s)
		service.rematch()
		return s
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close implements transports.Closer.
func (s *server) Close() error {
	s.conn.end(s)
	return nil
}

func (s *server) describe() transports.Endpoint { return s.self }
func (s *server) receiver() *receiver           { return s.r }

// leave ends the calls that only this server could still have answered.
func (s *server) leave(err error) (ended []outcome) {
	s.err = err
	s.r.shut()
	service := s.net.services[s.self.Name]
	service.servers = without(service.servers, s)
	service.rematch()
	s.net.dropService(s.self.Name, service)
	s.set(0)
	for _, c := range service.clients {
		for call := range c.pending {
			if !slices.Contains(call.servers, s) {
				continue
			}
			if call.waiting--; call.waiting == 0 {
				ended = append(ended, outcome{call: call, err: transports.ErrNoResponder})
			}
		}
	}
	return ended
}

type client struct {
	counterparts
	conn *Conn
	self transports.Endpoint
	r    *receiver
	to   []*receiver

	requests lane
	seq      uint64 // guarded by requests.mu
	replies  lane

	// Guarded by net.mu.
	err     error
	servers []*server
	pending map[*call]struct{}
}

// Client implements transports.Conn.
func (c *Conn) Client(ctx context.Context, name string, t transports.Type) (transports.Client, error) {
	cl := &client{conn: c, counterparts: counterparts{net: c.net}, pending: make(map[*call]struct{})}
	cl.requests.net, cl.replies.net = c.net, c.net
	cl.r = newReceiver(func(d *delivery) { d.call.end(d.sample, d.err) })
	cl.to = []*receiver{cl.r}
	err := c.declare(ctx, name, func(name string) endpoint {
		cl.self = transports.Endpoint{Kind: transports.ClientEndpoint, Name: name, Type: t, ID: c.net.id()}
		c.net.lanes[&cl.requests] = struct{}{}
		c.net.lanes[&cl.replies] = struct{}{}
		service := c.net.service(name)
		service.clients = append(service.clients, cl)
		service.rematch()
		return cl
	})
	if err != nil {
		return nil, err
	}
	return cl, nil
}

// Call implements transports.Client.
func (c *client) Call(ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	call := &call{client: c, done: done}
	c.net.mu.Lock()
	if err := c.err; err != nil {
		c.net.mu.Unlock()
		return err
	}
	call.servers, call.waiting = c.servers, len(c.servers)
	c.pending[call] = struct{}{}
	call.stop = context.AfterFunc(ctx, func() {
		deliver(c.r, &delivery{call: call, err: context.Cause(ctx)})
	})
	c.net.mu.Unlock()

	if len(call.servers) == 0 {
		deliver(c.r, &delivery{call: call, err: transports.ErrNoResponder})
		return nil
	}
	if err := c.requests.lock(ctx); err != nil {
		return call.unsent(err)
	}
	c.seq++
	now := time.Now()
	to := make([]*receiver, len(call.servers))
	for i, s := range call.servers {
		to[i] = s.r
	}
	c.requests.hand(delivery{call: call, to: to, sample: transports.Sample{
		Payload:  slices.Clone(payload),
		Topic:    c.self.Name,
		Received: now, Sent: now,
		Seq: c.seq, HasSeq: true,
		Publisher: c.self.ID,
	}})
	return nil
}

// Close implements transports.Client: pending calls end with ErrClosed.
func (c *client) Close() error {
	c.conn.end(c)
	return nil
}

func (c *client) describe() transports.Endpoint { return c.self }
func (c *client) receiver() *receiver           { return c.r }

func (c *client) leave(err error) (ended []outcome) {
	c.err = err
	for call := range c.pending {
		ended = append(ended, outcome{call: call, err: err, counted: true})
	}
	c.r.state.Add(int64(len(ended)))
	c.r.shut()
	service := c.net.services[c.self.Name]
	service.clients = without(service.clients, c)
	service.rematch()
	c.net.dropService(c.self.Name, service)
	c.servers = nil
	c.set(0)
	c.requests.end(err)
	c.replies.end(err)
	return ended
}

// A call waits for its first answer.
type call struct {
	client  *client
	done    func(transports.Sample, error)
	claimed atomic.Bool

	// Guarded by net.mu. waiting is how many of servers may still answer.
	servers []*server
	waiting int
	stop    func() bool
}

// claim makes the caller the one who ends the call.
func (c *call) claim() bool {
	if !c.claimed.CompareAndSwap(false, true) {
		return false
	}
	c.client.net.mu.Lock()
	defer c.client.net.mu.Unlock()
	delete(c.client.pending, c)
	c.stop()
	return true
}

// unsent is what Call returns for a request that did not go out: nothing where
// done has said so already.
func (c *call) unsent(err error) error {
	if c.claim() {
		return err
	}
	return nil
}

func (c *call) end(s transports.Sample, err error) {
	if c.claim() {
		c.done(s, err)
	}
}

// An outcome is a call that ends without a reply.
type outcome struct {
	call *call
	err  error
	// counted is that the call's receiver has been shut by the client's leaving,
	// and has counted this last callback before.
	counted bool
}

// finish ends calls, also the rest where a done panics.
func finish(ended []outcome) {
	if len(ended) == 0 {
		return
	}
	defer finish(ended[1:])
	o := ended[0]
	r, d := o.call.client.r, &delivery{call: o.call, err: o.err}
	if o.counted {
		callback(r, d)
	} else {
		deliver(r, d)
	}
}

// A request is what one server holds of a call.
type request struct {
	call     *call
	server   *server
	seq      uint64
	answered atomic.Bool
}

func (r *request) reply(payload []byte) error {
	now := time.Now()
	return r.answer(delivery{sample: transports.Sample{
		Payload:  slices.Clone(payload),
		Topic:    r.server.self.Name,
		Received: now, Sent: now,
		Seq: r.seq, HasSeq: true,
		Publisher: r.server.self.ID,
	}})
}

func (r *request) fail(reason string) error {
	return r.answer(delivery{err: &transports.RemoteError{Service: r.server.self.Name, Reason: reason}})
}

// answer hands the end of the call to its client. Where the client has left or
// had another answer, it goes nowhere.
func (r *request) answer(d delivery) error {
	if !r.answered.CompareAndSwap(false, true) {
		return transports.ErrAnswered
	}
	r.server.net.mu.Lock()
	err := r.server.err
	r.server.net.mu.Unlock()
	if err != nil {
		return err
	}
	replies := &r.call.client.replies
	nowhere := r.call.claimed.Load() || replies.lock(context.Background()) != nil
	if nowhere {
		return nil
	}
	d.call, d.to = r.call, r.call.client.to
	replies.hand(d)
	return nil
}
