package ros2zenoh

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/advanced"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

type publisher struct {
	counterparts
	p      *session.Publisher
	stamp  attachment // of the last publication; the publisher's order guards it
	bytes  [attachmentLen]byte
	open   closer
	ready  atomic.Bool // what is declared is known
	closed atomic.Bool
}

// Advertise implements transports.Conn. Both parts of the type are needed.
func (c *Conn) Advertise(ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
	name, err := c.begin(ctx, topic)
	if err != nil {
		return nil, err
	}
	p := &publisher{}
	if err := p.declare(ctx, c, name, c.hashed(t), offered(q)); err != nil {
		p.open.close()
		return nil, fmt.Errorf("advertise %s: %w", name, err)
	}
	return p, nil
}

// declare announces the publisher and waits until the router has told who
// subscribes.
func (p *publisher) declare(ctx context.Context, c *Conn, name string, t transports.Type, q transports.QoS) error {
	key, err := c.wholeKey(name, t)
	if err != nil {
		return err
	}
	self, token := c.endpoint(publishers, name, t, q)
	p.stamp.gid = self.gid
	conf := session.PublisherConfig{BestEffort: q.Reliability == transports.BestEffort, Timestamp: true, Attach: p.attach, Heard: p.heard}
	if q.Durability == transports.TransientLocal {
		depth := q.HistoryDepth()
		if q.History == transports.KeepAll {
			depth = math.MaxInt
		}
		cache, err := advanced.NewCache(ctx, c.s, key, depth)
		if err != nil {
			return err
		}
		p.open.add(cache.Close)
		conf.Sent = cache.Keep
	}
	if p.p, err = c.s.Publisher(key, conf); err != nil {
		return err
	}
	tok, err := c.s.Token(ctx, token)
	if err != nil {
		return err
	}
	p.open.add(tok.Close)
	p.counterparts = counterparts{c: c, kind: subscriptions, name: name, gated: true,
		suits: func(e *entity) bool { return e.typ == t && e.qos.Incompatible(q) == "" }}
	p.join()
	p.open.add(p.leave)
	subs, err := c.s.Watch(ctx, session.Subscribers, wire.InterestCurrentFuture, key, p.shown)
	if err != nil {
		return err
	}
	p.open.add(subs.Close)
	if err := subs.Wait(ctx); err != nil {
		return err
	}
	p.ready.Store(true)
	return nil
}

// attach makes the attachment of the next publication.
func (p *publisher) attach() []byte {
	p.stamp.seq++
	p.stamp.sent = time.Now().UnixNano()
	return p.stamp.append(p.bytes[:0])
}

// heard reports whether a remote subscription is known.
func (p *publisher) heard() bool { return !p.ready.Load() || p.declared.Load() > 0 }

// Publish implements transports.Publisher.
func (p *publisher) Publish(ctx context.Context, payload []byte) error {
	if p.closed.Load() {
		return transports.ErrClosed
	}
	if err := p.refused(); err != nil {
		return fmt.Errorf("publish on %s: subscription of %w", p.name, err)
	}
	return p.p.Put(ctx, session.Put{Payload: payload})
}

// Close implements transports.Publisher.
func (p *publisher) Close() error {
	if !p.closed.Swap(true) {
		p.open.close()
	}
	return nil
}

type subscription struct {
	counterparts
	key  string
	typ  transports.Type // parts of it may be empty
	qos  transports.QoS
	sink func(transports.Sample)
	open closer

	reader *advanced.Reader         // nil when volatile
	joined atomic.Bool              // who was there before has been asked for what he kept
	deaf   atomic.Pointer[deafness] // replaced, never changed
	closed atomic.Bool

	masks masks // of an observer
}

// politeness is how long a subscription that leaves durability open waits for
// what publishers kept.
const politeness = time.Second

