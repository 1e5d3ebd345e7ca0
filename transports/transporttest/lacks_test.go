package transporttest

import (
	"context"
	"strings"
	"testing"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

// plain is a transport without any optional capability.
type plain struct{ transports.Conn }

func (c plain) Advertise(ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
	p, err := c.Conn.Advertise(ctx, topic, t, q)
	if err != nil {
		return nil, err
	}
	return struct{ transports.Publisher }{p}, nil
}

func (c plain) Subscribe(ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
	s, err := c.Conn.Subscribe(ctx, topic, t, q, sink)
	if err != nil {
		return nil, err
	}
	return struct{ transports.Closer }{s}, nil
}

func (c plain) Client(ctx context.Context, service string, t transports.Type) (transports.Client, error) {
	cl, err := c.Conn.Client(ctx, service, t)
	if err != nil {
		return nil, err
	}
	return struct{ transports.Client }{cl}, nil
}

// TestPlainTransport runs the suite on a wire that says what it lacks, and
// shows that it may not keep that to itself.
func TestPlainTransport(t *testing.T) {
	wire := func(l Lacks) func(*inproc.Network) Wire {
		return func(n *inproc.Network) Wire {
			w := fault{}.on(n)
			w.Dial = func(_ TB, node string) transports.Conn { return plain{n.Join(node)} }
			w.Kill = func(_ TB, c transports.Conn) { c.(plain).Conn.(*inproc.Conn).Sever(nil) }
			w.Lacks = l
			return w
		}
	}
	honest := wire(Lacks{Matched: true, Graph: true, Life: true, Settle: true})
	ran := 0
	for _, c := range cases {
		if c.missing(honest(nil)) != "" {
			continue
		}
		ran++
		t.Run(c.name, func(t *testing.T) {
			if failures := record(t, c, honest); len(failures) > 0 {
				t.Errorf("complaints of a transport that says what it lacks:\n%s", strings.Join(failures, "\n"))
			}
		})
	}
	if ran < len(cases)-10 {
		t.Errorf("only %d of %d cases ran", ran, len(cases))
	}
	for _, c := range cases {
		if c.name == "conn/capabilities" {
			if failures := record(t, c, wire(Lacks{})); len(failures) != 6 {
				t.Errorf("a transport that lacks six capabilities and says nothing: %q", failures)
			}
		}
	}
}
