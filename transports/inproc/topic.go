package inproc

import (
	"context"
	"slices"
	"time"

	"github.com/robospec/robospec/transports"
)

// A topic is who publishes and subscribes under one name.
type topic struct {
	publishers    []*publisher
	subscriptions []*subscription
}

// rematch finds out anew who hears whom, and has what publishers kept
// delivered to joined, which may be nil. The caller flushes their lanes
// afterwards.
func (t *topic) rematch(joined *subscription) {
	heard := make([]int, len(t.subscriptions))
	replay := joined != nil && t.replays(joined)
	for _, p := range t.publishers {
		var to []*receiver
		p.lane.mu.Lock()
		for i, s := range t.subscriptions {
			if !s.hears(p) {
				continue
			}
			to = append(to, s.r)
			heard[i]++
			if s == joined && replay {
				p.replay(s)
			}
		}
		p.to = to
		p.lane.mu.Unlock()
		p.set(len(to))
	}
	for i, s := range t.subscriptions {
		s.set(heard[i])
	}
}

// replays reports whether s gets what was kept: it asked for it, or it left it
// open and every publisher it hears keeps.
func (t *topic) replays(s *subscription) bool {
	if s.qos.Durability != transports.DurabilityDefault {
		return s.qos.Durability == transports.TransientLocal
	}
	return !slices.ContainsFunc(t.publishers, func(p *publisher) bool {
		return s.hears(p) && p.qos.Durability != transports.TransientLocal
	})
}

type publisher struct {
	counterparts
	conn *Conn
	self transports.Endpoint
	qos  transports.QoS
	lane lane

	// Guarded by lane.mu. kept is a ring of the last messages, the oldest at
	// seq % its capacity once it is full.
	to   []*receiver
	seq  uint64
	kept []transports.Sample
}

// Advertise implements transports.Conn.
func (c *Conn) Advertise(ctx context.Context, name string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
	if q.Reliability == transports.ReliabilityDefault {
		q.Reliability = transports.Reliable
	}
	if q.Durability == transports.DurabilityDefault {
		q.Durability = transports.Volatile
	}
	q.Depth = q.HistoryDepth()
	p := &publisher{conn: c, qos: q, counterparts: counterparts{net: c.net}}
	p.lane.net = c.net
	err := c.declare(ctx, name, func(name string) endpoint {
		p.self = transports.Endpoint{Kind: transports.PublisherEndpoint, Name: name, Type: t, QoS: q, ID: c.net.id()}
		c.net.lanes[&p.lane] = struct{}{}
		topic := c.net.topic(name)
		topic.publishers = append(topic.publishers, p)
		topic.rematch(nil)
		return p
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Publish implements transports.Publisher.
func (p *publisher) Publish(ctx context.Context, payload []byte) error {
	if err := p.lane.lock(ctx); err != nil {
		return err
	}
	p.seq++
	keep := p.qos.Durability == transports.TransientLocal
	if len(p.to) == 0 && !keep {
		p.lane.mu.Unlock()
		return nil
	}
	now := time.Now()
	s := transports.Sample{
		Payload:  append(make([]byte, 0, len(payload)), payload...),
		Topic:    p.self.Name,
		Received: now, Sent: now,
		Seq: p.seq, HasSeq: true,
		Publisher: p.self.ID,
	}
	if keep {
		if len(p.kept) < p.qos.Depth {
			p.kept = append(p.kept, s)
		} else {
			p.kept[(s.Seq-1)%uint64(p.qos.Depth)] = s
		}
	}
	p.lane.hand(delivery{sample: s, to: p.to})
	return nil
}

// replay queues what s asks for of what is kept, oldest first; lane.mu is held.
func (p *publisher) replay(s *subscription) {
	n := uint64(min(s.qos.HistoryDepth(), len(p.kept)))
	to := []*receiver{s.r}
	for seq := p.seq - n; seq < p.seq; seq++ {
		p.lane.accepted++
		p.lane.queue = append(p.lane.queue, delivery{sample: p.kept[seq%uint64(p.qos.Depth)], to: to})
	}
}

// Close implements transports.Publisher.
func (p *publisher) Close() error {
	p.conn.end(p)
	return nil
}

func (p *publisher) describe() transports.Endpoint { return p.self }
func (p *publisher) receiver() *receiver           { return nil }

func (p *publisher) leave(err error) []outcome {
	t := p.net.topics[p.self.Name]
	t.publishers = without(t.publishers, p)
	t.rematch(nil)
	p.net.drop(p.self.Name, t)
	p.set(0)
	p.lane.end(err)
	return nil
}

type subscription struct {
	counterparts
	conn *Conn
	self transports.Endpoint
	qos  transports.QoS
	r    *receiver
}

// Subscribe implements transports.Conn. What publishers kept is delivered
// before it returns, unless one of them is busy delivering.
func (c *Conn) Subscribe(ctx context.Context, name string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
	s := &subscription{conn: c, qos: q, counterparts: counterparts{net: c.net}}
	s.r = newReceiver(func(d *delivery) { sink(d.sample) })
	var heard []*publisher
	err := c.declare(ctx, name, func(name string) endpoint {
		q.Depth = q.HistoryDepth()
		s.self = transports.Endpoint{Kind: transports.SubscriptionEndpoint, Name: name, Type: t, QoS: q, ID: c.net.id()}
		topic := c.net.topic(name)
		topic.subscriptions = append(topic.subscriptions, s)
		topic.rematch(s)
		heard = slices.Clone(topic.publishers)
		return s
	})
	if err != nil {
		return nil, err
	}
	for _, p := range heard {
		p.lane.flush()
	}
	return s, nil
}

func (s *subscription) hears(p *publisher) bool {
	return meet(s.self.Type, p.self.Type) && s.qos.Incompatible(p.qos) == ""
}

// Close implements transports.Closer.
func (s *subscription) Close() error {
	s.conn.end(s)
	return nil
}

func (s *subscription) describe() transports.Endpoint { return s.self }
func (s *subscription) receiver() *receiver           { return s.r }

func (s *subscription) leave(error) []outcome {
	s.r.shut()
	t := s.net.topics[s.self.Name]
	t.subscriptions = without(t.subscriptions, s)
	t.rematch(nil)
	s.net.drop(s.self.Name, t)
	s.set(0)
	return nil
}

func (n *Network) drop(name string, t *topic) {
	if len(t.publishers) == 0 && len(t.subscriptions) == 0 {
		delete(n.topics, name)
	}
}

// without is s without x, s itself unchanged.
func without[E comparable](s []E, x E) []E {
	i := slices.Index(s, x)
	if i < 0 {
		return s
	}
	return slices.Concat(s[:i], s[i+1:])
}
