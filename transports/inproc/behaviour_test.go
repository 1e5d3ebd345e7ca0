package inproc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

func advertise(t testing.TB, c *inproc.Conn, topic string, q transports.QoS) transports.Publisher {
	t.Helper()
	p, err := c.Advertise(t.Context(), topic, transports.Type{}, q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func subscribe(t testing.TB, c *inproc.Conn, topic string, q transports.QoS, sink func(transports.Sample)) transports.Closer {
	t.Helper()
	s, err := c.Subscribe(t.Context(), topic, transports.Type{}, q, sink)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// collect appends payloads to the result, for tests whose sinks run on the
// test's goroutine.
func collect(t testing.TB, c *inproc.Conn, topic string, q transports.QoS) *[]string {
	t.Helper()
	got := new([]string)
	subscribe(t, c, topic, q, func(s transports.Sample) { *got = append(*got, string(s.Payload)) })
	return got
}

func publish(t testing.TB, p transports.Publisher, payload string) {
	t.Helper()
	if err := p.Publish(t.Context(), []byte(payload)); err != nil {
		t.Fatal(err)
	}
}

func matched(t testing.TB, x any) int {
	t.Helper()
	n, _ := x.(transports.Matched).Matched()
	return n
}

func TestNetworksAreIsolated(t *testing.T) {
	one, other := inproc.NewNetwork().Join("n"), inproc.NewNetwork().Join("n")
	defer one.Close()
	defer other.Close()
	got := collect(t, other, "/t", transports.QoS{})
	p := advertise(t, one, "/t", transports.QoS{})
	publish(t, p, "x")
	if len(*got) != 0 || matched(t, p) != 0 {
		t.Errorf("another network heard %q", *got)
	}
	if g, _ := other.Graph(); !slices.Equal(g.Nodes, []string{"n"}) || len(g.Endpoints) != 1 {
		t.Errorf("another network is in the graph: %+v", g)
	}
}

func TestJoinNamed(t *testing.T) {
	name := t.Name()
	one, other, stranger := inproc.JoinNamed(name, "one"), inproc.JoinNamed(name, "other"), inproc.JoinNamed(name+"2", "stranger")
	defer stranger.Close()
	got := collect(t, other, "/t", transports.QoS{})
	apart := collect(t, stranger, "/t", transports.QoS{})
	p := advertise(t, one, "/t", transports.QoS{Durability: transports.TransientLocal})
	publish(t, p, "x")
	if !slices.Equal(*got, []string{"x"}) || len(*apart) != 0 {
		t.Errorf("the same name heard %q, another %q", *got, *apart)
	}
	one.Close()
	again := inproc.JoinNamed(name, "again")
	if g, _ := again.Graph(); !slices.Equal(g.Nodes, []string{"again", "other"}) {
		t.Errorf("a network that still has a participant: %q", g.Nodes)
	}
	again.Close()
	other.Sever(nil)
	fresh := inproc.JoinNamed(name, "fresh")
	defer fresh.Close()
	if g, _ := fresh.Graph(); !slices.Equal(g.Nodes, []string{"fresh"}) {
		t.Errorf("a network outlived its participants: %q", g.Nodes)
	}
}

func TestJoinNamedFromManyGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				a, b := inproc.JoinNamed(t.Name(), "a"), inproc.JoinNamed(t.Name(), "b")
				if g, _ := a.Graph(); !slices.Contains(g.Nodes, "b") {
					t.Errorf("two of one name do not meet: %q", g.Nodes)
				}
				a.Close()
				b.Close()
			}
		})
	}
	wg.Wait()
}

func TestSampleFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inproc.NewNetwork().Join("n")
		defer c.Close()
		var got []transports.Sample
		subscribe(t, c, "t", transports.QoS{}, func(s transports.Sample) { got = append(got, s) })
		p := advertise(t, c, "t", transports.QoS{})
		publish(t, p, "a")
		publish(t, p, "b")
		g, _ := c.Graph()
		for i, s := range got {
			if s.Topic != "/t" || s.Seq != uint64(i+1) || !s.HasSeq || !s.Sent.Equal(s.Received) || s.Publisher != g.Endpoints[0].ID {
				t.Errorf("sample %d: %+v", i, s)
			}
		}
		if len(got) != 2 {
			t.Errorf("%d samples", len(got))
		}
	})
}

