package broker_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

// raw is a client whose every byte the test chooses.
type raw struct {
	tb   testing.TB
	conn net.Conn
	l    *link.Conn
	r    wire.Reader
	zid  wire.ZenohID
	ack  wire.Init
	open wire.Open
	sn   uint32
}

type message = interface{ Append([]byte) []byte }

func connect(tb testing.TB, b *broker.Broker) *raw {
	tb.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(b.Endpoint(), "tcp/"))
	testenv.Must(tb, err)
	tb.Cleanup(func() { c.Close() })
	testenv.Must(tb, c.SetDeadline(time.Now().Add(20*time.Second)))
	return &raw{tb: tb, conn: c, l: link.New(c, "broker"), zid: wire.RandomZenohID(), sn: 7}
}

// join shakes hands.
func join(tb testing.TB, b *broker.Broker, init wire.Init) *raw {
	tb.Helper()
	p := connect(tb, b)
	if init.ZID.IsZero() {
		init.ZID = p.zid
	}
	p.batch(&init)
	p.is(wire.KindInit)
	p.ack = p.r.Init
	p.ack.Cookie = slices.Clone(p.ack.Cookie)
	p.batch(&wire.Open{Lease: 10 * time.Second, InitialSN: p.sn, Cookie: p.ack.Cookie})
	p.is(wire.KindOpen)
	p.open = p.r.Open
	return p
}

func client(tb testing.TB, b *broker.Broker) *raw {
	tb.Helper()
	return join(tb, b, wire.Init{WhatAmI: wire.Client})
}

func (p *raw) bytes(b []byte) { _, _ = p.conn.Write(b) } // the broker may have hung up

func (p *raw) batch(messages ...message) {
	b := link.Begin(nil)
	for _, m := range messages {
		b = m.Append(b)
	}
	link.End(b, 0)
	p.bytes(b)
}

func (p *raw) rawBatch(payload []byte) {
	b := append(link.Begin(nil), payload...)
	link.End(b, 0)
	p.bytes(b)
}

// frame sends network messages in a frame of their own.
func (p *raw) frame(messages ...message) {
	p.batch(append([]message{&wire.Frame{Reliable: true, SN: p.sn}}, messages...)...)
	p.sn = (p.sn + 1) & p.ack.Resolution.SNMask()
}

// next is the next message, leaving out frames and signs of life; the end of the
// link is an error.
func (p *raw) next() (wire.Kind, error) {
	for {
		if p.r.Next() {
			if k := p.r.Kind(); k != wire.KindFrame && k != wire.KindKeepAlive {
				return k, nil
			}
			continue
		}
		if err := p.r.Err(); err != nil {
			p.tb.Errorf("the broker sent what cannot be read: %v", err)
			return wire.KindNone, err
		}
		if err := p.l.Fill(); err != nil {
			return wire.KindNone, err
		}
		batch, _ := p.l.Next()
		if size := int(p.ack.BatchSize); size > 0 && len(batch)+link.Prefix > size {
			p.tb.Errorf("a batch of %d bytes, agreed were %d with the prefix", len(batch), size)
		}
		p.r.Reset(batch)
	}
}

func (p *raw) is(want wire.Kind) {
	p.tb.Helper()
	if k, err := p.next(); k != want {
		p.tb.Fatalf("%v (%v), want %v", k, err, want)
	}
}

// closed checks that the broker says CLOSE with a reason and hangs up.
func (p *raw) closed(want wire.CloseReason) {
	p.tb.Helper()
	for {
		k, err := p.next()
		if err != nil {
			p.tb.Errorf("no CLOSE before %v", err)
			return
		}
		if k == wire.KindClose {
			break
		}
	}
	if p.r.Close.Reason != want {
		p.tb.Errorf("CLOSE %v, want %v", p.r.Close.Reason, want)
	}
	if k, err := p.next(); err == nil {
		p.tb.Errorf("%v after CLOSE", k)
	}
}

// gone waits for the end of links and returns the last reason.
func gone(tb testing.TB, b *broker.Broker, n int) string {
	tb.Helper()
	until(tb, b, "links ended", func([]*broker.Link) bool { return len(b.Ended()) >= n })
	return b.Ended()[n-1].Err().Error()
}

