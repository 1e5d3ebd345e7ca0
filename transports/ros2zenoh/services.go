package ros2zenoh

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

type server struct {
	c      *Conn
	name   string
	key    string
	handle func(transports.Request)
	open   closer
	closed atomic.Bool
}

// Serve implements transports.Conn. Both parts of the type are needed. A request
// without an attachment is refused, and the handler does not see it: its answer
// could not be told apart by a ROS 2 client.
func (c *Conn) Serve(ctx context.Context, service string, t transports.Type, handle func(transports.Request)) (transports.Closer, error) {
	name, err := c.begin(ctx, service)
	if err != nil {
		return nil, err
	}
	v := &server{c: c, name: name, handle: handle}
	if err := v.declare(ctx, c.hashed(t)); err != nil {
		v.open.close()
		return nil, fmt.Errorf("serve %s: %w", name, err)
	}
	return v, nil
}

func (v *server) declare(ctx context.Context, t transports.Type) (err error) {
	c := v.c
	if v.key, err = c.wholeKey(v.name, t); err != nil {
		return err
	}
	q, err := c.s.Queryable(ctx, v.key, true, v.ask)
	if err != nil {
		return err
	}
	v.open.add(q.Close)
	_, token := c.endpoint(servers, v.name, t, serviceQoS)
	tok, err := c.s.Token(ctx, token)
	if err != nil {
		return err
	}
	v.open.add(tok.Close) // goes first: without its queryable a token counts nothing
	return c.s.Barrier(ctx)
}

// serviceQoS is what servers and clients show.
var serviceQoS = transports.QoS{Reliability: transports.Reliable, Durability: transports.Volatile}

func (v *server) ask(r *session.Request) {
	a, err := parseAttachment(r.Attachment)
	if err != nil {
		v.c.note(fmt.Sprintf("request to %s: %v", v.name, err))
		if errors.Is(err, errOldAttachment) {
			v.c.speaksOld(v.name, a, "")
		}
		defer r.Finish()
		_ = r.Refuse(fmt.Appendf(nil, "request to %s refused by robospec: %v", v.name, err)) // the session ended: nobody waits any more
		return
	}
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
			Topic:     v.name,
			Received:  r.Received,
			Sent:      a.time(),
			Seq:       uint64(a.seq),
			HasSeq:    true,
			Publisher: a.gid,
		},
		Reply: func(payload []byte) error {
			return answer(func() error {
				// The number and the GID are the request's.
				echo := attachment{seq: a.seq, sent: time.Now().UnixNano(), gid: a.gid}
				return r.Reply(v.key, session.Put{Payload: payload, Attachment: echo.append(nil)}, wire.SourceInfo{})
			})
		},
		Fail: func(reason string) error {
			return answer(func() error { return r.Refuse([]byte(reason)) })
		},
	})
}

// Close implements transports.Closer. Calls that were not answered end as if
// nobody served.
func (v *server) Close() error {
	if !v.closed.Swap(true) {
		v.open.close()
	}
	return nil
}

type client struct {
	counterparts
	key  string
	gid  attachment // of each request but for number and time
	seq  atomic.Int64
	open closer

	callsMu sync.Mutex
	calls   map[*call]struct{} // nil when closed
}

// A call waits for its first answer.
type call struct {
	ended  atomic.Bool
	cancel context.CancelCauseFunc
}

// Client implements transports.Conn. Both parts of the type are needed.
func (c *Conn) Client(ctx context.Context, service string, t transports.Type) (transports.Client, error) {
	name, err := c.begin(ctx, service)
	if err != nil {
		return nil, err
	}
	cl := &client{calls: map[*call]struct{}{}}
	if err := cl.declare(ctx, c, name, c.hashed(t)); err != nil {
		cl.open.close()
		return nil, fmt.Errorf("declare a client of %s: %w", name, err)
	}
	return cl, nil
}

func (cl *client) declare(ctx context.Context, c *Conn, name string, t transports.Type) (err error) {
	if cl.key, err = c.wholeKey(name, t); err != nil {
		return err
	}
	self, token := c.endpoint(clients, name, t, serviceQoS)
	cl.gid.gid = self.gid
	tok, err := c.s.Token(ctx, token)
	if err != nil {
		return err
	}
	cl.open.add(tok.Close)
	cl.counterparts = counterparts{c: c, kind: servers, name: name, gated: true,
		suits: func(e *entity) bool { return e.typ == t }}
	cl.join()
	cl.open.add(cl.leave)
	queryables, err := c.s.Watch(ctx, session.Queryables, wire.InterestCurrentFuture, cl.key, cl.shown)
	if err != nil {
		return err
	}
	cl.open.add(queryables.Close)
	return queryables.Wait(ctx)
}

// Call implements transports.Client. A call without a deadline waits for ever.
// One that ends unanswered though a server was there says so.
func (cl *client) Call(ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := cl.refused(); err != nil {
		return fmt.Errorf("call %s: server of %w", cl.name, err)
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
	there, _ := cl.Matched()
	end := func(s transports.Sample, err error) {
		if k.ended.Swap(true) {
			return
		}
		cl.forget(k)
		switch {
		case there > 0 && errors.Is(err, transports.ErrNoResponder):
			err = fmt.Errorf("call %s: its server ended, or dropped the call, without an answer: %w", cl.name, err)
		case err != nil:
			err = fmt.Errorf("call %s: %w", cl.name, err)
		}
		done(s, err)
	}
	a := cl.gid
	a.seq, a.sent = cl.seq.Add(1), time.Now().UnixNano()
	err := cl.c.s.Get(inner, session.Query{Key: cl.key, Target: wire.TargetAllComplete, Payload: payload, Attachment: a.append(nil)},
		func(r *session.Reply) {
			if r.Err {
				end(transports.Sample{}, &transports.RemoteError{Service: cl.name, Reason: string(r.Payload)})
				return
			}
			end(cl.reply(r), nil)
		},
		func(err error) { end(transports.Sample{}, err) })
	if err != nil {
		cl.forget(k)
		return fmt.Errorf("call %s: %w", cl.name, err)
	}
	return nil
}

// reply is a reply with the stamps it carries. The GID in it is that of the
// client itself.
func (cl *client) reply(r *session.Reply) transports.Sample {
	a, err := parseAttachment(r.Attachment)
	if err != nil {
		cl.c.note(fmt.Sprintf("reply of %s: %v", cl.name, err))
		if errors.Is(err, errOldAttachment) {
			cl.c.speaksOld(cl.name, a, cl.onlyServer())
		}
	}
	return transports.Sample{Payload: r.Payload, Topic: cl.name, Received: r.Received, Sent: a.time(), Seq: uint64(a.seq), HasSeq: !a.gid.IsZero()}
}

// onlyServer is the session of the only server there is, "" when there are more:
// nothing in a reply says whose it is.
func (cl *client) onlyServer() (zid string) {
	cl.c.mu.Lock()
	defer cl.c.mu.Unlock()
	for _, e := range cl.c.graph.endpoints[cl.name] {
		if e.kind != servers {
			continue
		}
		if zid != "" && zid != e.zid {
			return ""
		}
		zid = e.zid
	}
	return zid
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
	if calls != nil {
		cl.open.close()
	}
	return nil
}
