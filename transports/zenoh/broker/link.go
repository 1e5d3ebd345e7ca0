package broker

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// minBatch is the smallest batch that a peer may ask for: some room for a
// fragment besides its header.
const minBatch = 64

// cookie is what the second step of a handshake has to show.
const cookie = "robospec"

// Link is a client's or peer's connection to the broker. Its methods may be
// called from any goroutine, also after its end.
type Link struct {
	b    *Broker
	conn net.Conn
	c    *link.Conn
	out  outbox
	born time.Time
	n    uint64 // in the order of coming

	// Set by the handshake, before the link is one of the broker's.
	zid   wire.ZenohID
	role  wire.WhatAmI
	lease time.Duration // it states

	rx reader

	// Under b.mu.
	decls      map[declID]decl
	names      map[string]uint16 // the aliases it declared, by what they stand for
	interests  map[uint32]*interest
	everything [kinds]bool // it has an unrestricted interest in the kind
	told       [kinds]map[string]*told
	lastID     uint32            // given to what it was told of
	requests   map[uint32]*asked // it owes a FINAL
	lastReq    uint32
	reqMask    uint32
	queries    map[*query]struct{} // it waits for

	endOnce sync.Once
	dying   chan struct{} // closed when the end begins
	gone    chan struct{} // closed when all is cleared away
	cause   error         // written before dying is closed

	stats struct{ in, out, dropped, waited, invalid atomic.Uint64 }
}

func newLink(b *Broker, c net.Conn) *Link {
	l := &Link{b: b, conn: c, c: link.New(c, "tcp/"+c.RemoteAddr().String()), born: time.Now(),
		decls: map[declID]decl{}, names: map[string]uint16{}, interests: map[uint32]*interest{},
		requests: map[uint32]*asked{}, queries: map[*query]struct{}{},
		dying: make(chan struct{}), gone: make(chan struct{})}
	for k := range l.told {
		l.told[k] = map[string]*told{}
	}
	l.out.spawn = b.work.Go
	l.out.lost = func(err error) { l.end(fmt.Errorf("write: %w", err)) }
	l.rx.gate.L = &l.rx.mu
	return l
}

func sortLinks(all []*Link) {
	slices.SortFunc(all, func(a, b *Link) int { return cmp.Compare(a.n, b.n) })
}

// ZID is the id that the other end gave itself, as Zenoh prints it; "" before
// it did.
func (l *Link) ZID() string { return l.zid.String() }

// Role is "client" or "peer".
func (l *Link) Role() string { return l.role.String() }

// Address is where it comes from, such as "tcp/127.0.0.1:43210".
func (l *Link) Address() string { return l.c.Peer() }

// Err is nil while the link lives, and else why it ended: io.EOF when the other
// end hung up without a word, a *ClosedError when it said CLOSE, ErrCut, ErrSilent,
// ErrStuck, ErrClosed, or what was wrong with what it sent.
func (l *Link) Err() error {
	select {
	case <-l.dying:
		return l.cause
	default:
		return nil
	}
}

func (l *Link) String() string {
	if l.zid.IsZero() {
		return "a stranger at " + l.Address()
	}
	return fmt.Sprintf("%s %s at %s", l.role, l.zid, l.Address())
}

// Stats counts what passed a link since its beginning.
type Stats struct {
	// In and Out are the messages with a meaning of their own (publications,
	// queries, replies, their ends, declarations, interests) that it sent, and the
	// publications, queries and replies that were sent to it.
	In, Out uint64
	// Dropped are those that were dropped because it does not take them fast
	// enough, Waited those that waited for it.
	Dropped, Waited uint64
	// Invalid are messages of it that were passed over: with a key that is no key
	// expression, or an alias that was never declared.
	Invalid uint64
	// Queued is how many bytes wait for it now.
	Queued int
}

// Stats is the state of this instant.
func (l *Link) Stats() Stats {
	s := &l.stats
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	return Stats{In: s.in.Load(), Out: s.out.Load(), Dropped: s.dropped.Load(), Waited: s.waited.Load(),
		Invalid: s.invalid.Load(), Queued: len(l.out.pending)}
}

// Declaration is something that a link declared.
type Declaration struct {
	// Kind is "subscriber", "queryable" or "token".
	Kind string
	// Key is the whole key expression.
	Key string
	// Complete is of a queryable.
	Complete bool
}

