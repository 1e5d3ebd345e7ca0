package broker

import (
	"maps"
	"slices"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// kind is what a declaration declares.
type kind uint8

const (
	subscriber kind = iota
	queryable
	token
	kinds
)

func (k kind) String() string { return [...]string{"subscriber", "queryable", "token"}[k] }

// declares is the declaration of a kind, and withdraws the end of it.
func (k kind) declares() wire.DeclareKind {
	return [...]wire.DeclareKind{wire.DeclareSubscriber, wire.DeclareQueryable, wire.DeclareToken}[k]
}

func (k kind) withdraws() wire.DeclareKind { return k.declares() + 1 }

func (k kind) asked(o wire.InterestOptions) bool {
	return o&[...]wire.InterestOptions{wire.InterestSubscribers, wire.InterestQueryables, wire.InterestTokens}[k] != 0
}

// kindOf is the kind of a declaration or withdrawal, false for others.
func kindOf(k wire.DeclareKind) (kind, bool) {
	switch k {
	case wire.DeclareSubscriber, wire.UndeclareSubscriber:
		return subscriber, true
	case wire.DeclareQueryable, wire.UndeclareQueryable:
		return queryable, true
	case wire.DeclareToken, wire.UndeclareToken:
		return token, true
	}
	return 0, false
}

// declID is how a link names what it declared.
type declID struct {
	kind kind
	id   uint32
}

type decl struct {
	key  string
	info wire.QueryableInfo
}

// entry is all declarations of one kind on one key, which are one to those who
// look: how many each link has of them, and how many of those are complete.
type entry map[*Link]*struct{ all, complete int }

// told is what a link was told of a key: it is told of the end under the same id,
// even when the interest has ended before, for its own book to be right.
type told struct {
	id   uint32
	info wire.QueryableInfo
}

// interest is a link's wish to be told.
type interest struct {
	options    wire.InterestOptions
	restricted bool
	key        string
	future     bool
	// Of an aggregate interest: what it was told, in the interest's own key.
	sum [kinds]*told
}

func (i *interest) matches(k kind, key string) bool {
	return k.asked(i.options) && (!i.restricted || keyexpr.Intersects(i.key, key))
}

func (i *interest) aggregates() bool {
	return i.restricted && i.options&wire.InterestAggregate != 0
}

// seen is whether somebody sees an entry, and of a queryable what it is to him:
// one's own subscribers and queryables are not shown, one's own tokens are.
func (e entry) seen(k kind, by *Link) (info wire.QueryableInfo, is bool) {
	for l, n := range e {
		if l != by || k == token {
			is = true
			info.Complete = info.Complete || n.complete > 0
		}
	}
	return info, is
}

func (l *Link) onDeclare(m *wire.Declare) error {
	x := &l.rx
	b := l.b
	switch m.Kind {
	case wire.DeclareKeyExpr:
		m.Key.SenderMapping = true // of what else could it be made
		key, err := x.resolve(&m.Key)
		if err != nil {
			return err
		}
		name := string(key)
		x.aliases[uint16(m.ID)] = name
		b.mu.Lock()
		defer b.mu.Unlock()
		if keyexpr.Validate(name) == nil && keyexpr.IsConcrete(name) {
			l.names[name] = uint16(m.ID)
			b.version.Add(1)
		}
		return nil
	case wire.UndeclareKeyExpr:
		name, ok := x.aliases[uint16(m.ID)]
		delete(x.aliases, uint16(m.ID))
		b.mu.Lock()
		defer b.mu.Unlock()
		if ok && l.names[name] == uint16(m.ID) {
			delete(l.names, name)
			b.version.Add(1)
		}
		return nil
	case wire.DeclareFinal:
		return nil // the broker asks for nothing
	}
	k, _ := kindOf(m.Kind)
	id := declID{k, m.ID}
	withdraws := m.Kind == k.withdraws()
	var key string
	if !withdraws {
		bytes, err := x.resolve(&m.Key)
		if err != nil {
			return err
		}
		if key = string(bytes); keyexpr.Validate(key) != nil {
			return errPassOver
		}
	}
	b.mu.Lock()
	defer b.unlock()
	if h := b.hooks.Load(); h != nil {
		note, of := Declare, key
		if withdraws {
			note, of = Undeclare, l.decls[id].key
		}
		h.keep(&passing{from: l, kind: note, key: of, at: x.now}, k.String())
	}
	if withdraws {
		b.withdraw(l, id)
	} else {
		b.declare(l, id, decl{key, m.Queryable})
	}
	b.change()
	return nil
}

// declare enters a declaration. b.mu is held.
func (b *Broker) declare(l *Link, id declID, d decl) {
	old, had := l.decls[id]
	if had && old == d {
		return
	}
	l.decls[id] = d
	e := b.index[id.kind][d.key]
	if e == nil {
		e = entry{}
		b.index[id.kind][d.key] = e
	}
	n := e[l]
	if n == nil {
		n = &struct{ all, complete int }{}
		e[l] = n
	}
	n.all++
	if d.info.Complete {
		n.complete++
	}
	if had { // under an id that stood for another key or promise
		b.remove(l, id.kind, old)
	}
	if id.kind == subscriber {
		b.version.Add(1)
	}
	b.refresh(id.kind, d.key)
}

// withdraw takes a declaration back; one that is not there is nothing.
func (b *Broker) withdraw(l *Link, id declID) {
	d, ok := l.decls[id]
	if !ok {
		return
	}
	delete(l.decls, id)
	if id.kind == subscriber {
		b.version.Add(1)
	}
	b.remove(l, id.kind, d)
}

func (b *Broker) remove(l *Link, k kind, d decl) {
	e := b.index[k][d.key]
	n := e[l]
	n.all--
	if d.info.Complete {
		n.complete--
	}
	if n.all == 0 {
		delete(e, l)
	}
	if len(e) == 0 {
		delete(b.index[k], d.key)
	}
	b.refresh(k, d.key)
}

// refresh tells everybody concerned how a key looks now.
func (b *Broker) refresh(k kind, key string) {
	e := b.index[k][key]
	for _, l := range b.links {
		info, is := e.seen(k, l)
		t := l.told[k][key]
		switch {
		case is && t == nil:
			if l.wants(k, key) {
				l.told[k][key] = b.show(l, k, key, info, nil)
			}
		case is && t.info != info:
			b.show(l, k, key, info, t)
		case !is && t != nil:
			b.hide(l, k, t)
			delete(l.told[k], key)
		}
		for _, i := range l.interests {
			if i.future && i.aggregates() && i.matches(k, key) {
				b.refreshSum(l, k, i)
			}
		}
	}
}

// wants reports whether an interest of the link asks for single declarations on
// a key.
func (l *Link) wants(k kind, key string) bool {
	if l.everything[k] {
		return true
	}
	for _, i := range l.interests {
		if i.future && !i.aggregates() && i.matches(k, key) {
			return true
		}
	}
	return false
}

// total is what an aggregate interest is to be told.
func (b *Broker) total(l *Link, k kind, i *interest) (info wire.QueryableInfo, is bool) {
	for key, e := range b.index[k] {
		if !keyexpr.Intersects(i.key, key) {
			continue
		}
		if one, some := e.seen(k, l); some {
			is = true
			info.Complete = info.Complete || one.Complete && keyexpr.Includes(key, i.key)
		}
	}
	return info, is
}

func (b *Broker) refreshSum(l *Link, k kind, i *interest) {
	info, is := b.total(l, k, i)
	t := i.sum[k]
	switch {
	case is && t == nil:
		i.sum[k] = b.show(l, k, i.key, info, nil)
	case is && t.info != info:
		b.show(l, k, i.key, info, t)
	case !is && t != nil:
		b.hide(l, k, t)
		i.sum[k] = nil
	}
}

// show tells a link of a declaration, under a new id or again under t's.
func (b *Broker) show(l *Link, k kind, key string, info wire.QueryableInfo, t *told) *told {
	if t == nil {
		l.lastID++
		t = &told{id: l.lastID}
	}
	t.info = info
	b.tell(l, shown(k, t.id, key, info))
	return t
}

func (b *Broker) hide(l *Link, k kind, t *told) {
	b.tell(l, &wire.Declare{QoS: wire.QoSDeclare, Kind: k.withdraws(), ID: t.id})
}

func shown(k kind, id uint32, key string, info wire.QueryableInfo) *wire.Declare {
	return &wire.Declare{QoS: wire.QoSDeclare, Kind: k.declares(), ID: id, Queryable: info,
		Key: wire.WireExpr{Suffix: []byte(key), SenderMapping: true}}
}

func (l *Link) onInterest(m *wire.Interest) error {
	b := l.b
	i := &interest{options: m.Options, restricted: m.Restricted, future: m.Mode&wire.InterestFuture != 0}
	if m.Mode != wire.InterestFinal && m.Restricted {
		bytes, err := l.rx.resolve(&m.Key)
		if err != nil {
			return err
		}
		if i.key = string(bytes); keyexpr.Validate(i.key) != nil {
			return errPassOver
		}
	}
	b.mu.Lock()
	defer b.unlock()
	if h := b.hooks.Load(); h != nil {
		h.keep(&passing{from: l, kind: Interest, key: i.key, at: l.rx.now}, "")
	}
	if m.Mode == wire.InterestFinal {
		delete(l.interests, m.ID)
		l.recount()
		return nil
	}
	if i.future {
		l.interests[m.ID] = i
		l.recount()
	}
	if m.Mode&wire.InterestCurrent == 0 {
		return nil
	}
	for k := range kinds {
		b.answer(l, k, m.ID, i)
	}
	b.tell(l, &wire.Declare{Answer: true, InterestID: m.ID, QoS: wire.QoSDeclare, Kind: wire.DeclareFinal})
	return nil
}

// recount follows a change of the interests.
func (l *Link) recount() {
	l.everything = [kinds]bool{}
	for _, i := range l.interests {
		for k := range kinds {
			if !i.restricted && k.asked(i.options) {
				l.everything[k] = true
			}
		}
	}
}

// answer tells a link what there is of a kind.
func (b *Broker) answer(l *Link, k kind, id uint32, i *interest) {
	if !k.asked(i.options) {
		return
	}
	declare := func(key string, info wire.QueryableInfo, t *told) {
		m := shown(k, t.id, key, info)
		m.Answer, m.InterestID = true, id
		b.tell(l, m)
	}
	fresh := func(info wire.QueryableInfo) *told {
		if !i.future {
			return &told{info: info} // ids of what is only current are 0
		}
		l.lastID++
		return &told{id: l.lastID, info: info}
	}
	if i.aggregates() {
		if info, is := b.total(l, k, i); is {
			t := fresh(info)
			if i.future {
				i.sum[k] = t
			}
			declare(i.key, info, t)
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(b.index[k])) {
		if !i.matches(k, key) {
			continue
		}
		info, is := b.index[k][key].seen(k, l)
		if !is {
			continue
		}
		t := l.told[k][key]
		if !i.future || t == nil {
			t = fresh(info)
		}
		if i.future {
			l.told[k][key] = t
		}
		declare(key, info, t)
	}
}
