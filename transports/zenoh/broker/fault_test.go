package broker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

func inject(tb testing.TB, b *broker.Broker, r broker.Rule, e broker.Effect) *broker.Fault {
	tb.Helper()
	f, err := b.Inject(r, e)
	testenv.Must(tb, err)
	return f
}

func undo(tb testing.TB, f *broker.Fault, seen, changed uint64) {
	tb.Helper()
	testenv.Must(tb, f.Undo())
	if f.Seen() != seen || f.Changed() != changed {
		tb.Errorf("%v: saw %d and changed %d, want %d and %d", f, f.Seen(), f.Changed(), seen, changed)
	}
}

// met waits until messages have met a fault.
func met(f *broker.Fault, n uint64) {
	for f.Seen() < n {
		time.Sleep(time.Millisecond) // nothing else shows what is thrown away or held
	}
}

// numbers are the payloads from the first up to the last.
func numbers(first, last int) (s []string) {
	for i := first; i <= last; i++ {
		s = append(s, fmt.Sprint(i))
	}
	return s
}

func drain(tb testing.TB, s *session.Session, got chan session.Sample) (all []string) {
	tb.Helper()
	testenv.Must(tb, s.Barrier(testenv.Soon(tb)))
	s.Settle()
	for len(got) > 0 {
		all = append(all, string((<-got).Payload))
	}
	return all
}

func TestDrop(t *testing.T) {
	lost := func(seed uint64) []string {
		b := start(t, broker.Config{Seed: seed})
		from, to, other := dial(t, b), dial(t, b), dial(t, b)
		got, twin := subscribe(t, to, "**"), subscribe(t, other, "k/a")
		f := inject(t, b, broker.Rule{Key: "k/*"}, broker.Drop(0.3))
		publish(t, from, "k/a", numbers(1, 200)...)
		publish(t, from, "l/a", "untouched")
		all := drain(t, to, got)
		if !slices.Equal(drain(t, other, twin), all[:len(all)-1]) {
			t.Error("readers of one message have one fate")
		}
		undo(t, f, 400, 2*uint64(201-len(all)))
		publish(t, from, "k/a", "after")
		has(t, to, got, "after")
		if n := len(all); n < 120 || n > 160 || all[n-1] != "untouched" {
			t.Errorf("%d of 201 came: %q", n, all)
		}
		return all
	}
	one := lost(1)
	if !slices.Equal(lost(1), one) {
		t.Error("the same seed chose others")
	}
	if slices.Equal(lost(2), one) {
		t.Error("another seed chose the same")
	}
}

func TestDropEvery(t *testing.T) {
	b := start(t, broker.Config{})
	from, to := dial(t, b), dial(t, b)
	got := subscribe(t, to, "k")
	f := inject(t, b, broker.Rule{}, broker.DropEvery(3))
	publish(t, from, "k", numbers(1, 7)...)
	has(t, to, got, "1", "2", "4", "5", "7")
	undo(t, f, 7, 2)
}

func TestDirection(t *testing.T) {
	b := start(t, broker.Config{})
	one, two, three := dial(t, b), dial(t, b), dial(t, b)
	of := func(s *session.Session) *broker.Link { return linkOf(t, b, s) }
	got := map[*session.Session]chan session.Sample{}
	for _, s := range []*session.Session{one, two, three} {
		got[s] = subscribe(t, s, "k")
	}
	all := func(want map[*session.Session]string) {
		t.Helper()
		for s := range got {
			publish(t, s, "k", map[*session.Session]string{one: "1", two: "2", three: "3"}[s])
		}
		for s, ch := range got {
			var d []string
			for range want[s] { // one's own come on their own way
				d = append(d, string(testenv.Next(t, ch).Payload))
			}
			d = append(d, drain(t, s, ch)...)
			slices.Sort(d)
			if strings.Join(d, "") != want[s] {
				t.Errorf("session %v got %q, want %q", s.ZID(), d, want[s])
			}
		}
	}
	all(map[*session.Session]string{one: "123", two: "123", three: "123"}) // one's own is local
	f := inject(t, b, broker.Rule{From: of(one)}, broker.Drop(1))
	all(map[*session.Session]string{one: "123", two: "23", three: "23"})
	undo(t, f, 2, 2)
	f = inject(t, b, broker.Rule{To: of(one)}, broker.Drop(1))
	all(map[*session.Session]string{one: "1", two: "123", three: "123"})
	undo(t, f, 2, 2)
	f = inject(t, b, broker.Rule{Link: of(one)}, broker.Drop(1))
	all(map[*session.Session]string{one: "1", two: "23", three: "23"})
	undo(t, f, 4, 4)
	f = inject(t, b, broker.Rule{From: of(one), To: of(two)}, broker.Drop(1))
	all(map[*session.Session]string{one: "123", two: "23", three: "123"})
	undo(t, f, 1, 1)
	all(map[*session.Session]string{one: "123", two: "123", three: "123"})
}