func (p *raw) declare(k wire.DeclareKind, id uint32, key string) {
	p.frame(&wire.Declare{Kind: k, ID: id, Key: wire.WireExpr{Suffix: []byte(key)}})
}

// declared is the next declaration in short.
func (p *raw) declared() string {
	p.tb.Helper()
	p.is(wire.KindDeclare)
	d := &p.r.Declare
	s := fmt.Sprintf("%v %d %s", d.Kind, d.ID, d.Key.Suffix)
	if d.Queryable.Complete {
		s += " complete"
	}
	if d.Answer {
		s += fmt.Sprintf(" for %d", d.InterestID)
	}
	return s
}

func (p *raw) all(want ...string) {
	p.tb.Helper()
	var got []string
	for range want {
		got = append(got, p.declared())
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		p.tb.Error(diff)
	}
}

// quiet checks that nothing more was told.
func (p *raw) quiet() {
	p.tb.Helper()
	p.frame(&wire.Interest{ID: 9999, Mode: wire.InterestCurrent, Options: wire.InterestTokens, Restricted: true, Key: wire.WireExpr{Suffix: []byte("@none")}})
	p.all("D_FINAL 0  for 9999")
}

// TestHandshakeOnTheWire: V14 of the captured vectors.
func TestHandshakeOnTheWire(t *testing.T) {
	b := start(t, broker.Config{Lease: 10 * time.Second})
	p := connect(t, b)
	syn, _ := hex.DecodeString("c109f2e7e81fe42b7cc1e913d5cf7ab99e9b4d0ac8ff812701") // V3, a real rmw_zenoh: QoS lanes and patch offered
	syn[2] = 0xf1                                                                    // as a peer, its default
	p.rawBatch(syn)
	p.is(wire.KindInit)
	i := p.r.Init
	if !i.Ack || i.WhatAmI != wire.Router || i.ZID.String() != b.ZID() || i.BatchSize != 65480 || i.Resolution != wire.DefaultResolution || len(i.Exts) > 0 {
		t.Errorf("%+v", i)
	}
	p.batch(&wire.Open{Lease: 60 * time.Second, InitialSN: 5, Cookie: i.Cookie})
	p.is(wire.KindOpen)
	if o := p.r.Open; !o.Ack || o.Lease != 10*time.Second || len(o.Exts) > 0 {
		t.Errorf("%+v", o)
	}
	first := p.r.Open.InitialSN
	for !p.r.Next() {
		testenv.Must(t, p.l.Fill())
		batch, _ := p.l.Next()
		p.r.Reset(batch)
	}
	if p.r.Kind() != wire.KindFrame || !p.r.Frame.Reliable || p.r.Frame.SN != first {
		t.Errorf("%v %+v, want the number %d", p.r.Kind(), p.r.Frame, first)
	}
	p.is(wire.KindOAM)
	if want := wire.LinkStateOf(i.ZID, wire.Router); !bytes.Equal(p.r.OAM.Body, want.Body) || p.r.OAM.ID != wire.OAMLinkState {
		t.Errorf("%+v", p.r.OAM)
	}
	until(t, b, "a peer", func(all []*broker.Link) bool { return len(all) == 1 && all[0].Role() == "peer" })
}

