// Package session is a Zenoh client: one link to a router (or to a peer that
// serves as one), with the meaning that zenoh.md §3 to §6 gives it. It offers no
// extensions, so there are two lanes, reliable and best effort, and everything
// else is in one order.
//
// One goroutine reads the link and calls the sinks of what came over it; another
// calls those of what the session publishes to itself. Neither may be blocked. A
// lost link stays lost.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

// DefaultLease is how long the peer lets the session live in silence. It is
// long, so that a harness held in a debugger does not vanish from the graph.
const DefaultLease = 60 * time.Second

// DefaultMaxMessage is the largest message that is put together from fragments.
const DefaultMaxMessage = 64 << 20

// minBatch is the smallest batch that a peer may ask for: some room for a
// fragment besides its header.
const minBatch = 64

// Config of a session. The zero value is a random id and the defaults above.
type Config struct {
	// ZID names the session; two sessions of one id are refused by routers.
	ZID wire.ZenohID
	// Lease is how long the peer lets the session live in silence, at least a
	// millisecond. A frozen process is noticed after it.
	Lease time.Duration
	// MaxMessage is the largest message to receive, in bytes. A larger one costs
	// the link.
	MaxMessage int
}

// Session is one participant. Its methods may be called from any goroutine.
type Session struct {
	link       *link.Conn
	zid        wire.ZenohID
	peer       wire.Init
	lease      time.Duration
	peerLease  time.Duration
	maxMessage int
	opened     time.Time
	idMask     uint32 // of requests

	w      writer
	local  local
	rx     receiver
	nextID atomic.Uint32
	clock  atomic.Uint64 // the last timestamp given

	subs atomic.Pointer[[]*Subscription] // replaced, never changed

	mu         sync.Mutex
	queryables []*Queryable
	queries    map[uint32]*query
	lastQuery  uint32
	watches    map[uint32]*Watch

	errMu   sync.Mutex
	err     error
	leaving bool // the peer may hang up
	done    chan struct{}
	tending sync.WaitGroup // keep-alive and flusher

	readerCloses, localCloses atomic.Bool   // from inside a sink
	bothClose                 chan struct{} // closed when it is so
	meet                      sync.Once
}

// Open shakes hands over a link, which the session owns from now on: it is
// closed when Open fails.
func Open(ctx context.Context, l *link.Conn, c Config) (*Session, error) {
	if c.ZID.IsZero() {
		c.ZID = wire.RandomZenohID()
	}
	if c.Lease == 0 {
		c.Lease = DefaultLease
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = DefaultMaxMessage
	}
	s := &Session{
		link: l, zid: c.ZID, lease: c.Lease, maxMessage: c.MaxMessage, opened: time.Now(),
		queries: map[uint32]*query{}, watches: map[uint32]*Watch{}, done: make(chan struct{}),
		bothClose: make(chan struct{}),
	}
	s.subs.Store(&[]*Subscription{})
	s.local.init()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	err := s.handshake()
	stop()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("open a session with %s: %w", l.Peer(), err)
	}
	go s.read()
	go s.deliver()
	s.tending.Go(func() {
		if err := s.w.run(); err != nil {
			s.writeFailed(err)
		}
	})
	s.tending.Go(s.tend)
	return s, nil
}

