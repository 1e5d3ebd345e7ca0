package transporttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robospec/robospec/internal/tbrecord"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record runs one case in a bubble and returns what it complains of.
func record(t *testing.T, c testCase, w func(*inproc.Network) Wire) (failures []string) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		failures = tbrecord.Run(func(tb *tbrecord.TB) { c.run(newBench(tb, w(inproc.NewNetwork()))) }).Failures()
	})
	return failures
}

// flawed is a transport with a fault: the functions that are set stand in for
// those of the graph in memory.
type flawed struct {
	*inproc.Conn
	fault fault
}

type fault struct {
	advertise func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error)
	publish   func(p transports.Publisher, ctx context.Context, payload []byte) error
	subscribe func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error)
	// receive stands between the wire and a sink; it is made for each subscription.
	receive func() func(s transports.Sample, sink func(transports.Sample))
	serve   func(c *inproc.Conn, ctx context.Context, service string, t transports.Type, handle func(transports.Request)) (transports.Closer, error)
	call    func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error
	close   func(c *inproc.Conn) error
	err     func(c *inproc.Conn) error
	settle  func(c *inproc.Conn)
	life    func(c *inproc.Conn, topic string) measure.Life
	graph   func(g *transports.Graph)
	// unmatched hides the changes of counts.
	unmatched bool

	lacks    Lacks
	kill     func(c *inproc.Conn)
	badBytes func(c *inproc.Conn)
}

type flawedPublisher struct {
	transports.Publisher
	fault fault
}

func (p flawedPublisher) Publish(ctx context.Context, payload []byte) error {
	if p.fault.publish != nil {
		return p.fault.publish(p.Publisher, ctx, payload)
	}
	return p.Publisher.Publish(ctx, payload)
}

func (p flawedPublisher) Matched() (int, <-chan struct{}) {
	n, changed := p.Publisher.(transports.Matched).Matched()
	if p.fault.unmatched {
		return n, nil
	}
	return n, changed
}

func (c *flawed) Advertise(ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
	advertise := (*inproc.Conn).Advertise
	if c.fault.advertise != nil {
		advertise = c.fault.advertise
	}
	p, err := advertise(c.Conn, ctx, topic, t, q)
	if err != nil {
		return nil, err
	}
	return flawedPublisher{p, c.fault}, nil
}

func (c *flawed) Subscribe(ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
	if c.fault.receive != nil {
		receive, inner := c.fault.receive(), sink
		sink = func(s transports.Sample) { receive(s, inner) }
	}
	if c.fault.subscribe != nil {
		return c.fault.subscribe(c.Conn, ctx, topic, t, q, sink)
	}
	return c.Conn.Subscribe(ctx, topic, t, q, sink)
}

func (c *flawed) Serve(ctx context.Context, service string, t transports.Type, handle func(transports.Request)) (transports.Closer, error) {
	if c.fault.serve != nil {
		return c.fault.serve(c.Conn, ctx, service, t, handle)
	}
	return c.Conn.Serve(ctx, service, t, handle)
}

type flawedClient struct {
	transports.Client
	fault fault
}

func (cl flawedClient) Matched() (int, <-chan struct{}) {
	return cl.Client.(transports.Matched).Matched()
}

func (cl flawedClient) Call(ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
	if cl.fault.call != nil {
		return cl.fault.call(cl.Client, ctx, payload, done)
	}
	return cl.Client.Call(ctx, payload, done)
}

func (c *flawed) Client(ctx context.Context, service string, t transports.Type) (transports.Client, error) {
	cl, err := c.Conn.Client(ctx, service, t)
	if err != nil {
		return nil, err
	}
	return flawedClient{cl, c.fault}, nil
}

func (c *flawed) Close() error {
	if c.fault.close != nil {
		return c.fault.close(c.Conn)
	}
	return c.Conn.Close()
}

func (c *flawed) Err() error {
	if c.fault.err != nil {
		return c.fault.err(c.Conn)
	}
	return c.Conn.Err()
}

