package session_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

// subscribe collects samples, and returns when the router knows of it.
func subscribe(tb testing.TB, s *session.Session, key string) <-chan session.Sample {
	tb.Helper()
	got := make(chan session.Sample, 1000)
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

func sum(b []byte) (n int) {
	for _, x := range b {
		n += int(x)
	}
	return n % 65536
}

func TestHearAForeignPublisher(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer := testenv.StartZenohPeer(t, at, "")
	got := subscribe(t, dial(t, at, session.Config{}), "demo/**")

	peer.Do("put", "demo/a", "payload", "hello", "encoding", "text/plain;utf-8", "attachment", "AT\x00T")
	x := testenv.Next(t, got)
	if x.Key != "demo/a" || string(x.Payload) != "hello" || x.Encoding.String() != "text/plain;utf-8" ||
		string(x.Attachment) != "AT\x00T" || x.Timestamp.IsZero() || x.Received.IsZero() || x.Delete {
		t.Errorf("%+v", x)
	}
	peer.Do("put", "demo/a", "payload", "")
	if x = testenv.Next(t, got); len(x.Payload) != 0 || x.Attachment != nil || !x.Encoding.IsZero() {
		t.Errorf("%+v", x)
	}
	peer.Do("delete", "demo/a/b")
	if x = testenv.Next(t, got); x.Key != "demo/a/b" || !x.Delete {
		t.Errorf("%+v", x)
	}
	for _, n := range []int{70_000, 10 << 20} {
		peer.Do("put", "demo/big", "payload", "0123456789", "times", n/10)
		if x = testenv.Next(t, got); !bytes.Equal(x.Payload, bytes.Repeat([]byte("0123456789"), n/10)) {
			t.Errorf("%d bytes came as %d, or others", n, len(x.Payload))
		}
	}
	peer.Do("put", "other/a", "payload", "not for us")
	peer.Do("put", "demo/last", "payload", "")
	if x = testenv.Next(t, got); x.Key != "demo/last" {
		t.Errorf("%+v", x)
	}
}

func TestBeHeardByAForeignSubscriber(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer := testenv.StartZenohPeer(t, at, "")
	s := dial(t, at, session.Config{})
	peer.Do("subscribe", "demo/**")
	p := publisher(t, s, "demo/a", session.PublisherConfig{Source: true})
	text, err := wire.ParseEncoding("text/plain;utf-8")
	testenv.Must(t, err)
	ctx := testenv.Soon(t)

	check := func(want map[string]any) {
		t.Helper()
		got, _ := peer.Next()["sample"].(map[string]any)
		for k, v := range want {
			if diff := cmp.Diff(v, got[k]); diff != "" {
				t.Errorf("%s: %s", k, diff)
			}
		}
	}
	source := func(sn float64) []any { return []any{s.ZID().String(), float64(p.Source().EID), sn} }
	testenv.Must(t, p.Put(ctx, session.Put{Payload: []byte("hello"), Encoding: text, Attachment: []byte("AT\x00T")}))
	check(map[string]any{"key": "demo/a", "payload": "hello", "encoding": "text/plain;utf-8", "attachment": "AT\x00T", "kind": "put", "source": source(0)})
	testenv.Must(t, p.Put(ctx, session.Put{}))
	check(map[string]any{"payload": "", "encoding": "zenoh/bytes", "attachment": nil, "source": source(1)})
	testenv.Must(t, p.Put(ctx, session.Put{Delete: true, Attachment: []byte("gone")}))
	check(map[string]any{"key": "demo/a", "kind": "delete", "attachment": "gone", "source": source(2)})
	for _, n := range []int{49_140, 65_499, 65_535, 70_000, 10 << 20} {
		big := make([]byte, n)
		for i := range big {
			big[i] = byte(i * 7)
		}
		testenv.Must(t, p.Put(ctx, session.Put{Payload: big}))
		check(map[string]any{"size": float64(n), "sum": float64(sum(big))})
	}
	best := publisher(t, s, "demo/b", session.PublisherConfig{BestEffort: true, Timestamp: true})
	testenv.Must(t, best.Put(ctx, session.Put{Payload: []byte("x")}))
	check(map[string]any{"key": "demo/b", "payload": "x", "source": nil, "stamped": true})
}

func TestLargeMessagesBetweenSessions(t *testing.T) {
	at := embedded(t)
	got := subscribe(t, dial(t, at, session.Config{}), "big")
	p := publisher(t, dial(t, at, session.Config{}), "big", session.PublisherConfig{})
	for n := 49_090; n < 49_160; n++ { // around one batch
		testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Payload: bytes.Repeat([]byte{byte(n)}, n)}))
		if x := testenv.Next(t, got); !bytes.Equal(x.Payload, bytes.Repeat([]byte{byte(n)}, n)) {
			t.Fatalf("%d bytes came as %d, or others", n, len(x.Payload))
		}
	}
}

