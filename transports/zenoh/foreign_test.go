package zenoh_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/zenoh"
)

func dial(tb testing.TB, endpoint string) *zenoh.Conn {
	tb.Helper()
	c, err := zenoh.Dial(testenv.Soon(tb), zenoh.Config{Endpoint: endpoint})
	testenv.Must(tb, err)
	tb.Cleanup(func() { testenv.Must(tb, c.Close()) })
	return c
}

type subscription struct {
	transports.Closer
	got chan transports.Sample
}

func (s subscription) Matched() (int, <-chan struct{}) {
	return s.Closer.(transports.Matched).Matched()
}

func subscribe(tb testing.TB, c *zenoh.Conn, topic string, q transports.QoS) subscription {
	tb.Helper()
	s := subscription{got: make(chan transports.Sample, 1000)}
	sub, err := c.Subscribe(testenv.Soon(tb), topic, transports.Type{}, q, func(x transports.Sample) { s.got <- x })
	testenv.Must(tb, err)
	s.Closer = sub
	return s
}

func (s subscription) is(tb testing.TB, want ...string) {
	tb.Helper()
	for _, w := range want {
		if x := testenv.Next(tb, s.got); string(x.Payload) != w {
			tb.Errorf("%q came, want %q", x.Payload, w)
		}
	}
	if len(s.got) > 0 {
		tb.Errorf("%q came, nothing was due", (<-s.got).Payload)
	}
}

func advertise(tb testing.TB, c *zenoh.Conn, topic string, q transports.QoS) transports.Publisher {
	tb.Helper()
	p, err := c.Advertise(testenv.Soon(tb), topic, transports.Type{}, q)
	testenv.Must(tb, err)
	return p
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

func publish(tb testing.TB, p transports.Publisher, payloads ...string) {
	tb.Helper()
	for _, s := range payloads {
		testenv.Must(tb, p.Publish(testenv.Soon(tb), []byte(s)))
	}
}

var latched = transports.QoS{Reliability: transports.Reliable, Durability: transports.TransientLocal, Depth: 3}

func told(tb testing.TB, p *testenv.ZenohPeer, payloads ...string) {
	tb.Helper()
	for _, want := range payloads {
		if x, _ := p.Next()["sample"].(map[string]any); x["payload"] != want {
			tb.Errorf("the peer heard %v, want %q", x, want)
		}
	}
}

func TestForeignPublisher(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at)
	all := subscribe(t, c, "/robot/**", transports.QoS{})
	one := subscribe(t, c, "robot/*/odom", transports.QoS{Reliability: transports.Reliable, Durability: transports.Volatile})
	before := time.Now()
	peer.Do("put", "robot/1/odom", "payload", "hello", "attachment", "A", "encoding", "text/plain")
	peer.Do("delete", "robot/1/odom")
	peer.Do("put", "robot", "payload", "itself")
	for _, s := range []subscription{all, one} {
		x := testenv.Next(t, s.got)
		if string(x.Payload) != "hello" || x.Topic != "/robot/1/odom" || x.HasSeq || !x.Publisher.IsZero() || !x.Sent.IsZero() ||
			x.Received.Before(before) || x.Received.After(time.Now()) {
			t.Errorf("%+v", x)
		}
	}
	all.is(t, "itself") // a DELETE is no message
	one.is(t)
	peer.Do("put", "robot/2/odom", "payload", "0123456789", "times", 1<<20)
	if x := testenv.Next(t, one.got); !bytes.Equal(x.Payload, bytes.Repeat([]byte("0123456789"), 1<<20)) || x.Topic != "/robot/2/odom" {
		t.Errorf("%d bytes under %s", len(x.Payload), x.Topic)
	}
}

func TestForeignSubscriber(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at)
	p := advertise(t, c, "/robot/odom", transports.QoS{})
	best := advertise(t, c, "robot/imu", transports.QoS{Reliability: transports.BestEffort})
	publish(t, p, "to nobody")
	peer.Do("subscribe", "robot/*")
	matched(t, p, 1)
	matched(t, best, 1)
	publish(t, p, "1", "2", "")
	told(t, peer, "1", "2", "")
	publish(t, best, "imu")
	told(t, peer, "imu")
	testenv.Must(t, p.Publish(testenv.Soon(t), make([]byte, 10<<20)))
	if x, _ := peer.Next()["sample"].(map[string]any); x["size"] != float64(10<<20) {
		t.Errorf("%v", x)
	}
	peer.Do("drop", "")
	matched(t, p, 0)
}