func TestHandshakesThatFail(t *testing.T) {
	init := func(change func(*wire.Init)) func(*raw) {
		return func(p *raw) {
			m := wire.Init{WhatAmI: wire.Client, ZID: p.zid}
			change(&m)
			p.batch(&m)
		}
	}
	open := func(change func(*wire.Open)) func(*raw) {
		return func(p *raw) {
			p.batch(&wire.Init{WhatAmI: wire.Client, ZID: p.zid})
			p.is(wire.KindInit)
			m := wire.Open{Lease: time.Second, InitialSN: 1, Cookie: slices.Clone(p.r.Init.Cookie)}
			change(&m)
			p.batch(&m)
		}
	}
	for name, c := range map[string]struct {
		play   func(*raw)
		reason wire.CloseReason
		want   string
	}{
		"version":             {init(func(m *wire.Init) { m.Version = 8 }), wire.CloseInvalid, "speaks version 8"},
		"router":              {init(func(m *wire.Init) { m.WhatAmI = wire.Router }), wire.CloseUnsupported, "another router"},
		"small batches":       {init(func(m *wire.Init) { m.BatchSize = 20 }), wire.CloseInvalid, "at most 20 bytes"},
		"INIT answered":       {init(func(m *wire.Init) { m.Ack = true }), wire.CloseInvalid, "answers INIT"},
		"OPEN answered":       {open(func(m *wire.Open) { m.Ack = true }), wire.CloseInvalid, "answers OPEN"},
		"cookie":              {open(func(m *wire.Open) { m.Cookie[0]++ }), wire.CloseInvalid, "cookie"},
		"no lease":            {open(func(m *wire.Open) { m.Lease = 0 }), wire.CloseInvalid, "lease of 0"},
		"number":              {open(func(m *wire.Open) { m.InitialSN = 1 << 30 }), wire.CloseInvalid, "beyond the agreed"},
		"frame first":         {func(p *raw) { p.frame() }, wire.CloseInvalid, "FRAME instead of INIT"},
		"INIT twice":          {func(p *raw) { init(func(*wire.Init) {})(p); init(func(*wire.Init) {})(p) }, wire.CloseInvalid, "INIT instead of OPEN"},
		"empty batch":         {func(p *raw) { p.rawBatch(nil) }, wire.CloseInvalid, "empty batch"},
		"garbage":             {func(p *raw) { p.rawBatch([]byte("GET / HTTP/1.1\r\n")) }, wire.CloseInvalid, "instead of INIT"},
		"truncated INIT":      {func(p *raw) { p.rawBatch([]byte{1, 9, 0xf2, 1}) }, wire.CloseInvalid, "read INIT"},
		"mandatory extension": {func(p *raw) { init(func(m *wire.Init) { m.Exts = []wire.Ext{{Head: 0x1e}} })(p) }, wire.CloseInvalid, "mandatory and unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, broker.Config{})
			p := connect(t, b)
			c.play(p)
			p.closed(c.reason)
			if err := gone(t, b, 1); !strings.Contains(err, c.want) {
				t.Errorf("%s, want %q", err, c.want)
			}
			dial(t, b).Close() // others still may
		})
	}
}

func TestHandshakesLeftAlone(t *testing.T) {
	b := start(t, broker.Config{Lease: 50 * time.Millisecond})
	silent, half, polite, rude := connect(t, b), connect(t, b), connect(t, b), connect(t, b)
	half.bytes([]byte{40, 0, 1})
	polite.batch(&wire.Close{Reason: wire.CloseUnsupported})
	rude.conn.Close()
	until(t, b, "all are gone", func([]*broker.Link) bool { return len(b.Ended()) == 4 })
	for _, p := range []*raw{silent, half, polite} {
		if k, err := p.next(); err == nil {
			t.Errorf("%v", k)
		}
	}
	var all []string
	for _, l := range b.Ended() {
		all = append(all, l.Err().Error())
		if l.ZID() != "" || !strings.HasPrefix(l.String(), "a stranger at tcp/127.0.0.1:") {
			t.Errorf("%v", l)
		}
	}
	for _, want := range []string{"wait for INIT: read", `CLOSE, reason "unsupported"`, "wait for INIT: EOF"} {
		if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("no %q in %q", want, all)
		}
	}
}

func TestTwoLinksWithOneID(t *testing.T) {
	b := start(t, broker.Config{})
	s := dial(t, b)
	_, err := open(t, b, session.Config{ZID: s.ZID()})
	var closed *session.CloseError
	if !errors.As(err, &closed) || closed.Reason != wire.CloseInvalid {
		t.Errorf("%v", err)
	}
	if why := gone(t, b, 1); !strings.Contains(why, "is connected already, from tcp/127.0.0.1:") {
		t.Error(why)
	}
	subscribe(t, s, "k") // the first one lives on, and its id is free when it is gone
	s.Close()
	until(t, b, "gone", func(all []*broker.Link) bool { return len(all) == 0 })
	s, err = open(t, b, session.Config{ZID: s.ZID()})
	testenv.Must(t, err)
	s.Close()
}

