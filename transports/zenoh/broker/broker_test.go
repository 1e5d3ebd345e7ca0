package broker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is a broker for the length of the test.
func start(tb testing.TB, c broker.Config) *broker.Broker {
	tb.Helper()
	b, err := broker.Listen(context.Background(), c)
	testenv.Must(tb, err)
	tb.Cleanup(func() { testenv.Must(tb, b.Close()) })
	return b
}

// open opens a session with a broker.
func open(tb testing.TB, b *broker.Broker, c session.Config) (*session.Session, error) {
	tb.Helper()
	at, err := link.ParseLocator(b.Endpoint())
	testenv.Must(tb, err)
	l, err := link.Dial(testenv.Soon(tb), at, nil)
	testenv.Must(tb, err)
	return session.Open(testenv.Soon(tb), l, c)
}

// dial is open for the length of the test.
func dial(tb testing.TB, b *broker.Broker) *session.Session {
	tb.Helper()
	s, err := open(tb, b, session.Config{})
	testenv.Must(tb, err)
	tb.Cleanup(s.Close)
	return s
}

// linkOf is the broker's end of a session.
func linkOf(tb testing.TB, b *broker.Broker, s *session.Session) *broker.Link {
	tb.Helper()
	all, _ := b.Links()
	for _, l := range all {
		if l.ZID() == s.ZID().String() {
			return l
		}
	}
	tb.Fatalf("no link of %v among %v", s.ZID(), all)
	return nil
}

// until waits for a state of the broker's links.
func until(tb testing.TB, b *broker.Broker, what string, is func([]*broker.Link) bool) {
	tb.Helper()
	ctx := testenv.Soon(tb)
	for {
		all, changed := b.Links()
		if is(all) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			tb.Fatalf("not so: %s; the links are %v", what, all)
		}
	}
}

// subscribe collects samples, and returns when the broker knows of it.
func subscribe(tb testing.TB, s *session.Session, key string) chan session.Sample {
	tb.Helper()
	got := make(chan session.Sample, 5000)
	_, err := s.Subscribe(testenv.Soon(tb), key, func(x *session.Sample) { got <- *x })
	testenv.Must(tb, err)
	testenv.Must(tb, s.Barrier(testenv.Soon(tb)))
	return got
}

func publisher(tb testing.TB, s *session.Session, key string, c session.PublisherConfig) *session.Publisher {
	tb.Helper()
	p, err := s.Publisher(key, c)
	testenv.Must(tb, err)
	return p
}

func put(tb testing.TB, p *session.Publisher, payloads ...string) {
	tb.Helper()
	for _, x := range payloads {
		testenv.Must(tb, p.Put(testenv.Soon(tb), session.Put{Payload: []byte(x)}))
	}
}

// publish puts payloads on a key and returns when the broker has passed them on.
func publish(tb testing.TB, s *session.Session, key string, payloads ...string) {
	tb.Helper()
	put(tb, publisher(tb, s, key, session.PublisherConfig{}), payloads...)
	testenv.Must(tb, s.Barrier(testenv.Soon(tb)))
}

// has checks that exactly these payloads came: nothing comes after the answer to
// a question.
func has(tb testing.TB, s *session.Session, got chan session.Sample, want ...string) {
	tb.Helper()
	testenv.Must(tb, s.Barrier(testenv.Soon(tb)))
	s.Settle()
	var all []string
	for len(got) > 0 {
		all = append(all, string((<-got).Payload))
	}
	if !slices.Equal(all, want) {
		tb.Errorf("came %.2000q, want %.2000q", all, want)
	}
}

type answer struct {
	replies []string
	err     error
}

// get asks and waits for the end of the answers.
func get(tb testing.TB, s *session.Session, q session.Query) answer {
	tb.Helper()
	var mu sync.Mutex
	var a answer
	end := make(chan error, 1)
	testenv.Must(tb, s.Get(testenv.Soon(tb), q, func(r *session.Reply) {
		mu.Lock()
		defer mu.Unlock()
		text := string(r.Payload)
		if r.Err {
			text = "refused: " + text
		}
		a.replies = append(a.replies, text)
	}, func(err error) { end <- err }))
	a.err = testenv.Next(tb, end)
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(a.replies)
	return a
}

// serve answers questions on a key with an own text and the question's.
func serve(tb testing.TB, s *session.Session, key string, complete bool, text string) *session.Queryable {
	tb.Helper()
	q, err := s.Queryable(testenv.Soon(tb), key, complete, func(r *session.Request) {
		if err := r.Reply(r.Key, session.Put{Payload: []byte(text + string(r.Payload))}, wire.SourceInfo{}); err != nil {
			tb.Error(err)
		}
		r.Finish()
	})
	testenv.Must(tb, err)
	testenv.Must(tb, s.Barrier(testenv.Soon(tb)))
	return q
}

