package broker

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// Rule says which messages a fault is for: those that meet all of its fields.
// The zero value is every publication, query and reply.
type Rule struct {
	// Key is a key expression that intersects the message's key; "" is all. Of a
	// reply that names no key, it is the query's.
	Key string
	// From is who sent it, To who is to get it, Link either of them; nil is anybody.
	From, To, Link *Link
	// Kinds are the kinds that count; none are Put, Delete, Query, Reply and
	// Refusal. Others cannot be disturbed.
	Kinds []Kind
}

func (r *Rule) check() error {
	if r.Key != "" {
		key, err := keyexpr.Canon(r.Key)
		if err != nil {
			return err
		}
		r.Key = key
	}
	for _, k := range r.Kinds {
		if !k.disturbable() {
			return fmt.Errorf("a fault cannot be in messages of kind %v", k)
		}
	}
	return nil
}

// about is whether a message of that kind, key and origin can meet the rule; a
// FINAL goes with the replies it ends.
func (r *Rule) about(k Kind, key string, from *Link) bool {
	if r.Key != "" && !keyexpr.Intersects(r.Key, key) || r.From != nil && r.From != from {
		return false
	}
	switch {
	case k == Final:
		return len(r.Kinds) == 0 || slices.Contains(r.Kinds, Reply) || slices.Contains(r.Kinds, Refusal)
	case len(r.Kinds) == 0:
		return k.disturbable()
	}
	return slices.Contains(r.Kinds, k)
}

// meets is the rest of the rule.
func (r *Rule) meets(from, to *Link) bool {
	return (r.To == nil || r.To == to) && (r.Link == nil || r.Link == from || r.Link == to)
}

// Effect is what a fault does to the messages of its rule. Package functions make
// them: Drop, DropEvery, Delay, Duplicate, Reorder.
type Effect struct {
	do        effect
	chance    float64
	every     int
	d, jitter time.Duration
}

type effect uint8

const (
	drop effect = iota + 1
	delay
	duplicate
	reorder
)

// Drop loses a message with a probability from 0 to 1.
func Drop(p float64) Effect { return Effect{do: drop, chance: p} }

// DropEvery loses every n-th message of a sender on a key.
func DropEvery(n int) Effect { return Effect{do: drop, every: n} }

// Delay holds each message back for d and up to jitter more, at random. Messages
// of one link to another stay in order; FINALs of queries are held as well, so that
// they do not overtake replies.
func Delay(d, jitter time.Duration) Effect { return Effect{do: delay, chance: 1, d: d, jitter: jitter} }

// Duplicate sends a message twice with a probability from 0 to 1.
func Duplicate(p float64) Effect { return Effect{do: duplicate, chance: p} }

// reorderPatience is how long a message waits for the one that is to overtake it.
const reorderPatience = 100 * time.Millisecond

// Reorder lets a message be overtaken, with a probability from 0 to 1, by the next
// one of the same rule between the same links. When none comes within 100 ms, it
// goes on and has not changed.
func Reorder(p float64) Effect { return Effect{do: reorder, chance: p} }

func (e Effect) String() string {
	switch e.do {
	case drop:
		if e.every > 0 {
			return fmt.Sprintf("drop every %d.", e.every)
		}
		return fmt.Sprintf("drop %.4g%%", e.chance*100)
	case delay:
		if e.jitter > 0 {
			return fmt.Sprintf("delay %v to %v", e.d, e.d+e.jitter)
		}
		return fmt.Sprintf("delay %v", e.d)
	case duplicate:
		return fmt.Sprintf("duplicate %.4g%%", e.chance*100)
	case reorder:
		return fmt.Sprintf("reorder %.4g%%", e.chance*100)
	}
	return "nothing"
}

