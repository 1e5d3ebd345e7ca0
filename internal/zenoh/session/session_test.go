package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial opens a session with the peer at endpoint, for the length of the test.
func dial(tb testing.TB, endpoint string, c session.Config) *session.Session {
	tb.Helper()
	at, err := link.ParseLocator(endpoint)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	l, err := link.Dial(ctx, at, nil)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := session.Open(ctx, l, c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

func background(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	tb.Cleanup(cancel)
	return ctx
}

// BenchmarkEchoLocal is the figure of afor's benchmark: two pairs of publisher
// and subscription echo one message inside one session.
func BenchmarkEchoLocal(b *testing.B) {
	s := dial(b, testenv.ZenohRouter(b), session.Config{})
	ctx := context.Background()
	ping, _ := s.Publisher("echo/ping", session.PublisherConfig{Heard: func() bool { return false }})
	pong, _ := s.Publisher("echo/pong", session.PublisherConfig{Heard: func() bool { return false }})
	done := make(chan struct{})
	payload := make([]byte, 8)
	n := 0
	s.Subscribe(ctx, "echo/ping", func(x *session.Sample) { pong.Put(ctx, session.Put{Payload: x.Payload}) })
	s.Subscribe(ctx, "echo/pong", func(x *session.Sample) {
		if n += 2; n >= b.N {
			close(done)
			return
		}
		ping.Put(ctx, session.Put{Payload: x.Payload})
	})
	s.Barrier(background(b))
	b.ReportAllocs()
	b.ResetTimer()
	ping.Put(ctx, session.Put{Payload: payload})
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "hops/s")
}

func BenchmarkEchoRemote(b *testing.B) {
	at := testenv.ZenohRouter(b)
	s, r := dial(b, at, session.Config{}), dial(b, at, session.Config{})
	ctx := context.Background()
	ping, _ := s.Publisher("echo/ping", session.PublisherConfig{})
	pong, _ := r.Publisher("echo/pong", session.PublisherConfig{})
	done := make(chan struct{})
	payload := make([]byte, 8)
	n := 0
	r.Subscribe(ctx, "echo/ping", func(x *session.Sample) { pong.Put(ctx, session.Put{Payload: x.Payload}) })
	s.Subscribe(ctx, "echo/pong", func(x *session.Sample) {
		if n += 2; n >= b.N {
			close(done)
			return
		}
		ping.Put(ctx, session.Put{Payload: x.Payload})
	})
	s.Barrier(background(b))
	r.Barrier(background(b))
	b.ReportAllocs()
	b.ResetTimer()
	ping.Put(ctx, session.Put{Payload: payload})
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "hops/s")
}