func TestPublicationsPass(t *testing.T) {
	b := start(t, broker.Config{})
	from, near, far := dial(t, b), dial(t, b), dial(t, b)
	one, all, other := subscribe(t, near, "demo/a"), subscribe(t, far, "demo/**"), subscribe(t, far, "demo/b")
	text, err := wire.ParseEncoding("text/plain;utf-8")
	testenv.Must(t, err)
	p := publisher(t, from, "demo/a", session.PublisherConfig{Source: true})
	stamp := wire.Timestamp{Time: 12345, ID: from.ZID()}
	testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Payload: []byte("x"), Encoding: text, Attachment: []byte{0, 1}, Timestamp: stamp}))
	before := wire.NTP64FromTime(time.Now())
	testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Payload: []byte("y"), Attachment: []byte{}}))
	testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Delete: true, Attachment: []byte("gone")}))
	for _, got := range []chan session.Sample{one, all} {
		x := testenv.Next(t, got)
		if x.Key != "demo/a" || string(x.Payload) != "x" || x.Encoding.String() != "text/plain;utf-8" || string(x.Attachment) != "\x00\x01" ||
			x.Timestamp != stamp || x.Source != (wire.SourceInfo{EntityID: p.Source()}) {
			t.Errorf("%+v", x)
		}
		y := testenv.Next(t, got)
		if string(y.Payload) != "y" || y.Attachment == nil || len(y.Attachment) != 0 || !y.Encoding.IsZero() || y.Source.SN != 1 ||
			y.Timestamp.ID.String() != b.ZID() || y.Timestamp.Time < before || y.Timestamp.Time > wire.NTP64FromTime(time.Now()) {
			t.Errorf("a timestamp of the broker was due: %+v", y)
		}
		if z := testenv.Next(t, got); !z.Delete || string(z.Attachment) != "gone" || !z.Timestamp.IsZero() {
			t.Errorf("%+v", z)
		}
	}
	has(t, far, other)
	if s := linkOf(t, b, from).Stats(); s.In < 3 || s.Out != 0 {
		t.Errorf("%+v", s)
	}
	if s := linkOf(t, b, far).Stats(); s.Out != 3 || s.Dropped != 0 || s.Queued != 0 {
		t.Errorf("%+v", s)
	}
}

func TestMessagesOfEverySize(t *testing.T) {
	b := start(t, broker.Config{})
	from, to := dial(t, b), dial(t, b)
	got := subscribe(t, to, "big/*")
	p, best := publisher(t, from, "big/p", session.PublisherConfig{}), publisher(t, from, "big/q", session.PublisherConfig{BestEffort: true})
	sizes := []int{0, 1, 127, 128, 300_000, 10 << 20, 1}
	for n := 65_480; n < 65_540; n++ { // around one batch
		sizes = append(sizes, n)
	}
	for i, n := range sizes {
		payload := make([]byte, n)
		for j := range payload {
			payload[j] = byte(j * (i + 7) >> 3)
		}
		for _, p := range []*session.Publisher{p, best} {
			testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Payload: payload, Attachment: []byte("a")}))
			if x := testenv.Next(t, got); string(x.Payload) != string(payload) || string(x.Attachment) != "a" {
				t.Fatalf("%d bytes came as %d, or others", n, len(x.Payload))
			}
		}
	}
}