func (e Effect) check() error {
	switch {
	case e.do == 0:
		return errors.New("it has no effect; write broker.Drop(0.1), DropEvery, Delay, Duplicate or Reorder")
	case e.every < 0 || e.every == 0 && !(e.chance > 0 && e.chance <= 1):
		return fmt.Errorf("%v: a probability is above 0 and at most 1, and n at least 1", e)
	case e.do == delay && (e.d < 0 || e.jitter < 0 || e.d+e.jitter <= 0):
		return fmt.Errorf("%v: no delay", e)
	}
	return nil
}

// Fault is a disturbance that lasts until Undo, or until the broker is closed.
type Fault struct {
	what string
	undo func() // once

	seen, changed atomic.Uint64
	kept          func() uint64 // of a fault in a link, instead of the two
	once          sync.Once
	unchanged     error

	// Of a fault in messages.
	rule   Rule
	effect Effect
	seed   uint64
	b      *Broker
	mu     sync.Mutex
	undone bool
	choice map[stream]*choice
	pairs  map[pair]*held // the last message that waits between two links
	first  *held          // all that waits, in the order of their coming
	lastIn *held
}

// stream is a sequence of messages whose choices follow from the seed.
type stream struct {
	from *Link
	kind Kind
	key  string
}

type choice struct {
	n   int
	rng *rand.Rand
}

type pair struct{ from, to *Link }

// held is a message that waits.
type held struct {
	p          passing
	due        time.Time
	stop       *job
	prev, next *held
}

// String says what the fault is.
func (f *Fault) String() string { return f.what }

// Seen is how many messages met its rule so far, once for each reader; Changed is
// how many of them it changed. What a stall or a half-open link holds up counts in
// messages towards the link and in batches from it.
func (f *Fault) Seen() uint64 {
	if f.kept != nil {
		return f.kept()
	}
	return f.seen.Load()
}

// Changed is described with Seen.
func (f *Fault) Changed() uint64 {
	if f.kept != nil {
		return f.kept()
	}
	return f.changed.Load()
}

// UnchangedError is a fault that changed nothing while it lasted, so that what was
// observed under it proves nothing.
type UnchangedError struct {
	// Fault says what it was, Seen how many messages it had the choice of.
	Fault string
	Seen  uint64
}

func (e *UnchangedError) Error() string {
	if e.Seen == 0 {
		return fmt.Sprintf("broker: the fault %q changed nothing: no message met its rule", e.Fault)
	}
	return fmt.Sprintf("broker: the fault %q changed nothing: none of the %d messages that met its rule were chosen", e.Fault, e.Seen)
}

// Undo ends the fault; what it holds back goes on at once. Its error is an
// *UnchangedError when it changed nothing, from the first call only.
func (f *Fault) Undo() error {
	first := false
	f.once.Do(func() {
		first = true
		f.undo()
		if f.Changed() == 0 {
			f.unchanged = &UnchangedError{f.what, f.Seen()}
		}
	})
	if first {
		return f.unchanged
	}
	return nil
}

// Inject begins a fault. Those that are active act one after the other, in the
// order of their making. A message's fate is chosen once, for all its readers: a
// rule with To or Link disturbs some only. Choices follow from Config.Seed, the
// number of the fault, and the running number of the message among those of its
// sender, kind and key.
func (b *Broker) Inject(r Rule, e Effect) (*Fault, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("inject %v: %w", e, err)
	}
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("inject a fault: %w", err)
	}
	f := &Fault{b: b, rule: r, effect: e, choice: map[stream]*choice{}, pairs: map[pair]*held{}}
	f.what = e.String() + r.String()
	f.undo = f.release
	return f, b.hook(f, true)
}

func (r *Rule) String() string {
	s := ""
	if r.Key != "" {
		s += " of " + r.Key
	}
	for _, k := range r.Kinds {
		s += " " + k.String()
	}
	if r.From != nil {
		s += " from " + r.From.ZID()
	}
	if r.To != nil {
		s += " to " + r.To.ZID()
	}
	if r.Link != nil {
		s += " from and to " + r.Link.ZID()
	}
	return s
}