// Subscribe implements transports.Conn. An empty type name hears every type, an
// empty hash every hash.
func (c *Conn) Subscribe(ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
	name, err := c.begin(ctx, topic)
	if err != nil {
		return nil, err
	}
	u := &subscription{typ: c.hashed(t), qos: asked(q), sink: sink}
	u.counterparts = counterparts{c: c, kind: publishers, name: name, suits: u.hears, reviewed: u.review}
	if err := u.declare(ctx); err != nil {
		u.Close()
		return nil, fmt.Errorf("subscribe to %s: %w", name, err)
	}
	return u, nil
}

// declare announces the subscription.
func (u *subscription) declare(ctx context.Context) (err error) {
	c := u.c
	if u.key, err = dataKey(c.conf.Domain, u.name, u.typ); err != nil {
		return err
	}
	u.join()
	u.open.add(u.leave)
	take := u.take
	if u.qos.Durability != transports.Volatile {
		u.reader = advanced.NewReader(c.s, u.key, u.qos.HistoryDepth(), u.take)
		u.open.add(u.reader.Close)
		take = u.reader.Live
		at, err := advanced.TokenKey(u.key)
		if err != nil {
			return err
		}
		keeping, err := c.s.Watch(ctx, session.Tokens, wire.InterestCurrentFuture, at, u.kept)
		if err != nil {
			return err
		}
		u.open.add(keeping.Close)
	}
	sub, err := c.s.Subscribe(ctx, u.key, take)
	if err != nil {
		return err
	}
	u.open.add(sub.Close)
	// The tokens go first: without its subscriber one counts nothing.
	if u.observes() {
		u.open.add(u.masks.drop)
		if err := u.wearAll(ctx); err != nil {
			return err
		}
	} else {
		_, token := c.endpoint(subscriptions, u.name, u.typ, u.qos)
		tok, err := c.s.Token(ctx, token)
		if err != nil {
			return err
		}
		u.open.add(tok.Close)
	}
	if err := c.s.Barrier(ctx); err != nil {
		return err
	}
	return u.catchUp(ctx)
}