func TestMessageBeyondTheLimitCostsTheLink(t *testing.T) {
	at := embedded(t)
	s := dial(t, at, session.Config{MaxMessage: 100_000})
	subscribe(t, s, "big")
	p := publisher(t, dial(t, at, session.Config{}), "big", session.PublisherConfig{})
	testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Payload: make([]byte, 200_000)}))
	<-s.Done()
	var lost *transports.LinkError
	if err := s.Err(); !errors.As(err, &lost) || !strings.Contains(err.Error(), "more than 100000 bytes") || !strings.Contains(err.Error(), "MaxMessage") {
		t.Errorf("%v", err)
	}
}

// get asks and returns the replies and how it ended.
func get(tb testing.TB, s *session.Session, q session.Query) ([]session.Reply, error) {
	tb.Helper()
	return getFor(testenv.Soon(tb), tb, s, q)
}

func getFor(ctx context.Context, tb testing.TB, s *session.Session, q session.Query) (replies []session.Reply, err error) {
	tb.Helper()
	ended := make(chan error, 2)
	testenv.Must(tb, s.Get(ctx, q, func(r *session.Reply) { replies = append(replies, *r) }, func(err error) { ended <- err }))
	err = testenv.Next(tb, ended)
	return replies, err
}

func TestAskForeignQueryables(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer := testenv.StartZenohPeer(t, at, "")
	s := dial(t, at, session.Config{})

	if r, err := get(t, s, session.Query{Key: "q/nobody"}); !errors.Is(err, transports.ErrNoResponder) || len(r) != 0 {
		t.Errorf("nobody: %v, %v", r, err)
	}
	peer.Do("queryable", "q/echo", "answer", "reply")
	r, err := get(t, s, session.Query{Key: "q/echo", Parameters: "a=1;b", Payload: []byte("REQ"), Attachment: []byte("QA"),
		Encoding: wire.Encoding{ID: 7}})
	if err != nil || len(r) != 1 || r[0].Err || r[0].Key != "q/echo" || string(r[0].Payload) != "re: REQ" || string(r[0].Attachment) != "here" {
		t.Errorf("%+v, %v", r, err)
	}
	want := testenv.Told{"query": map[string]any{"key": "q/echo", "parameters": "a=1;b", "payload": "REQ", "attachment": "QA", "encoding": "application/cdr"}}
	if diff := cmp.Diff(want, peer.Next()); diff != "" {
		t.Error(diff)
	}
	peer.Do("queryable", "q/twice", "answer", "twice")
	if r, err := get(t, s, session.Query{Key: "q/twice"}); err != nil || len(r) != 2 || string(r[0].Payload) != "1" || string(r[1].Payload) != "2" {
		t.Errorf("%+v, %v", r, err)
	}
	peer.Do("queryable", "q/refuse", "answer", "refuse")
	if r, err := get(t, s, session.Query{Key: "q/refuse"}); err != nil || len(r) != 1 || !r[0].Err || string(r[0].Payload) != "no" {
		t.Errorf("%+v, %v", r, err)
	}
	peer.Do("queryable", "q/silent", "answer", "nothing")
	if r, err := get(t, s, session.Query{Key: "q/silent"}); !errors.Is(err, transports.ErrNoResponder) || len(r) != 0 {
		t.Errorf("a FINAL without a reply: %v, %v", r, err)
	}
	peer.Do("queryable", "q/hold", "answer", "hold")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("the spec's patience"))
	defer cancel()
	if _, err := getFor(ctx, t, s, session.Query{Key: "q/hold"}); err == nil || err.Error() != "the spec's patience" {
		t.Errorf("our own deadline: %v", err)
	}
	r, err = get(t, s, session.Query{Key: "q/t$*", Target: wire.TargetAll})
	if err != nil || len(r) != 2 {
		t.Errorf("%+v, %v", r, err)
	}

	ended := make(chan error, 1)
	testenv.Must(t, s.Get(testenv.Soon(t), session.Query{Key: "q/hold"}, func(*session.Reply) {}, func(err error) { ended <- err }))
	for held := 0; held < 2; { // both requests are there
		if q, ok := peer.Next()["query"].(map[string]any); ok && q["key"] == "q/hold" {
			held++
		}
	}
	peer.Kill()
	if err := testenv.Next(t, ended); !errors.Is(err, transports.ErrNoResponder) {
		t.Errorf("its server was killed: %v", err)
	}
}