func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*raw)
		want string
	}{
		"INIT again":         {func(p *raw) { p.batch(&wire.Init{ZID: p.zid}) }, "sent INIT on an open link"},
		"no frame":           {func(p *raw) { p.batch(&wire.ResponseFinal{RequestID: 1}) }, "outside a frame"},
		"unknown message":    {func(p *raw) { p.rawBatch([]byte{0x0f}) }, "unknown id"},
		"truncated message":  {func(p *raw) { p.rawBatch([]byte{0x25, 7, 0x3d, 0, 9, 'a'}) }, "PUSH key suffix"},
		"mandatory":          {func(p *raw) { p.rawBatch([]byte{0x25, 7, 0xbd, 0, 1, 'a', 0x1e, 1, 0}) }, "mandatory and unknown"},
		"number":             {func(p *raw) { p.sn = 1 << 28; p.frame() }, "sequence number 268435456 is beyond the agreed"},
		"number of fragment": {func(p *raw) { p.batch(&wire.Fragment{Reliable: true, SN: 1 << 28}) }, "beyond the agreed"},
		"fragments of what":  {func(p *raw) { p.batch(&wire.Fragment{Reliable: true, SN: 7, Payload: []byte{5}}) }, "came in fragments"},
		"too long": {func(p *raw) {
			for sn := range uint32(100) {
				p.batch(&wire.Fragment{Reliable: true, More: true, SN: 7 + sn, Payload: make([]byte, 60_000)})
			}
		}, "more than 1000000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, broker.Config{MaxMessage: 1_000_000})
			from, to := dial(t, b), dial(t, b)
			got := subscribe(t, to, "k")
			p := client(t, b)
			c.play(p)
			if name != "too long" { // where a reset overtakes CLOSE
				p.closed(wire.CloseInvalid)
			}
			if err := gone(t, b, 1); !strings.Contains(err, c.want) {
				t.Errorf("%s, want %q", err, c.want)
			}
			publish(t, from, "k", "others live on")
			has(t, to, got, "others live on")
		})
	}
}

func TestBatchBeyondWhatWasAgreed(t *testing.T) {
	b := start(t, broker.Config{})
	p := join(t, b, wire.Init{WhatAmI: wire.Client, BatchSize: 1000})
	if p.ack.BatchSize != 1000 {
		t.Errorf("%+v", p.ack)
	}
	p.rawBatch(bytes.Repeat([]byte{4}, 998)) // of KEEP_ALIVE
	p.quiet()
	p.rawBatch(bytes.Repeat([]byte{4}, 999))
	p.closed(wire.CloseInvalid)
	if err := gone(t, b, 1); !strings.Contains(err, "a batch of 999 bytes, agreed were 998") {
		t.Error(err)
	}
}

func TestHangingUp(t *testing.T) {
	b := start(t, broker.Config{})
	p := client(t, b)
	p.conn.Close()
	if err := gone(t, b, 1); !strings.Contains(err, "hung up without CLOSE: EOF") || !errors.Is(b.Ended()[0].Err(), io.EOF) {
		t.Error(err)
	}
	p = client(t, b)
	p.bytes([]byte{9, 0, 1})
	p.conn.Close()
	if err := gone(t, b, 2); !strings.Contains(err, "unexpected EOF") {
		t.Error(err)
	}
	p = client(t, b)
	p.batch(&wire.Close{Session: true, Reason: wire.CloseExpired})
	if err := gone(t, b, 3); !strings.Contains(err, `CLOSE, reason "expired"`) {
		t.Error(err)
	}
}

