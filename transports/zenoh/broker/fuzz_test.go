package broker_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

// FuzzBroker sends a broker arbitrary bytes: at the beginning, after INIT, as a
// batch of an open link or in a frame of one. Whatever comes, another link that
// has declared everything lives on.
func FuzzBroker(f *testing.F) {
	key := wire.WireExpr{Suffix: []byte("a/b")}
	for _, m := range []message{
		&wire.Push{Key: key, Data: wire.Data{Payload: []byte("x"), Attachment: []byte("y")}},
		&wire.Push{Key: wire.WireExpr{Scope: 1, SenderMapping: true}, Data: wire.Data{Delete: true}},
		&wire.Request{ID: 7, Key: key, Target: wire.TargetAll, TimeoutMillis: 1, Value: wire.Value{Payload: []byte("q")}},
		&wire.Response{RequestID: 1, Key: key, Data: wire.Data{Payload: []byte("r")}},
		&wire.Response{RequestID: 1, Err: true, Data: wire.Data{Payload: []byte("Timeout")}},
		&wire.ResponseFinal{RequestID: 1},
		&wire.Declare{Kind: wire.DeclareKeyExpr, ID: 1, Key: key},
		&wire.Declare{Kind: wire.DeclareToken, ID: 3, Key: key},
		&wire.Declare{Kind: wire.UndeclareToken, ID: 3},
		&wire.Declare{Kind: wire.DeclareSubscriber, ID: 4, Key: key},
		&wire.Declare{Kind: wire.DeclareQueryable, ID: 5, Key: key, Queryable: wire.QueryableInfo{Complete: true}},
		&wire.Interest{ID: 1, Mode: wire.InterestCurrentFuture, Options: wire.InterestTokens | wire.InterestAggregate, Restricted: true, Key: key},
	} {
		f.Add(m.Append(nil), byte(3))
	}
	f.Add((&wire.Fragment{Reliable: true, SN: 7, Payload: []byte{0x1d}}).Append(nil), byte(2))
	f.Add((&wire.Init{WhatAmI: wire.Peer, Version: 8}).Append(nil), byte(0))
	f.Add((&wire.Open{Cookie: []byte("robospec"), Lease: time.Second}).Append(nil), byte(1))
	b, err := broker.Listen(f.Context(), broker.Config{Lease: 30 * time.Second})
	testenv.Must(f, err)
	f.Cleanup(func() { testenv.Must(f, b.Close()) })
	s := dial(f, b)
	got := subscribe(f, s, "fine")
	serve(f, s, "**", true, "")
	_, err = s.Watch(testenv.Soon(f), wire.InterestSubscribers|wire.InterestQueryables|wire.InterestTokens, wire.InterestCurrentFuture, "**", nil)
	testenv.Must(f, err)
	f.Fuzz(func(t *testing.T, data []byte, stage byte) {
		if len(data) > 60_000 {
			return
		}
		p := connect(t, b)
		if stage%4 > 0 {
			p.batch(&wire.Init{WhatAmI: wire.Peer, ZID: p.zid})
		}
		if stage%4 > 1 {
			p.batch(&wire.Open{Lease: 10 * time.Second, InitialSN: p.sn, Cookie: []byte("robospec")})
		}
		push := &wire.Push{Key: wire.WireExpr{Suffix: []byte("fine")}, Data: wire.Data{Payload: []byte("x")}}
		if stage%4 == 3 {
			data = append((&wire.Frame{Reliable: true, SN: 7}).Append(nil), data...)
		}
		p.rawBatch(data)
		_ = p.conn.(*net.TCPConn).CloseWrite() // the broker may have hung up
		_, _ = io.Copy(io.Discard, p.conn)     // until the broker has seen all and hangs up
		p.conn.Close()

		q := client(t, b)
		q.frame(push)
		testenv.Next(t, got)
		q.conn.Close()
	})
}
