package broker_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

// modes are the roles in which a real program joins a broker.
var modes = map[string]func(tb testing.TB, endpoint string) *testenv.ZenohPeer{
	"client": func(tb testing.TB, endpoint string) *testenv.ZenohPeer {
		return testenv.StartZenohPeer(tb, endpoint, "")
	},
	"peer": testenv.StartZenohPeerInPeerMode,
}

// inModes runs a test with two real programs in each pair of roles.
func inModes(t *testing.T, f func(t *testing.T, b *broker.Broker, one, two *testenv.ZenohPeer)) {
	for _, m := range slices.Sorted(maps.Keys(modes)) {
		for _, n := range slices.Sorted(maps.Keys(modes)) {
			t.Run(m+" and "+n, func(t *testing.T) {
				b := start(t, broker.Config{})
				one, two := modes[m](t, b.Endpoint()), modes[n](t, b.Endpoint())
				until(t, b, "two links", func(all []*broker.Link) bool { return len(all) == 2 })
				f(t, b, one, two)
				links, _ := b.Links()
				for _, l := range links {
					if s := l.Stats(); s.Dropped+s.Invalid > 0 {
						t.Errorf("%v: %+v", l, s)
					}
				}
			})
		}
	}
}

func told(tb testing.TB, p *testenv.ZenohPeer, what string, want map[string]any) {
	tb.Helper()
	t := p.Next()
	got, ok := t[what].(map[string]any)
	if !ok {
		tb.Errorf("told %v, want a %s %v", t, what, want)
	}
	for k, v := range want {
		if diff := cmp.Diff(v, got[k]); diff != "" {
			tb.Errorf("%s %s: %s", what, k, diff)
		}
	}
}

func says(tb testing.TB, p *testenv.ZenohPeer, want testenv.Told) {
	tb.Helper()
	if diff := cmp.Diff(want, p.Next()); diff != "" {
		tb.Error(diff)
	}
}

// matching waits until a publisher or querier says so; how often it says the
// contrary before is its own affair.
func matching(tb testing.TB, p *testenv.ZenohPeer, want bool) {
	tb.Helper()
	for told := p.Next(); told["matching"] != want; {
		told = p.Next()
	}
}

func TestRealPublications(t *testing.T) {
	inModes(t, func(t *testing.T, b *broker.Broker, one, two *testenv.ZenohPeer) {
		one.Do("subscribe", "demo/**")
		two.Do("matching", "demo/a")
		matching(t, two, true)
		two.Do("put", "demo/a", "payload", "hello", "encoding", "text/plain;utf-8", "attachment", "AT\x00T")
		told(t, one, "sample", map[string]any{"key": "demo/a", "payload": "hello", "encoding": "text/plain;utf-8", "attachment": "AT\x00T", "kind": "put", "stamped": true})
		two.Do("delete", "demo/a")
		told(t, one, "sample", map[string]any{"key": "demo/a", "kind": "delete"})
		for _, n := range []int{30_000, 10 << 19} { // 300 kB and 52 MB
			two.Do("put", "demo/big", "payload", "0123456789", "times", n)
			told(t, one, "sample", map[string]any{"size": float64(10 * n), "sum": float64(n * 525 % 65536)})
		}
		one.Do("drop", "")
		matching(t, two, false)
	})
}