// TestPassedOver: what a real router ignores.
func TestPassedOver(t *testing.T) {
	b := start(t, broker.Config{})
	to := dial(t, b)
	got := subscribe(t, to, "**")
	p := client(t, b)
	key := func(s string) wire.WireExpr { return wire.WireExpr{Suffix: []byte(s)} }
	data := wire.Data{Payload: []byte("x")}
	p.frame(
		&wire.Push{Key: key("a//b"), Data: data},
		&wire.Push{Key: key("a/**/**"), Data: data},
		&wire.Push{Key: wire.WireExpr{Scope: 5, SenderMapping: true}, Data: data},
		&wire.Push{Key: wire.WireExpr{Scope: 1}, Data: data}, // the broker declares none
		&wire.Declare{Kind: wire.DeclareSubscriber, ID: 1, Key: key("$")},
		&wire.Declare{Kind: wire.UndeclareToken, ID: 77},
		&wire.Interest{ID: 1, Mode: wire.InterestFinal},
		&wire.Interest{ID: 2, Mode: wire.InterestCurrent, Options: wire.InterestTokens, Restricted: true, Key: key("/")},
		&wire.ResponseFinal{RequestID: 99},
		&wire.Response{RequestID: 99, Key: key("a"), Data: data},
		&wire.OAM{Network: true, ID: 3},
		&wire.Request{ID: 4, Key: key("a#")},
	)
	p.is(wire.KindResponseFinal) // of the last one
	p.quiet()
	has(t, to, got)
	until(t, b, "both", func(all []*broker.Link) bool { return len(all) == 2 })
	links, _ := b.Links()
	if s := links[1].Stats(); s.Invalid != 7 {
		t.Errorf("%+v", s)
	}
	// The same frame again, or an older one, is no news; a gap is.
	push := &wire.Push{Key: key("k"), Data: data}
	p.batch(&wire.Frame{Reliable: true, SN: 100}, push)
	p.batch(&wire.Frame{Reliable: true, SN: 100}, push)
	p.batch(&wire.Frame{Reliable: true, SN: 99}, push)
	p.batch(&wire.Frame{Reliable: false, SN: 50}, push)
	p.sn = 101
	p.quiet()
	has(t, to, got, "x", "x")
}

func TestNumbersWrap(t *testing.T) {
	b := start(t, broker.Config{})
	from := join(t, b, wire.Init{WhatAmI: wire.Client, Resolution: wire.ResolutionOf(0)}) // 7 bits
	to := join(t, b, wire.Init{WhatAmI: wire.Client, Resolution: wire.ResolutionOf(0), BatchSize: 100})
	if from.ack.Resolution != wire.ResolutionOf(0) {
		t.Errorf("%+v", from.ack)
	}
	to.declare(wire.DeclareSubscriber, 1, "k")
	to.quiet()
	payload := bytes.Repeat([]byte("0123456789"), 30)
	for i := range 300 {
		from.frame(&wire.Push{Key: wire.WireExpr{Suffix: []byte("k")}, Data: wire.Data{Payload: payload[:10+i%2*290]}})
	}
	var whole []byte
	last := -1
	for i := range 300 {
		k, err := to.next()
		testenv.Must(t, err)
		for whole = whole[:0]; k == wire.KindFragment; k, err = to.next() {
			testenv.Must(t, err)
			f := to.r.Fragment
			if last >= 0 && int(f.SN) != (last+1)&0x7f {
				t.Fatalf("%d after %d", f.SN, last)
			}
			last = int(f.SN)
			whole = append(whole, f.Payload...)
			if !f.More {
				break
			}
		}
		r := &to.r
		if len(whole) > 0 {
			r = &wire.Reader{}
			r.ResetNetwork(whole)
			if !r.Next() {
				t.Fatal(r.Err())
			}
		} else {
			last = int(to.r.Frame.SN)
		}
		if r.Kind() != wire.KindPush || !bytes.Equal(r.Push.Payload, payload[:10+i%2*290]) {
			t.Fatalf("message %d: %v of %d bytes", i, r.Kind(), len(r.Push.Payload))
		}
	}
}

func TestFragmentsWithAGap(t *testing.T) {
	b := start(t, broker.Config{})
	to := dial(t, b)
	got := subscribe(t, to, "k")
	p := client(t, b)
	m := (&wire.Push{Key: wire.WireExpr{Suffix: []byte("k")}, Data: wire.Data{Payload: []byte("payload")}}).Append(nil)
	send := func(sns ...uint32) {
		for i, sn := range sns {
			at, end := i*len(m)/len(sns), (i+1)*len(m)/len(sns)
			p.batch(&wire.Fragment{Reliable: true, More: i+1 < len(sns), SN: sn, Payload: m[at:end]})
		}
	}
	send(7, 8, 9)
	send(10, 12, 13) // one is missing
	send(20, 21, 22) // between chains none need be
	p.batch(&wire.Fragment{Reliable: true, More: true, SN: 23, Payload: m[:3]})
	p.sn = 24 // a frame ends a chain
	p.quiet()
	send(25, 26)
	p.sn = 27
	p.quiet()
	has(t, to, got, "payload", "payload", "payload")
}

