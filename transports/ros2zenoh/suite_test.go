package ros2zenoh_test

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
	"github.com/robospec/robospec/transports/ros2zenoh"
	"github.com/robospec/robospec/transports/transporttest"
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

var (
	text    = transports.Type{Name: "std_msgs/msg/String", Hash: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"}
	setBool = transports.Type{Name: "std_srvs/srv/SetBool", Hash: "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a"}
)

// typed gives a type to what the suite's cases leave open, as ROS 2 needs one.
type typed struct {
	*ros2zenoh.Conn
	observe bool // subscriptions stay open for any type
}

func or(t, otherwise transports.Type) transports.Type {
	if t.Name == "" {
		return otherwise
	}
	if t.Hash == "" {
		t.Hash = otherwise.Hash
	}
	return t
}

func (c typed) Advertise(ctx context.Context, topic string, t transports.Type, q transports.QoS) (transports.Publisher, error) {
	return c.Conn.Advertise(ctx, topic, or(t, text), q)
}

func (c typed) Subscribe(ctx context.Context, topic string, t transports.Type, q transports.QoS, sink func(transports.Sample)) (transports.Closer, error) {
	if !c.observe && t.Name == "" {
		t = text
	}
	return c.Conn.Subscribe(ctx, topic, t, q, sink)
}

func (c typed) Serve(ctx context.Context, service string, t transports.Type, handle func(transports.Request)) (transports.Closer, error) {
	return c.Conn.Serve(ctx, service, or(t, setBool), handle)
}

func (c typed) Client(ctx context.Context, service string, t transports.Type) (transports.Client, error) {
	return c.Conn.Client(ctx, service, or(t, setBool))
}

func runSuite(t *testing.T, router string, observe bool) {
	t.Parallel() // the suites mostly wait
	var mu sync.Mutex
	cables := map[transports.Conn]*cable{}
	transporttest.Run(t, transporttest.Wire{
		Dial: func(t transporttest.TB, node string) transports.Conn {
			cable := newCable(t, router)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			conn, err := ros2zenoh.Dial(ctx, ros2zenoh.Config{Endpoint: cable.endpoint, Domain: 7, Node: node})
			if err != nil {
				t.Fatalf("%v", err)
			}
			c := typed{conn, observe}
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
	})
}

func TestSuite(t *testing.T) { runSuite(t, testenv.ZenohRouter(t), false) }

// TestSuiteOfObservers has subscriptions that name no type.
func TestSuiteOfObservers(t *testing.T) { runSuite(t, testenv.ZenohRouter(t), true) }