func TestRealQueries(t *testing.T) {
	inModes(t, func(t *testing.T, b *broker.Broker, one, two *testenv.ZenohPeer) {
		two.Do("querier", "srv/echo")
		matching(t, two, false)
		one.Do("queryable", "srv/echo", "answer", "reply", "complete", true)
		matching(t, two, true)
		two.Start("ask", "", "payload", "q")
		told(t, two, "reply", map[string]any{"key": "srv/echo", "payload": "re: q", "attachment": "here"})
		says(t, two, testenv.Told{"final": true})
		told(t, one, "query", map[string]any{"key": "srv/echo", "payload": "q"})

		ask := func(key string) {
			t.Helper()
			two.Start("get", key, "payload", "x", "attachment", "qa", "encoding", "application/cdr")
		}
		ask("srv/echo?a=1;b=2")
		told(t, two, "reply", map[string]any{"key": "srv/echo", "payload": "re: x"})
		says(t, two, testenv.Told{"final": true})
		told(t, one, "query", map[string]any{"key": "srv/echo", "parameters": "a=1;b=2", "payload": "x", "attachment": "qa", "encoding": "application/cdr"})

		one.Do("queryable", "srv/twice", "answer", "twice")
		ask("srv/twice")
		told(t, two, "reply", map[string]any{"payload": "1"})
		told(t, two, "reply", map[string]any{"payload": "2"})
		says(t, two, testenv.Told{"final": true})
		one.Do("queryable", "srv/refuse", "answer", "refuse")
		ask("srv/refuse")
		says(t, two, testenv.Told{"refusal": "no"})
		says(t, two, testenv.Told{"final": true})
		ask("srv/nobody")
		says(t, two, testenv.Told{"final": true})
		one.Do("queryable", "srv/hold", "answer", "hold")
		two.Start("get", "srv/hold", "timeout", 0.2)
		says(t, two, testenv.Told{"refusal": "Timeout"})
		for x := two.Next(); x["final"] != true; x = two.Next() { // a peer watches the time itself, too
			if x["refusal"] != "Timeout" {
				t.Errorf("%v", x)
			}
		}
		ask("srv/hold")
		for seen := 0; seen < 2; { // of the two gets
			if q, ok := one.Next()["query"].(map[string]any); ok && q["key"] == "srv/hold" {
				seen++
			}
		}
		one.Kill()
		last := []any{two.Next(), two.Next()}
		want := []any{testenv.Told{"final": true}, testenv.Told{"matching": false}}
		if diff := cmp.Diff(want, last, sortAny); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRealLiveliness(t *testing.T) {
	inModes(t, func(t *testing.T, b *broker.Broker, one, two *testenv.ZenohPeer) {
		one.Do("token", "live/1")
		one.Do("token", "live/2")
		// Before there is a subscriber: with one, zenoh 1.10.2 now and then gives
		// none or some of a get's answers to that, on real routers too.
		two.Start("tokens", "live/*")
		got := []any{two.Next()["token"], two.Next()["token"]}
		says(t, two, testenv.Told{"final": true})
		if diff := cmp.Diff([]any{"live/1", "live/2"}, got, sortAny); diff != "" {
			t.Error(diff)
		}
		one.Do("drop", "")
		two.Do("watch tokens", "live/**")
		says(t, two, testenv.Told{"token": "live/1", "gone": false})
		one.Do("token", "live/3")
		says(t, two, testenv.Told{"token": "live/3", "gone": false})
		one.Do("drop", "")
		says(t, two, testenv.Told{"token": "live/3", "gone": true})
		one.Kill()
		says(t, two, testenv.Told{"token": "live/1", "gone": true})
	})
}

var sortAny = cmp.Transformer("sort", func(a []any) []string {
	var s []string
	for _, x := range a {
		s = append(s, fmt.Sprint(x))
	}
	slices.Sort(s)
	return s
})

func TestRealAdvancedPubSub(t *testing.T) {
	inModes(t, func(t *testing.T, b *broker.Broker, one, two *testenv.ZenohPeer) {
		one.Do("advanced subscribe", "map", "depth", 10) // sees late publishers
		two.Do("advanced publish", "map", "depth", 3, "payloads", []string{"1", "2", "3", "4"}, "numbered", true)
		for _, want := range []string{"1", "2", "3", "4"} {
			told(t, one, "sample", map[string]any{"key": "map", "payload": want})
		}
		late := modes["peer"](t, b.Endpoint())
		late.Do("advanced subscribe", "map", "depth", 2)
		told(t, late, "sample", map[string]any{"payload": "3"})
		told(t, late, "sample", map[string]any{"payload": "4"})
	})
}

// TestRealRecovery: an advanced subscriber asks for what was lost on the way to
// it, after a gap and after the heartbeat.
func TestRealRecovery(t *testing.T) {
	inModes(t, func(t *testing.T, b *broker.Broker, one, two *testenv.ZenohPeer) {
		one.Do("advanced subscribe", "map", "depth", 10, "recover", true)
		f := inject(t, b, broker.Rule{Key: "map", Kinds: []broker.Kind{broker.Put}}, broker.DropEvery(4))
		two.Do("advanced publish", "map", "depth", 10, "payloads", numbers(1, 8), "numbered", true, "heartbeat", 0.1)
		for _, want := range numbers(1, 8) {
			told(t, one, "sample", map[string]any{"key": "map", "payload": want})
		}
		undo(t, f, 8, 2)
	})
}

// script is operations of real programs on a router, and what they observe.
func script(t *testing.T, endpoint string) (seen []string) {
	one, two := testenv.StartZenohPeer(t, endpoint, ""), testenv.StartZenohPeer(t, endpoint, "")
	names := strings.NewReplacer(one.ZID, "ONE", two.ZID, "TWO")
	note := func(who string, p *testenv.ZenohPeer) {
		t.Helper()
		seen = append(seen, names.Replace(fmt.Sprint(who, ": ", p.Next())))
	}
	get := func(key string, more ...any) {
		t.Helper()
		two.Start("get", key, append([]any{"payload", "?"}, more...)...)
		var replies []string // of several queryables of one session in no order
		for x := two.Next(); x["final"] != true; x = two.Next() {
			replies = append(replies, fmt.Sprint("get ", key, ": ", x))
		}
		slices.Sort(replies)
		replies = slices.Compact(replies) // "Timeout" may come of more than one who watches the time
		seen = append(append(seen, replies...), "final")
	}
	two.Do("watch tokens", "**")
	two.Do("matching", "a/b")
	note("two", two)
	one.Do("subscribe", "a/*")
	note("two", two)
	one.Do("subscribe", "a/**") // one message a link, two callbacks
	two.Do("put", "a/b", "payload", "1", "attachment", "x", "encoding", "application/cdr;y")
	note("one", one)
	note("one", one)
	two.Do("put", "a/b/c", "payload", "2")
	note("one", one)
	two.Do("put", "a/*", "payload", "on many keys")
	note("one", one)
	note("one", one)
	two.Do("delete", "a/b")
	note("one", one)
	note("one", one)
	one.Do("put", "a/b", "payload", "no loop but in the session itself")
	note("one", one)
	note("one", one)
	one.Do("token", "t/1")
	note("two", two)
	one.Do("token", "t/1")
	one.Do("token", "t/2")
	note("two", two)
	one.Do("drop", "")
	note("two", two)
	one.Do("drop", "") // the twin of t/1
	one.Do("token", "t/3")
	note("two", two)
	get("q/a")
	one.Do("queryable", "q/a", "answer", "reply", "complete", true)
	one.Do("queryable", "q/*", "answer", "refuse")
	get("q/a?x=1")
	get("q/b")
	get("q/**")
	for range 5 { // by one or both queryables, in no order
		note("one", one)
	}
	slices.Sort(seen[len(seen)-5:])
	one.Do("queryable", "h", "answer", "hold")
	get("h", "timeout", 0.2)
	note("one", one)
	one.Kill()
	for range 3 { // matching, and two tokens, in no order
		note("two", two)
	}
	slices.Sort(seen[len(seen)-3:])
	return seen
}

// TestLikeARealRouter: real programs observe the same.
func TestLikeARealRouter(t *testing.T) {
	b := start(t, broker.Config{})
	ours := script(t, b.Endpoint())
	theirs := script(t, testenv.ZenohRouter(t))
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("real (-) and ours (+) differ:\n%s", diff)
	}
}