func TestAliases(t *testing.T) {
	b := start(t, broker.Config{})
	p, q := client(t, b), client(t, b)
	alias := func(p *raw, id uint32, scope uint16, suffix string) {
		p.frame(&wire.Declare{Kind: wire.DeclareKeyExpr, ID: id, Key: wire.WireExpr{Scope: scope, Suffix: []byte(suffix)}})
	}
	alias(q, 1, 0, "demo")
	alias(q, 2, 1, "/a")
	q.frame(&wire.Declare{Kind: wire.DeclareSubscriber, ID: 1, Key: wire.WireExpr{Scope: 1, Suffix: []byte("/**"), SenderMapping: true}})
	q.quiet()
	alias(p, 9, 0, "demo/a")
	alias(p, 8, 0, "de")
	for _, k := range []wire.WireExpr{{Suffix: []byte("demo/a")}, {Scope: 9, SenderMapping: true}, {Scope: 8, SenderMapping: true, Suffix: []byte("mo/a")}} {
		p.frame(&wire.Push{Key: k, Data: wire.Data{Payload: []byte("x")}})
		q.is(wire.KindPush)
		if k := q.r.Push.Key; k.Scope != 2 || k.SenderMapping || k.Suffix != nil {
			t.Errorf("%+v, want the receiver's own alias", k)
		}
	}
	p.frame(&wire.Push{Key: wire.WireExpr{Scope: 9, SenderMapping: true, Suffix: []byte("/b")}, Data: wire.Data{Payload: []byte("x")}})
	q.is(wire.KindPush)
	if k := q.r.Push.Key; k.Scope != 0 || string(k.Suffix) != "demo/a/b" {
		t.Errorf("%+v", k)
	}
	q.frame(&wire.Declare{Kind: wire.UndeclareKeyExpr, ID: 2})
	q.quiet()
	p.frame(&wire.Declare{Kind: wire.UndeclareKeyExpr, ID: 9}, &wire.Push{Key: wire.WireExpr{Scope: 9, SenderMapping: true}},
		&wire.Push{Key: wire.WireExpr{Suffix: []byte("demo/a")}, Data: wire.Data{Payload: []byte("last")}})
	q.is(wire.KindPush)
	if k := q.r.Push.Key; k.Scope != 0 || string(k.Suffix) != "demo/a" || string(q.r.Push.Payload) != "last" {
		t.Errorf("%+v", q.r.Push)
	}
}

// TestBodiesAreUnchanged, extensions that nobody here knows included.
func TestBodiesAreUnchanged(t *testing.T) {
	b := start(t, broker.Config{})
	p, q := client(t, b), client(t, b)
	q.declare(wire.DeclareSubscriber, 1, "k")
	q.frame(&wire.Declare{Kind: wire.DeclareQueryable, ID: 2, Key: wire.WireExpr{Suffix: []byte("q")}})
	q.quiet()
	for _, body := range []string{
		"a10d4703414243" + "e1beb8ffacbcd2e7866b02b0b009057574662d38" + "c113f0e7e81fe42b7cc1e913d5cf7ab99e9b4d16004303415454" + "0568656c6c6f", // V5, V12, and extension 0x47
		"02",       // DEL
		"82420178", // DEL with an attachment
	} {
		tail, err := hex.DecodeString(body)
		testenv.Must(t, err)
		head := []byte{0x3d, 0, 1, 'k'}
		if tail[0] == 0xa1 {
			head[0] |= 0x80
		}
		p.rawBatch(append(append([]byte{0x25, byte(p.sn)}, head...), tail...))
		p.sn++
		q.is(wire.KindPush)
		if got := q.r.Raw(); !bytes.Equal(got[4:], tail) || got[0]&^0x40 != head[0] {
			t.Errorf("% x\nbecame % x", append(head, tail...), got)
		}
	}
	tail, err := hex.DecodeString("a10d" + "b402" + "26c0cf24" + "a301c3060000010000014521010000000000000000c21e7f8120dfec181036c5ef017038f74dc14e3586a0201be6"[:0] + "a301c306000001000001" + "4502aabb")
	testenv.Must(t, err)
	tail[0] = 0xa1
	p.rawBatch(append([]byte{0x25, byte(p.sn), 0xbc, 77, 0, 1, 'q'}, tail...)) // V12, a service call
	p.sn++
	p.is(wire.KindResponseFinal) // it asks for complete ones only
	tail[3] = 1
	p.rawBatch(append([]byte{0x25, byte(p.sn), 0xbc, 78, 0, 1, 'q'}, tail...))
	p.sn++
	q.is(wire.KindRequest)
	if got := q.r.Raw(); !bytes.Equal(got[5:], tail) {
		t.Errorf("% x\nbecame % x", tail, got)
	}
	answer, err := hex.DecodeString("210d" + "04" + "81" + "4303010203" + "0178")
	testenv.Must(t, err)
	id := q.r.Request.ID
	q.rawBatch(append([]byte{0x25, byte(q.sn), 0xbb, byte(id), 0, 1, 'q'}, answer...))
	q.sn++
	p.is(wire.KindResponse)
	if got := p.r.Raw(); !bytes.Equal(got[5:], answer) || got[1] != 78 {
		t.Errorf("% x\nbecame % x", answer, got)
	}
	q.frame(&wire.ResponseFinal{RequestID: id})
	p.is(wire.KindResponseFinal)
}