func TestAnswerForeignQueries(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer := testenv.StartZenohPeer(t, at, "")
	s := dial(t, at, session.Config{})
	serve := func(key string, complete bool, handle func(*session.Request)) *session.Queryable {
		q, err := s.Queryable(testenv.Soon(t), key, complete, handle)
		testenv.Must(t, err)
		testenv.Must(t, s.Barrier(testenv.Soon(t)))
		return q
	}
	requests := make(chan *session.Request, 1)
	serve("q/echo", true, func(r *session.Request) {
		if err := r.Reply(r.Key, session.Put{Payload: append([]byte("re: "), r.Payload...), Attachment: []byte("A")}, wire.SourceInfo{}); err != nil {
			t.Error(err)
		}
		r.Finish()
		requests <- r
		if err := r.Reply(r.Key, session.Put{}, wire.SourceInfo{}); !errors.Is(err, session.ErrFinished) {
			t.Errorf("a reply after Finish: %v", err)
		}
		r.Finish() // a second FINAL would end somebody else's request
	})
	ask := func(key string, more ...any) (told []testenv.Told) {
		t.Helper()
		peer.Start("get", key, more...)
		for {
			x := peer.Next()
			if x["final"] == true {
				return told
			}
			told = append(told, x)
		}
	}
	for range 3 {
		told := ask("q/echo?a=1", "payload", "REQ", "attachment", "QA", "encoding", "application/cdr")
		if len(told) != 1 {
			t.Fatalf("%v", told)
		}
		if r, _ := told[0]["reply"].(map[string]any); r["payload"] != "re: REQ" || r["attachment"] != "A" || r["key"] != "q/echo" {
			t.Errorf("%v", told)
		}
		r := testenv.Next(t, requests)
		if r.Parameters != "a=1" || string(r.Attachment) != "QA" || r.Encoding.ID != 7 || r.Received.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	refusing := serve("q/refuse", false, func(r *session.Request) {
		if err := r.Refuse([]byte("no")); err != nil {
			t.Error(err)
		}
		r.Finish()
	})
	if told := ask("q/refuse"); len(told) != 1 || told[0]["refusal"] != "no" {
		t.Errorf("%v", told)
	}
	// Two of ours on one key are one to the router: both are asked, one FINAL.
	serve("q/*", false, func(r *session.Request) {
		if r.Key == "q/refuse" {
			if err := r.Reply(r.Key, session.Put{Payload: []byte("yes")}, wire.SourceInfo{}); err != nil {
				t.Error(err)
			}
		}
		go r.Finish()
	})
	if told := ask("q/refuse"); len(told) != 2 {
		t.Errorf("%v", told)
	}
	refusing.Close()
	if told := ask("q/refuse"); len(told) != 1 {
		t.Errorf("%v", told)
	}
	// Closing ends what was not answered.
	asked := make(chan struct{})
	hold := serve("hold", true, func(*session.Request) { close(asked) })
	go func() { <-asked; hold.Close() }()
	if told := ask("hold"); len(told) != 0 {
		t.Errorf("%v", told)
	}
	big := strings.Repeat("x", 3<<20)
	told := ask("q/echo", "payload", big)
	if r, _ := told[0]["reply"].(map[string]any); r["size"] != float64(len(big)+4) {
		t.Errorf("%v", r["size"])
	}
}

func TestRouterGivesUpWaiting(t *testing.T) {
	at := embedded(t)
	s, r := dial(t, at, session.Config{}), dial(t, at, session.Config{})
	_, err := s.Queryable(testenv.Soon(t), "hold", true, func(*session.Request) {})
	testenv.Must(t, err)
	testenv.Must(t, s.Barrier(testenv.Soon(t)))
	if _, err := get(t, r, session.Query{Key: "hold", Patience: 50 * time.Millisecond}); !errors.Is(err, transports.ErrTimeout) {
		t.Errorf("%v", err)
	}
}

func TestTokens(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer := testenv.StartZenohPeer(t, at, "")
	s := dial(t, at, session.Config{})
	peer.Do("token", "@ns/a")
	peer.Do("token", "@ns/b/c")

	events := make(chan session.Event, 100)
	w, err := s.Watch(testenv.Soon(t), session.Tokens, wire.InterestCurrentFuture, "@ns/**", func(e session.Event) { events <- e })
	testenv.Must(t, err)
	testenv.Must(t, w.Wait(testenv.Soon(t)))
	if len(events) != 2 {
		t.Errorf("%d tokens when the watch was ready, want 2", len(events))
	}
	first, second := testenv.Next(t, events), testenv.Next(t, events)
	keys := []string{first.Key, second.Key}
	slices.Sort(keys)
	if diff := cmp.Diff([]string{"@ns/a", "@ns/b/c"}, keys); diff != "" || first.Gone || second.Gone {
		t.Error(diff)
	}
	peer.Do("drop", "")
	if e := testenv.Next(t, events); e != (session.Event{Key: "@ns/b/c", Gone: true}) {
		t.Errorf("%+v", e)
	}
	// Our own is seen by everybody, us included, and one key is one token.
	for range 2 {
		own, err := s.Token(testenv.Soon(t), "@ns/own")
		testenv.Must(t, err)
		t.Cleanup(own.Close)
	}
	if e := testenv.Next(t, events); e != (session.Event{Key: "@ns/own"}) {
		t.Errorf("%+v", e)
	}
	peer.Start("tokens", "@ns/*")
	var told []string
	for x := peer.Next(); x["final"] != true; x = peer.Next() {
		told = append(told, x["token"].(string))
	}
	slices.Sort(told)
	told = slices.Compact(told) // its own it tells twice
	if diff := cmp.Diff([]string{"@ns/a", "@ns/own"}, told); diff != "" {
		t.Error(diff)
	}
	now, err := s.Tokens(testenv.Soon(t), "@ns/**")
	testenv.Must(t, err)
	slices.Sort(now)
	if diff := cmp.Diff([]string{"@ns/a", "@ns/own"}, now); diff != "" {
		t.Error(diff)
	}
	if now, err := s.Tokens(testenv.Soon(t), "**"); err != nil || slices.Contains(now, "@ns/a") {
		t.Errorf("** sees %q, %v", now, err)
	}
	later := make(chan session.Event, 100)
	_, err = s.Watch(testenv.Soon(t), session.Tokens, wire.InterestFuture, "@ns/**", func(e session.Event) { later <- e })
	testenv.Must(t, err)
	testenv.Must(t, s.Barrier(testenv.Soon(t)))
	peer.Kill()
	if e := testenv.Next(t, events); e != (session.Event{Key: "@ns/a", Gone: true}) {
		t.Errorf("%+v", e)
	}
	other := dial(t, at, session.Config{})
	_, err = other.Token(testenv.Soon(t), "@ns/new")
	testenv.Must(t, err)
	if e := testenv.Next(t, later); e != (session.Event{Key: "@ns/new"}) {
		t.Errorf("a watch without history: %+v", e)
	}
	w.Close()
	w.Close()
}

func TestTokensVanishWithTheirSession(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer := testenv.StartZenohPeer(t, at, "")
	s := dial(t, at, session.Config{})
	peer.Do("watch tokens", "@ns/**")
	tok, err := s.Token(testenv.Soon(t), "@ns/1")
	testenv.Must(t, err)
	_, err = s.Token(testenv.Soon(t), "@ns/2")
	testenv.Must(t, err)
	told := func(key string, gone bool) {
		t.Helper()
		if x := peer.Next(); x["token"] != key || x["gone"] != gone {
			t.Errorf("%v, want %s gone=%v", x, key, gone)
		}
	}
	told("@ns/1", false)
	told("@ns/2", false)
	tok.Close()
	told("@ns/1", true)
	s.Close()
	told("@ns/2", true)
}

func TestMatchingOfOthers(t *testing.T) {
	at := testenv.ZenohRouter(t)
	peer := testenv.StartZenohPeer(t, at, "")
	s := dial(t, at, session.Config{})
	watch := func(k session.Kind, key string) <-chan session.Event {
		events := make(chan session.Event, 10)
		w, err := s.Watch(testenv.Soon(t), k, wire.InterestCurrentFuture, key, func(e session.Event) { events <- e })
		testenv.Must(t, err)
		testenv.Must(t, w.Wait(testenv.Soon(t)))
		return events
	}
	subs := watch(session.Subscribers, "m/a")
	subscribe(t, s, "m/a") // our own is none of others
	peer.Do("subscribe", "m/*")
	if e := testenv.Next(t, subs); e != (session.Event{Key: "m/*"}) {
		t.Errorf("%+v", e)
	}
	peer.Do("drop", "")
	if e := testenv.Next(t, subs); e != (session.Event{Key: "m/*", Gone: true}) {
		t.Errorf("%+v", e)
	}
	queryables := watch(session.Queryables, "m/a")
	peer.Do("queryable", "m/a", "answer", "reply", "complete", true)
	if e := testenv.Next(t, queryables); e != (session.Event{Key: "m/a"}) {
		t.Errorf("%+v", e)
	}
	if len(subs) > 0 {
		t.Errorf("%+v", <-subs)
	}
}

func TestOneMessageManySubscriptions(t *testing.T) {
	at := embedded(t)
	s := dial(t, at, session.Config{})
	p := publisher(t, dial(t, at, session.Config{}), "a/b", session.PublisherConfig{})
	var all []<-chan session.Sample
	for _, key := range []string{"a/b", "a/*", "**", "a/$*b", "a/b"} {
		all = append(all, subscribe(t, s, key))
	}
	elsewhere := subscribe(t, s, "a/c")
	for i := range 10 {
		testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Payload: fmt.Append(nil, i)}))
	}
	for k, got := range all {
		for i := range 10 {
			if x := testenv.Next(t, got); string(x.Payload) != fmt.Sprint(i) || x.Key != "a/b" {
				t.Errorf("subscription %d: %q in place of %d", k, x.Payload, i)
			}
		}
	}
	if len(elsewhere) > 0 {
		t.Error("a subscription to another key was served")
	}
}

