package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

// open opens a session with a peer that behaves as play says.
func open(t *testing.T, play func(f *fake)) error {
	t.Helper()
	ours, theirs := net.Pipe()
	f := newFake(t, theirs)
	played := make(chan struct{})
	go func() {
		defer close(played)
		play(f)
		theirs.Close()
	}()
	ctx, cancel := context.WithTimeoutCause(context.Background(), 10*time.Second, errors.New("the spec's patience"))
	defer cancel()
	s, err := session.Open(ctx, link.New(ours, "tcp/fake:1"), session.Config{})
	if err == nil {
		s.Close()
	}
	<-played
	return err
}

func TestOpenWithPeersThatMisbehave(t *testing.T) {
	answer := func(b []byte) func(*fake) {
		return func(f *fake) {
			f.until(wire.KindInit)
			f.raw(b)
			f.next()
		}
	}
	// lying answers with changed messages.
	lying := func(change func(f *fake)) func(*fake) {
		return func(f *fake) {
			change(f)
			f.until(wire.KindInit)
			f.batch(&f.init)
			if f.next() != wire.KindOpen {
				return
			}
			f.batch(&f.open)
			f.next()
		}
	}
	for name, c := range map[string]struct {
		play func(*fake)
		want string
	}{
		"hangs up at once":       {func(*fake) {}, "INIT"},
		"hangs up after INIT":    {func(f *fake) { f.until(wire.KindInit) }, "hung up instead of answering INIT 010"},
		"silent":                 {func(f *fake) { f.until(wire.KindInit); f.next() }, "the spec's patience"},
		"silent after INIT":      {func(f *fake) { f.until(wire.KindInit); f.batch(&f.init); f.until(wire.KindOpen); f.next() }, "the spec's patience"},
		"deaf":                   {func(f *fake) { time.Sleep(11 * time.Second) }, "the spec's patience"}, // in a bubble
		"hangs up after OPEN":    {func(f *fake) { f.until(wire.KindInit); f.batch(&f.init); f.until(wire.KindOpen) }, "hung up instead of answering OPEN"},
		"empty batch":            {answer(nil), "empty batch"},
		"garbage":                {answer([]byte("HTTP/1.1 400 Bad Request\r\n")), "answer to INIT"},
		"half a batch":           {func(f *fake) { f.until(wire.KindInit); f.bytes([]byte{40, 0, 0x21}) }, "unexpected EOF"},
		"truncated":              {answer([]byte{0x21, 9, 0x10}), "INIT zid"},
		"keep-alive first":       {answer([]byte{4}), "KEEP_ALIVE"},
		"closes":                 {answer([]byte{0x23, 3}), `reason "max sessions" to INIT`},
		"opens itself":           {lying(func(f *fake) { f.init.Ack = false }), "no Zenoh listener"},
		"version 8":              {lying(func(f *fake) { f.init.Version = 8 }), "speaks version 8"},
		"tiny batches":           {lying(func(f *fake) { f.init.BatchSize = 10 }), "batches of at most 10 bytes"},
		"asks OPEN":              {lying(func(f *fake) { f.open.Ack = false }), "answered OPEN with OPEN"},
		"no lease":               {lying(func(f *fake) { f.open.Lease = 0 }), "lease of 0"},
		"number beyond the mask": {lying(func(f *fake) { f.open.InitialSN = 1 << 28 }), "beyond the agreed"},
		"mandatory extension":    {lying(func(f *fake) { f.init.Exts = []wire.Ext{{Head: 0x1f}} }), "mandatory"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := open(t, c.play)
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "tcp/fake:1") {
					t.Errorf("%v; want %q", err, c.want)
				}
			})
		})
	}
}

