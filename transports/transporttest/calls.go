package transporttest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/robospec/robospec/transports"
)

// serve declares a server that answers probes itself.
func (b *bench) serve(c transports.Conn, service string, handle func(transports.Request)) transports.Closer {
	b.Helper()
	s, err := c.Serve(b.Context(), service, transports.Type{}, func(r transports.Request) {
		if string(r.Payload) == probe {
			b.reply(r, "")
			return
		}
		handle(r)
	})
	if err != nil {
		b.Fatalf("Serve(%s): %v", service, err)
	}
	return s
}

func (b *bench) client(c transports.Conn, service string) transports.Client {
	b.Helper()
	cl, err := c.Client(b.Context(), service, transports.Type{})
	if err != nil {
		b.Fatalf("Client(%s): %v", service, err)
	}
	return cl
}

// served waits until n servers are there for cl; on a wire that cannot count
// them, until one answers.
func (b *bench) served(cl transports.Client, n int) {
	b.Helper()
	if !b.w.Lacks.Matched {
		b.counted(cl, n)
		return
	}
	b.await("a server to answer", func() (bool, <-chan struct{}) {
		ctx, cancel := context.WithTimeout(b.Context(), 10*absence)
		defer cancel()
		_, err := b.call(ctx, cl, probe).wait()
		return err == nil, nil
	})
}

// serving is a server on one Conn and its client on another.
func (b *bench) serving(handle func(transports.Request)) (server, caller transports.Conn, cl transports.Client) {
	b.Helper()
	server, caller = b.dial("server"), b.dial("caller")
	b.serve(server, b.name("service"), handle)
	cl = b.client(caller, b.name("service"))
	b.served(cl, 1)
	return server, caller, cl
}

// An answer is what a call came to.
type answer struct {
	b    *bench
	what string

	mu    sync.Mutex
	times int
	s     transports.Sample
	err   error
	ended chan struct{}
}

// call calls, and checks until the end of the case that done was called once
// at most.
func (b *bench) call(ctx context.Context, cl transports.Client, payload string) *answer {
	b.Helper()
	a := &answer{b: b, what: fmt.Sprintf("call %.40q", payload), ended: make(chan struct{})}
	if err := cl.Call(ctx, []byte(payload), a.done); err != nil {
		b.Fatalf("%s: %v", a.what, err)
	}
	return a
}

func (a *answer) done(s transports.Sample, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.times++; a.times > 1 {
		a.b.Errorf("%s: done was called %d times", a.what, a.times)
		return
	}
	a.s, a.err = s, err
	close(a.ended)
}

func (a *answer) wait() (transports.Sample, error) {
	a.b.Helper()
	a.b.closed(a.what+" to end", a.ended)
	return a.s, a.err
}

// is waits for the reply.
func (a *answer) is(want string) {
	a.b.Helper()
	if s, err := a.wait(); err != nil || string(s.Payload) != want {
		a.b.Errorf("%s: (%.40q, %v), want %.40q", a.what, s.Payload, err, want)
	}
}

// hold is a server that keeps its requests for the case to answer.
type hold struct {
	b        *bench
	mu       sync.Mutex
	requests []transports.Request
	changed  chan struct{}
}

func (b *bench) hold() *hold { return &hold{b: b, changed: make(chan struct{})} }

func (h *hold) handle(r transports.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, r)
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *hold) wait(n int) []transports.Request {
	h.b.Helper()
	var got []transports.Request
	h.b.await(fmt.Sprintf("%d requests", n), func() (bool, <-chan struct{}) {
		h.mu.Lock()
		defer h.mu.Unlock()
		got = h.requests
		return len(got) >= n, h.changed
	})
	return got
}

func (b *bench) reply(r transports.Request, payload string) {
	b.Helper()
	if err := r.Reply([]byte(payload)); err != nil {
		b.Errorf("Reply(%.40q): %v", payload, err)
	}
}

// replyToNobody answers a client that has left. Whether the wire knows that is
// its affair, but it is no second answer.
func (b *bench) replyToNobody(r transports.Request) {
	b.Helper()
	if err := r.Reply([]byte("to nobody")); errors.Is(err, transports.ErrAnswered) {
		b.Errorf("the first Reply, to a client that left: %v", err)
	}
}

func callAnswered(b *bench) {
	_, _, cl := b.serving(func(r transports.Request) {
		if r.Topic != b.name("service") {
			b.Errorf("a request came under %q", r.Topic)
		}
		if r.Received.IsZero() {
			b.Errorf("a request has no receive stamp")
		}
		b.reply(r, "re: "+string(r.Payload))
	})
	for i := range 100 {
		a := b.call(b.Context(), cl, fmt.Sprint(i))
		a.is(fmt.Sprint("re: ", i))
		if a.s.Received.IsZero() || a.s.Topic != b.name("service") {
			b.Errorf("a reply came under %q, received at %v", a.s.Topic, a.s.Received)
		}
	}
}

