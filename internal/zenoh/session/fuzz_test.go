package session_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// FuzzSession sends a session that uses everything arbitrary bytes: as a frame
// with a fresh number when framed, otherwise as they are. Whatever comes, it
// ends with the link and leaves nothing behind.
func FuzzSession(f *testing.F) {
	key := wire.WireExpr{Suffix: []byte("a/b")}
	for _, m := range []interface{ Append([]byte) []byte }{
		&wire.Push{Key: key, Data: wire.Data{Payload: []byte("x"), Attachment: []byte("y")}},
		&wire.Push{Key: wire.WireExpr{Scope: 1, SenderMapping: true}, Data: wire.Data{Delete: true}},
		&wire.Request{ID: 7, Key: key, Target: wire.TargetAll, Value: wire.Value{Payload: []byte("q")}},
		&wire.Response{RequestID: 1, Key: key, Data: wire.Data{Payload: []byte("r")}},
		&wire.Response{RequestID: 1, Err: true, Data: wire.Data{Payload: []byte("Timeout")}},
		&wire.ResponseFinal{RequestID: 1},
		&wire.Declare{Kind: wire.DeclareKeyExpr, ID: 1, Key: key},
		&wire.Declare{Kind: wire.DeclareToken, ID: 3, Key: key},
		&wire.Declare{Kind: wire.UndeclareToken, ID: 3},
		&wire.Declare{Kind: wire.DeclareSubscriber, ID: 4, Key: key, Answer: true, InterestID: 3},
		&wire.Declare{Kind: wire.DeclareFinal, Answer: true, InterestID: 3},
		&wire.Interest{ID: 1, Mode: wire.InterestCurrentFuture, Options: wire.InterestTokens},
	} {
		f.Add(m.Append(nil), true)
	}
	f.Add((&wire.Fragment{Reliable: true, SN: 5, More: true, Payload: []byte{0x1d}}).Append(nil), false)
	f.Add([]byte{4, 0x25, 5, 0x3d, 0, 1, 'a', 1, 1, 'x', 3, 0}, false)
	f.Fuzz(func(t *testing.T, data []byte, framed bool) {
		if len(data) > 60_000 {
			return
		}
		ours, theirs := net.Pipe()
		p := newFake(t, theirs)
		go func() {
			p.shake()
			go func() { _, _ = io.Copy(io.Discard, theirs) }() // ends with the link
			if framed {
				h := wire.Frame{Reliable: true, SN: p.sn}
				data = append(h.Append(nil), data...)
			}
			if p.raw(data) {
				p.raw(data) // once more
			}
			p.batch(new(wire.KeepAlive)) // what came before is read by then
			theirs.Close()
		}()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s, err := session.Open(ctx, link.New(ours, "pipe"), session.Config{MaxMessage: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		// Each of these may be too late: the peer is at it already.
		_, _ = s.Subscribe(ctx, "**", func(x *session.Sample) { _ = len(x.Payload) + len(x.Attachment) })
		_, _ = s.Queryable(ctx, "**", false, func(r *session.Request) {
			_ = r.Reply(r.Key, session.Put{Payload: r.Payload}, wire.SourceInfo{}) // the link may be gone
			r.Finish()
		})
		_, _ = s.Watch(ctx, session.Tokens, wire.InterestCurrentFuture, "**", func(session.Event) {})
		_, _ = s.Watch(ctx, session.Subscribers, wire.InterestCurrentFuture, "**", nil)
		ended := make(chan struct{}, 2)
		if err := s.Get(ctx, session.Query{Key: "a/*"}, func(*session.Reply) {}, func(error) { ended <- struct{}{} }); err == nil {
			select {
			case <-ended:
			case <-ctx.Done():
				t.Error("a question outlives its link")
			}
		}
		select {
		case <-s.Done():
		case <-ctx.Done():
			t.Error("the session outlives its link")
		}
		s.Close()
		if len(ended) > 0 {
			t.Error("a question ended twice")
		}
	})
}