// TestRandomAnswers feeds noise to every stage of a link, and truncations of
// what would have been right.
func TestRandomAnswers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	noise := func() []byte {
		b := make([]byte, rng.IntN(200))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	for i := range 300 {
		synctest.Test(t, func(t *testing.T) {
			n := noise()
			stage := i % 6
			err := open(t, func(f *fake) {
				f.until(wire.KindInit)
				good := f.init.Append(nil)
				switch stage {
				case 0:
					f.bytes(n) // not even batches
					return
				case 1:
					f.raw(n)
					return
				case 2:
					f.raw(good[:rng.IntN(len(good))])
					return
				}
				f.raw(good)
				if f.next() != wire.KindOpen {
					return
				}
				good = f.open.Append(nil)
				switch stage {
				case 3:
					f.raw(n)
				case 4:
					f.raw(good[:rng.IntN(len(good))])
				case 5:
					f.raw(append(good, n...)) // opens, and goes on with noise
				}
			})
			if stage == 3 && len(n) > 0 && n[0]&0x3f == 0x22 {
				return // noise that begins like an answer may be one
			}
			if err == nil && stage != 5 {
				t.Errorf("stage %d took % x", stage, n)
			}
		})
	}
}

func TestOpenLinkWithPeersThatMisbehave(t *testing.T) {
	key := wire.WireExpr{Suffix: []byte("a")}
	for name, c := range map[string]struct {
		play func(*fake)
		want string
	}{
		"hangs up":             {func(f *fake) {}, "hung up without CLOSE; the batch sent last has"},
		"closes":               {func(f *fake) { f.batch(&wire.Close{Reason: wire.CloseExpired}) }, `the peer said CLOSE, reason "expired"`},
		"half a batch":         {func(f *fake) { f.bytes([]byte{9, 0, 1}) }, "unexpected EOF"},
		"unknown message":      {func(f *fake) { f.raw([]byte{0x0f}) }, "unknown id 0x0f"},
		"no frame":             {func(f *fake) { f.raw([]byte{0x1d}) }, "outside a frame"},
		"truncated":            {func(f *fake) { f.raw([]byte{0x25, 5, 0x3d, 0, 9, 'a'}) }, "key suffix"},
		"another INIT":         {func(f *fake) { f.batch(&f.init) }, "sent INIT on an open link"},
		"number too high":      {func(f *fake) { f.sn = 1 << 28; f.frame() }, "beyond the agreed"},
		"unknown alias":        {func(f *fake) { f.frame(&wire.Push{Key: wire.WireExpr{Scope: 7, SenderMapping: true}}) }, "key alias 7 was never declared"},
		"alias of ours":        {func(f *fake) { f.frame(&wire.Push{Key: wire.WireExpr{Scope: 7}}) }, "key alias 7 was never declared"},
		"mandatory extension":  {func(f *fake) { f.raw([]byte{0x25, 5, 0xbd, 0, 1, 'a', 0x1e, 1, 0}) }, "mandatory"},
		"bad bytes in pieces":  {func(f *fake) { f.batch(&wire.Fragment{Reliable: true, SN: 5, Payload: []byte{0x1d}}) }, "in a message of 1 bytes that came in fragments"},
		"transport in a piece": {func(f *fake) { f.batch(&wire.Fragment{Reliable: true, SN: 5, Payload: []byte{0x23, 0}}) }, "transport message"},
		"too large": {func(f *fake) {
			for i := range uint32(10) {
				if !f.batch(&wire.Fragment{Reliable: true, More: true, SN: 5 + i, Payload: make([]byte, 40_000)}) {
					return
				}
			}
		}, "more than 200000 bytes"},
		"one push too many": {func(f *fake) { f.frame(&wire.Push{Key: key}); f.raw([]byte{0x25, 6, 0x3d}) }, "PUSH"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, f := piped(t, session.Config{MaxMessage: 200_000}, nil)
				ended := make(chan error, 1)
				pushed := make(chan struct{}, 10)
				go func() {
					f.until(wire.KindRequest)
					c.play(f)
					f.c.Close()
				}()
				_, err := s.Subscribe(t.Context(), "a", func(*session.Sample) { pushed <- struct{}{} })
				testenv.Must(t, err)
				testenv.Must(t, s.Get(t.Context(), session.Query{Key: "q"}, func(*session.Reply) {}, func(err error) { ended <- err }))
				<-s.Done()
				var lost *transports.LinkError
				if err := s.Err(); !errors.As(err, &lost) || lost.Peer != "pipe" || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v; want %q", err, c.want)
				}
				if err := <-ended; !errors.As(err, &lost) {
					t.Errorf("a question on its way: %v", err)
				}
				if err := s.Barrier(t.Context()); !errors.As(err, &lost) {
					t.Errorf("Barrier: %v", err)
				}
			})
		})
	}
}