func (c *flawed) Settle() {
	if c.fault.settle != nil {
		c.fault.settle(c.Conn)
		return
	}
	c.Conn.Settle()
}

func (c *flawed) Life(topic string) measure.Life {
	if c.fault.life != nil {
		return c.fault.life(c.Conn, topic)
	}
	return c.Conn.Life(topic)
}

func (c *flawed) Graph() (transports.Graph, <-chan struct{}) {
	g, changed := c.Conn.Graph()
	if c.fault.graph != nil {
		c.fault.graph(&g)
	}
	return g, changed
}

// on is a Wire over a network, with a fault.
func (f fault) on(n *inproc.Network) Wire {
	w := Wire{
		Lacks: f.lacks,
		Dial:  func(_ TB, node string) transports.Conn { return &flawed{n.Join(node), f} },
		Kill: func(_ TB, c transports.Conn) {
			if f.kill != nil {
				f.kill(c.(*flawed).Conn)
				return
			}
			c.(*flawed).Sever(errors.New("pulled"))
		},
	}
	if f.badBytes != nil {
		dial := w.Dial
		var conns []*inproc.Conn
		w.Dial = func(t TB, node string) transports.Conn {
			c := dial(t, node)
			conns = append(conns, c.(*flawed).Conn)
			return c
		}
		w.BadBytes = func(TB, string) {
			for _, c := range conns {
				f.badBytes(c)
			}
		}
	}
	return w
}

// TestSuitePasses shows that it is the fault that fails the suite, not the
// wrapper it comes in.
func TestSuitePasses(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if failures := record(t, c, fault{badBytes: func(*inproc.Conn) {}}.on); len(failures) > 0 {
				t.Errorf("complaints of a faultless transport:\n%s", strings.Join(failures, "\n"))
			}
		})
	}
}

// onReceive is a fault between the wire and the sink that keeps no state.
func onReceive(f func(s transports.Sample, sink func(transports.Sample))) fault {
	return fault{receive: func() func(transports.Sample, func(transports.Sample)) { return f }}
}

// onSample is a fault that changes every sample.
func onSample(change func(s *transports.Sample)) fault {
	return onReceive(func(s transports.Sample, sink func(transports.Sample)) {
		change(&s)
		sink(s)
	})
}

// onQoS is a fault that changes what is asked and offered.
func onQoS(change func(q *transports.QoS)) fault {
	return fault{
		advertise: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
			change(&q)
			return c.Advertise(ctx, topic, t, q)
		},
		subscribe: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
			change(&q)
			return c.Subscribe(ctx, topic, t, q, sink)
		},
	}
}

