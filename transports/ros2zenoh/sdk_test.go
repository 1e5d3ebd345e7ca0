package ros2zenoh_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/ros2zenoh"
)

func dial(tb testing.TB, endpoint, node string) *ros2zenoh.Conn {
	tb.Helper()
	return dialAs(tb, ros2zenoh.Config{Endpoint: endpoint, Domain: 7, Node: node})
}

func dialAs(tb testing.TB, conf ros2zenoh.Config) *ros2zenoh.Conn {
	tb.Helper()
	c, err := ros2zenoh.Dial(testenv.Soon(tb), conf)
	testenv.Must(tb, err)
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("link of %s: %v; odd: %q", conf.Node, c.Err(), c.Diagnostics())
		}
		testenv.Must(tb, c.Close())
	})
	return c
}

// str is a std_msgs/msg/String in CDR.
func str(s string) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{0, 1, 0, 0}, uint32(len(s)+1))
	return append(append(b, s...), 0)
}

// yes is the request of a std_srvs/srv/SetBool with true, ok its response.
var (
	yes = []byte{0, 1, 0, 0, 1}
	ok  = append([]byte{0, 1, 0, 0, 1, 0, 0, 0}, str("set")[4:]...)
)

type subscription struct {
	transports.Closer
	got chan transports.Sample
}

func (s subscription) Matched() (int, <-chan struct{}) {
	return s.Closer.(transports.Matched).Matched()
}

func subscribe(tb testing.TB, c *ros2zenoh.Conn, topic string, t transports.Type, q transports.QoS) subscription {
	tb.Helper()
	s := subscription{got: make(chan transports.Sample, 1000)}
	sub, err := c.Subscribe(testenv.Soon(tb), topic, t, q, func(x transports.Sample) { s.got <- x })
	testenv.Must(tb, err)
	s.Closer = sub
	return s
}

func (s subscription) is(tb testing.TB, want ...string) {
	tb.Helper()
	for _, w := range want {
		if x := testenv.Next(tb, s.got); !bytes.Equal(x.Payload, str(w)) {
			tb.Errorf("%q came, want %q", x.Payload, str(w))
		}
	}
	if len(s.got) > 0 {
		tb.Errorf("%q came, nothing was due", (<-s.got).Payload)
	}
}

func advertise(tb testing.TB, c *ros2zenoh.Conn, topic string, q transports.QoS) transports.Publisher {
	tb.Helper()
	p, err := c.Advertise(testenv.Soon(tb), topic, text, q)
	testenv.Must(tb, err)
	return p
}

func publish(tb testing.TB, p transports.Publisher, payloads ...string) {
	tb.Helper()
	for _, s := range payloads {
		testenv.Must(tb, p.Publish(testenv.Soon(tb), str(s)))
	}
}

// matched waits for a number of counterparts.
func matched(tb testing.TB, x any, want int) {
	tb.Helper()
	ctx := testenv.Soon(tb)
	for {
		n, changed := x.(transports.Matched).Matched()
		if n == want {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			tb.Fatalf("%d counterparts, want %d", n, want)
		}
	}
}

type answer struct {
	transports.Sample
	err error
}

func call(ctx context.Context, tb testing.TB, cl transports.Client, payload []byte) <-chan answer {
	tb.Helper()
	done := make(chan answer, 1)
	testenv.Must(tb, cl.Call(ctx, payload, func(s transports.Sample, err error) { done <- answer{s, err} }))
	return done
}

func client(tb testing.TB, c *ros2zenoh.Conn, service string) transports.Client {
	tb.Helper()
	cl, err := c.Client(testenv.Soon(tb), service, setBool)
	testenv.Must(tb, err)
	return cl
}

// shows waits until the graph's endpoints of a name, in one line each, are as
// wanted.
func shows(tb testing.TB, c *ros2zenoh.Conn, name string, want ...string) {
	tb.Helper()
	ctx := testenv.Soon(tb)
	for {
		g, changed := c.Graph()
		var got []string
		for _, e := range g.Endpoints {
			if e.Name == name {
				got = append(got, fmt.Sprintf("%v %s %s %s %v", e.Kind, e.Node, e.Type.Name, e.Type.Hash, e.QoS))
			}
		}
		d := cmp.Diff(want, got)
		if d == "" {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			tb.Fatalf("the graph does not become as wanted (-want +got):\n%s", d)
		}
	}
}