// handshake is INIT and OPEN, each with its answer (zenoh.md §3.1).
func (s *Session) handshake() error {
	if s.lease < time.Millisecond {
		return fmt.Errorf("a lease of %v is less than a millisecond", s.lease)
	}
	init := wire.Init{WhatAmI: wire.Client, ZID: s.zid}
	if err := s.ask(&init, "INIT", wire.KindInit); err != nil {
		return err
	}
	s.peer = s.rx.r.Init
	ack := &s.peer
	ack.Cookie, ack.Exts = append([]byte(nil), ack.Cookie...), nil
	switch {
	case !ack.Ack:
		return errors.New("the peer wants to open a session itself: it is no Zenoh listener")
	case ack.Version != wire.Version:
		return fmt.Errorf("the peer speaks version %d of the protocol, this is %d", ack.Version, wire.Version)
	case ack.BatchSize < minBatch:
		return fmt.Errorf("the peer wants batches of at most %d bytes; at least %d are needed", ack.BatchSize, minBatch)
	}
	res := wire.DefaultResolution.Min(ack.Resolution)
	mask := res.SNMask()
	s.idMask = res.RequestIDMask()
	sn := rand.Uint32() & mask
	s.w.init(s.link, ack.BatchSize, mask, sn)
	s.w.neverWaits = s.Delivering

	open := wire.Open{Lease: s.lease, InitialSN: sn, Cookie: ack.Cookie}
	if err := s.ask(&open, "OPEN", wire.KindOpen); err != nil {
		return err
	}
	got := &s.rx.r.Open
	switch {
	case !got.Ack:
		return errors.New("the peer answered OPEN with OPEN")
	case got.Lease <= 0:
		return errors.New("the peer states a lease of 0")
	case got.InitialSN > mask:
		return fmt.Errorf("the peer begins at sequence number %d, beyond the agreed %d", got.InitialSN, mask)
	}
	s.peerLease = got.Lease
	s.rx.init(mask, s.maxMessage)
	return nil
}

// ask sends one message of the handshake and reads its answer into s.rx.r.
func (s *Session) ask(m message, name string, want wire.Kind) error {
	b := m.Append(link.Begin(nil))
	link.End(b, 0)
	if err := s.link.Write(b); err != nil {
		return fmt.Errorf("send %s: %w", name, err)
	}
	if err := s.link.Fill(); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the peer hung up instead of answering %s %x", name, b[link.Prefix:])
		}
		return fmt.Errorf("read the answer to %s: %w", name, err)
	}
	batch, _ := s.link.Next()
	r := &s.rx.r
	r.Reset(batch)
	if !r.Next() {
		if err := r.Err(); err != nil {
			return fmt.Errorf("read the answer to %s: %w", name, err)
		}
		return fmt.Errorf("the peer answered %s with an empty batch", name)
	}
	switch r.Kind() {
	case want:
		return nil
	case wire.KindClose:
		return fmt.Errorf("%w to %s (version %d, id %v): routers refuse a version they do not speak and an id that is connected already",
			&CloseError{Reason: r.Close.Reason}, name, wire.Version, s.zid)
	}
	return fmt.Errorf("the peer answered %s with %v", name, r.Kind())
}

// CloseError is a peer that ended the link with a reason.
type CloseError struct{ Reason wire.CloseReason }

func (e *CloseError) Error() string { return fmt.Sprintf("the peer said CLOSE, reason %q", e.Reason) }

// ErrSilent is a peer from which nothing came for its lease.
var ErrSilent = errors.New("session: nothing came from the peer during its lease")

// tend keeps the session alive and watches the peer.
func (s *Session) tend() {
	beat := time.NewTicker(max(s.lease/4, 1))
	defer beat.Stop()
	watch := time.NewTimer(s.peerLease)
	defer watch.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-beat.C:
			s.w.keepAlive()
		case <-watch.C:
			left := s.peerLease - (time.Since(s.opened) - time.Duration(s.rx.heard.Load()))
			switch {
			case left > 0:
				watch.Reset(left)
			case s.rx.work.running(): // what came meanwhile waits for our own sinks
				watch.Reset(max(s.peerLease/4, 1))
			default:
				s.lose(fmt.Errorf("%w of %v", ErrSilent, s.peerLease))
				return
			}
		}
	}
}

// writeFailed leaves the reason to the reader for a moment: a peer that hung up
// may have said why.
func (s *Session) writeFailed(err error) {
	lost := &transports.LinkError{Peer: s.link.Peer(), Err: fmt.Errorf("write: %w; %s", err, s.w.lastSent())}
	s.w.kill(lost)
	moment := time.NewTimer(200 * time.Millisecond)
	defer moment.Stop()
	select {
	case <-s.done:
	case <-moment.C:
	}
	s.end(lost)
}

// lose ends the session because of a fault.
func (s *Session) lose(err error) { s.end(&transports.LinkError{Peer: s.link.Peer(), Err: err}) }

