package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/transports/zenoh/broker"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// embedded is a router in this process, for what needs no real one.
func embedded(tb testing.TB) string {
	tb.Helper()
	b, err := broker.Listen(context.Background(), broker.Config{})
	testenv.Must(tb, err)
	tb.Cleanup(func() { testenv.Must(tb, b.Close()) })
	return b.Endpoint()
}

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

// echo has two pairs of publisher and subscription hand one message to and fro
// b.N times, as afor's benchmark does: near has one end of each pair, far the
// others.
func echo(b *testing.B, near, far *session.Session, c session.PublisherConfig) {
	ctx := context.Background()
	ping, pong := publisher(b, near, "echo/ping", c), publisher(b, far, "echo/pong", c)
	done := make(chan struct{})
	n := 0
	send := func(p *session.Publisher, payload []byte) {
		if err := p.Put(ctx, session.Put{Payload: payload}); err != nil {
			b.Error(err)
		}
	}
	_, err := far.Subscribe(ctx, "echo/ping", func(x *session.Sample) { send(pong, x.Payload) })
	testenv.Must(b, err)
	_, err = near.Subscribe(ctx, "echo/pong", func(x *session.Sample) {
		if n += 2; n >= b.N {
			close(done)
			return
		}
		send(ping, x.Payload)
	})
	testenv.Must(b, err)
	testenv.Must(b, near.Barrier(testenv.Soon(b)))
	testenv.Must(b, far.Barrier(testenv.Soon(b)))
	b.ReportAllocs()
	b.ResetTimer()
	send(ping, make([]byte, 8))
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

func BenchmarkEchoInOneSession(b *testing.B) {
	s := dial(b, testenv.ZenohRouter(b), session.Config{})
	echo(b, s, s, session.PublisherConfig{Heard: func() bool { return false }})
}

func BenchmarkEchoThroughARouter(b *testing.B) {
	at := testenv.ZenohRouter(b)
	echo(b, dial(b, at, session.Config{}), dial(b, at, session.Config{}), session.PublisherConfig{})
}

// BenchmarkStream is how many messages of 100 bytes pass from one session to
// another.
func BenchmarkStream(b *testing.B) {
	at := testenv.ZenohRouter(b)
	from, to := dial(b, at, session.Config{}), dial(b, at, session.Config{})
	done := make(chan struct{})
	n := 0
	_, err := to.Subscribe(testenv.Soon(b), "stream", func(*session.Sample) {
		if n++; n == b.N {
			close(done)
		}
	})
	testenv.Must(b, err)
	testenv.Must(b, to.Barrier(testenv.Soon(b)))
	p := publisher(b, from, "stream", session.PublisherConfig{})
	payload := make([]byte, 100)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		testenv.Must(b, p.Put(context.Background(), session.Put{Payload: payload}))
	}
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// TestPutAllocates nothing on the way to the socket; what is heard in this
// session costs the copy of the payload.
func TestPutAllocates(t *testing.T) {
	s := dial(t, testenv.ZenohRouter(t), session.Config{})
	p := publisher(t, s, "a", session.PublisherConfig{Source: true})
	put := session.Put{Payload: make([]byte, 100)}
	ctx := context.Background()
	if n := testing.AllocsPerRun(1000, func() { testenv.Must(t, p.Put(ctx, put)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