// TestWhatAPeerMayDo is all that does not cost the link.
func TestWhatAPeerMayDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := piped(t, session.Config{}, nil)
		var got []string
		_, err := s.Subscribe(t.Context(), "**", func(x *session.Sample) { got = append(got, x.Key+"="+string(x.Payload)) })
		if err != nil {
			t.Fatal(err)
		}
		played := make(chan struct{})
		go f.drain()
		go func() {
			defer close(played)
			push := func(key, payload string) *wire.Push {
				return &wire.Push{Key: wire.WireExpr{Suffix: []byte(key)}, Data: wire.Data{Payload: []byte(payload)}}
			}
			alias := func(scope uint16, suffix, payload string) *wire.Push {
				return &wire.Push{Key: wire.WireExpr{Scope: scope, Suffix: []byte(suffix), SenderMapping: true}, Data: wire.Data{Payload: []byte(payload)}}
			}
			f.frame(push("a", "1"), push("a", "2"))
			f.raw(nil)                      // an empty batch
			f.batch(new(wire.KeepAlive))    // proves life
			f.frame(push("a//b", "no key")) // goes nowhere
			f.frame(push("", "no key"))     // neither
			f.frame(push("a$", "no key"))   // neither
			f.frame(&wire.OAM{Network: true, ID: wire.OAMLinkState}, push("a", "3"))
			f.frame(&wire.Interest{ID: 1, Mode: wire.InterestFuture, Options: wire.InterestSubscribers})
			f.frame(&wire.Response{RequestID: 99}, &wire.ResponseFinal{RequestID: 99}) // late
			f.frame(&wire.Declare{Kind: wire.UndeclareToken, ID: 99})
			f.frame(&wire.Declare{Kind: wire.DeclareFinal, Answer: true, InterestID: 99})
			f.frame(&wire.Declare{Kind: wire.DeclareKeyExpr, ID: 3, Key: wire.WireExpr{Suffix: []byte("long/key")}})
			f.frame(alias(3, "/x", "4"), alias(3, "", "5"))
			f.frame(&wire.Declare{Kind: wire.DeclareKeyExpr, ID: 4, Key: wire.WireExpr{Scope: 3, Suffix: []byte("/er"), SenderMapping: true}})
			f.frame(alias(4, "", "6"))
			f.sn -= 2
			f.frame(push("a", "repetition"))
			f.frame(push("a", "repetition"))
			f.sn += 1000 // a gap is no fault
			f.frame(push("a", "7"))
			f.batch(&wire.Frame{SN: 5}, push("b", "best effort"), &wire.Frame{Reliable: true, SN: f.sn}, push("a", "8"))
			f.sn++
			// Fragments, also beside the other lane; a chain with a hole is dropped.
			msg := push("frag", "0123456789").Append(nil)
			piece := func(sn uint32, more bool, b []byte) {
				f.batch(&wire.Fragment{Reliable: true, SN: sn, More: more, Payload: b})
			}
			f.sn++ // routers leave a number out before a chain
			piece(f.sn, true, msg[:3])
			f.batch(&wire.Frame{SN: 6}, push("b", "between"))
			piece(f.sn+1, true, msg[3:9])
			piece(f.sn+2, false, msg[9:])
			piece(f.sn+3, true, msg[:3])
			piece(f.sn+5, true, msg[3:9]) // +4 is missing
			piece(f.sn+6, false, msg[9:])
			piece(f.sn+7, true, msg[:5])
			f.batch(&wire.Fragment{Reliable: true, SN: f.sn + 8, First: true, More: true, Payload: msg[:4]}) // begins anew
			piece(f.sn+9, false, msg[4:])
			piece(f.sn+10, true, msg[:5])
			f.batch(&wire.Fragment{Reliable: true, SN: f.sn + 11, Drop: true})
			f.sn += 12
			f.frame(push("big", strings.Repeat("x", 65_000))) // beyond what was agreed, within what fits
			f.frame(push("a", "9"))
		}()
		<-played
		synctest.Wait()
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		want := []string{"a=1", "a=2", "a=3", "long/key/x=4", "long/key=5", "long/key/er=6", "a=7", "b=best effort", "a=8",
			"b=between", "frag=0123456789", "frag=0123456789", "big=" + strings.Repeat("x", 65_000), "a=9"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("received\n%.20q, want\n%.20q", got, want)
		}
	})
}

