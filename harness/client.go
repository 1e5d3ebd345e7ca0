package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/robospec/robospec/internal/oneline"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

// Client calls one service. It is safe for use by several goroutines.
type Client[Req, Resp any] struct {
	g      *Graph
	name   string
	self   transports.Endpoint // without node and identifier
	req    msgs.Codec[Req]
	resp   msgs.Codec[Resp]
	remote transports.Client
	life   context.Context
	end    context.CancelCauseFunc

	closeOnce sync.Once
	closeErr  error
}

// NewClient declares a client. ctx bounds the call. Errors are as of Subscribe.
// It does not wait for a server; WaitForServer does.
func NewClient[Req, Resp any](ctx context.Context, g *Graph, service string, srv msgs.Service[Req, Resp]) (*Client[Req, Resp], error) {
	fail := func(err error) (*Client[Req, Resp], error) {
		return nil, fmt.Errorf("client of %s: %w", service, closed(err))
	}
	name, reqCodec, respCodec, err := serviceOf(g, service, srv)
	if err != nil {
		return fail(err)
	}
	self := transports.Endpoint{Kind: transports.ClientEndpoint, Name: name, Type: transports.Type{Name: srv.Name, Hash: srv.Hash}}
	remote, err := g.conn.Client(ctx, name, self.Type)
	if err != nil {
		return fail(err)
	}
	c := &Client[Req, Resp]{g: g, name: name, self: self, req: reqCodec, resp: respCodec, remote: remote}
	c.life, c.end = context.WithCancelCause(context.Background())
	if err := g.own(c); err != nil {
		_ = remote.Close() // the graph's end is the error to tell
		return fail(err)
	}
	return c, nil
}

// WaitForServer waits until somebody serves.
func (c *Client[Req, Resp]) WaitForServer(ctx context.Context) error {
	return c.g.waitMatched(ctx, c.remote, c.self, c.life.Done(), "WaitForServer", 1)
}

func (c *Client[Req, Resp]) graphEnded(err error, _ Mark) { c.end(err) }

// Close ends the calls that still wait. It is idempotent.
func (c *Client[Req, Resp]) Close() error {
	c.closeOnce.Do(func() {
		c.end(ErrClosed)
		c.g.disown(c)
		c.closeErr = c.remote.Close()
	})
	return c.closeErr
}

// GomegaString prints the client in one line.
func (c *Client[Req, Resp]) GomegaString() string { return "client of " + c.name }

// Call sends a request and returns the call, to wait for or to put an
// expectation on. It is a stimulus. ctx bounds the sending, not the call, which
// lives until it is answered or the client is closed. That it could not be sent
// is an error of the call.
func (c *Client[Req, Resp]) Call(ctx context.Context, req Req) *Call[Resp] {
	call := &Call[Resp]{g: c.g, name: c.name, self: c.self, remote: c.remote, over: make(chan struct{})}
	call.sent = c.g.tl.stimulus("call of", c.name)
	b, err := c.req.Append(nil, req)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		life, cancel := context.WithCancelCause(c.life)
		stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		err = c.remote.Call(life, b, func(s transports.Sample, err error) {
			defer cancel(nil)
			var v Resp
			if err == nil {
				if v, err = c.resp.Decode(s.Payload); err != nil {
					err = &MessageError{Topic: c.name, Size: len(s.Payload), Err: err}
				}
			}
			call.finish(v, s.Received, err)
		})
		stop()
		if err != nil {
			cancel(err)
		}
	}
	if err != nil {
		err = fmt.Errorf("call of %s: %w", c.name, closed(err))
		c.g.tl.Failed(call.sent, err)
		call.finish(*new(Resp), time.Time{}, err)
	}
	return call
}

// Outcome is how something that was awaited ended.
type Outcome struct {
	// Began and Ended are its marks; Ended is stamped on receipt.
	Began, Ended Mark
	// Value is the reply, the exit code; meaningless when Err is set.
	Value any
	// Err is why there is no value.
	Err error
}

// Awaited is something that ends once and then has an outcome: a Call, a
// process.
type Awaited interface {
	// Began is what expectations on it count from; where that is the zero Mark
	// they count from the last stimulus if none followed it yet, else from the
	// call.
	Began() Mark
	// Ended is closed when it has ended.
	Ended() <-chan struct{}
	// Outcome is its outcome, false while it has not ended.
	Outcome() (Outcome, bool)
	// Timeline is the timeline it is on.
	Timeline() *Timeline
	// GomegaString names it, in one line.
	GomegaString() string
}