func TestOverTLS(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{TLS: true})
	pem, err := os.ReadFile(r.CAFile)
	testenv.Must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	at, err := link.ParseLocator(r.Endpoint)
	testenv.Must(t, err)
	l, err := link.Dial(testenv.Soon(t), at, &tls.Config{RootCAs: roots})
	testenv.Must(t, err)
	s, err := session.Open(testenv.Soon(t), l, session.Config{})
	testenv.Must(t, err)
	defer s.Close()
	peer := testenv.StartZenohPeer(t, r.Endpoint, r.CAFile)
	peer.Do("subscribe", "up")
	got := subscribe(t, s, "down")
	p := publisher(t, s, "up", session.PublisherConfig{})
	for range 20 {
		testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Payload: bytes.Repeat([]byte("z"), 200_000)}))
	}
	for range 20 {
		if x, _ := peer.Next()["sample"].(map[string]any); x["size"] != float64(200_000) {
			t.Errorf("%v", x)
		}
	}
	peer.Do("put", "down", "payload", "y", "times", 300_000)
	if x := testenv.Next(t, got); len(x.Payload) != 300_000 {
		t.Errorf("%d bytes", len(x.Payload))
	}
}

func TestSameIDTwice(t *testing.T) {
	at := embedded(t)
	s := dial(t, at, session.Config{})
	loc, err := link.ParseLocator(at)
	testenv.Must(t, err)
	l, err := link.Dial(testenv.Soon(t), loc, nil)
	testenv.Must(t, err)
	_, err = session.Open(testenv.Soon(t), l, session.Config{ZID: s.ZID()})
	var closed *session.CloseError
	if !errors.As(err, &closed) || !strings.Contains(err.Error(), s.ZID().String()) || !strings.Contains(err.Error(), "connected already") {
		t.Errorf("%v", err)
	}
}