// Declarations are what it has declared and not withdrawn, sorted.
func (l *Link) Declarations() []Declaration {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	var all []Declaration
	for id, d := range l.decls {
		all = append(all, Declaration{Kind: id.kind.String(), Key: d.key, Complete: d.info.Complete})
	}
	slices.SortFunc(all, func(a, b Declaration) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	return all
}

// Ends of a link that its peer did not choose.
var (
	ErrCut    = errors.New("broker: the link was cut by Cut")
	ErrSilent = errors.New("broker: nothing came from the peer during its lease")
	ErrStuck  = errors.New("broker: the peer takes nothing, and messages that must not be dropped waited too long for it")
)

// ClosedError is a peer that said CLOSE.
type ClosedError struct{ Reason string }

func (e *ClosedError) Error() string { return fmt.Sprintf("the peer said CLOSE, reason %q", e.Reason) }

// refusal is a fault of the peer that it is told of with CLOSE.
type refusal struct {
	reason wire.CloseReason
	err    error
}

func (e *refusal) Error() string { return e.err.Error() }
func (e *refusal) Unwrap() error { return e.err }

func refuse(r wire.CloseReason, format string, args ...any) error {
	return &refusal{r, fmt.Errorf(format, args...)}
}

// end begins the end of the link; its goroutine does the rest.
func (l *Link) end(cause error) {
	l.endOnce.Do(func() {
		l.cause = cause
		close(l.dying)
		l.out.kill()
		l.conn.Close()
		l.rx.mu.Lock()
		l.rx.gate.Broadcast()
		l.rx.mu.Unlock()
	})
}

// say appends CLOSE as the last word, and writes it if that needs no waiting.
func (l *Link) say(r wire.CloseReason) {
	m := &wire.Close{Session: true, Reason: r}
	o := &l.out
	o.mu.Lock()
	if o.c == nil { // before the end of the handshake
		b := m.Append(link.Begin(nil))
		link.End(b, 0)
		_, _ = l.c.TryWrite(b) // it is going anyway
		o.mu.Unlock()
		return
	}
	o.transport(m)
	o.mu.Unlock()
	o.flush()
}

// serve is the goroutine of the link.
func (l *Link) serve() {
	err := l.handshake()
	if err == nil {
		err = l.read()
	}
	var r *refusal
	if errors.As(err, &r) {
		l.say(r.reason)
		err = r.err
	}
	l.end(err)
	l.b.bury(l)
	close(l.gone)
}

// handshake is the accepting side of INIT and OPEN (zenoh.md §3.1).
func (l *Link) handshake() error {
	_ = l.conn.SetDeadline(time.Now().Add(l.b.conf.Lease)) // a closed one shows below
	r := &l.rx.batches
	if err := l.expect("INIT", wire.KindInit); err != nil {
		return err
	}
	syn := r.Init
	switch {
	case syn.Ack:
		return refuse(wire.CloseInvalid, "the peer answers INIT, which nobody asked")
	case syn.Version != wire.Version:
		return refuse(wire.CloseInvalid, "the peer speaks version %d of the protocol, this is %d", syn.Version, wire.Version)
	case syn.WhatAmI == wire.Router:
		return refuse(wire.CloseUnsupported, "another router wants to join: this one serves clients and peers")
	case syn.BatchSize < minBatch:
		return refuse(wire.CloseInvalid, "the peer wants batches of at most %d bytes; at least %d are needed", syn.BatchSize, minBatch)
	}
	l.zid, l.role = syn.ZID, syn.WhatAmI
	res := wire.DefaultResolution.Min(syn.Resolution)
	l.reqMask = res.RequestIDMask()
	ack := wire.Init{Ack: true, WhatAmI: wire.Router, ZID: l.b.zid, Resolution: res, BatchSize: syn.BatchSize, Cookie: []byte(cookie)}
	b := ack.Append(link.Begin(nil))
	link.End(b, 0)
	if err := l.c.Write(b); err != nil {
		return fmt.Errorf("answer INIT: %w", err)
	}
	if err := l.expect("OPEN", wire.KindOpen); err != nil {
		return err
	}
	open := r.Open
	switch {
	case open.Ack:
		return refuse(wire.CloseInvalid, "the peer answers OPEN, which nobody asked")
	case string(open.Cookie) != cookie:
		return refuse(wire.CloseInvalid, "the peer does not repeat the cookie")
	case open.Lease <= 0:
		return refuse(wire.CloseInvalid, "the peer states a lease of 0")
	case open.InitialSN > res.SNMask():
		return refuse(wire.CloseInvalid, "the peer begins at sequence number %d, beyond the agreed %d", open.InitialSN, res.SNMask())
	}
	l.lease = open.Lease
	l.rx.init(res.SNMask(), int(syn.BatchSize)-link.Prefix)
	const first = 1
	o := &l.out
	o.mu.Lock()
	o.init(l.c, syn.BatchSize, res.SNMask(), first, l.b.conf.Queue)
	o.transport(&wire.Open{Ack: true, Lease: l.b.conf.Lease, InitialSN: first})
	if l.role == wire.Peer {
		m := wire.LinkStateOf(l.b.zid, wire.Router)
		o.put(reliable, m.Append(nil), nil)
	}
	o.mu.Unlock()
	if err := l.conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if err := l.b.join(l); err != nil {
		o.clear()
		return err
	}
	o.flush()
	l.tick(time.Now())
	return nil
}

// expect reads a batch that begins with a message of the handshake.
func (l *Link) expect(name string, want wire.Kind) error {
	if err := l.c.Fill(); err != nil {
		return fmt.Errorf("wait for %s: %w", name, err)
	}
	batch, _ := l.c.Next()
	r := &l.rx.batches
	r.Reset(batch)
	if !r.Next() {
		if err := r.Err(); err != nil {
			return refuse(wire.CloseInvalid, "read %s: %w", name, err)
		}
		return refuse(wire.CloseInvalid, "an empty batch instead of %s", name)
	}
	if k := r.Kind(); k == wire.KindClose {
		return &ClosedError{Reason: r.Close.Reason.String()}
	} else if k != want {
		return refuse(wire.CloseInvalid, "%v instead of %s", k, name)
	}
	return nil
}

// join makes the link one of the broker's.
func (b *Broker) join(l *Link) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closing:
		return ErrClosed
	case l.zid == b.zid:
		return refuse(wire.CloseConnectionToSelf, "the peer has the broker's own id %v", l.zid)
	case b.links[l.zid] != nil:
		return refuse(wire.CloseInvalid, "the id %v is connected already, from %s: each session needs one of its own", l.zid, b.links[l.zid].Address())
	}
	b.links[l.zid] = l
	b.change()
	return nil
}

