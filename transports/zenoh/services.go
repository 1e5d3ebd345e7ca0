package zenoh

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

type server struct {
	c      *Conn
	key    string
	handle func(transports.Request)
	open   closer
	closed atomic.Bool
}

// Serve implements transports.Conn. The type goes nowhere.
func (c *Conn) Serve(ctx context.Context, service string, _ transports.Type, handle func(transports.Request)) (transports.Closer, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	key, err := concreteKey(service)
	if err != nil {
		return nil, err
	}
	v := &server{c: c, key: key, handle: handle}
	if err := v.declare(ctx, c.s); err != nil {
		v.open.close()
		return nil, fmt.Errorf("serve /%s: %w", key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers[v] = struct{}{}
	for cl := range c.clients {
		cl.countsOwn(v, 1)
	}
	return v, nil
}

func (v *server) declare(ctx context.Context, s *session.Session) error {
	q, err := s.Queryable(ctx, v.key, true, v.ask)
	if err != nil {
		return err
	}
	id := wire.EntityID{ZID: s.ZID(), EID: s.NewID()}
	t, err := s.Token(ctx, token{id: id, key: v.key}.text(srvTokens))
	if err != nil {
		q.Close()
		return err
	}
	v.open.add(t.Close)
	v.open.add(q.Close) // goes first: without its queryable a token counts nothing
	return s.Barrier(ctx)
}

func (v *server) ask(r *session.Request) {
	var answered atomic.Bool
	answer := func(give func() error) error {
		if answered.Swap(true) {
			return transports.ErrAnswered
		}
		err := give()
		if errors.Is(err, session.ErrFinished) {
			return transports.ErrClosed // the server was closed meanwhile
		}
		r.Finish()
		return err
	}
	v.handle(transports.Request{
		Sample: transports.Sample{
			Payload:   r.Payload,
			Topic:     "/" + v.key,
			Received:  r.Received,
			Seq:       uint64(r.Source.SN),
			HasSeq:    !r.Source.IsZero(),
			Publisher: publisherID(r.Source.EntityID),
		},
		Reply: func(payload []byte) error {
			return answer(func() error { return r.Reply(v.key, session.Put{Payload: payload}, wire.SourceInfo{}) })
		},
		Fail: func(reason string) error {
			return answer(func() error { return r.Refuse([]byte(reason)) })
		},
	})
}

// Close implements transports.Closer. Calls that were not answered end as if
// nobody served.
func (v *server) Close() error {
	if v.closed.Swap(true) {
		return nil
	}
	c := v.c
	c.mu.Lock()
	delete(c.servers, v)
	for cl := range c.clients {
		cl.countsOwn(v, -1)
	}
	c.mu.Unlock()
	v.open.close()
	return nil
}

type client struct {
	counterparts
	c    *Conn
	s    *session.Session
	key  string
	open closer

	callsMu sync.Mutex
	calls   map[*call]struct{} // nil when closed
}

// A call waits for its first answer.
type call struct {
	ended  atomic.Bool
	cancel context.CancelCauseFunc
}

// Client implements transports.Conn. The type goes nowhere.
func (c *Conn) Client(ctx context.Context, service string, _ transports.Type) (transports.Client, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	key, err := concreteKey(service)
	if err != nil {
		return nil, err
	}
	cl := &client{c: c, s: c.s, key: key, calls: map[*call]struct{}{}}
	cl.init(srvTokens, c.s.ZID(), func(token) bool { return true })
	cl.declared = map[string]bool{}
	if err := cl.declare(ctx); err != nil {
		cl.open.close()
		return nil, fmt.Errorf("declare a client of /%s: %w", key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients[cl] = struct{}{}
	for v := range c.servers {
		cl.countsOwn(v, 1)
	}
	return cl, nil
}

// countsOwn takes note of a server of this Conn that comes (1) or goes (-1).
func (cl *client) countsOwn(v *server, n int) {
	if v.key == cl.key {
		cl.addLocal(n)
	}
}

func (cl *client) declare(ctx context.Context) error {
	queryables, err := cl.s.Watch(ctx, session.Queryables, wire.InterestCurrentFuture, cl.key, cl.shown)
	if err != nil {
		return err
	}
	cl.open.add(queryables.Close)
	at, err := tokensOn(srvTokens, cl.key)
	if err != nil {
		return err
	}
	tokens, err := cl.s.Watch(ctx, session.Tokens, wire.InterestCurrentFuture, at, func(e session.Event) { cl.toldBy(e) })
	if err != nil {
		return err
	}
	cl.open.add(tokens.Close)
	if err := queryables.Wait(ctx); err != nil {
		return err
	}
	return tokens.Wait(ctx)
}

// Call implements transports.Client. A call without a deadline waits for ever.
func (cl *client) Call(ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	inner, cancel := context.WithCancelCause(ctx)
	k := &call{cancel: cancel}
	cl.callsMu.Lock()
	if cl.calls == nil {
		cl.callsMu.Unlock()
		cancel(nil)
		return transports.ErrClosed
	}
	cl.calls[k] = struct{}{}
	cl.callsMu.Unlock()
	end := func(s transports.Sample, err error) {
		if k.ended.Swap(true) {
			return
		}
		cl.forget(k)
		if err != nil {
			err = fmt.Errorf("call /%s: %w", cl.key, err)
		}
		done(s, err)
	}
	err := cl.s.Get(inner, session.Query{Key: cl.key, Target: wire.TargetAll, Payload: payload},
		func(r *session.Reply) {
			if r.Err {
				end(transports.Sample{}, &transports.RemoteError{Service: "/" + cl.key, Reason: string(r.Payload)})
				return
			}
			end(transports.Sample{
				Payload:   r.Payload,
				Topic:     "/" + r.Key,
				Received:  r.Received,
				Seq:       uint64(r.Source.SN),
				HasSeq:    !r.Source.IsZero(),
				Publisher: publisherID(r.Source.EntityID),
			}, nil)
		},
		func(err error) { end(transports.Sample{}, err) })
	if err != nil {
		cl.forget(k)
		return fmt.Errorf("call /%s: %w", cl.key, err)
	}
	return nil
}

// forget ends a call on the wire: later answers go nowhere.
func (cl *client) forget(k *call) {
	cl.callsMu.Lock()
	delete(cl.calls, k)
	cl.callsMu.Unlock()
	k.cancel(nil)
}

// Close implements transports.Client: pending calls end with ErrClosed.
func (cl *client) Close() error {
	cl.callsMu.Lock()
	calls := cl.calls
	cl.calls = nil
	cl.callsMu.Unlock()
	for k := range calls {
		k.cancel(transports.ErrClosed)
	}
	cl.c.mu.Lock()
	delete(cl.c.clients, cl)
	cl.c.mu.Unlock()
	cl.open.close()
	return nil
}