var latched = transports.QoS{Reliability: transports.Reliable, Durability: transports.TransientLocal, Depth: 3}

func told(tb testing.TB, p *testenv.ZenohPeer, want testenv.Told) {
	tb.Helper()
	if got := p.Next(); !cmp.Equal(got, want) {
		tb.Errorf("the peer told %v, want %v", got, want)
	}
}

// routers are those through which the interop tests run.
var routers = map[string]func(testing.TB) string{"router": testenv.ZenohRouter, "broker": embedded}

func throughEach(t *testing.T, run func(t *testing.T, at string)) {
	for name, start := range routers {
		t.Run(name, func(t *testing.T) { run(t, start(t)) })
	}
}

// TestTopicsWithSDK: zenoh-ros2-sdk computes the type hash itself.
func TestTopicsWithSDK(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer, c := testenv.StartROSPeer(t, at, 7), dial(t, at, "harness")
		typed := subscribe(t, c, "/from_sdk", text, transports.QoS{})
		observer := subscribe(t, c, "/from_sdk", transports.Type{}, transports.QoS{})
		named := subscribe(t, c, "/from_sdk", transports.Type{Name: text.Name}, transports.QoS{})
		peer.Do("publish", "/from_sdk", "node", "talker", "namespace", "/robot")
		for _, s := range []subscription{typed, observer, named} {
			matched(t, s, 1)
		}
		before := time.Now()
		peer.Do("send", "/from_sdk", "data", "hello")
		for _, s := range []subscription{typed, observer, named} {
			x := testenv.Next(t, s.got)
			if !bytes.Equal(x.Payload, str("hello")) || x.Topic != "/from_sdk" || !x.HasSeq || x.Publisher.IsZero() ||
				x.Received.Before(before) || x.Sent.Before(before.Add(-time.Second)) || x.Sent.After(time.Now().Add(time.Second)) {
				t.Errorf("%+v", x)
			}
		}
		peer.Do("send", "/from_sdk", "data", "0123456789", "times", 1<<20)
		if x := testenv.Next(t, typed.got); !bytes.Equal(x.Payload, str(strings.Repeat("0123456789", 1<<20))) {
			t.Errorf("10 MB came as %d bytes", len(x.Payload))
		}

		p := advertise(t, c, "/to_sdk", transports.QoS{})
		publish(t, p, "to nobody")
		peer.Do("subscribe", "/to_sdk", "node", "listener")
		matched(t, p, 1)
		publish(t, p, "first", "second")
		told(t, peer, testenv.Told{"topic": "/to_sdk", "data": "first"})
		told(t, peer, testenv.Told{"topic": "/to_sdk", "data": "second"})
		testenv.Must(t, p.Publish(testenv.Soon(t), str(strings.Repeat("a", 10<<20))))
		told(t, peer, testenv.Told{"topic": "/to_sdk", "size": float64(10 << 20), "sum": float64((10 << 20) * 'a' % 65536)})
		peer.Do("drop", "/to_sdk", "what", "subscriber")
		matched(t, p, 0)
		if odd := c.Diagnostics(); len(odd) > 0 {
			t.Errorf("odd: %q", odd)
		}
	})
}

// TestQoSWithSDK: its messages carry GIDs that its tokens do not tell.
func TestQoSWithSDK(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer, c := testenv.StartROSPeer(t, at, 7), dial(t, at, "harness")
		all := subscribe(t, c, "/chatter", text, transports.QoS{})
		latched := subscribe(t, c, "/chatter", text, transports.QoS{Reliability: transports.Reliable, Durability: transports.TransientLocal, Depth: 1})
		peer.Do("publish", "/chatter", "node", "talker")
		matched(t, all, 1)
		peer.Do("send", "/chatter", "data", "volatile")
		all.is(t, "volatile")
		c.Settle()
		matched(t, latched, 0)
		latched.is(t)
	})
}

