package ros2zenoh_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/ros2zenoh"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

func embedded(tb testing.TB) string {
	tb.Helper()
	b, err := broker.Listen(testenv.Soon(tb), broker.Config{})
	testenv.Must(tb, err)
	tb.Cleanup(func() { testenv.Must(tb, b.Close()) })
	return b.Endpoint()
}

func TestSuiteThroughBroker(t *testing.T) { runSuite(t, embedded(t), false) }

func TestSuiteOfObserversThroughBroker(t *testing.T) { runSuite(t, embedded(t), true) }

// separate has n graphs at once, each with a talker of its own, and fails when
// one hears another. dial joins graph i.
func separate(t *testing.T, n int, dial func(i int, node string) (*ros2zenoh.Conn, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	const messages = 20
	var all sync.WaitGroup
	ready := make(chan struct{}) // once everybody listens
	var listening sync.WaitGroup
	listening.Add(n)
	for i := range n {
		all.Go(func() {
			listens := sync.OnceFunc(listening.Done)
			defer listens()
			join := func(node string) *ros2zenoh.Conn {
				c, err := dial(i, node)
				if err != nil {
					t.Errorf("graph %d: %v", i, err)
					return nil
				}
				return c
			}
			from, to := join("talker"), join("listener")
			if from == nil || to == nil {
				return
			}
			defer from.Close()
			defer to.Close()
			got := make(chan transports.Sample, 10*messages)
			if _, err := to.Subscribe(ctx, "/chatter", text, transports.QoS{}, func(x transports.Sample) { got <- x }); err != nil {
				t.Errorf("graph %d: %v", i, err)
				return
			}
			if _, err := to.Serve(ctx, "/arm", setBool, func(r transports.Request) { _ = r.Reply(str(fmt.Sprint(i))) }); err != nil {
				t.Errorf("graph %d: %v", i, err)
				return
			}
			p, err := from.Advertise(ctx, "/chatter", text, transports.QoS{})
			if err != nil {
				t.Errorf("graph %d: %v", i, err)
				return
			}
			cl, err := from.Client(ctx, "/arm", setBool)
			if err != nil {
				t.Errorf("graph %d: %v", i, err)
				return
			}
			listens()
			<-ready
			for k := range messages {
				if err := p.Publish(ctx, str(fmt.Sprint(i, k))); err != nil {
					t.Errorf("graph %d: %v", i, err)
				}
			}
			for k := range messages {
				select {
				case x := <-got:
					if string(x.Payload) != string(str(fmt.Sprint(i, k))) {
						t.Errorf("graph %d heard %q in place of message %d", i, x.Payload, k)
					}
				case <-ctx.Done():
					t.Errorf("graph %d: message %d did not come", i, k)
					return
				}
			}
			done := make(chan error, 1)
			if err := cl.Call(ctx, yes, func(s transports.Sample, err error) {
				if err == nil && string(s.Payload) != string(str(fmt.Sprint(i))) {
					err = fmt.Errorf("the answer is %q", s.Payload)
				}
				done <- err
			}); err != nil {
				t.Errorf("graph %d: %v", i, err)
			} else if err := <-done; err != nil {
				t.Errorf("graph %d: %v", i, err)
			}
			if g, _ := to.Graph(); len(g.Nodes) != 2 || len(g.Endpoints) != 4 {
				t.Errorf("graph %d shows %+v", i, g)
			}
			if n := len(got); n > 0 {
				t.Errorf("graph %d heard %d more", i, n)
			}
		})
	}
	listening.Wait()
	close(ready)
	all.Wait()
}

func TestHundredBrokers(t *testing.T) {
	at := make([]string, 100)
	for i := range at {
		at[i] = embedded(t)
	}
	separate(t, len(at), func(i int, node string) (*ros2zenoh.Conn, error) {
		return ros2zenoh.Dial(testenv.Soon(t), ros2zenoh.Config{Endpoint: at[i], Node: node})
	})
}

func TestHundredDomains(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		separate(t, 100, func(i int, node string) (*ros2zenoh.Conn, error) {
			return ros2zenoh.Dial(testenv.Soon(t), ros2zenoh.Config{Endpoint: at, Domain: i, Node: node})
		})
	})
}