func TestKilledRouter(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{})
	s := dial(t, r.Endpoint, session.Config{})
	p := publisher(t, s, "a", session.PublisherConfig{})
	testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Payload: []byte("x")}))
	ended := make(chan error, 1)
	other := dial(t, r.Endpoint, session.Config{})
	_, err := other.Queryable(testenv.Soon(t), "q", true, func(*session.Request) {})
	testenv.Must(t, err)
	testenv.Must(t, other.Barrier(testenv.Soon(t)))
	testenv.Must(t, s.Get(testenv.Soon(t), session.Query{Key: "q"}, func(*session.Reply) {}, func(err error) { ended <- err }))
	r.Kill()
	for _, s := range []*session.Session{s, other} {
		select {
		case <-s.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("a killed router went unnoticed")
		}
	}
	var lost *transports.LinkError
	if !errors.As(s.Err(), &lost) || lost.Peer != r.Endpoint {
		t.Errorf("Err: %v", s.Err())
	}
	if err := testenv.Next(t, ended); !errors.As(err, &lost) {
		t.Errorf("a question on its way: %v", err)
	}
	if err := p.Put(testenv.Soon(t), session.Put{}); !errors.As(err, &lost) {
		t.Errorf("Put: %v", err)
	}
	if err := s.Barrier(testenv.Soon(t)); !errors.As(err, &lost) {
		t.Errorf("Barrier: %v", err)
	}
	s.Close()
	if !errors.As(s.Err(), &lost) {
		t.Errorf("Err after Close: %v", s.Err())
	}
}