func callOutOfOrder(b *bench) {
	h := b.hold()
	_, _, cl := b.serving(h.handle)
	const n = 10
	var answers []*answer
	for i := range n {
		answers = append(answers, b.call(b.Context(), cl, fmt.Sprint(i)))
	}
	requests := h.wait(n)
	for i := range n {
		r := requests[n-1-i]
		b.reply(r, "re: "+string(r.Payload))
	}
	for i, a := range answers {
		a.is(fmt.Sprint("re: ", i))
	}
}

// callNeverAnswered ends by its context; the reply that comes too late goes
// nowhere, and the client lives on.
func callNeverAnswered(b *bench) {
	h := b.hold()
	_, _, cl := b.serving(h.handle)
	cause := errors.New("the spec had enough")
	ctx, cancel := context.WithCancelCause(b.Context())
	never := b.call(ctx, cl, "never")
	late := h.wait(1)[0]
	b.notClosed("a call ended without an answer", never.ended)
	cancel(cause)
	_, err := never.wait()
	b.fails("a call whose context ended", err, cause)
	b.replyToNobody(late)
	next := b.call(b.Context(), cl, "next")
	b.reply(h.wait(2)[1], "in time")
	next.is("in time")
}

func callClientLeft(b *bench) {
	h := b.hold()
	_, caller, cl := b.serving(h.handle)
	pending := b.call(b.Context(), cl, "pending")
	r := h.wait(1)[0]
	if err := cl.Close(); err != nil {
		b.Errorf("Close: %v", err)
	}
	_, err := pending.wait()
	b.fails("a call whose client was closed", err, transports.ErrClosed)
	b.fails("Call after Close", cl.Call(b.Context(), nil, func(transports.Sample, error) {
		b.Errorf("done was called for a request that was not sent")
	}), transports.ErrClosed)
	b.replyToNobody(r)
	other := b.client(caller, b.name("service"))
	b.served(other, 1)
	a := b.call(b.Context(), other, "other")
	b.reply(h.wait(2)[1], "here")
	a.is("here")
}

func callSecondAnswer(b *bench) {
	h := b.hold()
	_, _, cl := b.serving(h.handle)
	a := b.call(b.Context(), cl, "x")
	r := h.wait(1)[0]
	b.reply(r, "first")
	b.fails("a second Reply", r.Reply([]byte("second")), transports.ErrAnswered)
	b.fails("Fail after Reply", r.Fail("third"), transports.ErrAnswered)
	a.is("first")
	// The next round trip would show a reply that went out twice.
	next := b.call(b.Context(), cl, "y")
	b.reply(h.wait(2)[1], "next")
	next.is("next")
}

func callTwoServers(b *bench) {
	one, other, caller := b.dial("one"), b.dial("other"), b.dial("caller")
	first, second := b.hold(), b.hold()
	b.serve(one, b.name("service"), first.handle)
	b.serve(other, b.name("service"), second.handle)
	cl := b.client(caller, b.name("service"))
	b.served(cl, 2)
	a := b.call(b.Context(), cl, "x")
	r, q := first.wait(1)[0], second.wait(1)[0]
	b.reply(q, "from the second")
	a.is("from the second")
	b.reply(r, "from the first, too late")
	b.fails("a second Reply", r.Reply(nil), transports.ErrAnswered)
	b.fence(one, caller)
	a.is("from the second")
}

func callNobodyServes(b *bench) {
	server, caller := b.dial("server"), b.dial("caller")
	cl := b.client(caller, b.name("service"))
	_, err := b.call(b.Context(), cl, "x").wait()
	b.fails("a call that nobody serves", err, transports.ErrNoResponder)
	s := b.serve(server, b.name("service"), func(r transports.Request) { b.reply(r, "served") })
	b.served(cl, 1)
	b.call(b.Context(), cl, "x").is("served")
	for range 2 {
		if err := s.Close(); err != nil {
			b.Errorf("Close: %v", err)
		}
	}
	if !b.w.Lacks.Matched {
		b.counted(cl, 0)
		_, err = b.call(b.Context(), cl, "x").wait()
		b.fails("a call after the server's Close", err, transports.ErrNoResponder)
	}
}

func callRefused(b *bench) {
	_, _, cl := b.serving(func(r transports.Request) {
		if err := r.Fail("the arm is locked"); err != nil {
			b.Errorf("Fail: %v", err)
		}
		b.fails("Reply after Fail", r.Reply(nil), transports.ErrAnswered)
	})
	_, err := b.call(b.Context(), cl, "x").wait()
	var refused *transports.RemoteError
	if !errors.As(err, &refused) {
		b.Fatalf("a refused call: %v, want a RemoteError", err)
	}
	if refused.Reason != "the arm is locked" || refused.Service != b.name("service") {
		b.Errorf("refused by %q because %q", refused.Service, refused.Reason)
	}
}

