package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

// alone runs a session with a router that knows of nobody, in a bubble.
func alone(t *testing.T, run func(t *testing.T, s *session.Session, f *fake)) {
	synctest.Test(t, func(t *testing.T) {
		s, f := piped(t, session.Config{}, func(f *fake) { f.open.Lease = time.Hour })
		run(t, s, f)
	})
}

func TestOwnQueryables(t *testing.T) {
	alone(t, func(t *testing.T, s *session.Session, f *fake) {
		final := make(chan uint32)
		go func() { // the router has nobody to ask
			for k := f.next(); k != wire.KindNone; k = f.next() {
				if k == wire.KindRequest {
					final <- f.r.Request.ID
				}
			}
		}()
		for i := range 2 {
			_, err := s.Queryable(t.Context(), "q/*", i == 0, func(r *session.Request) {
				if r.Parameters == "silent" {
					r.Finish()
					return
				}
				if err := r.Reply("q/own", session.Put{Payload: append([]byte{'0' + byte(i)}, r.Payload...), Attachment: r.Attachment}, wire.SourceInfo{}); err != nil {
					t.Error(err)
				}
				if err := r.Refuse([]byte("also")); err != nil {
					t.Error(err)
				}
				r.Finish()
				r.Finish()
			})
			testenv.Must(t, err)
		}
		ask := func(q session.Query) (string, error) {
			got := ""
			ended := make(chan error, 2)
			q.Key, q.Payload, q.Attachment = "q/own", []byte("x"), []byte("A")
			testenv.Must(t, s.Get(t.Context(), q, func(r *session.Reply) { got += fmt.Sprintf("%s%s%s%v ", r.Key, r.Payload, r.Attachment, r.Err) }, func(err error) { ended <- err }))
			id := <-final
			synctest.Wait()
			if len(ended) > 0 {
				t.Error("the question ended before the router's FINAL")
			}
			f.frame(&wire.ResponseFinal{RequestID: id})
			return got, <-ended
		}
		if got, err := ask(session.Query{}); err != nil || got != "q/own0xAfalse q/ownalsotrue q/own1xAfalse q/ownalsotrue " {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := ask(session.Query{Target: wire.TargetAllComplete}); err != nil || got != "q/own0xAfalse q/ownalsotrue " {
			t.Errorf("of the complete: %q, %v", got, err)
		}
		if got, err := ask(session.Query{Parameters: "silent"}); !errors.Is(err, transports.ErrNoResponder) || got != "" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestQuestionsRunOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := piped(t, session.Config{}, func(f *fake) { f.init.Resolution = 0x02 }) // 8-bit request ids
		go f.drain()
		ended := make(chan error, 200)
		var err error
		n := 0
		for ; err == nil && n < 200; n++ {
			err = s.Get(t.Context(), session.Query{Key: "a"}, func(*session.Reply) {}, func(err error) { ended <- err })
		}
		if n > 128 || err == nil || !strings.Contains(err.Error(), "up to 127") {
			t.Errorf("%d questions at a time, then %v", n, err)
		}
		s.Close()
		for range n - 1 {
			if err := <-ended; !errors.Is(err, transports.ErrClosed) {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestLocalDelivery leaves the publisher's goroutine, keeps the order and copies
// the payload.
func TestLocalDelivery(t *testing.T) {
	alone(t, func(t *testing.T, s *session.Session, f *fake) {
		go f.drain()
		const n = 1000
		var got []byte
		_, err := s.Subscribe(t.Context(), "**", func(x *session.Sample) {
			got = append(got, x.Payload[0])
			if x.Key != "a" || string(x.Attachment) != "A" || x.Source.SN != uint32(len(got)-1) || x.Received.IsZero() {
				t.Errorf("%+v", x)
			}
		})
		testenv.Must(t, err)
		p := publisher(t, s, "a", session.PublisherConfig{Source: true})
		buffer := make([]byte, 1)
		for i := range n {
			buffer[0] = byte(i)
			testenv.Must(t, p.Put(t.Context(), session.Put{Payload: buffer, Attachment: []byte("A")}))
		}
		synctest.Wait()
		if len(got) != n {
			t.Fatalf("%d of %d", len(got), n)
		}
		for i, b := range got {
			if b != byte(i) {
				t.Fatalf("message %d is %d", i, b)
			}
		}
	})
}

// largeLocal is the bound of what waits for the sinks of the session itself.
const largeLocal = 64 << 20

// TestLocalBackpressure: a sink that hangs makes publishers wait, bounded by
// their contexts; a sink that publishes never waits for itself.
func TestLocalBackpressure(t *testing.T) {
	alone(t, func(t *testing.T, s *session.Session, f *fake) {
		go f.drain()
		release := make(chan struct{})
		count := 0
		_, err := s.Subscribe(t.Context(), "a", func(*session.Sample) {
			<-release
			count++
		})
		testenv.Must(t, err)
		p := publisher(t, s, "a", session.PublisherConfig{Heard: func() bool { return false }})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		sent := 0
		for err = nil; err == nil; sent++ {
			err = p.Put(ctx, session.Put{Payload: make([]byte, 1<<20)})
		}
		sent--
		if sent < 50 || sent > 100 || !strings.Contains(err.Error(), "enough") || !strings.Contains(err.Error(), "sinks do not keep up") {
			t.Errorf("%d megabytes, then %v", sent, err)
		}
		close(release)
		synctest.Wait()
		if count != sent {
			t.Errorf("%d of %d arrived", count, sent)
		}

		q := publisher(t, s, "b", session.PublisherConfig{Heard: func() bool { return false }})
		got := 0
		_, err = s.Subscribe(t.Context(), "b", func(x *session.Sample) {
			if got++; got == 1 {
				for range 3 { // more than waits elsewhere
					testenv.Must(t, q.Put(t.Context(), session.Put{Payload: make([]byte, largeLocal/2)}))
				}
			}
		})
		testenv.Must(t, err)
		testenv.Must(t, q.Put(t.Context(), session.Put{}))
		synctest.Wait()
		if got != 4 {
			t.Errorf("%d of 4 arrived", got)
		}
	})
}

// TestCloseFromBothSinks: two sinks on the two goroutines close at once, and a
// third waits for its turn meanwhile.
func TestCloseFromBothSinks(t *testing.T) {
	for range 50 {
		alone(t, func(t *testing.T, s *session.Session, f *fake) {
			go f.drain()
			var inside atomic.Int32
			closing := func(*session.Sample) {
				inside.Add(1)
				for inside.Load() < 2 {
					time.Sleep(time.Millisecond) // in a bubble
				}
				s.Close()
			}
			_, err := s.Subscribe(t.Context(), "far", closing)
			testenv.Must(t, err)
			_, err = s.Subscribe(t.Context(), "near", closing)
			testenv.Must(t, err)
			f.frame(&wire.Push{Key: wire.WireExpr{Suffix: []byte("far")}})
			testenv.Must(t, publisher(t, s, "near", session.PublisherConfig{}).Put(t.Context(), session.Put{}))
			<-s.Done()
			s.Close()
			if err := s.Err(); !errors.Is(err, transports.ErrClosed) {
				t.Error(err)
			}
		})
	}
}

// TestCloseFromASinkThatTheOtherGoroutineWaitsFor: one subscription, served by
// both goroutines.
func TestCloseFromASinkThatTheOtherGoroutineWaitsFor(t *testing.T) {
	for range 50 {
		alone(t, func(t *testing.T, s *session.Session, f *fake) {
			go f.drain()
			_, err := s.Subscribe(t.Context(), "a", func(*session.Sample) {
				time.Sleep(time.Millisecond) // in a bubble: the other one is at the gate
				s.Close()
			})
			testenv.Must(t, err)
			f.frame(&wire.Push{Key: wire.WireExpr{Suffix: []byte("a")}})
			testenv.Must(t, publisher(t, s, "a", session.PublisherConfig{}).Put(t.Context(), session.Put{}))
			<-s.Done()
			s.Close()
		})
	}
}

func TestSettle(t *testing.T) {
	alone(t, func(t *testing.T, s *session.Session, f *fake) {
		go f.drain()
		far, near := 0, 0
		_, err := s.Subscribe(t.Context(), "far", func(*session.Sample) { time.Sleep(time.Second); far++ })
		testenv.Must(t, err)
		_, err = s.Subscribe(t.Context(), "near", func(*session.Sample) { time.Sleep(time.Second); near++ })
		testenv.Must(t, err)
		s.Settle()
		f.frame(&wire.Push{Key: wire.WireExpr{Suffix: []byte("far")}}, &wire.Push{Key: wire.WireExpr{Suffix: []byte("far")}})
		p := publisher(t, s, "near", session.PublisherConfig{})
		testenv.Must(t, p.Put(t.Context(), session.Put{}))
		synctest.Wait() // both sinks have begun
		s.Settle()
		if far != 2 || near != 1 {
			t.Errorf("settled after %d and %d", far, near)
		}
	})
}