func TestDelay(t *testing.T) {
	b := start(t, broker.Config{})
	from, to := dial(t, b), dial(t, b)
	got := subscribe(t, to, "*")
	f := inject(t, b, broker.Rule{Key: "slow"}, broker.Delay(100*time.Millisecond, 50*time.Millisecond))
	began := time.Now()
	publish(t, from, "slow", numbers(1, 20)...)
	publish(t, from, "fast", "fast")
	if x := testenv.Next(t, got); x.Key != "fast" || x.Received.Sub(began) > 90*time.Millisecond {
		t.Errorf("%s after %v", x.Key, x.Received.Sub(began))
	}
	for _, want := range numbers(1, 20) {
		if x := testenv.Next(t, got); string(x.Payload) != want || x.Received.Sub(began) < 100*time.Millisecond {
			t.Errorf("%s after %v, want %s", x.Payload, x.Received.Sub(began), want)
		}
	}
	undo(t, f, 20, 20)

	// What is held goes on at the end of the fault, before what comes later.
	f = inject(t, b, broker.Rule{}, broker.Delay(time.Hour, 0))
	publish(t, from, "slow", "1", "2")
	has(t, to, got)
	undo(t, f, 2, 2)
	publish(t, from, "slow", "3")
	has(t, to, got, "1", "2", "3")
}

func TestDelayedAnswers(t *testing.T) {
	b := start(t, broker.Config{})
	asks, answers := dial(t, b), dial(t, b)
	serve(t, answers, "srv", true, "re: ")
	for _, kinds := range [][]broker.Kind{nil, {broker.Reply}, {broker.Query}} {
		f := inject(t, b, broker.Rule{Key: "srv", Kinds: kinds}, broker.Delay(30*time.Millisecond, 0))
		began := time.Now()
		if a := get(t, asks, session.Query{Key: "srv"}); a.err != nil || !slices.Equal(a.replies, []string{"re: "}) || time.Since(began) < 30*time.Millisecond {
			t.Errorf("%v: %+v after %v", kinds, a, time.Since(began))
		}
		testenv.Must(t, f.Undo())
	}
}

func TestDuplicate(t *testing.T) {
	b := start(t, broker.Config{Seed: 7})
	from, to := dial(t, b), dial(t, b)
	got := subscribe(t, to, "k")
	f := inject(t, b, broker.Rule{}, broker.Duplicate(1))
	publish(t, from, "k", "1", "2")
	has(t, to, got, "1", "1", "2", "2")
	undo(t, f, 2, 2)
	f = inject(t, b, broker.Rule{}, broker.Duplicate(0.5))
	publish(t, from, "k", numbers(1, 100)...)
	all := drain(t, to, got)
	if n := len(all); n < 130 || n > 170 || !slices.Equal(slices.Compact(all), numbers(1, 100)) {
		t.Errorf("%d came: %q", n, all)
	}
	testenv.Must(t, f.Undo())
	publish(t, from, "k", "after")
	has(t, to, got, "after")
}