func TestQueriesGoWhereTheirTargetSays(t *testing.T) {
	b := start(t, broker.Config{})
	asks, one, two, three := dial(t, b), dial(t, b), dial(t, b), dial(t, b)
	serve(t, one, "srv/a", true, "one ")
	serve(t, two, "srv/*", false, "two ")
	third := serve(t, three, "srv/**", true, "three ")
	for _, c := range []struct {
		key    string
		target wire.Target
		want   []string
	}{
		{"srv/a", wire.TargetAll, []string{"one ?", "three ?", "two ?"}},
		{"srv/a", wire.TargetAllComplete, []string{"one ?", "three ?"}},
		{"srv/b", wire.TargetAllComplete, []string{"three ?"}},
		{"srv/*", wire.TargetAllComplete, []string{"three ?"}}, // srv/a does not cover it
		{"srv/b/c", wire.TargetAll, []string{"three ?"}},
		{"srv/b", wire.TargetBestMatching, []string{"three ?"}},
		{"srv", wire.TargetBestMatching, []string{"three ?"}},
		{"other", wire.TargetAll, nil},
	} {
		a := get(t, asks, session.Query{Key: c.key, Target: c.target, Payload: []byte("?")})
		var want error
		if c.want == nil {
			want = transports.ErrNoResponder
		}
		if !slices.Equal(a.replies, c.want) || !errors.Is(a.err, want) {
			t.Errorf("%s, target %d: %+v, want %q", c.key, c.target, a, c.want)
		}
	}
	if a := get(t, asks, session.Query{Key: "srv/a", Payload: []byte("?")}); len(a.replies) != 1 || a.replies[0] == "two ?" {
		t.Errorf("the best match is one that is complete: %+v", a)
	}
	third.Close()
	testenv.Must(t, three.Barrier(testenv.Soon(t)))
	if a := get(t, asks, session.Query{Key: "srv/b", Payload: []byte("?")}); !slices.Equal(a.replies, []string{"two ?"}) {
		t.Errorf("nobody is complete: %+v", a)
	}
	if a := get(t, one, session.Query{Key: "srv/b/c"}); !errors.Is(a.err, transports.ErrNoResponder) {
		t.Errorf("%+v", a)
	}
}

func TestQueryThatNobodyFinishes(t *testing.T) {
	b := start(t, broker.Config{})
	asks, holds, refuses := dial(t, b), dial(t, b), dial(t, b)
	asked := make(chan *session.Request, 10)
	_, err := holds.Queryable(testenv.Soon(t), "hold", true, func(r *session.Request) { asked <- r })
	testenv.Must(t, err)
	testenv.Must(t, holds.Barrier(testenv.Soon(t)))

	began := time.Now()
	if a := get(t, asks, session.Query{Key: "hold", Patience: 50 * time.Millisecond}); !errors.Is(a.err, transports.ErrTimeout) || len(a.replies) > 0 {
		t.Errorf("%+v", a)
	}
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("gave up after %v", took)
	}
	late := testenv.Next(t, asked)
	testenv.Must(t, late.Reply("hold", session.Put{Payload: []byte("late")}, wire.SourceInfo{})) // goes nowhere
	late.Finish()

	_, err = refuses.Queryable(testenv.Soon(t), "hold", true, func(r *session.Request) {
		testenv.Must(t, r.Refuse([]byte("no")))
		r.Finish()
	})
	testenv.Must(t, err)
	testenv.Must(t, refuses.Barrier(testenv.Soon(t)))
	ends := make(chan answer, 1)
	go func() { ends <- get(t, asks, session.Query{Key: "hold", Target: wire.TargetAll}) }()
	testenv.Next(t, asked)
	testenv.Must(t, linkOf(t, b, holds).Cut()) // mid-query: who is lost owes nothing
	if a := testenv.Next(t, ends); a.err != nil || !slices.Equal(a.replies, []string{"refused: no"}) {
		t.Errorf("%+v", a)
	}
	<-holds.Done()
	if a := get(t, asks, session.Query{Key: "hold", Target: wire.TargetAll}); !slices.Equal(a.replies, []string{"refused: no"}) {
		t.Errorf("%+v", a)
	}
}

// TestWhoAsksLeaves: the broker forgets a question whose sender is gone.
func TestWhoAsksLeaves(t *testing.T) {
	b := start(t, broker.Config{})
	asks, holds := dial(t, b), dial(t, b)
	asked := make(chan *session.Request, 1)
	_, err := holds.Queryable(testenv.Soon(t), "hold", true, func(r *session.Request) { asked <- r })
	testenv.Must(t, err)
	testenv.Must(t, holds.Barrier(testenv.Soon(t)))
	testenv.Must(t, asks.Get(testenv.Soon(t), session.Query{Key: "hold"}, func(*session.Reply) {}, func(error) {}))
	r := testenv.Next(t, asked)
	testenv.Must(t, linkOf(t, b, asks).Cut())
	testenv.Must(t, r.Reply("hold", session.Put{}, wire.SourceInfo{}))
	r.Finish()
	testenv.Must(t, holds.Barrier(testenv.Soon(t)))
	again := dial(t, b)
	go func() { r := <-asked; r.Finish() }()
	if a := get(t, again, session.Query{Key: "hold"}); !errors.Is(a.err, transports.ErrNoResponder) {
		t.Errorf("%+v", a)
	}
}

