package harness

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/robospec/robospec/internal/oneline"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

// Server is a subscription of requests: each message is a *Responder, which is
// answered when the spec wants to: at once, later, in any order, or never.
//
// Unlike those of other subscriptions, its WaitForNext and ListenReliable are
// armed by Serve and share one position: each request is handed out once,
// however late the loop that answers them starts.
type Server[Req, Resp any] struct {
	*Subscription[*Responder[Req, Resp]]
	requests *Reader[*Responder[Req, Resp]]
}

// WaitForNext returns the first request that was not handed out yet.
func (s *Server[Req, Resp]) WaitForNext(ctx context.Context) (Message[*Responder[Req, Resp]], error) {
	return s.requests.WaitForNext(ctx)
}

// ListenReliable ranges over the requests that were not handed out yet.
func (s *Server[Req, Resp]) ListenReliable(ctx context.Context) iter.Seq2[Message[*Responder[Req, Resp]], error] {
	return s.requests.ListenReliable(ctx)
}

// Responder is one request. It is safe for use by several goroutines.
type Responder[Req, Resp any] struct {
	Request Req

	name  string
	codec msgs.Codec[Resp]
	req   transports.Request
	tl    *Timeline

	mu       sync.Mutex
	answered bool
}

// Serve declares a server. ctx bounds the call. Errors are as of Subscribe. A
// request that does not decode is kept, and refused with the reason.
func Serve[Req, Resp any](ctx context.Context, g *Graph, service string, srv msgs.Service[Req, Resp], opts ...Option) (*Server[Req, Resp], error) {
	fail := func(err error) (*Server[Req, Resp], error) {
		return nil, fmt.Errorf("serve %s: %w", service, closed(err))
	}
	name, reqCodec, respCodec, err := serviceOf(g, service, srv)
	if err != nil {
		return fail(err)
	}
	s := newSubscription[*Responder[Req, Resp]](g, name, g.options(opts))
	s.log.lives = func() measure.Life {
		m, ok := s.remote.(transports.Matched)
		if !ok {
			return measure.Life{Sign: "this wire does not show clients"}
		}
		if n, _ := m.Matched(); n > 0 {
			return measure.Life{State: measure.LifeShown, At: time.Now(), Sign: fmt.Sprintf("%d clients in the graph", n)}
		}
		return measure.Life{State: measure.LifeNone, At: time.Now(), Sign: "no client in the graph"}
	}
	s.log.self.Kind, s.log.self.Type = transports.ServerEndpoint, transports.Type{Name: srv.Name, Hash: srv.Hash}
	s.log.peers = func() peers { return g.view.peersOf(s.log.self, s.remote) }
	handle := func(r transports.Request) {
		m := Message[*Responder[Req, Resp]]{Topic: r.Topic, Received: r.Received, Sent: r.Sent, Seq: r.Seq, hasSeq: r.HasSeq,
			Publisher: r.Publisher, Size: len(r.Payload)}
		v, err := reqCodec.Decode(r.Payload)
		if err != nil {
			m.err = &MessageError{Topic: name, Size: len(r.Payload), Err: err}
			_ = r.Fail("the request does not decode: " + err.Error()) // a client that left hears nothing
		} else {
			m.Value = &Responder[Req, Resp]{Request: v, name: name, codec: respCodec, req: r, tl: g.tl}
		}
		s.log.add(&m)
	}
	c, err := g.conn.Serve(ctx, name, s.log.self.Type, handle)
	if err != nil {
		return fail(err)
	}
	s.remote, s.release = c, c.Close
	if err := s.begin(); err != nil {
		_ = c.Close() // the graph's end is the error to tell
		return fail(err)
	}
	return &Server[Req, Resp]{s, s.FromStart()}, nil
}

func serviceOf[Req, Resp any](g *Graph, service string, srv msgs.Service[Req, Resp]) (string, msgs.Codec[Req], msgs.Codec[Resp], error) {
	name, err := transports.Resolve(service)
	if err != nil {
		return "", nil, nil, err
	}
	var req, resp options
	if srv.Request != nil {
		req.codec = srv.Request
	}
	if srv.Response != nil {
		resp.codec = srv.Response
	}
	reqCodec, err := codecOf[Req](req, g.conn.Encoding())
	if err != nil {
		return "", nil, nil, fmt.Errorf("request: %w", err)
	}
	respCodec, err := codecOf[Resp](resp, g.conn.Encoding())
	if err != nil {
		return "", nil, nil, fmt.Errorf("response: %w", err)
	}
	return name, reqCodec, respCodec, nil
}

// Reply answers the request. It is a stimulus. A second answer is ErrAnswered,
// and no stimulus.
func (r *Responder[Req, Resp]) Reply(resp Resp) (Mark, error) {
	b, err := r.codec.Append(nil, resp)
	if err != nil {
		return Mark{}, fmt.Errorf("reply of %s: %w", r.name, err)
	}
	return r.answer("reply of", func() error { return r.req.Reply(b) })
}

// Fail refuses the request with a reason. It is an answer as Reply is.
func (r *Responder[Req, Resp]) Fail(reason string) (Mark, error) {
	return r.answer("refusal of", func() error { return r.req.Fail(reason) })
}

func (r *Responder[Req, Resp]) answer(verb string, send func() error) (Mark, error) {
	r.mu.Lock()
	again := r.answered
	r.answered = true
	r.mu.Unlock()
	if again {
		return Mark{}, fmt.Errorf("%s %s: %w", verb, r.name, ErrAnswered)
	}
	m := r.tl.stimulus(verb, r.name)
	if err := send(); err != nil {
		err = fmt.Errorf("%s %s: %w", verb, r.name, closed(err))
		r.tl.Failed(m, err)
		return m, err
	}
	return m, nil
}

// Answered reports whether the request was answered.
func (r *Responder[Req, Resp]) Answered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered
}

// GomegaString prints the request in one line; one that nobody answered says
// so.
func (r *Responder[Req, Resp]) GomegaString() string {
	if r.Answered() {
		return "request " + oneline.Print(r.Request)
	}
	return "request " + oneline.Print(r.Request) + " (not answered)"
}