// end is called with the reason of the end; the first one counts.
func (s *Session) end(err error) bool {
	s.errMu.Lock()
	first := s.err == nil
	if first {
		if s.leaving {
			err = transports.ErrClosed
		}
		s.err = err
	}
	s.errMu.Unlock()
	if first {
		s.w.kill(err)
		s.local.close()
		close(s.done)
		s.link.Close()
	}
	return first
}

// Close leaves: it says CLOSE, ends everything of the session with
// transports.ErrClosed and joins its goroutines. It is idempotent and may be
// called from a sink: then it waits neither for its own goroutine nor, if both do
// so at once, for that of the other sink.
func (s *Session) Close() {
	s.errMu.Lock()
	s.leaving = true
	s.errMu.Unlock()
	s.w.bye()
	s.end(transports.ErrClosed)
	s.tending.Wait()
	me := goid()
	reader, local := me == s.rx.goid.Load(), me == s.local.goid.Load()
	if reader {
		s.readerCloses.Store(true)
	}
	if local {
		s.localCloses.Store(true)
	}
	if s.readerCloses.Load() && s.localCloses.Load() {
		s.meet.Do(func() { close(s.bothClose) })
	}
	if !reader {
		s.join(s.rx.done, local)
	}
	if !local {
		s.join(s.local.done, reader)
	}
}

// join waits for a goroutine of the session; inSink tells that the caller is
// another.
func (s *Session) join(done <-chan struct{}, inSink bool) {
	if !inSink {
		<-done
		return
	}
	select {
	case <-done:
	case <-s.bothClose:
	}
}

// Delivering reports whether the caller runs inside a sink.
func (s *Session) Delivering() bool {
	me := goid()
	return me == s.rx.goid.Load() || me == s.local.goid.Load()
}

// Done is closed when the session was closed or lost.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is nil while the session lives, transports.ErrClosed after Close, and else
// a *transports.LinkError.
func (s *Session) Err() error {
	s.errMu.Lock()
	defer s.errMu.Unlock()
	return s.err
}

// ZID is the session's id.
func (s *Session) ZID() wire.ZenohID { return s.zid }

// PeerZID is the id of the router or peer at the other end.
func (s *Session) PeerZID() wire.ZenohID { return s.peer.ZID }

// Peer is the locator of the other end.
func (s *Session) Peer() string { return s.link.Peer() }

// retract sends a farewell to something. When it does not go out any more, the
// end of the session has said as much.
func (s *Session) retract(m message) { _ = s.w.sendNow(reliable, m) }

// await waits until a lock, which is held while a sink runs, is free.
func await(l sync.Locker) {
	l.Lock()
	defer l.Unlock()
}

// NewID is an id that no other entity of the session has.
func (s *Session) NewID() uint32 { return s.nextID.Add(1) }

// timestamp is now, or a little later if that was given before.
func (s *Session) timestamp() wire.Timestamp {
	for {
		last := s.clock.Load()
		now := max(last+1, uint64(wire.NTP64FromTime(time.Now())))
		if s.clock.CompareAndSwap(last, now) {
			return wire.Timestamp{Time: wire.NTP64(now), ID: s.zid}
		}
	}
}

// Settle returns once each message that was stamped before the call has reached
// its sinks. It must not be called from a sink.
func (s *Session) Settle() {
	s.rx.work.settle()
	s.local.work.settle()
}

// work tells when a goroutine is between stamping and delivering.
type work struct {
	epoch atomic.Uint64 // odd while it is
	mu    sync.Mutex
	cond  sync.Cond
	wait  atomic.Int32
}

func (w *work) init()         { w.cond.L = &w.mu }
func (w *work) begin()        { w.epoch.Add(1) }
func (w *work) running() bool { return w.epoch.Load()&1 == 1 }

func (w *work) end() {
	w.epoch.Add(1)
	if w.wait.Load() > 0 {
		w.mu.Lock()
		w.cond.Broadcast()
		w.mu.Unlock()
	}
}

func (w *work) settle() {
	w.wait.Add(1)
	defer w.wait.Add(-1)
	w.mu.Lock()
	defer w.mu.Unlock()
	for now := w.epoch.Load(); now&1 == 1 && w.epoch.Load() == now; {
		w.cond.Wait()
	}
}