func TestInterests(t *testing.T) {
	b := start(t, broker.Config{})
	p, q, r := client(t, b), client(t, b), client(t, b)
	interest := func(id uint32, m wire.InterestMode, o wire.InterestOptions, key string) {
		t.Helper()
		p.frame(&wire.Interest{ID: id, Mode: m, Options: o, Restricted: key != "", Key: wire.WireExpr{Suffix: []byte(key)}})
	}
	queryable := func(p *raw, id uint32, key string, complete bool) {
		p.frame(&wire.Declare{Kind: wire.DeclareQueryable, ID: id, Key: wire.WireExpr{Suffix: []byte(key)}, Queryable: wire.QueryableInfo{Complete: complete}})
	}
	q.declare(wire.DeclareSubscriber, 1, "a/1")
	q.declare(wire.DeclareSubscriber, 2, "a/2")
	queryable(q, 3, "a/1", false)
	q.declare(wire.DeclareToken, 4, "a/1")
	q.quiet()
	p.declare(wire.DeclareSubscriber, 1, "a/own")
	p.declare(wire.DeclareToken, 2, "a/own")

	// Current: ids are 0, one's own tokens are there.
	interest(1, wire.InterestCurrent, wire.InterestSubscribers|wire.InterestTokens, "a/*")
	p.all("D_SUBSCRIBER 0 a/1 for 1", "D_SUBSCRIBER 0 a/2 for 1", "D_TOKEN 0 a/1 for 1", "D_TOKEN 0 a/own for 1", "D_FINAL 0  for 1")
	q.declare(wire.DeclareToken, 5, "a/5") // nobody follows
	q.quiet()
	p.quiet()

	// Future only: nothing now, the end of what began since.
	interest(2, wire.InterestFuture, wire.InterestTokens, "a/*")
	p.quiet()
	q.declare(wire.DeclareToken, 6, "a/6")
	q.declare(wire.DeclareToken, 7, "b/7")
	q.quiet()
	r.declare(wire.DeclareToken, 1, "a/6") // the same key: no news
	p.all("D_TOKEN 1 a/6")
	r.frame(&wire.Declare{Kind: wire.UndeclareToken, ID: 1})
	r.quiet()
	q.frame(&wire.Declare{Kind: wire.UndeclareToken, ID: 6}, &wire.Declare{Kind: wire.UndeclareToken, ID: 5})
	p.all("U_TOKEN 1 ")
	p.quiet()

	// Current and future: ids that the end names.
	interest(3, wire.InterestCurrentFuture, wire.InterestQueryables, "a/*")
	p.all("D_QUERYABLE 2 a/1 for 3", "D_FINAL 0  for 3")
	queryable(r, 1, "a/1", true) // merged: complete now
	p.all("D_QUERYABLE 2 a/1 complete")
	r.conn.Close()
	p.all("D_QUERYABLE 2 a/1")
	q.frame(&wire.Declare{Kind: wire.UndeclareQueryable, ID: 3})
	p.all("U_QUERYABLE 2 ")

	// An id may be given anew: to another key, or with another promise.
	queryable(q, 9, "a/9", false)
	p.all("D_QUERYABLE 3 a/9")
	queryable(q, 9, "a/9", true)
	p.all("D_QUERYABLE 3 a/9 complete")
	queryable(q, 9, "a/10", true)
	p.all("D_QUERYABLE 4 a/10 complete", "U_QUERYABLE 3 ")
	queryable(q, 9, "a/10", true) // again: no news

	// Stop: what was told ends, nothing new comes.
	q.quiet()
	interest(3, wire.InterestFinal, 0, "")
	p.quiet()
	queryable(q, 10, "a/11", true)
	q.frame(&wire.Declare{Kind: wire.UndeclareQueryable, ID: 9})
	q.quiet()
	p.all("U_QUERYABLE 4 ")
	p.quiet()

	// Aggregate: one for all, in the interest's own key.
	interest(4, wire.InterestCurrentFuture, wire.InterestSubscribers|wire.InterestAggregate, "a/*")
	p.all("D_SUBSCRIBER 5 a/* for 4", "D_FINAL 0  for 4")
	q.declare(wire.DeclareSubscriber, 20, "a/20")
	q.frame(&wire.Declare{Kind: wire.UndeclareSubscriber, ID: 1}, &wire.Declare{Kind: wire.UndeclareSubscriber, ID: 2})
	q.quiet()
	p.quiet()
	q.frame(&wire.Declare{Kind: wire.UndeclareSubscriber, ID: 20})
	p.all("U_SUBSCRIBER 5 ")
	q.declare(wire.DeclareSubscriber, 21, "a/21")
	p.all("D_SUBSCRIBER 6 a/*")
	interest(4, wire.InterestFinal, 0, "")
	p.quiet()

	// Unrestricted: everything, as peers ask.
	interest(5, wire.InterestCurrentFuture, wire.InterestKeyExprs|wire.InterestSubscribers|wire.InterestQueryables|wire.InterestTokens, "")
	p.all("D_SUBSCRIBER 7 a/21 for 5", "D_QUERYABLE 8 a/11 complete for 5", "D_TOKEN 9 a/1 for 5", "D_TOKEN 10 a/own for 5", "D_TOKEN 11 b/7 for 5", "D_FINAL 0  for 5")
	q.conn.Close()
	p.all("U_SUBSCRIBER 7 ", "U_QUERYABLE 8 ", "U_TOKEN 9 ", "U_TOKEN 11 ")
	p.quiet()
}

