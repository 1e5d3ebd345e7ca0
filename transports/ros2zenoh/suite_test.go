package ros2zenoh_test

import (
	"context"
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
	cables := map[transports.Conn]*testenv.Cable{}
	transporttest.Run(t, transporttest.Wire{
		Dial: func(t transporttest.TB, node string) transports.Conn {
			cable := testenv.StartCable(t, router)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			conn, err := ros2zenoh.Dial(ctx, ros2zenoh.Config{Endpoint: cable.Endpoint, Domain: 7, Node: node})
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
			cables[c].Pull()
		},
	})
}

func TestSuite(t *testing.T) { runSuite(t, testenv.ZenohRouter(t), false) }

// TestSuiteOfObservers has subscriptions that name no type.
func TestSuiteOfObservers(t *testing.T) { runSuite(t, testenv.ZenohRouter(t), true) }