// hook makes a fault one of the broker's.
func (b *Broker) hook(f *Fault, inMessages bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		return ErrClosed
	}
	b.faults++
	f.seed = b.conf.Seed + uint64(b.faults)*0x9e3779b97f4a7c15
	b.hooks.Store(b.hooks.Load().with(f, inMessages))
	return nil
}

// unhook is the end of a fault.
func (b *Broker) unhook(f *Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hooks.Store(b.hooks.Load().without(f))
}

// fate is what is chosen for a message.
type fate struct {
	chosen bool
	wait   time.Duration
}

// choose chooses for the next message of a stream.
func (f *Fault) choose(from *Link, k Kind, key string) (t fate) {
	if !f.rule.about(k, key, from) {
		return fate{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := stream{from, k, key}
	c := f.choice[s]
	if c == nil {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", k, key)
		c = &choice{rng: rand.New(rand.NewPCG(f.seed, h.Sum64()))}
		f.choice[s] = c
	}
	c.n++
	e := &f.effect
	if e.every > 0 {
		t.chosen = c.n%e.every == 0
	} else {
		t.chosen = e.chance >= 1 || c.rng.Float64() < e.chance
	}
	if e.do == delay {
		t.wait = e.d
		if e.jitter > 0 {
			t.wait += time.Duration(c.rng.Int64N(int64(e.jitter) + 1))
		}
	}
	return t
}

// meet lets a message meet the fault. It returns how many copies go on at once,
// to be followed by those of after.
func (f *Fault) meet(p *passing) (copies int, after *held) {
	t := p.fates[p.next]
	ends := p.kind == Final
	if !f.rule.about(p.kind, p.key, p.from) || !f.rule.meets(p.from, p.to) {
		return 1, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.undone {
		return 1, nil
	}
	if !ends {
		f.seen.Add(1)
	}
	e := &f.effect
	at := pair{p.from, p.to}
	switch e.do {
	case drop:
		if t.chosen && !ends {
			f.change(p, "dropped")
			return 0, nil
		}
	case duplicate:
		if t.chosen && !ends {
			f.change(p, "duplicated")
			return 2, nil
		}
	case delay:
		if !ends {
			f.change(p, "delayed")
		}
		due := time.Now().Add(t.wait)
		if last := f.pairs[at]; last != nil && due.Before(last.due) {
			due = last.due
		}
		f.hold(p, at, due)
		return 0, nil
	case reorder:
		if last := f.pairs[at]; last != nil {
			f.drop(last)
			if !ends {
				f.changed.Add(1)
				last.p.note += "overtaken"
				return 1, last
			}
			return 1, last // goes first, see pass
		}
		if t.chosen && !ends {
			f.hold(p, at, time.Now().Add(reorderPatience))
			return 0, nil
		}
	}
	return 1, nil
}

func (f *Fault) change(p *passing, what string) {
	f.changed.Add(1)
	if p.note != "" {
		p.note += ", "
	}
	p.note += what + " by: " + f.what
}

// hold keeps a message until it is due. f.mu is held.
func (f *Fault) hold(p *passing, at pair, due time.Time) {
	h := &held{p: *p, due: due, prev: f.lastIn}
	h.p.own()
	h.p.next++
	if f.lastIn != nil {
		f.lastIn.next = h
	} else {
		f.first = h
	}
	f.lastIn = h
	f.pairs[at] = h
	h.stop = f.b.sched.at(due, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if h.stop != nil { // else somebody took it meanwhile
			f.drop(h)
			h.p.goOn()
		}
	})
}

// drop takes a message from those that wait. f.mu is held.
func (f *Fault) drop(h *held) {
	f.b.sched.cancel(h.stop)
	h.stop = nil
	if h.prev != nil {
		h.prev.next = h.next
	} else {
		f.first = h.next
	}
	if h.next != nil {
		h.next.prev = h.prev
	} else {
		f.lastIn = h.prev
	}
	if at := (pair{h.p.from, h.p.to}); f.pairs[at] == h {
		delete(f.pairs, at)
	}
}

// release ends the fault and lets go on what waits.
func (f *Fault) release() {
	f.mu.Lock()
	f.undone = true
	for f.first != nil {
		h := f.first
		f.drop(h)
		h.p.goOn()
	}
	f.mu.Unlock()
	f.b.unhook(f)
}

// hooks is what looks at messages: faults in the order of their making, and
// recordings. It is replaced, never changed.
type hooks struct {
	all        []*Fault // also those that are in links
	faults     []*Fault // in messages
	recordings []*Recording
}

func (h *hooks) with(f *Fault, inMessages bool) *hooks {
	n := h.clone()
	n.all = append(n.all, f)
	if inMessages {
		n.faults = append(n.faults, f)
	}
	return n
}

func (h *hooks) without(f *Fault) *hooks {
	n := h.clone()
	n.all = slices.DeleteFunc(n.all, func(x *Fault) bool { return x == f })
	n.faults = slices.DeleteFunc(n.faults, func(x *Fault) bool { return x == f })
	return n.orNil()
}

func (h *hooks) clone() *hooks {
	if h == nil {
		return &hooks{}
	}
	return &hooks{slices.Clone(h.all), slices.Clone(h.faults), slices.Clone(h.recordings)}
}

func (h *hooks) orNil() *hooks {
	if len(h.all)+len(h.recordings) == 0 {
		return nil
	}
	return h
}

// passing is a message on its way to one reader.
type passing struct {
	h        *hooks
	from, to *Link
	kind     Kind
	key      string
	at       time.Time
	on       lane
	block    bool
	size     int
	payload  []byte
	attached []byte
	head     []byte
	tail     []byte
	do       func() // instead of sending
	fates    []fate // of each fault
	next     int    // the fault it meets next
	note     string
	late     bool // it was held, so that its reader is not there to wait
}

// begin makes choices for a message.
func (h *hooks) begin(from *Link, k Kind, key string, on lane, block bool, d *wire.Data) *passing {
	p := &passing{h: h, from: from, kind: k, key: key, at: from.rx.now, on: on, block: block,
		size: len(d.Payload), payload: d.Payload, attached: d.Attachment}
	if len(h.faults) > 0 {
		p.fates = make([]fate, len(h.faults))
		for i, f := range h.faults {
			p.fates[i] = f.choose(from, k, key)
		}
	}
	return p
}

// own copies what would not outlive the batch.
func (p *passing) own() {
	if !p.late {
		both := append(append(make([]byte, 0, len(p.head)+len(p.tail)), p.head...), p.tail...)
		p.head, p.tail = both, nil
		p.payload, p.attached = slices.Clone(p.payload), slices.Clone(p.attached)
		p.late = true
	}
}

// pass sends a message through the faults to a reader.
func (h *hooks) pass(p *passing) {
	x := *p
	x.next, x.note = 0, ""
	x.goOn()
}

// goOn goes on at the fault that comes next.
func (p *passing) goOn() {
	for p.next < len(p.h.faults) {
		copies, after := p.h.faults[p.next].meet(p)
		p.next++
		switch {
		case copies == 0:
			if p.note != "" {
				p.h.keep(p, "")
			}
			return
		case copies == 2:
			twin := *p
			twin.goOn()
		case after != nil && p.kind == Final:
			after.p.goOn()
		case after != nil:
			p.goOn()
			after.p.goOn()
			return
		}
	}
	p.h.keep(p, "")
	switch {
	case p.do != nil:
		p.do()
	case p.late:
		o := &p.to.out
		o.mu.Lock()
		o.put(p.on, p.head, p.tail)
		o.mu.Unlock()
		o.flush()
		p.to.stats.out.Add(1)
	default:
		p.to.deliver(p.from, p.on, p.block, p.head, p.tail)
		p.from.rx.touch(p.to)
	}
}
