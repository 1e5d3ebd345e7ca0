package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// maxPayload is the largest message that Zenoh peers take by default.
const maxPayload = 1<<30 - 1<<16

// Sample is a publication or a reply as it came. A sink may keep its parts, which
// nobody changes, but not the pointer it was given.
type Sample struct {
	Key        string
	Payload    []byte
	Delete     bool
	Encoding   wire.Encoding
	Attachment []byte         // nil: none
	Timestamp  wire.Timestamp // zero: none; routers add theirs to what has none
	Source     wire.SourceInfo
	// Received is when the read that brought it returned.
	Received time.Time
}

// Subscription gets the publications on a key expression, those of its own
// session included.
type Subscription struct {
	s    *Session
	id   uint32
	key  string
	sink func(*Sample)

	gate   Gate // around sink
	closed atomic.Bool
}

// Subscribe declares a subscription. sink runs on the session's goroutines, one
// at a time, and must not block. A Barrier afterwards makes sure that the router
// knows of it.
func (s *Session) Subscribe(ctx context.Context, key string, sink func(*Sample)) (*Subscription, error) {
	key, err := keyexpr.Canon(key)
	if err != nil {
		return nil, err
	}
	sub := &Subscription{s: s, id: s.NewID(), key: key, sink: sink, gate: NewGate()}
	s.changeSubs(func(t []*Subscription) []*Subscription { return append(t, sub) })
	if err := s.w.send(ctx, reliable, declaration(wire.DeclareSubscriber, sub.id, key)); err != nil {
		sub.Close()
		return nil, fmt.Errorf("declare a subscriber on %s: %w", key, err)
	}
	return sub, nil
}

// Key is the canonical key expression.
func (sub *Subscription) Key() string { return sub.key }

func (sub *Subscription) deliver(x *Sample) {
	if !sub.gate.Enter(sub.s.done) {
		return
	}
	defer sub.gate.Leave()
	if !sub.closed.Load() {
		sub.sink(x)
	}
}

// Close ends the subscription. When it returns, its sink is not running and will
// not be called again; called from a sink it does not wait.
func (sub *Subscription) Close() {
	if sub.closed.Swap(true) {
		return
	}
	s := sub.s
	s.changeSubs(func(t []*Subscription) []*Subscription {
		return slices.DeleteFunc(t, func(x *Subscription) bool { return x == sub })
	})
	s.retract(undeclaration(wire.UndeclareSubscriber, sub.id))
	if !s.Delivering() {
		sub.gate.Await()
	}
}

func (s *Session) changeSubs(change func([]*Subscription) []*Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := change(slices.Clone(*s.subs.Load()))
	s.subs.Store(&t)
}

func matching(table []*Subscription, key string) (subs []*Subscription) {
	for _, sub := range table {
		if keyexpr.Intersects(sub.key, key) {
			subs = append(subs, sub)
		}
	}
	return subs
}

func declaration(k wire.DeclareKind, id uint32, key string) *wire.Declare {
	return &wire.Declare{QoS: wire.QoSDeclare, Kind: k, ID: id, Key: wire.WireExpr{Suffix: []byte(key)}}
}

func undeclaration(k wire.DeclareKind, id uint32) *wire.Declare {
	return &wire.Declare{QoS: wire.QoSDeclare, Kind: k, ID: id}
}

// PublisherConfig of a Publisher. The zero value is reliable, without a source.
type PublisherConfig struct {
	// BestEffort sends on the best-effort lane and lets routers drop under
	// congestion; otherwise they wait.
	BestEffort bool
	// Source stamps each publication with the publisher's id and a running number
	// from 0.
	Source bool
	// Timestamp stamps each publication with the session's clock, which never
	// gives the same time twice.
	Timestamp bool
	// Attach, if not nil, makes the attachment of each publication, in their order;
	// what it returns may be used again at the next. It must not block.
	Attach func() []byte
	// Sent, if not nil, sees each publication in order before it leaves. It must
	// not block, and not keep the pointer; the payload is not its to keep.
	Sent func(*Sample)
	// Heard, if not nil, tells whether a remote subscription is known. What nobody
	// is known to hear does not go on the wire, as in the reference implementation.
	Heard func() bool
}