func TestServicesWithSDK(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer, c := testenv.StartROSPeer(t, at, 7), dial(t, at, "harness")
		cl := client(t, c, "/of_sdk")
		if a := testenv.Next(t, call(testenv.Soon(t), t, cl, yes)); !errors.Is(a.err, transports.ErrNoResponder) || strings.Contains(a.err.Error(), "its server") {
			t.Errorf("nobody serves: %v", a.err)
		}
		peer.Do("serve", "/of_sdk", "node", "arm")
		matched(t, cl, 1)
		a := testenv.Next(t, call(testenv.Soon(t), t, cl, yes))
		if a.err != nil || !bytes.Equal(a.Payload, ok) || a.Topic != "/of_sdk" || a.Seq != 2 || !a.HasSeq || a.Sent.IsZero() {
			t.Errorf("%+v", a)
		}
		told(t, peer, testenv.Told{"request": true})
		// What it cannot read is refused.
		a = testenv.Next(t, call(testenv.Soon(t), t, cl, nil))
		var refused *transports.RemoteError
		if !errors.As(a.err, &refused) || refused.Service != "/of_sdk" || !strings.Contains(refused.Reason, "payload") {
			t.Errorf("an empty request: %v", a.err)
		}
		peer.Do("drop", "/of_sdk", "what", "server")
		matched(t, cl, 0)

		requests := make(chan transports.Request, 10)
		srv, err := c.Serve(testenv.Soon(t), "/of_ours", setBool, func(r transports.Request) { requests <- r })
		testenv.Must(t, err)
		peer.Do("client", "/of_ours", "node", "caller")
		peer.Start("call", "/of_ours", "data", true)
		r := testenv.Next(t, requests)
		if !bytes.Equal(r.Payload, yes) || r.Topic != "/of_ours" || r.Seq != 1 || !r.HasSeq || r.Publisher.IsZero() || r.Sent.IsZero() {
			t.Errorf("%+v", r.Sample)
		}
		testenv.Must(t, r.Reply(ok))
		told(t, peer, testenv.Told{"reply": []any{true, "set"}})
		peer.Start("call", "/of_ours", "data", true)
		testenv.Must(t, testenv.Next(t, requests).Fail("the arm is locked"))
		told(t, peer, testenv.Told{"reply": nil})
		peer.Complains("the arm is locked")
		testenv.Must(t, srv.Close())
		if odd := c.Diagnostics(); len(odd) > 0 {
			t.Errorf("odd: %q", odd)
		}
	})
}

func TestGraphWithSDK(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		c := dialAs(t, ros2zenoh.Config{Endpoint: at, Domain: 7, Node: "harness", Namespace: "test"})
		peer := testenv.StartROSPeer(t, at, 7)
		p := advertise(t, c, "/topic", latched)
		in := subscribe(t, c, "/topic", text, transports.QoS{})
		peer.Do("publish", "/topic", "node", "talker", "namespace", "/robot", "qos", "2::,5:,:,:,,")
		peer.Do("subscribe", "/topic", "node", "listener", "qos", "::,7:1,500:,:,,")
		peer.Do("serve", "/service", "node", "arm")
		_ = client(t, c, "/service")
		hash, service := text.Hash, setBool.Hash
		want := []string{
			"publisher /robot/talker std_msgs/msg/String " + hash + " best effort, volatile, depth 5",
			"publisher /test/harness std_msgs/msg/String " + hash + " reliable, transient local, depth 3",
			"subscription /listener std_msgs/msg/String " + hash + " reliable, volatile, depth 7, deadline 1.0000005s",
			"subscription /test/harness std_msgs/msg/String " + hash + " best effort, volatile, depth 10",
		}
		shows(t, c, "/topic", want...)
		shows(t, c, "/service",
			"server /arm std_srvs/srv/SetBool "+service+" reliable, volatile, depth 10",
			"client /test/harness std_srvs/srv/SetBool "+service+" reliable, volatile, depth 10")
		g, _ := c.Graph()
		if got := strings.Join(g.Nodes, " "); got != "/arm /listener /robot/talker /test/harness" {
			t.Errorf("nodes %s", got)
		}
		for _, e := range g.Endpoints {
			if e.Local != (e.Node == "/test/harness") {
				t.Errorf("%v of %s: Local is %v", e.Kind, e.Node, e.Local)
			}
		}
		// The listener asks for a deadline, which our publisher does not offer.
		matched(t, p, 1)
		matched(t, in, 2)
		if l := c.Life("/topic"); l.State != measure.LifeShown || !strings.Contains(l.Sign, "/robot/talker, /test/harness") {
			t.Errorf("%+v", l)
		}

		peer.Start("topics", "")
		told(t, peer, testenv.Told{"topics": map[string]any{"/topic": []any{text.Name}}})
		peer.Start("topic info", "/topic")
		info := peer.Next()
		ours := func(kind, name, hash, qos string) map[string]any {
			return map[string]any{"node": "/harness", "namespace": "/test", "type": name, "hash": hash, "qos": qos}
		}
		has := func(of string, want map[string]any) {
			t.Helper()
			for _, e := range info[of].([]any) {
				m := e.(map[string]any)
				m["node"] = "/" + strings.TrimPrefix(m["node"].(string), "/")
				if cmp.Equal(m, want) {
					return
				}
			}
			b, _ := json.Marshal(info)
			t.Errorf("the peer does not show %v among %s: %s", want, of, b)
		}
		has("publishers", ours("MP", text.Name, hash, ":1:,3:,:,:,,"))
		has("subscribers", ours("MS", text.Name, hash, "2::,10:,:,:,,"))
		peer.Start("service info", "/service")
		info = peer.Next()
		has("clients", ours("SC", setBool.Name, service, "::,10:,:,:,,"))

		peer.Kill()
		shows(t, c, "/topic", want[1], want[3])
		shows(t, c, "/service", "client /test/harness std_srvs/srv/SetBool "+service+" reliable, volatile, depth 10")
		testenv.Must(t, p.Close())
		shows(t, c, "/topic", want[3])
		if l := c.Life("/topic"); l.State != measure.LifeNone || l.Sign == "" {
			t.Errorf("%+v", l)
		}
	})
}