func TestReorder(t *testing.T) {
	b := start(t, broker.Config{Seed: 3})
	from, to := dial(t, b), dial(t, b)
	got := subscribe(t, to, "k")
	f := inject(t, b, broker.Rule{}, broker.Reorder(1))
	publish(t, from, "k", numbers(1, 6)...)
	has(t, to, got, "2", "1", "4", "3", "6", "5")
	undo(t, f, 6, 3)
	f = inject(t, b, broker.Rule{}, broker.Reorder(0.3))
	publish(t, from, "k", numbers(1, 100)...)
	testenv.Must(t, f.Undo()) // lets go what waits at the end
	all := drain(t, to, got)
	if slices.Equal(all, numbers(1, 100)) || len(all) != 100 {
		t.Errorf("%q", all)
	}
	slices.SortFunc(all, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
	if !slices.Equal(all, numbers(1, 100)) {
		t.Errorf("something is missing or twice: %q", all)
	}
	// Nothing overtakes the last one: it comes on its own, and nothing has changed.
	f = inject(t, b, broker.Rule{}, broker.Reorder(1))
	publish(t, from, "k", "alone")
	if x := testenv.Next(t, got); string(x.Payload) != "alone" {
		t.Errorf("%s", x.Payload)
	}
	var unchanged *broker.UnchangedError
	if err := f.Undo(); !errors.As(err, &unchanged) || unchanged.Seen != 1 {
		t.Errorf("%v", err)
	}
	publish(t, from, "k", "1", "2")
	has(t, to, got, "1", "2")
}

func TestDroppedAnswers(t *testing.T) {
	b := start(t, broker.Config{})
	asks, answers := dial(t, b), dial(t, b)
	serve(t, answers, "srv", true, "re: ")
	f := inject(t, b, broker.Rule{Kinds: []broker.Kind{broker.Reply}}, broker.Drop(1))
	if a := get(t, asks, session.Query{Key: "srv"}); !errors.Is(a.err, transports.ErrNoResponder) {
		t.Errorf("a reply is lost, its end is not: %+v", a)
	}
	undo(t, f, 1, 1)
	f = inject(t, b, broker.Rule{Kinds: []broker.Kind{broker.Query}}, broker.Drop(1))
	if a := get(t, asks, session.Query{Key: "srv", Patience: 30 * time.Millisecond}); !errors.Is(a.err, transports.ErrTimeout) {
		t.Errorf("the question is lost: %+v", a)
	}
	undo(t, f, 1, 1)
	if a := get(t, asks, session.Query{Key: "srv"}); !slices.Equal(a.replies, []string{"re: "}) {
		t.Errorf("%+v", a)
	}
}

func TestFaultsActInTheirOrder(t *testing.T) {
	b := start(t, broker.Config{})
	from, to := dial(t, b), dial(t, b)
	got := subscribe(t, to, "k")
	double := inject(t, b, broker.Rule{}, broker.Duplicate(1))
	third := inject(t, b, broker.Rule{}, broker.DropEvery(3))
	late := inject(t, b, broker.Rule{}, broker.Delay(time.Millisecond, 0))
	publish(t, from, "k", numbers(1, 4)...)
	for _, want := range []string{"1", "1", "2", "2", "4", "4"} {
		if x := testenv.Next(t, got); string(x.Payload) != want {
			t.Errorf("%s, want %s", x.Payload, want)
		}
	}
	undo(t, double, 4, 4)
	undo(t, third, 8, 2)
	undo(t, late, 6, 6)
	has(t, to, got)
}

func TestFaultThatChangedNothing(t *testing.T) {
	b, err := broker.Listen(t.Context(), broker.Config{})
	testenv.Must(t, err)
	from, to := dial(t, b), dial(t, b)
	got := subscribe(t, to, "**")
	misspelt := inject(t, b, broker.Rule{Key: "odmo"}, broker.Drop(1))
	publish(t, from, "odom", "x")
	var unchanged *broker.UnchangedError
	if err := misspelt.Undo(); !errors.As(err, &unchanged) || !strings.Contains(err.Error(), `"drop 100% of odmo" changed nothing: no message met its rule`) {
		t.Error(err)
	}
	testenv.Must(t, misspelt.Undo()) // said once
	inject(t, b, broker.Rule{Key: "odom"}, broker.DropEvery(5))
	effective := inject(t, b, broker.Rule{Key: "odom"}, broker.Duplicate(1))
	stalled, err := linkOf(t, b, to).DropSent()
	testenv.Must(t, err)
	publish(t, from, "odom", "x")
	for range 3 {
		testenv.Next(t, got)
	}
	err = b.Close()
	if err == nil || !strings.Contains(err.Error(), "none of the 1 messages that met its rule were chosen") || !strings.Contains(err.Error(), "lose what comes from") ||
		strings.Contains(err.Error(), effective.String()) || strings.Contains(err.Error(), "odmo") {
		t.Error(err)
	}
	testenv.Must(t, stalled.Undo())
	testenv.Must(t, b.Close())
}

func TestFaultsRefused(t *testing.T) {
	b := start(t, broker.Config{})
	for want, c := range map[string]struct {
		r broker.Rule
		e broker.Effect
	}{
		"key expression": {broker.Rule{Key: "a//b"}, broker.Drop(1)},
		"kind interest":  {broker.Rule{Kinds: []broker.Kind{broker.Interest}}, broker.Drop(1)},
		"no effect":      {broker.Rule{}, broker.Effect{}},
		"drop 0%":        {broker.Rule{}, broker.Drop(0)},
		"drop 110%":      {broker.Rule{}, broker.Drop(1.1)},
		"duplicate -1%":  {broker.Rule{}, broker.Duplicate(-0.01)},
		"no delay":       {broker.Rule{}, broker.Delay(0, 0)},
	} {
		if _, err := b.Inject(c.r, c.e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestCut(t *testing.T) {
	b := start(t, broker.Config{})
	s, other := dial(t, b), dial(t, b)
	subscribe(t, s, "k")
	l := linkOf(t, b, s)
	testenv.Must(t, l.Cut())
	if len(l.Declarations()) > 0 || !errors.Is(l.Err(), broker.ErrCut) {
		t.Errorf("%v, %v", l.Declarations(), l.Err())
	}
	<-s.Done()
	var lost *transports.LinkError
	if err := s.Err(); !errors.As(err, &lost) || strings.Contains(err.Error(), "CLOSE,") {
		t.Error(err)
	}
	if err := l.Cut(); err == nil || !strings.Contains(err.Error(), "it had ended before") {
		t.Error(err)
	}
	if _, err := l.Stall(); err == nil {
		t.Error("a cut link cannot be stalled")
	}
	publish(t, other, "k", "x") // others live on
}

func TestStall(t *testing.T) {
	b := start(t, broker.Config{})
	from, to := dial(t, b), dial(t, b)
	got := subscribe(t, to, "k")
	f, err := linkOf(t, b, to).Stall()
	testenv.Must(t, err)
	publish(t, from, "k", "1", "2")
	token, err := to.Token(testenv.Soon(t), "t")
	testenv.Must(t, err)
	if keys, err := from.Tokens(testenv.Soon(t), "t"); err != nil || len(keys) > 0 || len(got) > 0 {
		t.Errorf("%v, %v, %d messages", keys, err, len(got))
	}
	testenv.Must(t, f.Undo())
	if f.Changed() < 2 {
		t.Errorf("%d", f.Changed())
	}
	has(t, to, got, "1", "2")
	if keys, err := from.Tokens(testenv.Soon(t), "t"); err != nil || len(keys) != 1 {
		t.Errorf("%v, %v", keys, err)
	}
	token.Close()

	// The other way round: what it sends waits, too.
	f, err = linkOf(t, b, from).Stall()
	testenv.Must(t, err)
	put(t, publisher(t, from, "k", session.PublisherConfig{}), "3")
	met(f, 1)
	has(t, to, got)
	testenv.Must(t, f.Undo())
	if x := testenv.Next(t, got); string(x.Payload) != "3" {
		t.Errorf("%s", x.Payload)
	}
	// A stalled link can be cut, and the broker closed.
	f, err = linkOf(t, b, to).Stall()
	testenv.Must(t, err)
	put(t, publisher(t, to, "k", session.PublisherConfig{}), "never")
	testenv.Must(t, linkOf(t, b, to).Cut())
	_ = f.Undo() // the message may have been on its way still
}

func TestHalfOpen(t *testing.T) {
	b := start(t, broker.Config{})
	from, to := dial(t, b), dial(t, b)
	got, back := subscribe(t, to, "k"), subscribe(t, from, "back")
	f, err := linkOf(t, b, to).DropReceived()
	testenv.Must(t, err)
	publish(t, from, "k", "lost")
	put(t, publisher(t, to, "back", session.PublisherConfig{}), "comes")
	if x := testenv.Next(t, back); string(x.Payload) != "comes" {
		t.Errorf("%s", x.Payload)
	}
	undo(t, f, 1, 1)
	publish(t, from, "k", "1")
	has(t, to, got, "1")

	f, err = linkOf(t, b, from).DropSent()
	testenv.Must(t, err)
	put(t, publisher(t, from, "k", session.PublisherConfig{}), "lost")
	publish(t, to, "back", "comes")
	if x := testenv.Next(t, back); string(x.Payload) != "comes" {
		t.Errorf("%s", x.Payload)
	}
	met(f, 1)
	undo(t, f, 1, 1)
	publish(t, from, "k", "2")
	has(t, to, got, "2")
}

func TestSlowReader(t *testing.T) {
	b := start(t, broker.Config{Queue: 100_000, Patience: time.Hour})
	from, slow, fast := dial(t, b), dial(t, b), dial(t, b)
	block := make(chan struct{})
	n := 0
	_, err := slow.Subscribe(testenv.Soon(t), "k/*", func(*session.Sample) { <-block; n++ })
	testenv.Must(t, err)
	testenv.Must(t, slow.Barrier(testenv.Soon(t)))
	got := subscribe(t, fast, "k/drop")
	best := publisher(t, from, "k/drop", session.PublisherConfig{BestEffort: true})
	l := linkOf(t, b, slow)
	payload := make([]byte, 50_000)
	sent := 0
	for ; l.Stats().Dropped == 0; sent++ {
		if sent > 10_000 {
			t.Fatal("500 MB fit into a queue of 100 kB and sockets")
		}
		testenv.Must(t, best.Put(testenv.Soon(t), session.Put{Payload: payload}))
		testenv.Must(t, from.Barrier(testenv.Soon(t)))
	}
	if s := l.Stats(); s.Queued < 100_000 || s.Queued > 300_000 || s.Waited == 0 {
		t.Errorf("%+v", s)
	}
	for range sent { // the fast one got them all
		testenv.Next(t, got)
	}
	// What must not be dropped waits, until there is room. Sockets may still have
	// taken some, so it is published until one waits.
	var more atomic.Int64
	enough, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-enough:
				return
			default:
				publish(t, from, "k/block", string(payload))
				more.Add(1)
			}
		}
	}()
	for before := int64(-1); more.Load() != before; {
		if before = more.Load(); before > 10_000 {
			t.Fatal("no message that blocks waits")
		}
		time.Sleep(50 * time.Millisecond) // in which one that does not wait is through
	}
	close(enough)
	close(block)
	<-done
	testenv.Must(t, slow.Barrier(testenv.Soon(t)))
	slow.Settle()
	if s := l.Stats(); uint64(n)+s.Dropped != uint64(sent)+uint64(more.Load()) || s.Dropped != 1 {
		t.Errorf("%d of %d came, %+v", n, sent+int(more.Load()), s)
	}
}

func TestStuckReaderIsCut(t *testing.T) {
	b := start(t, broker.Config{Queue: 1000, Patience: 50 * time.Millisecond})
	from, to, other := dial(t, b), dial(t, b), dial(t, b)
	subscribe(t, to, "k")
	got := subscribe(t, other, "k")
	l := linkOf(t, b, to)
	f, err := l.Stall()
	testenv.Must(t, err)
	payload := strings.Repeat("x", 1000)
	publish(t, from, "k", payload, payload, payload)
	if !errors.Is(l.Err(), broker.ErrStuck) {
		t.Errorf("%v", l.Err())
	}
	has(t, other, got, payload, payload, payload)
	testenv.Must(t, f.Undo())
}

func TestSilentPeerEnds(t *testing.T) {
	b := start(t, broker.Config{})
	s, err := open(t, b, session.Config{Lease: 100 * time.Millisecond})
	testenv.Must(t, err)
	defer s.Close()
	l := linkOf(t, b, s)
	f, err := l.DropSent()
	testenv.Must(t, err)
	until(t, b, "the silent one is gone", func(all []*broker.Link) bool { return len(all) == 0 })
	if !errors.Is(l.Err(), broker.ErrSilent) {
		t.Error(l.Err())
	}
	testenv.Must(t, f.Undo())
}

func TestRecord(t *testing.T) {
	b := start(t, broker.Config{Seed: 5})
	from, to := dial(t, b), dial(t, b)
	rec, err := b.Record(broker.Recorder{Payload: 3})
	testenv.Must(t, err)
	few, err := b.Record(broker.Recorder{Messages: 2, Payload: -1})
	testenv.Must(t, err)
	subscribe(t, to, "k/*")
	p := publisher(t, from, "k/a", session.PublisherConfig{})
	testenv.Must(t, p.Put(testenv.Soon(t), session.Put{Payload: []byte("hello"), Attachment: []byte("att")}))
	publish(t, from, "nobody", "x")
	f := inject(t, b, broker.Rule{}, broker.DropEvery(2))
	publish(t, from, "k/b", "1", "2")
	testenv.Must(t, f.Undo())
	serve(t, to, "srv", true, "re: ")
	get(t, from, session.Query{Key: "srv", Payload: []byte("q")})
	get(t, from, session.Query{Key: "none"})
	testenv.Must(t, rec.Close())
	publish(t, from, "k/c", "not recorded")

	ft, tt := linkOf(t, b, from), linkOf(t, b, to)
	type row struct {
		from, to *broker.Link
		kind     broker.Kind
		key      string
		size     int
		payload  string
		attached string
		note     string
	}
	var got []row
	for e := range rec.All() {
		if e.At.IsZero() {
			t.Errorf("%+v", e)
		}
		if !strings.HasPrefix(e.Key, "@robospec/barrier") {
			got = append(got, row{e.From, e.To, e.Kind, e.Key, e.Size, string(e.Payload), string(e.Attachment), e.Note})
		}
	}
	want := []row{
		{tt, nil, broker.Declare, "k/*", 0, "", "", "subscriber"},
		{ft, tt, broker.Put, "k/a", 5, "hel", "att", ""},
		{ft, nil, broker.Put, "nobody", 1, "x", "", "nobody subscribes"},
		{ft, tt, broker.Put, "k/b", 1, "1", "", ""},
		{ft, tt, broker.Put, "k/b", 1, "2", "", "dropped by: drop every 2."},
		{tt, nil, broker.Declare, "srv", 0, "", "", "queryable"},
		{ft, tt, broker.Query, "srv", 1, "q", "", ""},
		{tt, ft, broker.Reply, "srv", 5, "re:", "", ""},
		{tt, ft, broker.Final, "srv", 0, "", "", ""},
		{ft, nil, broker.Query, "none", 0, "", "", "nobody answers"},
	}
	if !slices.Equal(got, want) {
		for _, r := range got {
			t.Logf("%+v", r)
		}
		t.Error("is not what passed")
	}
	var last []broker.Entry
	for e := range few.All() {
		last = append(last, e)
	}
	if len(last) != 2 || few.Lost() == 0 || rec.Lost() != 0 || last[0].At.After(last[1].At) || last[1].Payload != nil {
		t.Errorf("%+v, %d lost", last, few.Lost())
	}
	testenv.Must(t, few.Close())
	testenv.Must(t, few.Close())
}