// TestForeignTokens: the documented convention makes a foreign program counted
// and alive.
func TestForeignTokens(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at)
	life := func(want measure.LifeState, topic string) {
		t.Helper()
		if got := c.Life(topic); got.State != want || got.Sign == "" || (want == measure.LifeShown) == got.At.IsZero() {
			t.Errorf("life on %s: %+v, want %v", topic, got, want)
		}
	}
	life(measure.LifeUnknown, "/odom")
	s := subscribe(t, c, "/odom", transports.QoS{})
	wild := subscribe(t, c, "*", transports.QoS{})
	life(measure.LifeUnknown, "/odom")
	peer.Do("token", "@robospec/pub/talker/1/odom")
	matched(t, s, 1)
	matched(t, wild, 1)
	life(measure.LifeShown, "/odom")
	life(measure.LifeShown, "odom")
	life(measure.LifeUnknown, "/other")
	life(measure.LifeUnknown, "a//b")
	peer.Do("put", "odom", "payload", "x")
	s.is(t, "x")
	peer.Do("token", "@robospec/pub/talker/2/odom")
	peer.Do("token", "@robospec/pub/nonsense")
	matched(t, s, 2)
	peer.Do("drop", "") // the nonsense
	peer.Do("drop", "")
	matched(t, s, 1)
	peer.Kill()
	matched(t, s, 0)
	life(measure.LifeUnknown, "/odom")

	own := advertise(t, c, "/odom", transports.QoS{})
	life(measure.LifeShown, "/odom")
	testenv.Must(t, own.Close())
	life(measure.LifeUnknown, "/odom")
	testenv.Must(t, c.Close())
	life(measure.LifeUnknown, "/odom")
}

// TestUnsuited: tokens carry QoS, and a foreign program that says nothing is
// heard by all.
func TestUnsuited(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer, c, other := testenv.StartZenohPeer(t, at, ""), dial(t, at), dial(t, at)
	strict := subscribe(t, c, "odom", transports.QoS{Reliability: transports.Reliable})
	open := subscribe(t, c, "odom", transports.QoS{})
	far := advertise(t, other, "odom", transports.QoS{Reliability: transports.BestEffort})
	near := advertise(t, c, "odom", transports.QoS{Reliability: transports.BestEffort})
	matched(t, far, 1)
	matched(t, near, 1)
	matched(t, open, 2)
	matched(t, strict, 0)
	publish(t, far, "far")
	open.is(t, "far")
	publish(t, near, "near")
	open.is(t, "near")
	peer.Do("put", "odom", "payload", "foreign")
	open.is(t, "foreign")
	strict.is(t, "foreign")
}

func TestForeignLatchedPublisher(t *testing.T) {
	for _, numbered := range []bool{false, true} {
		t.Run(fmt.Sprintf("numbered=%v", numbered), func(t *testing.T) {
			at := testenv.ZenohRouter(t)
			peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at)
			early := subscribe(t, c, "map", latched)
			open := subscribe(t, c, "map", transports.QoS{})
			peer.Do("advanced publish", "map", "depth", 3, "payloads", []string{"1", "2", "3", "4"}, "numbered", numbered)
			early.is(t, "1", "2", "3", "4")
			open.is(t, "1", "2", "3", "4")
			late := subscribe(t, c, "map", latched)
			late.is(t, "2", "3", "4")
			shallow := subscribe(t, c, "map", transports.QoS{Durability: transports.TransientLocal, Depth: 1})
			shallow.is(t, "4")
			adapting := subscribe(t, c, "map", transports.QoS{Depth: 2})
			adapting.is(t, "3", "4")
			volatile := subscribe(t, c, "map", transports.QoS{Durability: transports.Volatile})
			wild := subscribe(t, c, "**", latched)
			for range 3 {
				if x := testenv.Next(t, wild.got); x.Topic != "/map" {
					t.Errorf("%+v", x)
				}
			}
			volatile.is(t)
			early.is(t)
		})
	}
}