// callThousand has a thousand calls pending at a time, from as many
// goroutines, answered in an order of the server's own.
func callThousand(b *bench) {
	const n = 1000
	h := b.hold()
	_, _, cl := b.serving(h.handle)
	answers := make([]*answer, n)
	var wg sync.WaitGroup
	for i := range n {
		answers[i] = &answer{b: b, what: fmt.Sprint("call ", i), ended: make(chan struct{})}
		wg.Go(func() {
			if err := cl.Call(b.Context(), fmt.Append(nil, i), answers[i].done); err != nil {
				b.Errorf("call %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	requests := h.wait(n)
	for i := range requests {
		r := requests[(i*389+7)%n] // 389 and 1,000 have no common factor
		wg.Go(func() { b.reply(r, "re: "+string(r.Payload)) })
	}
	wg.Wait()
	for i, a := range answers {
		a.is(fmt.Sprint("re: ", i))
	}
}

func callBufferReuse(b *bench) {
	h := b.hold()
	_, _, cl := b.serving(h.handle)
	request, reply := []byte("request"), []byte("reply")
	a := &answer{b: b, what: "call", ended: make(chan struct{})}
	if err := cl.Call(b.Context(), request, a.done); err != nil {
		b.Fatalf("Call: %v", err)
	}
	clear(request)
	r := h.wait(1)[0]
	if string(r.Payload) != "request" {
		b.Errorf("the server got %q: the client's buffer shows through", r.Payload)
	}
	if err := r.Reply(reply); err != nil {
		b.Errorf("Reply: %v", err)
	}
	clear(reply)
	a.is("reply")
}

func callLarge(b *bench) {
	_, _, cl := b.serving(func(r transports.Request) {
		if err := r.Reply(r.Payload); err != nil {
			b.Errorf("Reply: %v", err)
		}
	})
	for _, n := range []int{0, 70_000, 1 << 20, 10 << 20} {
		if b.w.Lacks.MaxPayload > 0 && n > b.w.Lacks.MaxPayload {
			continue
		}
		payload := make([]byte, n)
		rand.Read(payload)
		s, err := b.call(b.Context(), cl, string(payload)).wait()
		if err != nil || !bytes.Equal(s.Payload, payload) {
			b.Errorf("%d bytes came back as %d, %v", n, len(s.Payload), err)
		}
	}
}

func callEndedContext(b *bench) {
	_, _, cl := b.serving(func(r transports.Request) { b.reply(r, "") })
	cause := errors.New("the spec ended")
	ctx, cancel := context.WithCancelCause(b.Context())
	cancel(cause)
	err := cl.Call(ctx, nil, func(transports.Sample, error) { b.Errorf("done was called for a request that was not sent") })
	b.fails("Call with an ended context", err, cause)
	// A call that was answered does not hear of its context any more.
	ctx, cancel = context.WithCancelCause(b.Context())
	a := b.call(ctx, cl, "x")
	a.is("")
	cancel(cause)
	b.call(b.Context(), cl, "y").is("")
	a.is("")
}

// callFromDone calls again from the reply of the last call.
func callFromDone(b *bench) {
	const rounds = 500
	_, _, cl := b.serving(func(r transports.Request) { b.reply(r, string(r.Payload)) })
	ended := make(chan struct{})
	var next func(n int)
	next = func(n int) {
		err := cl.Call(b.Context(), fmt.Append(nil, n), func(s transports.Sample, err error) {
			switch {
			case err != nil || string(s.Payload) != fmt.Sprint(n):
				b.Errorf("call %d: (%q, %v)", n, s.Payload, err)
				close(ended)
			case n == rounds:
				close(ended)
			default:
				next(n + 1)
			}
		})
		if err != nil {
			b.Errorf("call %d: %v", n, err)
			close(ended)
		}
	}
	next(1)
	b.closed("the last of the calls", ended)
}

func callConnClosed(b *bench) {
	h := b.hold()
	server, caller, cl := b.serving(h.handle)
	a := b.call(b.Context(), cl, "x")
	r := h.wait(1)[0]
	caller.Close()
	_, err := a.wait()
	b.fails("a call whose Conn was closed", err, transports.ErrClosed)
	b.replyToNobody(r)
	if err := server.Err(); err != nil {
		b.Errorf("a reply to nobody ended the server's Conn: %v", err)
	}
	server.Close()
	if err := r.Reply(nil); err == nil {
		b.Errorf("a second Reply, after the Conn's Close, is no error")
	}
}
