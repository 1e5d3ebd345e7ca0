package session_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// fake is the router's end of a link, played by the test.
type fake struct {
	tb    testing.TB
	c     net.Conn
	l     *link.Conn
	r     wire.Reader
	sn    uint32
	mask  uint32
	init  wire.Init // what it answers
	open  wire.Open
	asked wire.Open // what the session sent
}

var routerID = func() wire.ZenohID { z, _ := wire.NewZenohID([]byte{1, 0xaa}); return z }()

func newFake(tb testing.TB, c net.Conn) *fake {
	return &fake{tb: tb, c: c, l: link.New(c, "session"), mask: wire.DefaultResolution.SNMask(),
		init: wire.Init{Ack: true, WhatAmI: wire.Router, ZID: routerID, BatchSize: 49152, Cookie: []byte("cookie")},
		open: wire.Open{Ack: true, Lease: 10 * time.Second, InitialSN: 5}}
}

// bytes sends bytes as they are; it reports false when the session hung up.
func (f *fake) bytes(b []byte) bool {
	_, err := f.c.Write(b)
	return err == nil
}

// batch sends one batch.
func (f *fake) batch(messages ...interface{ Append([]byte) []byte }) bool {
	b := link.Begin(nil)
	for _, m := range messages {
		b = m.Append(b)
	}
	link.End(b, 0)
	return f.bytes(b)
}

// raw sends bytes as one batch.
func (f *fake) raw(p []byte) bool {
	b := append(link.Begin(nil), p...)
	link.End(b, 0)
	return f.bytes(b)
}

// frame sends network messages in a reliable frame of their own.
func (f *fake) frame(messages ...interface{ Append([]byte) []byte }) bool {
	h := &wire.Frame{Reliable: true, SN: f.sn}
	f.sn = (f.sn + 1) & f.mask
	return f.batch(append([]interface{ Append([]byte) []byte }{h}, messages...)...)
}

// next is the next message of the session.
func (f *fake) next() wire.Kind {
	f.tb.Helper()
	for !f.r.Next() {
		if err := f.r.Err(); err != nil {
			f.tb.Errorf("the session sent what cannot be read: %v", err)
			return wire.KindNone
		}
		if err := f.l.Fill(); err != nil {
			return wire.KindNone
		}
		b, _ := f.l.Next()
		if n := len(b); f.asked.Lease > 0 && n+link.Prefix > int(f.init.BatchSize) {
			f.tb.Errorf("a batch of %d bytes, agreed were %d with the prefix", n, f.init.BatchSize)
		}
		f.r.Reset(b)
	}
	return f.r.Kind()
}

// until reads up to a message of a kind.
func (f *fake) until(k wire.Kind) {
	f.tb.Helper()
	for {
		switch got := f.next(); got {
		case k:
			return
		case wire.KindNone:
			f.tb.Errorf("the session hung up before %v", k)
			return
		}
	}
}

// shake does the handshake.
func (f *fake) shake() {
	f.tb.Helper()
	f.until(wire.KindInit)
	f.batch(&f.init)
	f.until(wire.KindOpen)
	f.asked = f.r.Open
	f.batch(&f.open)
	f.sn = f.open.InitialSN
}

// drain reads until the session hangs up, answering interests as a router that
// knows of nothing.
func (f *fake) drain() {
	for k := f.next(); k != wire.KindNone; k = f.next() {
		if k == wire.KindInterest && f.r.Interest.Mode&wire.InterestCurrent != 0 {
			f.frame(&wire.Declare{Answer: true, InterestID: f.r.Interest.ID, Kind: wire.DeclareFinal})
		}
	}
}

// piped is a session with a fake router over a pipe. change may alter what the
// router says.
func piped(tb testing.TB, c session.Config, change func(*fake)) (*session.Session, *fake) {
	tb.Helper()
	ours, theirs := net.Pipe()
	f := newFake(tb, theirs)
	if change != nil {
		change(f)
	}
	shaken := make(chan struct{})
	go func() { defer close(shaken); f.shake() }()
	s, err := session.Open(context.Background(), link.New(ours, "pipe"), c)
	if err != nil {
		tb.Fatal(err)
	}
	<-shaken
	tb.Cleanup(func() {
		theirs.Close()
		s.Close()
	})
	return s, f
}
