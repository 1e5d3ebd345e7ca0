package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

func pubCommand(f *graphFlags) *cobra.Command {
	p := &pub{}
	cmd := &cobra.Command{
		Use:   "pub TOPIC [TYPE] MESSAGE",
		Short: "Publish messages",
		Long: `Publish a message, given as YAML or JSON; fields left out have their defaults. Without
TYPE it is the type that the topic has on the graph. On plain Zenoh, without TYPE,
the payload is MESSAGE itself.

It waits for --subscriptions to be there first, so that the first message is heard,
and ends after --count messages, after --for, or, if --rate but neither is given, with
Ctrl-C.`,
		Example: `  robospec topic pub /cmd_vel geometry_msgs/msg/Twist '{linear: {x: 0.5}}'
  robospec topic pub /cmd_vel geometry_msgs/msg/Twist '{linear: {x: 0.5}}' --rate 10 --for 3s
  robospec topic pub /map_name std_msgs/msg/String 'data: hall' --latched --for 1h --subscriptions 0`,
		Args: takes(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, err := resolve(args[0])
			if err := firstOf(err, func() error { return p.check(cmd) }); err != nil {
				return err
			}
			if p.text = args[len(args)-1]; len(args) == 3 {
				if p.typ, err = typeName(args[1], "msg"); err != nil {
					return err
				}
			}
			return f.on(cmd, false, func(s *session) error { return p.run(s, topic) })
		},
	}
	fl := cmd.Flags()
	fl.Float64VarP(&p.rate, "rate", "r", 0, "publish so many messages a `second`; 0 is as fast as they go")
	fl.IntVarP(&p.count, "count", "n", 1, "publish this `number` of messages; 0 is without end")
	fl.DurationVar(&p.length, "for", 0, "end after this `time`; with --latched and a single message, stay so long; 0 is never")
	fl.IntVar(&p.subscriptions, "subscriptions", 1, "wait up to --timeout for this `number` of subscriptions before; 0 does not wait")
	fl.BoolVar(&p.latched, "latched", false, "keep the last message for those who come later, as long as this command runs (transient local)")
	fl.BoolVar(&p.bestEffort, "best-effort", false, "let messages be lost rather than wait (best effort)")
	addShare(cmd, &p.shares)
	return cmd
}

// pub is what to publish and how.
type pub struct {
	typ, text           string
	rate                float64
	count               int
	length              time.Duration
	subscriptions       int
	latched, bestEffort bool
	shares              []string
}

func (p *pub) check(cmd *cobra.Command) error {
	counted := cmd.Flags().Changed("count")
	switch {
	case p.rate < 0 || p.rate > 1e6:
		return misusef("--rate %v: messages a second are more than 0 and at most 1000000", p.rate)
	case p.count < 0:
		return misusef("--count %d: a number of messages cannot be negative; 0 is without end", p.count)
	case p.length < 0:
		return misusef("--for %v: a time cannot be negative; 0 is without end", p.length)
	case p.subscriptions < 0:
		return misusef("--subscriptions %d: a number cannot be negative; 0 does not wait", p.subscriptions)
	case p.rate == 0 && counted && p.count != 1:
		return misusef("--count %d: say how fast, with --rate", p.count)
	}
	if p.rate > 0 && !counted {
		p.count = 0
	}
	return nil
}

func (p *pub) qos() harness.QoS {
	q := harness.QoS{Reliability: transports.Reliable, Durability: transports.Volatile}
	if p.bestEffort {
		q.Reliability = transports.BestEffort
	}
	if p.latched {
		q.Durability, q.Depth = transports.TransientLocal, 1
	}
	return q
}

// payload is the message as bytes, and its type.
func (p *pub) payload(s *session, topic string) ([]byte, transports.Type, error) {
	typ := transports.Type{Name: p.typ}
	if _, _, shown := s.graph(); shown && p.typ == "" {
		kinds := []transports.EndpointKind{transports.SubscriptionEndpoint, transports.PublisherEndpoint}
		g, _, err := s.waitForGraph(func(g transports.Graph) bool { return len(typesOf(endpointsOf(g, topic, kinds...))) > 0 })
		if err != nil {
			return nil, typ, err
		}
		types := typesOf(endpointsOf(g, topic, kinds...))
		if len(types) != 1 {
			return nil, typ, misusef("%s has %s on this graph; name the one to publish: robospec topic pub %[1]s TYPE MESSAGE", topic, orNone(listed(typeNames(types)), "no type"))
		}
		typ = types[0]
	}
	if typ.Name == "" {
		return []byte(p.text), typ, nil
	}
	l, err := openLibrary(p.shares)
	if err != nil {
		return nil, typ, err
	}
	d, err := l.message(typ)
	if err != nil {
		return nil, typ, misusef("%v", err)
	}
	m, err := d.read(p.text)
	if err != nil {
		return nil, typ, err
	}
	b, err := d.codec.Append(nil, m)
	return b, d.typ, err
}

