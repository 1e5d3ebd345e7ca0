package broker

import (
	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// query is a question on its way. All of it is under Broker.mu.
type query struct {
	from *Link
	id   uint32 // as its sender numbers it
	key  string
	left map[*Link]uint32 // who owes a FINAL, and how the question is numbered there
	stop *job             // the timeout
}

// asked is a question as the one who is asked knows it.
type asked struct{ q *query }

func (l *Link) onRequest(m *wire.Request, raw []byte, on lane) error {
	b := l.b
	bytes, err := l.rx.resolve(&m.Key)
	key := string(bytes)
	if err != nil || keyexpr.Validate(key) != nil {
		b.mu.Lock()
		b.tell(l, final(m.ID))
		b.unlock()
		return errPassOver
	}
	q := &query{from: l, id: m.ID, key: key, left: map[*Link]uint32{}}
	after := wire.AfterKey(raw)
	block := m.QoS.Block() || m.QoS.BlockFirst()
	h := b.hooks.Load()
	var p *passing
	if h != nil {
		p = h.begin(l, Query, key, on, block, &wire.Data{Payload: m.Value.Payload, Attachment: m.Attachment})
	}
	b.mu.Lock()
	to := b.choose(l, key, m.Target)
	ids := make([]uint32, len(to))
	for i, t := range to {
		ids[i] = t.l.number(&asked{q})
		q.left[t.l] = ids[i]
	}
	if len(to) > 0 {
		l.queries[q] = struct{}{}
		if d, ok := b.queryTimeout(m.TimeoutMillis); ok {
			q.stop = b.sched.at(l.rx.now.Add(d), func() { b.giveUp(q) })
		}
	} else {
		if h != nil {
			h.keep(p, "nobody answers")
		}
		b.tell(l, final(m.ID))
	}
	b.unlock()
	if h == nil {
		for i := range to {
			t := &to[i]
			t.l.deliver(l, on, block, l.head(raw, ids[i], &t.key, after, -1, wire.Timestamp{}), raw[after:])
			l.rx.touch(t.l)
		}
		return nil
	}
	for i := range to {
		t := &to[i]
		p.to, p.head, p.tail = t.l, l.head(raw, ids[i], &t.key, after, -1, wire.Timestamp{}), raw[after:]
		h.pass(p)
	}
	return nil
}

// choose picks the links that a query goes to. b.mu is held.
func (b *Broker) choose(from *Link, key string, t wire.Target) (to []target) {
	var complete []bool
	for _, l := range b.links {
		if l == from {
			continue
		}
		hit, whole := false, false
		for id, d := range l.decls {
			if id.kind == queryable && keyexpr.Intersects(d.key, key) {
				hit = true
				whole = whole || d.info.Complete && keyexpr.Includes(d.key, key)
			}
		}
		if hit && (whole || t != wire.TargetAllComplete) {
			to = append(to, target{l, l.spell(key)})
			complete = append(complete, whole)
		}
	}
	if t == wire.TargetBestMatching {
		for i, whole := range complete {
			if whole {
				return to[i : i+1]
			}
		}
	}
	return to
}

// number gives a question its id on the link. b.mu is held.
func (l *Link) number(a *asked) uint32 {
	for {
		l.lastReq = (l.lastReq + 1) & l.reqMask
		if l.requests[l.lastReq] == nil || len(l.requests) > int(l.reqMask) {
			l.requests[l.lastReq] = a
			return l.lastReq
		}
	}
}

func final(id uint32) *wire.ResponseFinal {
	return &wire.ResponseFinal{RequestID: id, QoS: wire.QoSRequest}
}

func (l *Link) onResponse(m *wire.Response, raw []byte, on lane) error {
	b := l.b
	key, err := l.rx.resolve(&m.Key)
	if err != nil {
		return err
	}
	b.mu.Lock()
	a := l.requests[m.RequestID]
	b.mu.Unlock()
	if a == nil {
		return nil // late
	}
	q := a.q
	after := wire.AfterKey(raw)
	expr := wire.WireExpr{Suffix: key, SenderMapping: true}
	head := l.head(raw, q.id, &expr, after, -1, wire.Timestamp{})
	block := m.QoS.Block() || m.QoS.BlockFirst()
	h := b.hooks.Load()
	if h == nil {
		q.from.deliver(l, on, block, head, raw[after:])
		l.rx.touch(q.from)
		return nil
	}
	kind, of := Reply, string(key)
	if m.Err {
		kind = Refusal
	}
	if of == "" {
		of = q.key
	}
	p := h.begin(l, kind, of, on, block, &m.Data)
	p.to, p.head, p.tail = q.from, head, raw[after:]
	h.pass(p)
	return nil
}

func (l *Link) onFinal(id uint32) {
	b := l.b
	b.mu.Lock()
	a := l.requests[id]
	h := b.hooks.Load()
	if a == nil || h == nil {
		if a != nil {
			b.answered(a.q, l, id)
		}
		b.unlock()
		return
	}
	b.mu.Unlock()
	p := h.begin(l, Final, a.q.key, reliable, true, &wire.Data{})
	p.to = a.q.from
	p.do = func() {
		b.mu.Lock()
		if l.requests[id] == a {
			b.answered(a.q, l, id)
		}
		b.unlock()
	}
	h.pass(p)
}

// answered takes one FINAL, or the loss of who owes it. b.mu is held.
func (b *Broker) answered(q *query, by *Link, id uint32) {
	delete(by.requests, id)
	delete(q.left, by)
	if len(q.left) == 0 {
		b.over(q)
		b.tell(q.from, final(q.id))
	}
}

// over forgets a query. b.mu is held.
func (b *Broker) over(q *query) {
	for l, id := range q.left {
		delete(l.requests, id)
	}
	delete(q.from.queries, q)
	b.sched.cancel(q.stop)
}

// giveUp is the end of a query's timeout.
func (b *Broker) giveUp(q *query) {
	b.mu.Lock()
	defer b.unlock()
	if _, waits := q.from.queries[q]; !waits {
		return
	}
	b.over(q)
	b.tell(q.from, &wire.Response{RequestID: q.id, Key: wire.WireExpr{SenderMapping: true}, QoS: wire.QoSRequest, Err: true,
		Data: wire.Data{Payload: []byte("Timeout")}}, final(q.id))
}

// endQueries forgets what a lost link asked and stops waiting for what it owes.
// b.mu is held.
func (b *Broker) endQueries(l *Link) {
	for q := range l.queries {
		b.over(q)
	}
	for id, a := range l.requests {
		b.answered(a.q, l, id)
	}
}
