package zenoh_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/transporttest"
	"github.com/robospec/robospec/transports/zenoh"
	"github.com/robospec/robospec/transports/zenoh/broker"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cable is a TCP connection to a router that can be pulled out.
type cable struct {
	endpoint string
	pull     func()
}

func newCable(t transporttest.TB, router string) *cable {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	near := make(chan net.Conn, 1)
	var running sync.WaitGroup
	running.Go(func() {
		a, err := ln.Accept()
		ln.Close()
		if err != nil {
			close(near)
			return
		}
		b, err := net.Dial("tcp", strings.TrimPrefix(router, "tcp/"))
		if err != nil {
			a.Close()
			close(near)
			return
		}
		join := func(to, from net.Conn) {
			_, _ = io.Copy(to, from) // ends when either side does
			to.Close()
			from.Close()
		}
		running.Go(func() { join(a, b) })
		running.Go(func() { join(b, a) })
		near <- a
	})
	c := &cable{endpoint: "tcp/" + ln.Addr().String()}
	c.pull = sync.OnceFunc(func() {
		ln.Close()
		if a, ok := <-near; ok {
			a.Close()
		}
	})
	t.Cleanup(func() {
		c.pull()
		running.Wait()
	})
	return c
}

// embedded is a router in this process, for what needs no real one.
func embedded(tb testing.TB) string {
	tb.Helper()
	b, err := broker.Listen(tb.Context(), broker.Config{})
	testenv.Must(tb, err)
	tb.Cleanup(func() { testenv.Must(tb, b.Close()) })
	return b.Endpoint()
}

func TestSuite(t *testing.T) { runSuite(t, embedded(t)) }

func TestSuiteThroughARealRouter(t *testing.T) { runSuite(t, testenv.ZenohRouter(t)) }

func runSuite(t *testing.T, router string) {
	t.Helper()
	t.Parallel() // the suites mostly wait
	var mu sync.Mutex
	cables := map[transports.Conn]*cable{}
	transporttest.Run(t, transporttest.Wire{
		Dial: func(t transporttest.TB, node string) transports.Conn {
			cable := newCable(t, router)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			c, err := zenoh.Dial(ctx, zenoh.Config{Endpoint: cable.endpoint})
			if err != nil {
				t.Fatalf("%v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			cables[c] = cable
			return c
		},
		Kill: func(_ transporttest.TB, c transports.Conn) {
			mu.Lock()
			defer mu.Unlock()
			cables[c].pull()
		},
		Lacks: transporttest.Lacks{
			Types:    true,
			Sent:     true,
			Strict:   true,
			Graph:    true,
			LifeNone: true,
		},
	})
}