func TestLiveliness(t *testing.T) {
	b := start(t, broker.Config{})
	watcher, a, c := dial(t, b), dial(t, b), dial(t, b)
	token := func(s *session.Session, key string) *session.Token {
		t.Helper()
		tk, err := s.Token(testenv.Soon(t), key)
		testenv.Must(t, err)
		testenv.Must(t, s.Barrier(testenv.Soon(t)))
		return tk
	}
	token(a, "live/1")
	events := make(chan session.Event, 100)
	w, err := watcher.Watch(testenv.Soon(t), session.Tokens, wire.InterestCurrentFuture, "live/*", func(e session.Event) { events <- e })
	testenv.Must(t, err)
	testenv.Must(t, w.Wait(testenv.Soon(t)))
	is := func(want session.Event) {
		t.Helper()
		if e := testenv.Next(t, events); e != want {
			t.Errorf("%+v, want %+v", e, want)
		}
	}
	is(session.Event{Key: "live/1"})
	own := token(watcher, "live/own") // one's own are shown
	is(session.Event{Key: "live/own"})
	twin := token(c, "live/1")
	token(c, "live/2")
	is(session.Event{Key: "live/2"})
	token(c, "other/3")
	twin.Close()
	keys, err := watcher.Tokens(testenv.Soon(t), "live/*")
	testenv.Must(t, err)
	if slices.Sort(keys); !slices.Equal(keys, []string{"live/1", "live/2", "live/own"}) {
		t.Errorf("%q", keys)
	}
	own.Close()
	is(session.Event{Key: "live/own", Gone: true})
	testenv.Must(t, linkOf(t, b, a).Cut())
	is(session.Event{Key: "live/1", Gone: true})
	c.Close()
	is(session.Event{Key: "live/2", Gone: true})
	if len(events) > 0 {
		t.Errorf("%+v", <-events)
	}
}

func TestWatchersSeeSubscribersAndQueryables(t *testing.T) {
	b := start(t, broker.Config{})
	watcher, a, c := dial(t, b), dial(t, b), dial(t, b)
	for _, kind := range []session.Kind{session.Subscribers, session.Queryables} {
		events := make(chan session.Event, 100)
		w, err := watcher.Watch(testenv.Soon(t), kind, wire.InterestCurrentFuture, "k/**", func(e session.Event) { events <- e })
		testenv.Must(t, err)
		testenv.Must(t, w.Wait(testenv.Soon(t)))
		declare := func(s *session.Session) (closeIt func()) {
			defer func() { testenv.Must(t, s.Barrier(testenv.Soon(t))) }()
			if kind == session.Subscribers {
				sub, err := s.Subscribe(testenv.Soon(t), "k/a", func(*session.Sample) {})
				testenv.Must(t, err)
				return sub.Close
			}
			q, err := s.Queryable(testenv.Soon(t), "k/a", true, func(r *session.Request) { r.Finish() })
			testenv.Must(t, err)
			return q.Close
		}
		own := declare(watcher) // not shown
		one, two := declare(a), declare(c)
		if e := testenv.Next(t, events); e != (session.Event{Key: "k/a"}) {
			t.Errorf("%+v", e)
		}
		one()
		two()
		if e := testenv.Next(t, events); e != (session.Event{Key: "k/a", Gone: true}) {
			t.Errorf("%+v", e)
		}
		own()
		w.Close()
		testenv.Must(t, watcher.Barrier(testenv.Soon(t)))
		if len(events) > 0 {
			t.Errorf("%+v", <-events)
		}
	}
}

func TestLinksTellWhoTheyAre(t *testing.T) {
	b := start(t, broker.Config{})
	s := dial(t, b)
	subscribe(t, s, "b/*")
	subscribe(t, s, "a")
	serve(t, s, "q", true, "")
	_, err := s.Token(testenv.Soon(t), "t")
	testenv.Must(t, err)
	testenv.Must(t, s.Barrier(testenv.Soon(t)))
	l := linkOf(t, b, s)
	want := []broker.Declaration{{Kind: "queryable", Key: "q", Complete: true}, {Kind: "subscriber", Key: "a"}, {Kind: "subscriber", Key: "b/*"}, {Kind: "token", Key: "t"}}
	if got := l.Declarations(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if l.Role() != "client" || l.Err() != nil || !strings.HasPrefix(l.Address(), "tcp/127.0.0.1:") || !strings.Contains(l.String(), s.ZID().String()) {
		t.Errorf("%v, %v", l, l.Err())
	}
	s.Close()
	until(t, b, "the link ended", func(all []*broker.Link) bool { return len(all) == 0 })
	var said *broker.ClosedError
	if !errors.As(l.Err(), &said) || len(l.Declarations()) != 0 || l.Cut() == nil {
		t.Errorf("%v, %v", l.Err(), l.Declarations())
	}
	if ended := b.Ended(); len(ended) != 1 || ended[0] != l {
		t.Errorf("%v", ended)
	}
}

func TestClose(t *testing.T) {
	b, err := broker.Listen(t.Context(), broker.Config{})
	testenv.Must(t, err)
	s := dial(t, b)
	subscribe(t, s, "a")
	strange, err := net.Dial("tcp", strings.TrimPrefix(b.Endpoint(), "tcp/")) // says nothing
	testenv.Must(t, err)
	defer strange.Close()
	if b.Err() != nil {
		t.Error(b.Err())
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { testenv.Must(t, b.Close()) })
	}
	all.Wait()
	<-b.Done()
	<-s.Done()
	if !errors.Is(b.Err(), broker.ErrClosed) || !strings.Contains(s.Err().Error(), "CLOSE") {
		t.Errorf("%v; %v", b.Err(), s.Err())
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(b.Endpoint(), "tcp/")); err == nil {
		t.Error("it listens still")
	}
	if _, err := b.Inject(broker.Rule{}, broker.Drop(1)); !errors.Is(err, broker.ErrClosed) {
		t.Error(err)
	}
	if _, err := b.Record(broker.Recorder{}); !errors.Is(err, broker.ErrClosed) {
		t.Error(err)
	}
}

