package transporttest

import (
	"context"
	"errors"
	"sync"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

func connClose(b *bench) {
	c := b.dial("closer")
	if err := c.Err(); err != nil {
		b.Fatalf("Err of a live Conn: %v", err)
	}
	select {
	case <-c.Done():
		b.Fatalf("Done of a live Conn is closed")
	default:
	}
	p := b.advertise(c, b.name("topic"), settings{})
	in := b.subscribe(c, b.name("topic"), settings{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := c.Close(); err != nil {
				b.Errorf("Close: %v", err)
			}
		})
	}
	wg.Wait()
	b.closed("Done after Close", c.Done())
	b.fails("Err after Close", c.Err(), transports.ErrClosed)
	if err := c.Close(); err != nil {
		b.Errorf("second Close: %v", err)
	}
	ctx := b.Context()
	b.fails("Publish after the Conn's Close", p.Publish(ctx, nil), transports.ErrClosed)
	_, err := c.Advertise(ctx, b.name("topic"), transports.Type{}, transports.QoS{})
	b.fails("Advertise after Close", err, transports.ErrClosed)
	_, err = c.Subscribe(ctx, b.name("topic"), transports.Type{}, transports.QoS{}, func(transports.Sample) {})
	b.fails("Subscribe after Close", err, transports.ErrClosed)
	if !b.w.Lacks.Services {
		_, err = c.Serve(ctx, b.name("service"), transports.Type{}, func(transports.Request) {})
		b.fails("Serve after Close", err, transports.ErrClosed)
		_, err = c.Client(ctx, b.name("service"), transports.Type{})
		b.fails("Client after Close", err, transports.ErrClosed)
	}
	if err := p.Close(); err != nil {
		b.Errorf("Close of a publisher after its Conn's: %v", err)
	}
	if err := in.Close(); err != nil {
		b.Errorf("Close of a subscription after its Conn's: %v", err)
	}
}

func connCloseFromSink(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	in := b.react(to, b.name("topic"), settings{}, func(transports.Sample) {
		if err := to.Close(); err != nil {
			b.Errorf("Close from a sink: %v", err)
		}
	})
	p := b.advertise(from, b.name("topic"), settings{})
	b.meets(p, in)
	b.publish(p, "end")
	in.wait(1)
	b.closed("Done after Close from a sink", to.Done())
	b.fails("Err after Close from a sink", to.Err(), transports.ErrClosed)
	if err := to.Close(); err != nil {
		b.Errorf("second Close: %v", err)
	}
	b.publish(p, "after")
	in.exactly("end")
}

func endedContext(b *bench) {
	c := b.dial("node")
	cause := errors.New("the spec ended")
	ctx, cancel := context.WithCancelCause(b.Context())
	p := b.advertise(c, b.name("topic"), settings{})
	q, err := c.Advertise(ctx, b.name("bounded"), transports.Type{}, transports.QoS{})
	if err != nil {
		b.Fatalf("Advertise: %v", err)
	}
	cancel(cause)
	_, err = c.Advertise(ctx, b.name("topic"), transports.Type{}, transports.QoS{})
	b.fails("Advertise with an ended context", err, cause)
	_, err = c.Subscribe(ctx, b.name("topic"), transports.Type{}, transports.QoS{}, func(transports.Sample) {})
	b.fails("Subscribe with an ended context", err, cause)
	b.fails("Publish with an ended context", p.Publish(ctx, nil), cause)
	if err := q.Publish(b.Context(), nil); err != nil {
		b.Errorf("the context given to Advertise ended what it returned: %v", err)
	}
}

func capabilities(b *bench) {
	c := b.dial("node")
	if c.Encoding() == "" {
		b.Errorf("Encoding names nothing")
	}
	p := b.advertise(c, b.name("topic"), settings{})
	in := b.subscribe(c, b.name("topic"), settings{})
	expect := func(what string, there, lacks bool) {
		if !there && !lacks {
			b.Errorf("%s is neither there nor said to be lacking", what)
		}
	}
	_, ok := p.(transports.Matched)
	expect("Matched of a publisher", ok, b.w.Lacks.Matched)
	_, ok = in.Closer.(transports.Matched)
	expect("Matched of a subscription", ok, b.w.Lacks.Matched)
	if !b.w.Lacks.Services {
		cl, err := c.Client(b.Context(), b.name("service"), transports.Type{})
		if err != nil {
			b.Fatalf("Client: %v", err)
		}
		_, ok = cl.(transports.Matched)
		expect("Matched of a client", ok, b.w.Lacks.Matched)
	}
	_, ok = c.(transports.Grapher)
	expect("Grapher", ok, b.w.Lacks.Graph)
	_, ok = c.(transports.Settler)
	expect("Settler", ok, b.w.Lacks.Settle)
	l, ok := c.(transports.Lifer)
	expect("Lifer", ok, b.w.Lacks.Life)
	if ok && b.w.Lacks.Life {
		if got := l.Life(b.name("topic")); got.State != measure.LifeUnknown {
			b.Errorf("a wire that cannot tell life says %q (%s)", got.State, got.Sign)
		}
	}
}

func namesOneSpelling(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	bare := b.name("odom")[1:]
	in := b.subscribe(to, bare, settings{})
	p := b.advertise(from, "/"+bare, settings{})
	b.meets(p, in)
	b.publish(p, "hello")
	if got := in.wait(1)[0].Topic; got != "/"+bare {
		b.Errorf("a message came under %q, want %q", got, "/"+bare)
	}
}

func (b *bench) refuses(names ...string) {
	b.Helper()
	c := b.dial("node")
	for _, name := range names {
		var bad *transports.NameError
		if _, err := c.Advertise(b.Context(), name, transports.Type{}, transports.QoS{}); !errors.As(err, &bad) {
			b.Errorf("Advertise(%q): %v, want a NameError", name, err)
		}
		if _, err := c.Subscribe(b.Context(), name, transports.Type{}, transports.QoS{}, func(transports.Sample) {}); !errors.As(err, &bad) {
			b.Errorf("Subscribe(%q): %v, want a NameError", name, err)
		}
		if b.w.Lacks.Services {
			continue
		}
		if _, err := c.Serve(b.Context(), name, transports.Type{}, func(transports.Request) {}); !errors.As(err, &bad) {
			b.Errorf("Serve(%q): %v, want a NameError", name, err)
		}
		if _, err := c.Client(b.Context(), name, transports.Type{}); !errors.As(err, &bad) {
			b.Errorf("Client(%q): %v, want a NameError", name, err)
		}
	}
}

func namesRefused(b *bench)      { b.refuses("", "/", "a//b", "a/", "//a") }
func namesRefusedByROS(b *bench) { b.refuses("1st", "a/2nd", "a__b", "a-b", "a b", "ä", "a*") }