// TestLateJoinersOfSDK: it asks for what our publisher kept. Its own publishers
// keep nothing.
func TestLateJoinersOfSDK(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		c := dial(t, at, "harness")
		p := advertise(t, c, "/map", latched)
		publish(t, p, "1", "2", "3", "4")
		peer := testenv.StartROSPeer(t, at, 7)
		peer.Do("subscribe", "/map", "qos", ":1:,2:,:,:,,")
		told(t, peer, testenv.Told{"topic": "/map", "data": "4"}) // of one key it takes but the last
		matched(t, p, 1)
		publish(t, p, "5")
		told(t, peer, testenv.Told{"topic": "/map", "data": "5"})
	})
}

func TestServerOfSDKKilledMidCall(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer, c := testenv.StartROSPeer(t, at, 7), dial(t, at, "harness")
		cl := client(t, c, "/arm")
		peer.Do("serve", "/arm", "answer", "hold")
		matched(t, cl, 1)
		pending := call(testenv.Soon(t), t, cl, yes)
		told(t, peer, testenv.Told{"request": true})
		peer.Kill()
		a := testenv.Next(t, pending)
		if !errors.Is(a.err, transports.ErrNoResponder) || !strings.Contains(a.err.Error(), "call /arm: its server ended") {
			t.Error(a.err)
		}
		matched(t, cl, 0)
	})
}

// TestAnotherTypeOfSDK: nothing on the wire says that types differ, but the
// graph does.
func TestAnotherTypeOfSDK(t *testing.T) {
	throughEach(t, func(t *testing.T, at string) {
		peer, c := testenv.StartROSPeer(t, at, 7), dial(t, at, "harness")
		in := subscribe(t, c, "/chatter", text, transports.QoS{})
		out := advertise(t, c, "/chatter", transports.QoS{})
		all := subscribe(t, c, "/chatter", transports.Type{}, transports.QoS{})
		fence := subscribe(t, c, "/fence", text, transports.QoS{})
		other := "RIHS01_" + strings.Repeat("0", 64)
		peer.Do("publish", "/chatter", "hash", other, "node", "newer")
		peer.Do("subscribe", "/other", "type", "std_msgs/msg/Int32", "node", "older")
		peer.Do("publish", "/fence")
		matched(t, all, 2)
		peer.Do("send", "/chatter", "data", "unheard")
		peer.Do("send", "/fence", "data", "fence")
		fence.is(t, "fence")
		all.is(t, "unheard")
		in.is(t)
		matched(t, in, 1) // our own
		matched(t, out, 2)
		shows(t, c, "/chatter",
			"publisher /harness "+text.Name+" "+text.Hash+" reliable, volatile, depth 10",
			"publisher /newer "+text.Name+" "+other+" reliable, volatile, depth 10",
			"subscription /harness "+text.Name+" "+other+" best effort, volatile, depth 10",
			"subscription /harness "+text.Name+" "+text.Hash+" best effort, volatile, depth 10",
			"subscription /harness "+text.Name+" "+text.Hash+" best effort, volatile, depth 10")
		p := advertise(t, c, "/other", transports.QoS{})
		matched(t, p, 0)
	})
}