// catchUp gets what publishers kept, as far as that is asked for.
func (u *subscription) catchUp(ctx context.Context) error {
	if u.reader == nil {
		return nil
	}
	u.joined.Store(true)
	if u.qos.Durability == transports.TransientLocal {
		return u.reader.Fetch(ctx)
	}
	if all, keep := u.publishers(); keep < all || keep == 0 {
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

// publishers counts those of its type, and how many of them keep what they
// publish.
func (u *subscription) publishers() (all, keep int) {
	u.c.mu.Lock()
	defer u.c.mu.Unlock()
	for _, e := range u.c.publishersOn(u.name) {
		if !u.takes(e.typ) {
			continue
		}
		all++
		if e.qos.Durability == transports.TransientLocal {
			keep++
		}
	}
	return all, keep
}

// kept takes the token of a publisher that keeps what it publishes.
func (u *subscription) kept(e session.Event) {
	own := strings.Contains(e.Key, "/@adv/pub/"+u.c.zid+"/") // heard from its first publication on
	if e.Gone || own || !u.joined.Load() {
		return
	}
	if all, keep := u.publishers(); u.qos.Durability == transports.TransientLocal || keep == all {
		u.reader.Late(e.Key)
	}
}

// takes reports whether it takes what is of a type.
func (u *subscription) takes(t transports.Type) bool {
	return (u.typ.Name == "" || u.typ.Name == t.Name) && (u.typ.Hash == "" || u.typ.Hash == t.Hash)
}

func (u *subscription) hears(e *entity) bool {
	return u.takes(e.typ) && u.qos.Incompatible(e.qos) == ""
}

// observes reports whether its type has an open end.
func (u *subscription) observes() bool { return u.typ.Name == "" || u.typ.Hash == "" }

// deafness is whom a subscription must not hear, by the GID of its messages. Who
// makes up GIDs, as zenoh-ros2-sdk does, is known by its session, if that has no
// publisher of the topic that is heard.
type deafness struct {
	gids map[measure.PublisherID]bool
	zids map[string]bool
}

func (d *deafness) add(e *entity) {
	if d.gids == nil {
		d.gids, d.zids = map[measure.PublisherID]bool{}, map[string]bool{}
	}
	d.gids[e.gid], d.zids[e.zid] = true, true
}

func (d *deafness) to(gid measure.PublisherID, x *session.Sample) bool {
	return d != nil && (d.gids[gid] || len(d.zids) > 0 && d.zids[x.Timestamp.ID.String()])
}

// review follows the publishers of the topic. The Conn's mu is held.
func (u *subscription) review() {
	var d deafness
	heard := map[string]bool{}
	for _, e := range u.c.publishersOn(u.name) {
		switch {
		case u.qos.Incompatible(e.qos) != "":
			d.add(e)
		case u.takes(e.typ):
			heard[e.zid] = true
		}
	}
	for zid := range heard {
		delete(d.zids, zid)
	}
	if d.gids == nil {
		u.deaf.Store(nil)
	} else {
		u.deaf.Store(&d)
	}
	if u.observes() && u.masks.begun() {
		u.c.s.Post(func() { _ = u.wear() }) // that the session ended is known already
	}
}

func (u *subscription) take(x *session.Sample) {
	if x.Delete {
		return
	}
	a, err := parseAttachment(x.Attachment)
	if err != nil {
		u.c.note(fmt.Sprintf("message on %s: %v", x.Key, err))
		if errors.Is(err, errOldAttachment) {
			u.c.speaksOld(u.name, a, x.Timestamp.ID.String())
		}
	}
	if u.deaf.Load().to(a.gid, x) {
		return
	}
	u.sink(transports.Sample{
		Payload:   x.Payload,
		Topic:     u.name,
		Received:  x.Received,
		Sent:      a.time(),
		Seq:       uint64(a.seq),
		HasSeq:    !a.gid.IsZero(),
		Publisher: a.gid,
	})
}

// Close implements transports.Closer.
func (u *subscription) Close() error {
	if !u.closed.Swap(true) {
		u.open.close()
	}
	return nil
}

// masks are the tokens of an observer: one of each type that it hears, since a
// token has no way to say "any", and some publishers publish only to those who
// show themselves.
type masks struct {
	on     atomic.Bool
	mu     sync.Mutex
	closed bool
	worn   map[transports.Type]*session.Token
}

func (m *masks) begun() bool { return m.on.Load() }

// drop withdraws all of them.
func (m *masks) drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, t := range m.worn {
		t.Close()
	}
	m.worn = nil
}

// wearAll declares the tokens for who is there.
func (u *subscription) wearAll(ctx context.Context) error {
	u.masks.on.Store(true)
	if u.c.s.Delivering() {
		return u.wear()
	}
	done := make(chan error, 1)
	u.c.s.Post(func() { done <- u.wear() })
	select {
	case err := <-done:
		return err
	case <-u.c.s.Done():
		return u.c.s.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wear makes the tokens those of the types there are. It runs on the session's
// goroutine, where sending does not wait.
func (u *subscription) wear() error {
	heard := map[transports.Type]bool{}
	u.c.mu.Lock()
	for _, e := range u.c.publishersOn(u.name) {
		if u.hears(e) {
			heard[e.typ] = true
		}
	}
	u.c.mu.Unlock()
	m := &u.masks
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	for t, token := range m.worn {
		if !heard[t] {
			token.Close()
			delete(m.worn, t)
		}
	}
	for t := range heard {
		if m.worn[t] != nil {
			continue
		}
		if _, err := dataKey(0, u.name, t); err != nil {
			continue // a foreign token's own way to write a type
		}
		_, token := u.c.endpoint(subscriptions, u.name, t, u.qos)
		tok, err := u.c.s.Token(context.Background(), token)
		if err != nil {
			return err
		}
		if m.worn == nil {
			m.worn = map[transports.Type]*session.Token{}
		}
		m.worn[t] = tok
	}
	return nil
}
