package zenoh

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/advanced"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

type publisher struct {
	counterparts
	c      *Conn
	key    string
	qos    transports.QoS // what it offers
	p      *session.Publisher
	open   closer
	ready  atomic.Bool // remote is known
	remote atomic.Int32
	closed atomic.Bool
}

// Advertise implements transports.Conn. The type goes nowhere.
func (c *Conn) Advertise(ctx context.Context, topic string, _ transports.Type, q transports.QoS) (transports.Publisher, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	key, err := concreteKey(topic)
	if err != nil {
		return nil, err
	}
	p := &publisher{c: c, key: key, qos: q}
	p.init(subTokens, c.s.ZID(), func(t token) bool { return t.qos.Incompatible(q) == "" })
	p.declared = map[string]bool{}
	if err := p.declare(ctx); err != nil {
		p.open.close()
		return nil, fmt.Errorf("advertise /%s: %w", key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pubs[p] = struct{}{}
	for u := range c.subs {
		u.meets(p, 1)
	}
	return p, nil
}

// declare announces the publisher and waits until the router has told who
// subscribes.
func (p *publisher) declare(ctx context.Context) error {
	s := p.c.s
	conf := session.PublisherConfig{BestEffort: p.qos.Reliability == transports.BestEffort, Source: true, Heard: p.heard}
	if p.qos.Durability == transports.TransientLocal {
		cache, err := advanced.NewCache(ctx, s, p.key, p.qos.HistoryDepth())
		if err != nil {
			return err
		}
		p.open.add(cache.Close)
		conf.Timestamp, conf.Sent = true, cache.Keep
	}
	var err error
	if p.p, err = s.Publisher(p.key, conf); err != nil {
		return err
	}
	t, err := s.Token(ctx, token{id: p.p.Source(), qos: p.qos, key: p.key}.text(pubTokens))
	if err != nil {
		return err
	}
	p.open.add(t.Close)
	subs, err := s.Watch(ctx, session.Subscribers, wire.InterestCurrentFuture, p.key, func(e session.Event) {
		if e.Gone {
			p.remote.Add(-1)
		} else {
			p.remote.Add(1)
		}
		p.shown(e)
	})
	if err != nil {
		return err
	}
	p.open.add(subs.Close)
	at, err := tokensOn(subTokens, p.key)
	if err != nil {
		return err
	}
	tokens, err := s.Watch(ctx, session.Tokens, wire.InterestCurrentFuture, at, func(e session.Event) { p.toldBy(e) })
	if err != nil {
		return err
	}
	p.open.add(tokens.Close)
	if err := subs.Wait(ctx); err != nil {
		return err
	}
	if err := tokens.Wait(ctx); err != nil {
		return err
	}
	p.ready.Store(true)
	return nil
}

// heard reports whether a remote subscription is known.
func (p *publisher) heard() bool { return !p.ready.Load() || p.remote.Load() > 0 }

// Publish implements transports.Publisher.
func (p *publisher) Publish(ctx context.Context, payload []byte) error {
	if p.closed.Load() {
		return transports.ErrClosed
	}
	return p.p.Put(ctx, session.Put{Payload: payload})
}

// Close implements transports.Publisher.
func (p *publisher) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	c := p.c
	c.mu.Lock()
	delete(c.pubs, p)
	for u := range c.subs {
		u.meets(p, -1)
	}
	c.mu.Unlock()
	p.open.close()
	return nil
}

type subscription struct {
	counterparts
	c    *Conn
	key  string
	qos  transports.QoS // what it asks for
	sink func(transports.Sample)
	open closer

	reader *advanced.Reader                       // nil when volatile
	joined atomic.Bool                            // who was there before has been asked for what he kept
	plain  atomic.Int32                           // the publishers known that keep nothing
	keeps  atomic.Int32                           // the tokens of those that do
	deaf   atomic.Pointer[map[wire.EntityID]bool] // whom it must not hear; replaced, never changed
	closed atomic.Bool

	counted bool // by the publishers of this Conn; guarded by c.mu

	lastKey, lastTopic string // of the sample before
}

// politeness is how long a subscription that leaves durability open waits for
// what publishers kept.
const politeness = time.Second

// Subscribe implements transports.Conn. topic may hold the wildcards of Zenoh's
// key expressions. The type goes nowhere.
func (c *Conn) Subscribe(ctx context.Context, topic string, _ transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	key, err := subscriptionKey(topic)
	if err != nil {
		return nil, err
	}
	u := &subscription{c: c, key: key, qos: q, sink: sink}
	u.init(pubTokens, c.s.ZID(), u.hears)
	c.mu.Lock()
	c.subs[u] = struct{}{}
	for p := range c.pubs {
		u.meets(p, 1)
	}
	c.mu.Unlock()
	if err := u.declare(ctx); err != nil {
		u.close()
		return nil, fmt.Errorf("subscribe to /%s: %w", key, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	u.counted = true
	for p := range c.pubs {
		u.countedBy(p, 1)
	}
	return u, nil
}

// declare announces the subscription, first asking who publishes: what they send
// comes behind the answer.
func (u *subscription) declare(ctx context.Context) error {
	s := u.c.s
	at, err := tokensOn(pubTokens, u.key)
	if err != nil {
		return err
	}
	pubs, err := s.Watch(ctx, session.Tokens, wire.InterestCurrentFuture, at, u.told)
	if err != nil {
		return err
	}
	u.open.add(pubs.Close)
	take := u.take
	if u.qos.Durability != transports.Volatile {
		u.reader = advanced.NewReader(s, u.key, u.qos.HistoryDepth(), u.take)
		u.open.add(u.reader.Close)
		take = u.reader.Live
		at, err := advanced.TokenKey(u.key)
		if err != nil {
			return err
		}
		keeping, err := s.Watch(ctx, session.Tokens, wire.InterestCurrentFuture, at, u.kept)
		if err != nil {
			return err
		}
		u.open.add(keeping.Close)
	}
	t, err := s.Subscribe(ctx, u.key, take)
	if err != nil {
		return err
	}
	id := wire.EntityID{ZID: s.ZID(), EID: s.NewID()}
	tok, err := s.Token(ctx, token{id: id, qos: u.qos, key: u.key}.text(subTokens))
	if err != nil {
		t.Close()
		return err
	}
	u.open.add(tok.Close)
	u.open.add(t.Close) // goes first: without its subscriber a token counts nothing
	if err := s.Barrier(ctx); err != nil {
		return err
	}
	return u.join(ctx)
}

// join gets what publishers kept, as far as that is asked for.
func (u *subscription) join(ctx context.Context) error {
	if u.reader == nil {
		return nil
	}
	u.joined.Store(true)
	if u.qos.Durability == transports.TransientLocal {
		return u.reader.Fetch(ctx)
	}
	if u.plain.Load() > 0 || u.keeps.Load() == 0 {
		u.reader.Skip()
		return nil
	}
	polite, cancel := context.WithTimeout(ctx, politeness)
	defer cancel()
	if err := u.reader.Fetch(polite); err != nil && (ctx.Err() != nil || u.c.s.Err() != nil) {
		return err
	}
	return nil
}

// kept takes the token of a publisher that keeps what it publishes.
func (u *subscription) kept(e session.Event) {
	if e.Gone {
		u.keeps.Add(-1)
		return
	}
	u.keeps.Add(1)
	own := strings.Contains(e.Key, "/@adv/pub/"+u.own.String()+"/") // heard from its first publication on
	if u.joined.Load() && !own && (u.qos.Durability == transports.TransientLocal || u.plain.Load() == 0) {
		u.reader.Late(e.Key)
	}
}

func (u *subscription) hears(t token) bool { return u.qos.Incompatible(t.qos) == "" }

// told takes the token of a publisher.
func (u *subscription) told(e session.Event) {
	t, other := u.toldBy(e)
	if !other {
		return
	}
	n := 1
	if e.Gone {
		n = -1
	}
	u.know(t, n)
}

// know takes note of a publisher that comes (1) or goes (-1).
func (u *subscription) know(t token, n int) {
	if t.qos.Durability != transports.TransientLocal {
		u.plain.Add(int32(n))
	}
	if u.hears(t) || t.id.IsZero() {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	deaf := map[wire.EntityID]bool{}
	if old := u.deaf.Load(); old != nil {
		maps.Copy(deaf, *old)
	}
	if n > 0 {
		deaf[t.id] = true
	} else {
		delete(deaf, t.id)
	}
	u.deaf.Store(&deaf)
}

// meets takes note of a publisher of this Conn, whose mu is held.
func (u *subscription) meets(p *publisher, n int) {
	if !meet(p.key, u.key) {
		return
	}
	t := token{id: p.p.Source(), qos: p.qos, key: p.key}
	u.know(t, n)
	if u.hears(t) {
		u.addLocal(n)
	}
	if u.counted {
		u.countedBy(p, n)
	}
}

func (u *subscription) countedBy(p *publisher, n int) {
	if meet(p.key, u.key) && u.qos.Incompatible(p.qos) == "" {
		p.addLocal(n)
	}
}

func (u *subscription) take(x *session.Sample) {
	if x.Delete {
		return
	}
	if deaf := u.deaf.Load(); deaf != nil && (*deaf)[x.Source.EntityID] {
		return
	}
	if x.Key != u.lastKey {
		u.lastKey, u.lastTopic = x.Key, "/"+x.Key
	}
	u.sink(transports.Sample{
		Payload:   x.Payload,
		Topic:     u.lastTopic,
		Received:  x.Received,
		Seq:       uint64(x.Source.SN),
		HasSeq:    !x.Source.IsZero(),
		Publisher: publisherID(x.Source.EntityID),
	})
}

// Close implements transports.Closer.
func (u *subscription) Close() error {
	u.close()
	return nil
}

func (u *subscription) close() {
	if u.closed.Swap(true) {
		return
	}
	c := u.c
	c.mu.Lock()
	delete(c.subs, u)
	if u.counted {
		for p := range c.pubs {
			u.countedBy(p, -1)
		}
	}
	c.mu.Unlock()
	u.open.close()
}