type pubDocument struct {
	Topic     string `json:"topic"`
	Type      string `json:"type,omitempty"`
	Published int    `json:"published"`
	Size      int    `json:"size"`
	// Subscriptions is how many there were at the end, null where the wire cannot
	// tell.
	Subscriptions *int `json:"subscriptions"`
}

func (p *pub) run(s *session, topic string) error {
	b, typ, err := p.payload(s, topic)
	if err != nil {
		return err
	}
	patient, cancel := context.WithTimeoutCause(s.ctx, s.timeout, fmt.Errorf("--timeout %v is over", s.timeout))
	defer cancel()
	c := codec{encoding: s.rig.Conn().Encoding(), typ: typ, decode: nothing}
	out, err := harness.Advertise[any](patient, s.rig, topic, harness.WithQoS(p.qos()), harness.Using[any](c))
	if err != nil {
		return err
	}
	if p.subscriptions > 0 {
		if err := out.WaitForSubscribers(patient, p.subscriptions); err != nil && !s.interrupted() && s.rig.Err() == nil {
			return p.unheard(s, topic, err)
		}
	}
	published, err := p.publish(s, out, b)
	if s.interrupted() {
		err = nil // Ctrl-C
	}
	d := pubDocument{Topic: topic, Type: typ.Name, Published: published, Size: len(b)}
	heard := ""
	if n, ok := matchedBy(s, topic); ok {
		d.Subscriptions = &n
		heard = ", to " + count(n, "subscription")
	}
	s.object(d)
	s.printf("%s: published %s of %s%s", topic, count(published, "message"), count(len(b), "byte"), heard)
	return err
}

// matchedBy is how many subscriptions the graph shows.
func matchedBy(s *session, topic string) (int, bool) {
	g, _, shown := s.graph()
	return len(endpointsOf(g, topic, transports.SubscriptionEndpoint)), shown
}

// unheard is what there is to say when too few subscribe.
func (p *pub) unheard(s *session, topic string, err error) error {
	reason := s.rig.View().Missing(transports.SubscriptionEndpoint, topic)
	if e, ok := errors.AsType[*harness.WaitError](err); ok && e.Cause != "" {
		reason = e.Cause
	}
	if p.subscriptions > 1 {
		reason = strings.TrimRight(fmt.Sprintf("%s has not %d subscriptions\n%s", topic, p.subscriptions, reason), "\n")
	}
	return &measure.Inconclusive{Reason: orNone(reason, "nobody subscribes to "+topic), Err: err,
		Remedy: fmt.Sprintf("start who is to hear it, wait longer than --timeout %v, or publish anyway with --subscriptions 0", s.timeout)}
}

// publish publishes until it is done or the command is interrupted.
func (p *pub) publish(s *session, out *harness.Publisher[any], b []byte) (n int, err error) {
	begin := time.Now()
	ctx := s.ctx
	if p.length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = harness.Soft(ctx, p.length)
		defer cancel()
	}
	for p.count == 0 || n < p.count {
		if ctx.Err() != nil {
			return n, nil
		}
		if _, err := out.Publish(s.ctx, b); err != nil {
			return n, err
		}
		n++
		if p.rate == 0 || n == p.count {
			continue
		}
		// On a fixed schedule, so that a late message does not shift the others.
		if !wait(ctx, s, begin.Add(time.Duration(float64(n)/p.rate*float64(time.Second)))) {
			return n, s.rig.Err()
		}
	}
	if p.latched && p.length > 0 { // for those who come later
		wait(ctx, s, begin.Add(p.length))
	}
	return n, s.rig.Err()
}

// wait waits until an instant, and is false if ctx or the graph ended before.
func wait(ctx context.Context, s *session, until time.Time) bool {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.rig.Done():
	}
	return false
}