// Publisher publishes on one key.
type Publisher struct {
	s    *Session
	key  string
	on   lane
	push wire.Push // what all its publications have in common
	conf PublisherConfig

	mu     sync.Mutex // the order of its publications
	table  *[]*Subscription
	locals []*Subscription // of table
}

// Publisher makes a publisher. That declares nothing: Zenoh shows subscribers,
// not publishers.
func (s *Session) Publisher(key string, c PublisherConfig) (*Publisher, error) {
	key, err := keyexpr.Canon(key)
	if err != nil {
		return nil, err
	}
	p := &Publisher{s: s, key: key, on: reliable, conf: c}
	p.push = wire.Push{Key: wire.WireExpr{Suffix: []byte(key)}, QoS: wire.NewQoS(wire.PriorityData, true, false)}
	if c.BestEffort {
		p.on, p.push.QoS = bestEffort, 0
	}
	if c.Source {
		p.push.SourceInfo.EntityID = wire.EntityID{ZID: s.zid, EID: s.NewID()}
	}
	return p, nil
}

// Source is the id that its publications carry, zero without
// PublisherConfig.Source.
func (p *Publisher) Source() wire.EntityID { return p.push.SourceInfo.EntityID }

// Put is what to publish. The zero value is an empty payload.
type Put struct {
	Payload    []byte
	Delete     bool // the key, instead of a payload
	Encoding   wire.Encoding
	Attachment []byte
	Timestamp  wire.Timestamp
}

// Put publishes; m's bytes are not kept. It waits for room as long as ctx
// allows, and returns when the publication is handed to the socket or to a
// buffer before it.
func (p *Publisher) Put(ctx context.Context, m Put) error {
	if len(m.Payload)+len(m.Attachment) > maxPayload {
		return fmt.Errorf("publish on %s: %d bytes are more than the %d that Zenoh peers take", p.key, len(m.Payload), maxPayload)
	}
	if ctx.Err() != nil {
		return p.failed(context.Cause(ctx))
	}
	w, l := &p.s.w, &p.s.local
	for {
		if p.heard() {
			if err := w.wait(ctx); err != nil {
				return p.failed(err)
			}
		}
		p.mu.Lock()
		if len(p.here()) == 0 || l.roomy() {
			break
		}
		p.mu.Unlock()
		if err := l.wait(ctx); err != nil {
			return p.failed(err)
		}
	}
	d := p.push.Data
	d.Delete, d.Payload, d.Encoding, d.Attachment, d.Timestamp = m.Delete, m.Payload, m.Encoding, m.Attachment, m.Timestamp
	if p.conf.Source {
		p.push.SourceInfo.SN++ // of the next one
	}
	if p.conf.Timestamp {
		d.Timestamp = p.s.timestamp()
	}
	if p.conf.Attach != nil {
		d.Attachment = p.conf.Attach()
	}
	if p.conf.Sent != nil {
		x := Sample{Key: p.key, Payload: m.Payload, Delete: m.Delete, Encoding: m.Encoding, Attachment: d.Attachment,
			Timestamp: d.Timestamp, Source: d.SourceInfo}
		p.conf.Sent(&x)
	}
	// Only now is it decided who hears it: somebody who came a moment before and
	// asked what was sent already either got it or is seen here.
	heard, here := p.heard(), p.here()
	w.mu.Lock()
	err := w.shut
	if err == nil && heard {
		w.push = p.push
		w.push.Data = d
		w.append(&w.push, p.on, len(m.Payload))
	}
	w.mu.Unlock()
	if err == nil && len(here) > 0 {
		it := item{subs: here}
		it.sample.take(&d, false)
		it.sample.Key = p.key
		l.add(it)
	}
	p.mu.Unlock()
	if err != nil {
		return p.failed(err)
	}
	if heard {
		w.flush()
	}
	return nil
}

func (p *Publisher) heard() bool { return p.conf.Heard == nil || p.conf.Heard() }

// here is the session's own subscriptions. p.mu is held.
func (p *Publisher) here() []*Subscription {
	if t := p.s.subs.Load(); t != p.table {
		p.table, p.locals = t, matching(*t, p.key)
	}
	return p.locals
}

func (p *Publisher) failed(err error) error { return fmt.Errorf("publish on %s: %w", p.key, err) }