func TestForeignLatchedSubscriber(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at)
	peer.Do("advanced subscribe", "map", "depth", 10) // and asks who comes later
	p := advertise(t, c, "map", latched)
	matched(t, p, 1)
	publish(t, p, "1", "2", "3", "4")
	told(t, peer, "1", "2", "3", "4")
	late := testenv.StartZenohPeer(t, at, "")
	late.Do("advanced subscribe", "map", "depth", 2)
	told(t, late, "3", "4")
	publish(t, p, "5")
	told(t, late, "5")
	told(t, peer, "5")
}

type answer struct {
	s   transports.Sample
	err error
}

func call(ctx context.Context, tb testing.TB, cl transports.Client, payload string) answer {
	tb.Helper()
	done := make(chan answer, 2)
	testenv.Must(tb, cl.Call(ctx, []byte(payload), func(s transports.Sample, err error) { done <- answer{s, err} }))
	return testenv.Next(tb, done)
}

func TestForeignServer(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at)
	client := func(name string) transports.Client {
		cl, err := c.Client(testenv.Soon(t), name, transports.Type{})
		testenv.Must(t, err)
		return cl
	}
	echo := client("/srv/echo")
	if a := call(testenv.Soon(t), t, echo, "x"); !errors.Is(a.err, transports.ErrNoResponder) || !strings.Contains(a.err.Error(), "/srv/echo") {
		t.Errorf("%+v", a)
	}
	peer.Do("queryable", "srv/echo", "answer", "reply")
	matched(t, echo, 1)
	if a := call(testenv.Soon(t), t, echo, "x"); a.err != nil || string(a.s.Payload) != "re: x" || a.s.Topic != "/srv/echo" || a.s.Received.IsZero() {
		t.Errorf("%+v", a)
	}
	peer.Do("queryable", "srv/refuse", "answer", "refuse", "complete", true)
	var refused *transports.RemoteError
	if a := call(testenv.Soon(t), t, client("srv/refuse"), "x"); !errors.As(a.err, &refused) || refused.Reason != "no" || refused.Service != "/srv/refuse" {
		t.Errorf("%+v", a)
	}
	peer.Do("queryable", "srv/twice", "answer", "twice")
	if a := call(testenv.Soon(t), t, client("srv/twice"), "x"); a.err != nil || string(a.s.Payload) != "1" {
		t.Errorf("%+v", a)
	}
	peer.Do("queryable", "srv/silent", "answer", "nothing")
	if a := call(testenv.Soon(t), t, client("srv/silent"), "x"); !errors.Is(a.err, transports.ErrNoResponder) {
		t.Errorf("%+v", a)
	}
	peer.Do("queryable", "srv/hold", "answer", "hold")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("enough"))
	defer cancel()
	hold := client("srv/hold")
	if a := call(ctx, t, hold, "x"); a.err == nil || !strings.Contains(a.err.Error(), "enough") {
		t.Errorf("%+v", a)
	}
	done := make(chan answer, 1)
	testenv.Must(t, hold.Call(testenv.Soon(t), nil, func(s transports.Sample, err error) { done <- answer{s, err} }))
	for n := 0; n < 2; {
		if q, ok := peer.Next()["query"].(map[string]any); ok && q["key"] == "srv/hold" {
			n++
		}
	}
	peer.Kill()
	if a := testenv.Next(t, done); !errors.Is(a.err, transports.ErrNoResponder) {
		t.Errorf("%+v", a)
	}
	matched(t, hold, 0)
}

func TestForeignClient(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at)
	_, err := c.Serve(testenv.Soon(t), "/srv/echo", transports.Type{}, func(r transports.Request) {
		go func() { // later, from anywhere
			if err := r.Reply(append([]byte("re: "), r.Payload...)); err != nil {
				t.Error(err)
			}
		}()
	})
	testenv.Must(t, err)
	_, err = c.Serve(testenv.Soon(t), "/srv/refuse", transports.Type{}, func(r transports.Request) {
		if err := r.Fail("no"); err != nil {
			t.Error(err)
		}
	})
	testenv.Must(t, err)
	ask := func(key, payload string) testenv.Told {
		t.Helper()
		peer.Start("get", key, "payload", payload)
		first := peer.Next()
		for x := first; x["final"] != true; {
			x = peer.Next()
		}
		return first
	}
	if r, _ := ask("srv/echo", "x")["reply"].(map[string]any); r["payload"] != "re: x" || r["key"] != "srv/echo" {
		t.Errorf("%v", r)
	}
	if r, _ := ask("srv/e$*", "y")["reply"].(map[string]any); r["payload"] != "re: y" || r["key"] != "srv/echo" {
		t.Errorf("%v", r)
	}
	if r := ask("srv/refuse", "x"); r["refusal"] != "no" {
		t.Errorf("%v", r)
	}
	if r := ask("srv/nobody", "x"); r["final"] != true {
		t.Errorf("%v", r)
	}
}