// Await begins an expectation of length d on a and waits until it ended or d is
// over. ok is false when it did not end in time, by its receive stamp; o is its
// outcome then too, if it came later. from is what d was counted from. An error
// is an *measure.Inconclusive or the end of the spec.
func Await(a Awaited, d time.Duration) (o Outcome, from Mark, ok bool, err error) {
	tl := a.Timeline()
	stim, first := tl.expect()
	from = a.Began()
	if from.IsZero() {
		if from = tl.Now(); first {
			from = stim
		}
	}
	until := tl.Context()
	end := from.at.Add(d)
	if err := tl.unhappened(from); err != nil {
		return o, from, false, err
	}
	if o, ok = a.Outcome(); !ok {
		timer := time.NewTimer(time.Until(end.Add(sealAfter)))
		defer timer.Stop()
		select {
		case <-a.Ended():
		case <-timer.C:
			if s, is := a.(interface{ Settle() }); is {
				s.Settle()
			}
		case <-until.Done():
			return o, from, false, context.Cause(until)
		}
		o, ok = a.Outcome()
	}
	return o, from, ok && !o.Ended.at.After(end), nil
}

// Call is one call of a service. It is safe for use by several goroutines.
type Call[Resp any] struct {
	g      *Graph
	name   string
	self   transports.Endpoint // the client
	remote transports.Client
	sent   Mark
	over   chan struct{}

	mu    sync.Mutex
	ended Mark
	value Resp
	err   error
}

func (c *Call[Resp]) finish(v Resp, received time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended.IsZero() {
		return
	}
	c.ended = c.g.tl.act("reply of", c.name)
	if !received.IsZero() {
		c.ended.at = received
	}
	c.value, c.err = v, closed(err)
	if err != nil {
		c.ended.verb = "failure of"
	}
	close(c.over)
}

// Settle is Graph.Settle.
func (c *Call[Resp]) Settle() { c.g.Settle() }

// Began is the stimulus of the call, marked before it was sent.
func (c *Call[Resp]) Began() Mark { return c.sent }

// Done is the mark of the reply, or of the failure, by its receive stamp; the
// zero Mark while the call has not ended.
func (c *Call[Resp]) Done() Mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Ended is closed when the call has its reply or has failed.
func (c *Call[Resp]) Ended() <-chan struct{} { return c.over }

// Timeline is the timeline the call is on.
func (c *Call[Resp]) Timeline() *Timeline { return c.g.tl }

// Outcome is the reply or the failure, false while there is neither.
func (c *Call[Resp]) Outcome() (Outcome, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Outcome{Began: c.sent, Ended: c.ended, Value: c.value, Err: c.err}, !c.ended.IsZero()
}

// Wait waits for the reply.
func (c *Call[Resp]) Wait(ctx context.Context) (Resp, error) {
	until := c.g.tl.Context()
	began := time.Now()
	var err error
	select {
	case <-c.over:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-until.Done():
		err = context.Cause(until)
	}
	c.mu.Lock()
	v, failed, ended := c.value, c.err, !c.ended.IsZero()
	c.mu.Unlock()
	if ended { // a reply of the same instant counts
		if failed == nil {
			return v, nil
		}
		err = failed
	}
	e := &WaitError{Op: "Wait", Topic: c.name, Waited: time.Since(began), Err: err}
	if !ended || errors.Is(err, transports.ErrNoResponder) {
		e.Cause = c.Cause()
	}
	return *new(Resp), e
}

// Cause says from the graph why there is no reply: nobody serves, nobody that
// the client can call, or somebody who has not answered. It is "" where the wire
// does not show its graph.
func (c *Call[Resp]) Cause() string {
	p := c.g.view.peersOf(c.self, c.remote)
	if !p.shown || p.why != "" {
		return p.why
	}
	return p.silent(c.name, "has not answered")
}

// GomegaString prints the call in one line.
func (c *Call[Resp]) GomegaString() string {
	o, ok := c.Outcome()
	switch {
	case !ok:
		return fmt.Sprintf("call of %s, not answered yet", c.name)
	case o.Err != nil:
		return fmt.Sprintf("call of %s, failed: %v", c.name, o.Err)
	}
	return fmt.Sprintf("call of %s, replied %v later: %s", c.name, o.Ended.at.Sub(o.Began.at).Round(time.Microsecond), oneline.Print(o.Value))
}