// onRequest is a fault that changes what a handler gets.
func onRequest(change func(r *transports.Request)) fault {
	return fault{serve: func(c *inproc.Conn, ctx context.Context, service string, t transports.Type, handle func(transports.Request)) (transports.Closer, error) {
		return c.Serve(ctx, service, t, func(r transports.Request) {
			change(&r)
			handle(r)
		})
	}}
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

// TestFaultsAreCaught has one transport for each fault that a transport may
// have, and the cases that must find it.
func TestFaultsAreCaught(t *testing.T) {
	type faults = func() fault
	uncaught := make(map[string]bool)
	for _, c := range cases {
		uncaught[c.name] = true
	}
	for name, tt := range map[string]struct {
		fault  faults
		caught []string
	}{
		"drops the 1,000th message": {func() fault {
			return fault{receive: func() func(transports.Sample, func(transports.Sample)) {
				var n atomic.Int64
				return func(s transports.Sample, sink func(transports.Sample)) {
					if n.Add(1) != 1000 {
						sink(s)
					}
				}
			}}
		}, []string{"messages/order", "messages/burst"}},
		"drops the first message": {func() fault {
			return fault{receive: func() func(transports.Sample, func(transports.Sample)) {
				var n atomic.Int64
				return func(s transports.Sample, sink func(transports.Sample)) {
					if n.Add(1) != 1 {
						sink(s)
					}
				}
			}}
		}, []string{"messages/readiness", "messages/several readers"}},
		"swaps two messages": {func() fault {
			return fault{receive: func() func(transports.Sample, func(transports.Sample)) {
				var held atomic.Pointer[transports.Sample]
				var n atomic.Int64
				return func(s transports.Sample, sink func(transports.Sample)) {
					if n.Add(1) == 100 {
						held.Store(&s)
						return
					}
					sink(s)
					if h := held.Swap(nil); h != nil {
						sink(*h)
					}
				}
			}}
		}, []string{"messages/order", "messages/burst", "messages/one publisher, several goroutines"}},
		"delivers twice": {func() fault {
			return onReceive(func(s transports.Sample, sink func(transports.Sample)) { sink(s); sink(s) })
		}, []string{"messages/order", "messages/burst", "late/latched"}},
		"aliases the publisher's buffer": {func() fault {
			var last []byte
			return fault{
				publish: func(p transports.Publisher, ctx context.Context, payload []byte) error {
					last = payload
					return p.Publish(ctx, payload)
				},
				receive: func() func(transports.Sample, func(transports.Sample)) {
					return func(s transports.Sample, sink func(transports.Sample)) {
						s.Payload = last
						sink(s)
					}
				},
			}
		}, []string{"messages/buffer reuse"}},
		"cuts at 65,535 bytes": {func() fault {
			return onSample(func(s *transports.Sample) { s.Payload = s.Payload[:min(len(s.Payload), 65_535)] })
		}, []string{"messages/large"}},
		"drops empty messages": {func() fault {
			return onReceive(func(s transports.Sample, sink func(transports.Sample)) {
				if len(s.Payload) > 0 {
					sink(s)
				}
			})
		}, []string{"messages/empty"}},
		"stamps too early": {func() fault {
			return onSample(func(s *transports.Sample) { s.Received = s.Received.Add(-time.Millisecond) })
		}, []string{"messages/stamps"}},
		"stamps after the sink": {func() fault {
			return onSample(func(s *transports.Sample) { s.Received = s.Received.Add(time.Millisecond) })
		}, []string{"messages/stamps"}},
		"stamps nothing":         {func() fault { return onSample(func(s *transports.Sample) { s.Received = time.Time{} }) }, []string{"messages/stamps"}},
		"forgets the sent stamp": {func() fault { return onSample(func(s *transports.Sample) { s.Sent = time.Time{} }) }, []string{"messages/stamps"}},
		"numbers in twos":        {func() fault { return onSample(func(s *transports.Sample) { s.Seq *= 2 }) }, []string{"messages/stamps"}},
		"forgets who published": {func() fault {
			return onSample(func(s *transports.Sample) { s.Publisher = measure.PublisherID{} })
		}, []string{"messages/stamps", "messages/several publishers", "graph/contents"}},
		"names without a slash": {func() fault {
			return onSample(func(s *transports.Sample) { s.Topic = s.Topic[1:] })
		}, []string{"names/one spelling"}},
		"takes odom and /odom for two": {func() fault {
			return fault{subscribe: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
				if !strings.HasPrefix(topic, "/") {
					topic = "bare/" + topic
				}
				return c.Subscribe(ctx, topic, t, q, sink)
			}}
		}, []string{"names/one spelling"}},
		"takes any name": {func() fault {
			return fault{advertise: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
				return c.Advertise(ctx, "any", t, q)
			}}
		}, []string{"names/refused", "names/refused by ROS 2"}},

		"publishes after Close": {func() fault {
			return fault{publish: func(p transports.Publisher, ctx context.Context, payload []byte) error {
				_ = p.Publish(ctx, payload)
				return nil
			}}
		}, []string{"conn/close", "publisher/close", "conn/ended context", "end/killed publisher"}},
		"forgets that it is closed": {func() fault { return fault{err: func(*inproc.Conn) error { return nil }} },
			[]string{"conn/close", "conn/close from a sink", "end/killed publisher"}},
		"closes once only": {func() fault {
			return fault{close: func(c *inproc.Conn) error {
				if err := c.Err(); err != nil {
					return err
				}
				return c.Close()
			}}
		}, []string{"conn/close", "conn/close from a sink"}},
		"does not wait in Close": {func() fault {
			return fault{subscribe: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
				s, err := c.Subscribe(ctx, topic, t, q, sink)
				if err != nil {
					return nil, err
				}
				return closerFunc(func() error { go s.Close(); return nil }), nil
			}}
		}, []string{"subscription/close waits for its sink"}},
		"does not end a subscription": {func() fault {
			return fault{subscribe: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
				if _, err := c.Subscribe(ctx, topic, t, q, sink); err != nil {
					return nil, err
				}
				return closerFunc(func() error { return nil }), nil
			}}
		}, []string{"subscription/close", "subscription/close from its sink", "matched/counts"}},
		"ties a publisher to the context": {func() fault {
			contexts := make(map[transports.Publisher]context.Context)
			return fault{
				advertise: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
					p, err := c.Advertise(ctx, topic, t, q)
					contexts[p] = ctx
					return p, err
				},
				publish: func(p transports.Publisher, ctx context.Context, payload []byte) error {
					return errors.Join(contexts[p].Err(), p.Publish(ctx, payload))
				},
			}
		}, []string{"conn/ended context"}},

		"keeps nothing":             {func() fault { return onQoS(func(q *transports.QoS) { q.Durability = transports.Volatile }) }, []string{"late/transient local", "late/latched", "late/several publishers", "late/amid a burst", "late/default adapts"}},
		"keeps for everyone":        {func() fault { return onQoS(func(q *transports.QoS) { q.Durability = transports.TransientLocal }) }, []string{"late/volatile", "late/default among volatile", "qos/durability"}},
		"keeps ten, whatever asked": {func() fault { return onQoS(func(q *transports.QoS) { q.Depth = 10 }) }, []string{"late/transient local", "late/latched", "late/amid a burst"}},
		"does not match reliability": {func() fault {
			return onQoS(func(q *transports.QoS) { q.Reliability = transports.ReliabilityDefault })
		}, []string{"qos/reliability"}},
		"asks for reliability": {func() fault {
			return fault{subscribe: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
				q.Reliability = transports.Reliable
				return c.Subscribe(ctx, topic, t, q, sink)
			}}
		}, []string{"qos/reliability"}},
		"does not look at types": {func() fault {
			return fault{advertise: func(c *inproc.Conn, ctx context.Context, topic string, _ transports.Type, q transports.QoS) (transports.Publisher, error) {
				return c.Advertise(ctx, topic, transports.Type{}, q)
			}}
		}, []string{"types/mismatch", "graph/contents"}},
		"does not look at type hashes": {func() fault {
			return fault{advertise: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
				return c.Advertise(ctx, topic, transports.Type{Name: t.Name}, q)
			}}
		}, []string{"types/mismatch", "graph/contents"}},

		"claims life that it says it cannot tell": {func() fault { return fault{lacks: Lacks{Life: true}} }, []string{"conn/capabilities"}},
		"drops what a sink publishes": {func() fault {
			var inside atomic.Int64
			return fault{
				receive: func() func(transports.Sample, func(transports.Sample)) {
					return func(s transports.Sample, sink func(transports.Sample)) {
						inside.Add(1)
						defer inside.Add(-1)
						sink(s)
					}
				},
				publish: func(p transports.Publisher, ctx context.Context, payload []byte) error {
					if inside.Load() > 0 {
						return nil
					}
					return p.Publish(ctx, payload)
				},
			}
		}, []string{"messages/publish from a sink"}},
		"ends with the error of its socket": {func() fault {
			return fault{publish: func(p transports.Publisher, ctx context.Context, payload []byte) error {
				err := p.Publish(ctx, payload)
				if errors.Is(err, transports.ErrClosed) {
					err = errors.New("broken pipe")
				}
				return err
			}}
		}, []string{"conn/close", "publisher/close", "end/close during everything"}},
		"returns from Close too early": {func() fault {
			return fault{close: func(c *inproc.Conn) error { go c.Close(); return nil }}
		}, []string{"end/close during everything"}},

		"subscribes later than it says": {func() fault {
			return fault{subscribe: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
				var ready atomic.Bool
				s, err := c.Subscribe(ctx, topic, t, q, func(s transports.Sample) {
					if ready.Load() {
						sink(s)
					}
				})
				time.AfterFunc(time.Microsecond, func() { ready.Store(true) })
				return s, err
			}}
		}, []string{"messages/readiness"}},
		"does not tell a change of count": {func() fault { return fault{unmatched: true} }, []string{"matched/counts"}},
		"hears only others": {func() fault {
			var mu sync.Mutex
			own := make(map[*inproc.Conn][]string)
			return fault{
				advertise: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
					mu.Lock()
					defer mu.Unlock()
					own[c] = append(own[c], topic)
					return c.Advertise(ctx, topic, t, q)
				},
				subscribe: func(c *inproc.Conn, ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
					return c.Subscribe(ctx, topic, t, q, func(s transports.Sample) {
						mu.Lock()
						local := slices.Contains(own[c], topic)
						mu.Unlock()
						if !local {
							sink(s)
						}
					})
				},
			}
		}, []string{"messages/local delivery"}},
		"ends on bad bytes": {func() fault {
			return fault{badBytes: func(c *inproc.Conn) { c.Sever(errors.New("bad bytes")) }}
		}, []string{"messages/bad bytes"}},

		"settles at once": {func() fault { return fault{settle: func(*inproc.Conn) {}} }, []string{"settle"}},
		"always shows life": {func() fault {
			return fault{life: func(*inproc.Conn, string) measure.Life {
				return measure.Life{State: measure.LifeShown, Sign: "surely"}
			}}
		}, []string{"life", "end/killed publisher"}},
		"never shows life": {func() fault {
			return fault{life: func(*inproc.Conn, string) measure.Life {
				return measure.Life{State: measure.LifeNone, Sign: "nobody"}
			}}
		}, []string{"life", "end/killed publisher"}},
		"takes all for local": {func() fault {
			return fault{graph: func(g *transports.Graph) {
				for i := range g.Endpoints {
					g.Endpoints[i].Local = true
				}
			}}
		}, []string{"graph/contents"}},
		"shows no QoS": {func() fault {
			return fault{graph: func(g *transports.Graph) {
				for i := range g.Endpoints {
					g.Endpoints[i].QoS = transports.QoS{}
				}
			}}
		}, []string{"graph/contents"}},
		"shows no servers": {func() fault {
			return fault{graph: func(g *transports.Graph) {
				g.Endpoints = slices.DeleteFunc(g.Endpoints, func(e transports.Endpoint) bool { return e.Kind == transports.ServerEndpoint })
			}}
		}, []string{"graph/contents"}},

		"calls done twice": {func() fault {
			return fault{call: func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
				return cl.Call(ctx, payload, func(s transports.Sample, err error) { done(s, err); done(s, err) })
			}}
		}, []string{"calls/answered", "calls/nobody serves", "calls/two servers"}},
		"cuts replies at 65,535 bytes": {func() fault {
			return fault{call: func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
				return cl.Call(ctx, payload, func(s transports.Sample, err error) {
					s.Payload = s.Payload[:min(len(s.Payload), 65_535)]
					done(s, err)
				})
			}}
		}, []string{"calls/large"}},
		"forgets what done calls": {func() fault {
			var inside atomic.Int64
			return fault{call: func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
				if inside.Load() > 0 {
					return nil
				}
				return cl.Call(ctx, payload, func(s transports.Sample, err error) {
					inside.Add(1)
					defer inside.Add(-1)
					done(s, err)
				})
			}}
		}, []string{"calls/from done"}},
		"gives replies in the order of calls": {func() fault {
			var mu sync.Mutex
			var waiting []func(transports.Sample, error)
			return fault{call: func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
				mu.Lock()
				waiting = append(waiting, done)
				mu.Unlock()
				return cl.Call(ctx, payload, func(s transports.Sample, err error) {
					mu.Lock()
					first := waiting[0]
					waiting = waiting[1:]
					mu.Unlock()
					first(s, err)
				})
			}}
		}, []string{"calls/out of order", "calls/1,000 at once"}},
		"does not end a call with its context": {func() fault {
			return fault{call: func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
				return cl.Call(context.WithoutCancel(ctx), payload, done)
			}}
		}, []string{"calls/never answered", "calls/ended context"}},
		"names no cause": {func() fault {
			return fault{call: func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
				return cl.Call(ctx, payload, func(s transports.Sample, err error) {
					if ctx.Err() != nil {
						err = ctx.Err()
					}
					done(s, err)
				})
			}}
		}, []string{"calls/never answered"}},
		"says done as well as an error": {func() fault {
			return fault{call: func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
				err := cl.Call(ctx, payload, done)
				if err != nil {
					done(transports.Sample{}, err)
				}
				return err
			}}
		}, []string{"calls/ended context", "calls/answered after the client left"}},
		"answers twice": {func() fault {
			return onRequest(func(r *transports.Request) {
				reply := r.Reply
				r.Reply = func(payload []byte) error { _ = reply(payload); return nil }
			})
		}, []string{"calls/second answer", "calls/two servers", "calls/refused", "calls/conn closed"}},
		"waits for a server for ever": {func() fault {
			return fault{call: func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
				return cl.Call(ctx, payload, func(s transports.Sample, err error) {
					if !errors.Is(err, transports.ErrNoResponder) {
						done(s, err)
					}
				})
			}}
		}, []string{"calls/nobody serves", "end/killed server"}},
		"takes a refusal for a reply": {func() fault {
			return onRequest(func(r *transports.Request) {
				r.Fail = func(reason string) error { return r.Reply([]byte(reason)) }
			})
		}, []string{"calls/refused"}},
		"aliases the caller's buffer": {func() fault {
			var last []byte
			f := onRequest(func(r *transports.Request) { r.Payload = last })
			f.call = func(cl transports.Client, ctx context.Context, payload []byte, done func(transports.Sample, error)) error {
				last = payload
				return cl.Call(ctx, payload, done)
			}
			return f
		}, []string{"calls/buffer reuse"}},
		"sends a request to one server": {func() fault {
			taken := make(map[string]bool)
			return fault{serve: func(c *inproc.Conn, ctx context.Context, service string, t transports.Type, handle func(transports.Request)) (transports.Closer, error) {
				second := taken[service]
				taken[service] = true
				return c.Serve(ctx, service, t, func(r transports.Request) {
					if !second {
						handle(r)
					}
				})
			}}
		}, []string{"calls/two servers"}},

		"does not notice a death": {func() fault { return fault{kill: func(*inproc.Conn) {}} },
			[]string{"end/killed publisher", "end/killed server", "end/killed client", "end/peers live on"}},
		"takes a death for a Close": {func() fault { return fault{kill: func(c *inproc.Conn) { c.Close() }} },
			[]string{"end/killed publisher", "end/killed client"}},
	} {
		for _, caught := range tt.caught {
			delete(uncaught, caught)
		}
		t.Run(name, func(t *testing.T) {
			for _, want := range tt.caught {
				i := slices.IndexFunc(cases, func(c testCase) bool { return c.name == want })
				if i < 0 {
					t.Fatalf("there is no case %q", want)
				}
				failures := record(t, cases[i], tt.fault().on)
				if len(failures) == 0 {
					t.Errorf("%q passes on a transport that %s", want, name)
				} else {
					t.Logf("%s: %s", want, failures[0])
				}
			}
		})
	}
	for name := range uncaught {
		t.Errorf("no fault shows that the case %q can fail", name)
	}
}