func TestTLS(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{TLS: true})
	pem, err := os.ReadFile(r.CAFile)
	testenv.Must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c, err := zenoh.Dial(testenv.Soon(t), zenoh.Config{Endpoint: r.Endpoint, TLS: &tls.Config{RootCAs: roots}})
	testenv.Must(t, err)
	defer c.Close()
	peer := testenv.StartZenohPeer(t, r.Endpoint, r.CAFile)
	s := subscribe(t, c, "down", transports.QoS{})
	peer.Do("put", "down", "payload", "hello")
	s.is(t, "hello")
	p := advertise(t, c, "up", transports.QoS{})
	peer.Do("subscribe", "up")
	matched(t, p, 1)
	publish(t, p, "1", "2")
	told(t, peer, "1", "2")
	if _, err := zenoh.Dial(testenv.Soon(t), zenoh.Config{Endpoint: r.Endpoint}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown authority: %v", err)
	}
}

func TestRefusedNames(t *testing.T) {
	c := dial(t, embedded(t))
	var bad *transports.NameError
	for _, name := range []string{"a#b", "a?b", "a$b", "a**", "*a"} {
		if _, err := c.Subscribe(testenv.Soon(t), name, transports.Type{}, transports.QoS{}, func(transports.Sample) {}); !errors.As(err, &bad) || bad.Name != name {
			t.Errorf("Subscribe(%q): %v", name, err)
		}
	}
	for _, name := range []string{"a/*", "**", "a/$*b"} {
		if _, err := c.Advertise(testenv.Soon(t), name, transports.Type{}, transports.QoS{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "subscription only") {
			t.Errorf("Advertise(%q): %v", name, err)
		}
		if _, err := c.Serve(testenv.Soon(t), name, transports.Type{}, func(transports.Request) {}); !errors.As(err, &bad) {
			t.Errorf("Serve(%q): %v", name, err)
		}
		if _, err := c.Client(testenv.Soon(t), name, transports.Type{}); !errors.As(err, &bad) {
			t.Errorf("Client(%q): %v", name, err)
		}
	}
	// "**/*" is written "*/**" on the wire, and is a fine name.
	subscribe(t, c, "a/**/*", transports.QoS{})
}

func TestKilledRouter(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{})
	c := dial(t, r.Endpoint)
	p := advertise(t, c, "a", transports.QoS{})
	s := subscribe(t, c, "a", transports.QoS{})
	r.Kill()
	select {
	case <-c.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("a killed router went unnoticed")
	}
	var lost *transports.LinkError
	if err := c.Err(); !errors.As(err, &lost) || lost.Peer != r.Endpoint {
		t.Errorf("%v", err)
	}
	if err := p.Publish(testenv.Soon(t), nil); !errors.As(err, &lost) {
		t.Errorf("Publish: %v", err)
	}
	if _, err := c.Subscribe(testenv.Soon(t), "b", transports.Type{}, latched, func(transports.Sample) {}); !errors.As(err, &lost) {
		t.Errorf("Subscribe: %v", err)
	}
	testenv.Must(t, s.Close())
	testenv.Must(t, p.Close())
}

// TestFrozenLatchedPublisher: who leaves durability open is not kept waiting by
// a publisher that does not answer, who asks for what was kept is told.
func TestFrozenLatchedPublisher(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer, c := testenv.StartZenohPeer(t, at, ""), dial(t, at)
	early := subscribe(t, c, "map", transports.QoS{})
	peer.Do("advanced publish", "map", "depth", 3, "payloads", []string{"1"})
	early.is(t, "1") // on the wire before the peer freezes
	peer.Pause()
	open := subscribe(t, c, "map", transports.QoS{})
	open.is(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, cause)
	defer cancel()
	if _, err := c.Subscribe(ctx, "map", transports.Type{}, latched, func(transports.Sample) {}); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	// What is live goes on.
	p := advertise(t, c, "map", transports.QoS{})
	publish(t, p, "live")
	open.is(t, "live")
	peer.Resume()
}