// TestRandomBytes at each stage end the link that they came from, or mean
// nothing, and disturb no other.
func TestRandomBytes(t *testing.T) {
	b := start(t, broker.Config{Lease: time.Second})
	from, to := dial(t, b), dial(t, b)
	got := subscribe(t, to, "good")
	rng := rand.New(rand.NewPCG(1, 2))
	valid := (&wire.Push{Key: wire.WireExpr{Suffix: []byte("k")}, Data: wire.Data{Payload: []byte("x"), Attachment: []byte("a")}}).Append([]byte{0x25, 7})
	for n := range 300 {
		var p *raw
		switch n % 3 {
		case 0:
			p = connect(t, b)
		case 1:
			p = connect(t, b)
			p.batch(&wire.Init{WhatAmI: wire.Client, ZID: p.zid})
		case 2:
			p = client(t, b)
		}
		garbage := make([]byte, rng.IntN(60))
		for i := range garbage {
			garbage[i] = byte(rng.Uint32())
		}
		switch n % 5 {
		case 0:
			p.bytes(garbage)
		case 1:
			p.rawBatch(valid[:rng.IntN(len(valid))])
		case 2:
			twisted := slices.Clone(valid)
			twisted[rng.IntN(len(twisted))] ^= byte(1 << rng.IntN(8))
			p.rawBatch(twisted)
		default:
			p.rawBatch(append([]byte{0x25, 7}, garbage...))
		}
		p.conn.Close()
	}
	publish(t, from, "good", "x")
	has(t, to, got, "x")
	until(t, b, "only the two are left", func(all []*broker.Link) bool { return len(all) == 2 })
}