func TestStoppedRouterIsNoticedAfterItsLease(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{Lease: time.Second})
	s := dial(t, r.Endpoint, session.Config{})
	subscribe(t, s, "a")
	p := publisher(t, s, "elsewhere", session.PublisherConfig{})
	r.Pause()
	begin := time.Now()
	// A sender that fills the socket meanwhile waits no longer than its context.
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("enough"))
	defer cancel()
	var err error
	for err == nil {
		err = p.Put(ctx, session.Put{Payload: make([]byte, 1<<20)})
	}
	if err.Error() == "" || !strings.Contains(err.Error(), "enough") || time.Since(begin) > 5*time.Second {
		t.Errorf("Put to a stopped router: %v after %v", err, time.Since(begin))
	}
	select {
	case <-s.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("a stopped router went unnoticed")
	}
	if err := s.Err(); !errors.Is(err, session.ErrSilent) || !strings.Contains(err.Error(), "of 1s") {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took < 700*time.Millisecond {
		t.Errorf("given up after %v already", took)
	}
}

// TestRealRouterTakesKeepAlives: a client that says nothing else outlives its
// lease.
func TestRealRouterTakesKeepAlives(t *testing.T) {
	t.Parallel() // it is long, and does nothing
	const lease = 1500 * time.Millisecond
	s := dial(t, testenv.ZenohRouter(t), session.Config{Lease: lease})
	select {
	case <-s.Done():
		t.Fatal(s.Err())
	case <-time.After(2*lease + lease/2): // the router's clock is real
	}
	if err := s.Barrier(testenv.Soon(t)); err != nil {
		t.Error(err)
	}
}
