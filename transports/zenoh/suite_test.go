package zenoh_test

import (
	"context"
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
	cables := map[transports.Conn]*testenv.Cable{}
	transporttest.Run(t, transporttest.Wire{
		Dial: func(t transporttest.TB, node string) transports.Conn {
			cable := testenv.StartCable(t, router)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			c, err := zenoh.Dial(ctx, zenoh.Config{Endpoint: cable.Endpoint})
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
			cables[c].Pull()
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