// TestSmallSizes agrees on the smallest batches and numbers: everything wraps
// and is cut, in both directions.
func TestSmallSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := piped(t, session.Config{}, func(f *fake) {
			f.init.BatchSize, f.init.Resolution = 64, 0x04 // 8-bit numbers, 16-bit requests
			f.open.InitialSN = 0x7f
			f.mask = 0x7f
		})
		const n = 1000
		type message struct {
			payload []byte
			lane    bool
		}
		var got []message
		last := map[bool]uint32{true: f.asked.InitialSN - 1, false: f.asked.InitialSN - 1}
		chains := map[bool][]byte{}
		read := make(chan struct{})
		go func() {
			defer close(read)
			number := func(lane bool, sn uint32) {
				if want := (last[lane] + 1) & 0x7f; sn != want {
					t.Errorf("number %d follows %d", sn, last[lane])
				}
				last[lane] = sn
			}
			for len(got) < 2*n {
				switch f.next() {
				case wire.KindFrame:
					number(f.r.Frame.Reliable, f.r.Frame.SN)
				case wire.KindPush:
					got = append(got, message{bytes.Clone(f.r.Push.Payload), true})
				case wire.KindFragment:
					g := &f.r.Fragment
					number(g.Reliable, g.SN)
					chains[g.Reliable] = append(chains[g.Reliable], g.Payload...)
					if !g.More {
						var r wire.Reader
						r.ResetNetwork(chains[g.Reliable])
						if !r.Next() || r.Kind() != wire.KindPush {
							t.Errorf("a chain holds %v, %v", r.Kind(), r.Err())
						}
						got = append(got, message{bytes.Clone(r.Push.Payload), g.Reliable})
						chains[g.Reliable] = nil
					}
				case wire.KindNone:
					t.Error("the session hung up")
					return
				}
			}
			f.drain()
		}()
		a := publisher(t, s, "a", session.PublisherConfig{})
		b := publisher(t, s, "b", session.PublisherConfig{BestEffort: true})
		for i := range n {
			testenv.Must(t, a.Put(t.Context(), session.Put{Payload: bytes.Repeat([]byte{byte(i)}, i%200)}))
			testenv.Must(t, b.Put(t.Context(), session.Put{Payload: bytes.Repeat([]byte{byte(i)}, (i*7)%100)}))
		}
		synctest.Wait()
		for i := range n {
			for k, size := range []int{i % 200, (i * 7) % 100} {
				if want := bytes.Repeat([]byte{byte(i)}, size); !bytes.Equal(got[2*i+k].payload, want) {
					t.Fatalf("message %d of lane %d is % x, want % x", i, k, got[2*i+k].payload, want)
				}
			}
		}
		f.c.Close()
		<-read
	})
}

// TestKeepAlive: one after each quarter of the lease in which nothing was sent,
// none where something was.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := piped(t, session.Config{Lease: 8 * time.Second}, func(f *fake) { f.open.Lease = time.Hour })
		if f.asked.Lease != 8*time.Second {
			t.Errorf("the lease asked for is %v", f.asked.Lease)
		}
		begin := time.Now()
		kinds := make(chan string, 1000)
		go func() {
			for k := f.next(); k != wire.KindNone; k = f.next() {
				kinds <- fmt.Sprintf("%v at %v", k, time.Since(begin))
			}
			close(kinds)
		}()
		time.Sleep(5 * time.Second)
		testenv.Must(t, publisher(t, s, "a", session.PublisherConfig{}).Put(t.Context(), session.Put{}))
		time.Sleep(4 * time.Second)
		s.Close()
		var got []string
		for k := range kinds {
			got = append(got, k)
		}
		want := []string{"KEEP_ALIVE at 2s", "KEEP_ALIVE at 4s", "FRAME at 5s", "PUSH at 5s", "KEEP_ALIVE at 8s", "CLOSE at 9s"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q, want %q", got, want)
		}
		if !f.r.Close.Session || f.r.Close.Reason != wire.CloseGeneric {
			t.Errorf("the farewell was %+v", f.r.Close)
		}
	})
}

func TestSilentPeerIsLostAfterItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := piped(t, session.Config{}, func(f *fake) { f.open.Lease = 3 * time.Second })
		go f.drain()
		begin := time.Now()
		time.Sleep(2900 * time.Millisecond)
		f.batch(new(wire.KeepAlive))
		<-s.Done()
		if took := time.Since(begin); took != 5900*time.Millisecond {
			t.Errorf("lost %v after the last word", took-2900*time.Millisecond)
		}
		if err := s.Err(); !errors.Is(err, session.ErrSilent) {
			t.Errorf("%v", err)
		}
	})
}

// TestBusySinkIsNoSilence: what the peer sends meanwhile waits in the socket.
func TestBusySinkIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := piped(t, session.Config{}, func(f *fake) { f.open.Lease = time.Second })
		go f.drain()
		_, err := s.Subscribe(t.Context(), "a", func(*session.Sample) { time.Sleep(10 * time.Second) })
		testenv.Must(t, err)
		f.frame(&wire.Push{Key: wire.WireExpr{Suffix: []byte("a")}})
		time.Sleep(9 * time.Second)
		if err := s.Err(); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Second) // the sink returned at 10 s, and then nothing came for a second
		if err := s.Err(); !errors.Is(err, session.ErrSilent) {
			t.Errorf("%v", err)
		}
	})
}

// TestCloseDoesNotWaitForADeafPeer: the farewell has its limit.
func TestCloseDoesNotWaitForADeafPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := piped(t, session.Config{}, nil) // nobody reads the pipe
		begin := time.Now()
		s.Close()
		if took := time.Since(begin); took > time.Second {
			t.Errorf("Close took %v", took)
		}
		if err := s.Err(); !errors.Is(err, transports.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

// TestDeafPeer: every wait ends with its context.
func TestDeafPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := piped(t, session.Config{}, func(f *fake) { f.open.Lease = time.Hour })
		cause := errors.New("the spec's patience")
		within := func(what string, d time.Duration, f func(ctx context.Context) error) {
			t.Helper()
			ctx, cancel := context.WithTimeoutCause(t.Context(), d, cause)
			defer cancel()
			begin := time.Now()
			err := f(ctx)
			if !errors.Is(err, cause) || time.Since(begin) != d {
				t.Errorf("%s: %v after %v, want the cause after %v", what, err, time.Since(begin), d)
			}
		}
		within("Barrier", time.Second, s.Barrier)
		within("Tokens", time.Second, func(ctx context.Context) error { _, err := s.Tokens(ctx, "**"); return err })
		within("Get", time.Second, func(ctx context.Context) error {
			ended := make(chan error, 1)
			if err := s.Get(ctx, session.Query{Key: "a"}, func(*session.Reply) {}, func(err error) { ended <- err }); err != nil {
				return err
			}
			return <-ended
		})
		p := publisher(t, s, "a", session.PublisherConfig{})
		within("Put", time.Second, func(ctx context.Context) error {
			for {
				if err := p.Put(ctx, session.Put{Payload: make([]byte, 100_000)}); err != nil {
					return err
				}
			}
		})
		within("Subscribe", time.Second, func(ctx context.Context) error {
			_, err := s.Subscribe(ctx, "a", func(*session.Sample) {})
			return err
		})
		within("Token", time.Second, func(ctx context.Context) error { _, err := s.Token(ctx, "a"); return err })
		within("Queryable", time.Second, func(ctx context.Context) error {
			_, err := s.Queryable(ctx, "a", true, func(*session.Request) {})
			return err
		})
		within("Get, without room", time.Second, func(ctx context.Context) error {
			return s.Get(ctx, session.Query{Key: "a"}, func(*session.Reply) {}, func(error) {})
		})
	})
}
