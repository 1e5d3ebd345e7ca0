package transporttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// closeDuringEverything closes a Conn while goroutines publish, subscribe,
// call and serve on it. Each of them must end with an error that says so, and
// nothing may run on the Conn after Close has returned.
func closeDuringEverything(b *bench) {
	for round := range 10 {
		topic, service := b.name(fmt.Sprintf("topic_%d", round)), b.name(fmt.Sprintf("service_%d", round))
		peer, c := b.dial("peer"), b.dial("closer")
		var closed atomic.Bool
		check := func(what string) {
			if closed.Load() {
				b.Errorf("%s ran after Close had returned", what)
			}
		}
		arrived := make(chan struct{})
		var once sync.Once
		sub, err := c.Subscribe(b.Context(), topic, transports.Type{}, transports.QoS{}, func(transports.Sample) {
			check("a sink")
			once.Do(func() { close(arrived) })
		})
		if err != nil {
			b.Fatalf("Subscribe: %v", err)
		}
		var ends []<-chan struct{}
		// until repeats step until it says ErrClosed.
		until := func(what string, step func(ctx context.Context) error) {
			ends = append(ends, b.background(func() {
				for {
					err := step(b.Context())
					if errors.Is(err, transports.ErrClosed) {
						return
					}
					if err != nil {
						b.Errorf("%s: %v, want ErrClosed", what, err)
						return
					}
				}
			}))
		}
		for _, from := range []transports.Conn{peer, c} {
			p := b.advertise(from, topic, settings{})
			if from == peer && !b.w.Lacks.Matched {
				b.counted(p, 1)
			}
			until("Publish", func(ctx context.Context) error { return p.Publish(ctx, []byte("payload")) })
		}
		until("Subscribe", func(ctx context.Context) error {
			s, err := c.Subscribe(ctx, topic, transports.Type{}, transports.QoS{}, func(transports.Sample) { check("a sink") })
			if err != nil {
				return err
			}
			return s.Close()
		})
		until("Advertise", func(ctx context.Context) error {
			p, err := c.Advertise(ctx, topic, transports.Type{}, transports.QoS{})
			if err != nil {
				return err
			}
			return p.Close()
		})
		if !b.w.Lacks.Services {
			until("Serve", func(ctx context.Context) error {
				s, err := c.Serve(ctx, service, transports.Type{}, func(r transports.Request) {
					check("a handler")
					if err := r.Reply(nil); err != nil && !errors.Is(err, transports.ErrClosed) {
						b.Errorf("Reply: %v, want ErrClosed", err)
					}
				})
				if err != nil {
					return err
				}
				return s.Close()
			})
			cl := b.client(c, service)
			until("Call", func(ctx context.Context) error {
				ended := make(chan error, 1)
				if err := cl.Call(ctx, nil, func(_ transports.Sample, err error) {
					check("done")
					ended <- err
				}); err != nil {
					return err
				}
				select {
				case err := <-ended:
					if errors.Is(err, transports.ErrNoResponder) {
						return nil
					}
					return err
				case <-c.Done():
					// A done that is never called is a failure of its own case.
					return transports.ErrClosed
				}
			})
		}
		if !b.w.Lacks.Matched {
			b.closed("a message to arrive", arrived)
		}
		ended := b.background(func() {
			if err := c.Close(); err != nil {
				b.Errorf("Close: %v", err)
			}
			closed.Store(true)
		})
		b.closed("Close during everything to return", ended)
		sub.Close()
		peer.Close()
		for i, end := range ends {
			b.closed(fmt.Sprintf("goroutine %d of round %d to end", i, round), end)
		}
	}
}

func (b *bench) kill(c transports.Conn) {
	b.Helper()
	b.w.Kill(b, c)
}

func killedPublisher(b *bench) {
	victim, to := b.dial("victim"), b.dial("to")
	in := b.subscribe(to, b.name("topic"), settings{})
	p := b.advertise(victim, b.name("topic"), settings{})
	b.meets(p, in)
	b.publish(p, "last words")
	in.exactly("last words")
	if !b.w.Lacks.Life {
		b.alive(to, b.name("topic"), measure.LifeShown)
	}
	b.kill(victim)
	b.closed("Done of a Conn that lost its link", victim.Done())
	b.lost("Err of a Conn that lost its link", victim.Err())
	b.lost("Publish on a lost link", p.Publish(b.Context(), nil))
	if !b.w.Lacks.Matched {
		b.counted(in.Closer, 0)
	}
	if !b.w.Lacks.Life {
		b.alive(to, b.name("topic"), measure.LifeNone)
	}
	if err := to.Err(); err != nil {
		b.Errorf("a peer's death ended the Conn: %v", err)
	}
	if err := victim.Close(); err != nil {
		b.Errorf("Close of a lost Conn: %v", err)
	}
	b.lost("Err after Close of a lost Conn", victim.Err())
	in.exactly("last words")
}

func killedServer(b *bench) {
	h := b.hold()
	server, _, cl := b.serving(h.handle)
	a := b.call(b.Context(), cl, "x")
	r := h.wait(1)[0]
	b.kill(server)
	_, err := a.wait()
	if lost := (*transports.LinkError)(nil); !errors.As(err, &lost) {
		b.fails("a call whose server died", err, transports.ErrNoResponder, transports.ErrTimeout)
	}
	b.closed("Done of a Conn that lost its link", server.Done())
	if err := r.Reply(nil); err == nil {
		b.Errorf("a Reply on a lost link is no error")
	}
	if !b.w.Lacks.Matched {
		b.counted(cl, 0)
	}
}

func killedClient(b *bench) {
	h := b.hold()
	server, caller, cl := b.serving(h.handle)
	a := b.call(b.Context(), cl, "x")
	r := h.wait(1)[0]
	b.kill(caller)
	_, err := a.wait()
	b.lost("a call whose Conn lost its link", err)
	b.closed("Done of a Conn that lost its link", caller.Done())
	b.lost("Call on a lost link", cl.Call(b.Context(), nil, func(transports.Sample, error) {}))
	b.replyToNobody(r)
	other := b.client(b.dial("other"), b.name("service"))
	b.served(other, 1)
	next := b.call(b.Context(), other, "y")
	b.reply(h.wait(2)[1], "here")
	next.is("here")
	if err := server.Err(); err != nil {
		b.Errorf("a client's death ended the server's Conn: %v", err)
	}
}

// peersLiveOn: traffic between others goes on when one of them dies, and one
// of the same name may come after it.
func peersLiveOn(b *bench) {
	from, to, victim := b.dial("from"), b.dial("to"), b.dial("victim")
	in := b.subscribe(to, b.name("topic"), reliable)
	doomed := b.subscribe(victim, b.name("topic"), reliable)
	p := b.advertise(from, b.name("topic"), reliable)
	b.meets(p, in, doomed)
	b.publish(p, "1")
	in.exactly("1")
	doomed.exactly("1")
	b.kill(victim)
	b.closed("Done of a Conn that lost its link", victim.Done())
	b.publish(p, "2", "3")
	in.exactly("1", "2", "3")
	if !b.w.Lacks.Matched {
		b.counted(p, 1)
	}
	again := b.subscribe(b.dial("victim"), b.name("topic"), durable(transports.Volatile, 1))
	b.meets(p, in, again)
	b.publish(p, "4")
	in.exactly("1", "2", "3", "4")
	again.exactly("4")
	doomed.exactly("1")
}