// bury clears away what a link left behind.
func (b *Broker) bury(l *Link) {
	b.mu.Lock()
	defer b.unlock()
	delete(b.conns, l)
	b.ended = append(b.ended, l)
	if len(b.ended) > maxEnded {
		b.ended = slices.Delete(b.ended, 0, 1)
	}
	b.change()
	if b.links[l.zid] != l {
		return
	}
	delete(b.links, l.zid)
	b.version.Add(1)
	b.sched.cancel(l.rx.beat)
	for id := range l.decls {
		b.withdraw(l, id)
	}
	b.endQueries(l)
}

// tick sends what keeps the session alive, watches the peer and makes itself be
// called again.
func (l *Link) tick(now time.Time) {
	o := &l.out
	o.mu.Lock()
	due := !o.wrote && !o.busy
	if due {
		o.transport(new(wire.KeepAlive))
	}
	o.wrote = false
	o.mu.Unlock()
	if due {
		o.flush()
		o.mu.Lock()
		o.wrote = false
		o.mu.Unlock()
	}
	next := l.b.conf.Lease / 4
	if l.rx.idle() {
		left := l.lease - now.Sub(l.born) + time.Duration(l.rx.heard.Load())
		if left <= 0 {
			l.end(fmt.Errorf("%w of %v", ErrSilent, l.lease))
			return
		}
		next = min(next, left)
	}
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if l.b.links[l.zid] == l {
		l.rx.beat = l.b.sched.at(now.Add(max(next, time.Millisecond)), func() { l.tick(time.Now()) })
	}
}

// deliver sends a message to the link from the reader of another, waiting for
// room if it must not be dropped.
func (l *Link) deliver(from *Link, on lane, block bool, head, tail []byte) {
	o := &l.out
	o.mu.Lock()
	if o.full() {
		if !l.wait(from, block) {
			o.mu.Unlock()
			l.stats.dropped.Add(1)
			return
		}
	}
	o.put(on, head, tail)
	o.mu.Unlock()
	l.stats.out.Add(1)
}

// patienceToDrop is how long a message that may be dropped waits first, as in
// routers; once one was dropped, no other waits until there is room again.
const patienceToDrop = 5 * time.Millisecond

// wait returns when there is room, or false when the message is to be dropped.
// l.out.mu is held, though not while waiting.
func (l *Link) wait(from *Link, block bool) bool {
	o := &l.out
	if o.jam && !block {
		return false
	}
	l.stats.waited.Add(1)
	patience := patienceToDrop
	if block {
		patience = l.b.conf.Patience
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	for o.full() {
		if o.room == nil {
			o.room = make(chan struct{})
		}
		room := o.room
		o.mu.Unlock()
		o.flush()
		from.flush()
		over := false
		select {
		case <-room:
		case <-from.dying:
			over = true
		case <-t.C:
			over = true
			if block {
				l.end(fmt.Errorf("%w (%v)", ErrStuck, patience))
			}
		}
		o.mu.Lock()
		if over && o.full() {
			o.jam = true
			return false
		}
	}
	return true
}

// Cut ends the link as a pulled cable does, without a word. It returns when all
// that the link declared is withdrawn, and an error if it had ended before.
func (l *Link) Cut() error {
	if err := l.Err(); err != nil {
		return fmt.Errorf("cut %s: it had ended before: %w", l, err)
	}
	if tcp, ok := l.conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails on a closed one only
	}
	l.end(ErrCut)
	<-l.gone
	return nil
}

// hungUp tells a peer that went from other faults of reading.
func hungUp(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the peer hung up without CLOSE: %w", err)
	}
	return fmt.Errorf("read: %w", err)
}