func TestLife(t *testing.T) {
	n := inproc.NewNetwork()
	c, peer := n.Join("n"), n.Join("peer")
	for i, want := range []measure.Life{
		{State: measure.LifeNone, Sign: "no publisher in the graph"},
		{State: measure.LifeShown, Sign: "1 publisher in the graph"},
		{State: measure.LifeShown, Sign: "2 publishers in the graph"},
	} {
		if i > 0 {
			advertise(t, peer, "t", transports.QoS{})
		}
		got := c.Life("/t")
		if got.At.IsZero() || got.State != want.State || got.Sign != want.Sign {
			t.Errorf("with %d publishers: %+v", i, got)
		}
	}
	peer.Sever(nil)
	if got := c.Life("t"); got.State != measure.LifeNone {
		t.Errorf("after the publisher's death: %+v", got)
	}
	c.Close()
	if got := c.Life("t"); got.State != measure.LifeUnknown {
		t.Errorf("a closed Conn says %+v", got)
	}
}

// TestRecursion publishes on the publisher that is delivering: every
// subscription has the first message before it gets the second.
func TestRecursion(t *testing.T) {
	c := inproc.NewNetwork().Join("n")
	defer c.Close()
	p := advertise(t, c, "t", transports.QoS{})
	var got []string
	subscribe(t, c, "t", transports.QoS{}, func(s transports.Sample) {
		got = append(got, "first has "+string(s.Payload))
		if string(s.Payload) == "1" {
			publish(t, p, "2")
		}
	})
	subscribe(t, c, "t", transports.QoS{}, func(s transports.Sample) { got = append(got, "second has "+string(s.Payload)) })
	publish(t, p, "1")
	want := []string{"first has 1", "second has 1", "first has 2", "second has 2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEchoIsFlat lets two pairs echo a message: the stack does not grow.
func TestEchoIsFlat(t *testing.T) {
	c := inproc.NewNetwork().Join("n")
	defer c.Close()
	ping, pong := advertise(t, c, "ping", transports.QoS{}), advertise(t, c, "pong", transports.QoS{})
	rounds, deepest := 0, 0
	pcs := make([]uintptr, 10_000)
	subscribe(t, c, "ping", transports.QoS{}, func(transports.Sample) { publish(t, pong, "") })
	subscribe(t, c, "pong", transports.QoS{}, func(transports.Sample) {
		deepest = max(deepest, runtime.Callers(0, pcs))
		if rounds++; rounds < 1000 {
			publish(t, ping, "")
		}
	})
	publish(t, ping, "")
	if rounds != 1000 || deepest > 50 {
		t.Errorf("%d rounds, %d frames deep", rounds, deepest)
	}
}

func TestCallChainIsFlat(t *testing.T) {
	c := inproc.NewNetwork().Join("n")
	defer c.Close()
	if _, err := c.Serve(t.Context(), "s", transports.Type{}, func(r transports.Request) {
		if err := r.Reply(nil); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	cl, err := c.Client(t.Context(), "s", transports.Type{})
	if err != nil {
		t.Fatal(err)
	}
	rounds, deepest := 0, 0
	pcs := make([]uintptr, 10_000)
	var done func(transports.Sample, error)
	call := func() {
		if err := cl.Call(t.Context(), nil, done); err != nil {
			t.Error(err)
		}
	}
	done = func(_ transports.Sample, err error) {
		if err != nil {
			t.Error(err)
		}
		deepest = max(deepest, runtime.Callers(0, pcs))
		if rounds++; rounds < 1000 {
			call()
		}
	}
	call()
	if rounds != 1000 || deepest > 60 {
		t.Errorf("%d rounds, %d frames deep", rounds, deepest)
	}
}

func TestSever(t *testing.T) {
	n := inproc.NewNetwork()
	c, peer := n.Join("n"), n.Join("peer")
	defer peer.Close()
	reason := errors.New("cable pulled")
	p, incoming := advertise(t, c, "t", transports.QoS{}), advertise(t, peer, "in", transports.QoS{})
	var got []string
	subscribe(t, peer, "t", transports.QoS{}, func(s transports.Sample) {
		got = append(got, string(s.Payload))
		publish(t, p, "under way when the link died")
		c.Sever(reason)
	})
	second := collect(t, peer, "t", transports.QoS{})
	in := collect(t, c, "in", transports.QoS{})
	publish(t, p, "x")
	publish(t, incoming, "to the dead")
	if !slices.Equal(got, []string{"x"}) || len(*second) != 0 || len(*in) != 0 {
		t.Errorf("delivered after the link died: %q, %q, %q", got, *second, *in)
	}
	var lost *transports.LinkError
	if err := c.Err(); !errors.As(err, &lost) || !errors.Is(err, reason) {
		t.Errorf("Err: %v", err)
	}
	if err := p.Publish(t.Context(), nil); !errors.Is(err, reason) {
		t.Errorf("Publish: %v", err)
	}
	if got := matched(t, incoming); got != 0 {
		t.Errorf("the dead one is still counted %d times", got)
	}
	c.Sever(errors.New("again"))
	if err := c.Close(); err != nil || !errors.Is(c.Err(), reason) {
		t.Errorf("Close: %v, Err: %v", err, c.Err())
	}
	closed := n.Join("closed")
	closed.Close()
	closed.Sever(reason)
	if !errors.Is(closed.Err(), transports.ErrClosed) {
		t.Errorf("Err of a closed Conn, then severed: %v", closed.Err())
	}
}

// TestSinkThatUnwinds: an assertion that fails in a sink ends or unwinds the
// goroutine that publishes; nobody else may suffer.
func TestSinkThatUnwinds(t *testing.T) {
	for name, unwind := range map[string]func(){"panic": func() { panic("in the sink") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			c := inproc.NewNetwork().Join("n")
			p := advertise(t, c, "t", transports.QoS{})
			bad := 0
			subscribe(t, c, "t", transports.QoS{}, func(s transports.Sample) {
				if string(s.Payload) == "1" {
					publish(t, p, "2")
				}
				bad++
				unwind()
			})
			got := collect(t, c, "t", transports.QoS{})
			ended := make(chan any)
			go func() {
				defer func() { ended <- recover() }()
				publish(t, p, "1")
				t.Error("Publish returned")
			}()
			if r := <-ended; (name == "panic") != (r == "in the sink") {
				t.Errorf("recovered %v", r)
			}
			if want := []string{"1", "2"}; !slices.Equal(*got, want) || bad != 2 {
				t.Errorf("the others got %q, want %q; the bad sink ran %d times", *got, want, bad)
			}
			c.Settle()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSinksThatCloseEachOther would wait for ever if a Close from a sink waited
// for other sinks.
func TestSinksThatCloseEachOther(t *testing.T) {
	for range 100 {
		c := inproc.NewNetwork().Join("n")
		var subs [2]transports.Closer
		var inside, ready sync.WaitGroup
		inside.Add(2)
		ready.Add(1)
		var pubs [2]transports.Publisher
		for i := range subs {
			topic := fmt.Sprintf("t%d", i)
			subs[i] = subscribe(t, c, topic, transports.QoS{}, func(transports.Sample) {
				inside.Done()
				inside.Wait()
				subs[1-i].Close()
				subs[i].Close()
				c.Close()
			})
			pubs[i] = advertise(t, c, topic, transports.QoS{})
		}
		var wg sync.WaitGroup
		for _, p := range pubs {
			wg.Go(func() {
				if err := p.Publish(context.Background(), nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		c.Close()
	}
}

// TestCloseDeepInASink closes from far below the sink.
func TestCloseDeepInASink(t *testing.T) {
	c := inproc.NewNetwork().Join("n")
	var deep func(n int)
	deep = func(n int) {
		if n == 0 {
			c.Close()
			return
		}
		deep(n - 1)
	}
	subscribe(t, c, "t", transports.QoS{}, func(transports.Sample) { deep(500) })
	p := advertise(t, c, "t", transports.QoS{})
	publish(t, p, "")
	if !errors.Is(c.Err(), transports.ErrClosed) {
		t.Errorf("Err: %v", c.Err())
	}
}

// TestSettleAmidRecursion: sinks that publish for ever on and on do not hold up
// Settle, which waits for what was there when it was called.
func TestSettleAmidRecursion(t *testing.T) {
	c := inproc.NewNetwork().Join("n")
	p := advertise(t, c, "t", transports.QoS{})
	send := func() {
		if err := p.Publish(context.Background(), nil); err != nil && !errors.Is(err, transports.ErrClosed) {
			t.Error(err)
		}
	}
	running := make(chan struct{})
	var once sync.Once
	subscribe(t, c, "t", transports.QoS{}, func(s transports.Sample) {
		if s.Seq == 1000 {
			once.Do(func() { close(running) })
		}
		send()
	})
	var wg sync.WaitGroup
	wg.Go(send)
	<-running
	for range 100 {
		c.Settle()
	}
	c.Close()
	wg.Wait()
}

// TestRoom: senders that find a lane busy and full wait, until there is room or
// their context ends, and nothing is lost.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inproc.NewNetwork().Join("n")
		defer c.Close()
		p := advertise(t, c, "t", transports.QoS{})
		entered, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		got := 0
		subscribe(t, c, "t", transports.QoS{}, func(transports.Sample) {
			once.Do(func() { close(entered); <-release })
			got++
		})
		var wg sync.WaitGroup
		wg.Go(func() { publish(t, p, "") })
		<-entered
		sent := 1
		wg.Go(func() {
			for range 5000 {
				if err := p.Publish(t.Context(), nil); err != nil {
					t.Error(err)
				}
				sent++
			}
		})
		synctest.Wait()
		if sent >= 5000 {
			t.Fatalf("%d messages are queued", sent)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		wg.Go(func() {
			if err := p.Publish(ctx, nil); !errors.Is(err, enough) {
				t.Errorf("Publish: %v, want %v", err, enough)
			}
		})
		synctest.Wait()
		cancel(enough)
		synctest.Wait()
		close(release)
		wg.Wait()
		if got != 5001 || sent != 5001 {
			t.Errorf("%d messages of %d arrived", got, sent)
		}
	})
}

// TestDefaultSubscriptionHearsEveryone holds on one topic what ROS 2 would keep
// apart.
func TestDefaultSubscriptionHearsEveryone(t *testing.T) {
	c := inproc.NewNetwork().Join("n")
	defer c.Close()
	got := collect(t, c, "t", transports.QoS{})
	for _, q := range []transports.QoS{{}, {Reliability: transports.BestEffort}, {Durability: transports.TransientLocal}} {
		publish(t, advertise(t, c, "t", q), q.String())
	}
	if len(*got) != 3 {
		t.Errorf("%q", *got)
	}
}

func TestKeptRing(t *testing.T) {
	for _, tt := range []struct {
		offered, asked, published int
		want                      string
	}{
		{0, 0, 25, "15 16 17 18 19 20 21 22 23 24"},
		{3, 0, 2, "0 1"},
		{3, 0, 3, "0 1 2"},
		{3, 0, 7, "4 5 6"},
		{3, 2, 7, "5 6"},
		{1, 5, 7, "6"},
		{5, 5, 0, ""},
	} {
		c := inproc.NewNetwork().Join("n")
		p := advertise(t, c, "t", transports.QoS{Durability: transports.TransientLocal, Depth: tt.offered})
		for i := range tt.published {
			publish(t, p, fmt.Sprint(i))
		}
		got := collect(t, c, "t", transports.QoS{Durability: transports.TransientLocal, Depth: tt.asked})
		if s := strings.Join(*got, " "); s != tt.want {
			t.Errorf("depth %d offered, %d asked, %d published: got %q, want %q", tt.offered, tt.asked, tt.published, s, tt.want)
		}
		c.Close()
	}
}

func TestPublishAllocates(t *testing.T) {
	c := inproc.NewNetwork().Join("n")
	defer c.Close()
	p := advertise(t, c, "t", transports.QoS{})
	ctx, payload := t.Context(), make([]byte, 100)
	send := func() {
		if err := p.Publish(ctx, payload); err != nil {
			t.Error(err)
		}
	}
	if got := testing.AllocsPerRun(1000, send); got != 0 {
		t.Errorf("Publish to nobody allocates %v times", got)
	}
	n := 0
	subscribe(t, c, "t", transports.QoS{}, func(transports.Sample) { n++ })
	if got := testing.AllocsPerRun(1000, send); got > 1 {
		t.Errorf("Publish to one sink allocates %v times", got)
	}
	if n != 1001 {
		t.Errorf("%d of 1001 messages arrived", n)
	}
}

// TestUnansweredCallsEnd: calls that a server took and never answered end when
// the last server that could is gone, and not before.
func TestUnansweredCallsEnd(t *testing.T) {
	c := inproc.NewNetwork().Join("n")
	defer c.Close()
	var servers []transports.Closer
	for range 2 {
		s, err := c.Serve(t.Context(), "s", transports.Type{}, func(transports.Request) {})
		if err != nil {
			t.Fatal(err)
		}
		servers = append(servers, s)
	}
	cl, err := c.Client(t.Context(), "s", transports.Type{})
	if err != nil {
		t.Fatal(err)
	}
	var got error
	ended := 0
	if err := cl.Call(t.Context(), nil, func(_ transports.Sample, err error) { got = err; ended++ }); err != nil {
		t.Fatal(err)
	}
	servers[0].Close()
	if ended != 0 {
		t.Fatalf("the call ended with a server left: %v", got)
	}
	servers[1].Close()
	if ended != 1 || !errors.Is(got, transports.ErrNoResponder) {
		t.Errorf("ended %d times: %v", ended, got)
	}
}
