package broker

import (
	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// manyRoutes bounds the keys whose readers are remembered by each link.
const manyRoutes = 4096

// route is where a link's publications on one key go.
type route struct {
	key   string
	valid bool // it is a key expression
	to    []target
}

// target is a reader, and how the key is written to it: with its own alias if it
// declared one.
type target struct {
	l   *Link
	key wire.WireExpr
}

// route finds the readers of a key. What is no key expression goes nowhere.
func (l *Link) route(key []byte) *route {
	x := &l.rx
	if v := l.b.version.Load(); v != x.version || len(x.routes) >= manyRoutes {
		clear(x.routes)
		x.version, x.last = v, nil
	}
	if r, ok := x.routes[string(key)]; ok {
		return r
	}
	r := &route{key: string(key)}
	if r.valid = keyexpr.Validate(r.key) == nil; r.valid {
		l.b.mu.Lock()
		for _, to := range l.b.links {
			if to != l && to.subscribes(r.key) {
				r.to = append(r.to, target{to, to.spell(r.key)})
			}
		}
		l.b.mu.Unlock()
	}
	x.routes[r.key] = r
	return r
}

// subscribes is under b.mu.
func (l *Link) subscribes(key string) bool {
	for id, d := range l.decls {
		if id.kind == subscriber && keyexpr.Intersects(d.key, key) {
			return true
		}
	}
	return false
}

// spell writes a key for the link. It is under b.mu.
func (l *Link) spell(key string) wire.WireExpr {
	if id, ok := l.names[key]; ok {
		return wire.WireExpr{Scope: id} // declared by the receiver
	}
	return wire.WireExpr{Suffix: []byte(key), SenderMapping: true}
}

func (l *Link) onPush(m *wire.Push, raw []byte, on lane) error {
	x := &l.rx
	key, err := x.resolve(&m.Key)
	if err != nil {
		return err
	}
	r := l.route(key)
	if !r.valid {
		return errPassOver
	}
	h := l.b.hooks.Load()
	if len(r.to) == 0 && h == nil {
		return nil
	}
	after := wire.AfterKey(raw)
	body, tail := -1, raw[after:]
	var stamp wire.Timestamp
	if !m.Delete && m.Data.Timestamp.IsZero() {
		body, stamp = wire.Body(raw, after), l.b.now(x.now)
		tail = raw[body+1:]
	}
	block := m.QoS.Block() || m.QoS.BlockFirst()
	if h != nil {
		kind := Put
		if m.Delete {
			kind = Delete
		}
		p := h.begin(l, kind, r.key, on, block, &m.Data)
		for i := range r.to {
			to := &r.to[i]
			p.to, p.head, p.tail = to.l, l.head(raw, 0, &to.key, after, body, stamp), tail
			h.pass(p)
		}
		if len(r.to) == 0 {
			h.keep(p, "nobody subscribes")
		}
		return nil
	}
	flushes := x.flushes
	for i := range r.to {
		to := &r.to[i]
		to.l.deliver(l, on, block, l.head(raw, 0, &to.key, after, body, stamp), tail)
		if x.last != r {
			x.touch(to.l)
		}
	}
	if x.flushes == flushes {
		x.last = r
	}
	return nil
}

// head is the beginning of a message that is passed on, up to what is copied as
// it came; with a timestamp if body is not negative. It is valid until the next
// one.
func (l *Link) head(raw []byte, id uint32, key *wire.WireExpr, after, body int, stamp wire.Timestamp) []byte {
	x := &l.rx
	x.head = wire.AppendForward(x.head[:0], raw, id, key)
	if body >= 0 {
		x.head = append(x.head, raw[after:body]...)
		x.head = wire.AppendStamped(x.head, raw, body, stamp)
	}
	return x.head
}