func TestListenRefuses(t *testing.T) {
	b := start(t, broker.Config{})
	for want, c := range map[string]broker.Config{
		"write it like":          {Endpoint: "udp/127.0.0.1:0"},
		"address already in use": {Endpoint: b.Endpoint()},
		"below a millisecond":    {Lease: -1},
		"something negative":     {Queue: -1},
	} {
		if _, err := broker.Listen(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// TestNoneHearsAnother: as many brokers as a parallel suite has specs.
func TestNoneHearsAnother(t *testing.T) {
	brokers := make([]*broker.Broker, 100)
	for i := range brokers {
		brokers[i] = start(t, broker.Config{})
	}
	t.Run("all", func(t *testing.T) {
		for i, b := range brokers {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				from, to := dial(t, b), dial(t, b)
				got := subscribe(t, to, "**")
				want := fmt.Sprint("of ", i)
				for range 10 {
					publish(t, from, "all/the/same", want)
				}
				has(t, to, got, slices.Repeat([]string{want}, 10)...)
				if links, _ := b.Links(); len(links) != 2 {
					t.Errorf("%v", links)
				}
			})
		}
	})
}

// TestEverythingAtOnce is for the race detector: links come, declare, publish,
// ask, are disturbed and cut.
func TestEverythingAtOnce(t *testing.T) {
	b := start(t, broker.Config{Seed: 1})
	var all sync.WaitGroup
	rec, err := b.Record(broker.Recorder{Messages: 100})
	testenv.Must(t, err)
	stop := make(chan struct{})
	all.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			effect := []broker.Effect{broker.Drop(0.1), broker.Delay(time.Millisecond, time.Millisecond), broker.Duplicate(0.1), broker.Reorder(0.1)}[n%4]
			f, err := b.Inject(broker.Rule{Key: "k/**"}, effect)
			testenv.Must(t, err)
			links, _ := b.Links()
			for _, l := range links {
				_ = l.String()
				l.Stats()
				l.Declarations()
			}
			for range rec.All() {
			}
			_ = f.Undo() // may have changed nothing
		}
	})
	var working sync.WaitGroup
	for i := range 8 {
		working.Go(func() {
			for range 5 {
				s, err := open(t, b, session.Config{})
				testenv.Must(t, err)
				_, err = s.Subscribe(testenv.Soon(t), "k/*", func(*session.Sample) {})
				testenv.Must(t, err)
				_, err = s.Queryable(testenv.Soon(t), "q/*", true, func(r *session.Request) { r.Finish() })
				testenv.Must(t, err)
				_, err = s.Watch(testenv.Soon(t), session.Tokens, wire.InterestCurrentFuture, "**", nil)
				testenv.Must(t, err)
				_, err = s.Token(testenv.Soon(t), fmt.Sprint("t/", i))
				testenv.Must(t, err)
				p := publisher(t, s, fmt.Sprint("k/", i), session.PublisherConfig{})
				for range 50 {
					put(t, p, "x")
				}
				testenv.Must(t, s.Get(testenv.Soon(t), session.Query{Key: "q/1", Patience: time.Second}, func(*session.Reply) {}, func(error) {}))
				if i%2 == 0 {
					testenv.Must(t, linkOf(t, b, s).Cut())
				}
				s.Close()
			}
		})
	}
	working.Wait()
	close(stop)
	all.Wait()
	testenv.Must(t, rec.Close())
}
