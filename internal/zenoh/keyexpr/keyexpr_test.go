package keyexpr_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
)

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		key, want string
	}{
		{"", `key expression "": empty key at byte 0`},
		{"/a", `key expression "/a": empty chunk at byte 0`},
		{"a/", `key expression "a/": empty chunk at byte 2`},
		{"a//b", `key expression "a//b": empty chunk at byte 2`},
		{"a/b#", `key expression "a/b#": "#" is forbidden at byte 3`},
		{"a?x=1", `key expression "a?x=1": "?" is forbidden at byte 1`},
		{"ab/$x", `key expression "ab/$x": "$" must be followed by "*" at byte 3`},
		{"ab/x$", `key expression "ab/x$": "$" must be followed by "*" at byte 4`},
		{"ab/x*", `key expression "ab/x*": "*" must be a whole chunk or follow "$" at byte 4`},
		{"***", `key expression "***": "*" must be a whole chunk or follow "$" at byte 0`},
		{"a/b\xff", `key expression "a/b\xff": invalid UTF-8 at byte 3`},
		{"a/$*", `key expression "a/$*": chunk "$*" is not canonical, want "*" at byte 2`},
		{"**/**", `key expression "**/**": "**/**" is not canonical, want "**" at byte 3`},
		{"a/**/*", `key expression "a/**/*": "**/*" is not canonical, want "*/**" at byte 5`},
		{"a/b$*$*c", `key expression "a/b$*$*c": "$*$*" is not canonical, want "$*" at byte 3`},
	} {
		err := keyexpr.Validate(tt.key)
		if _, ok := errors.AsType[*keyexpr.Error](err); !ok || err.Error() != tt.want {
			t.Errorf("Validate(%q) = %v, want %s", tt.key, err, tt.want)
		}
	}
}

func TestCanon(t *testing.T) {
	for _, tt := range []struct{ key, want string }{
		{"a/b$*$*c", "a/b$*c"}, // makes the reference library panic
		{"$*$*$*", "*"},
		{"**/$*/**/*/a", "*/*/**/a"},
		{"**/@a/**/*", "**/@a/*/**"},
		{"@x$*$*", "@x$*"},
	} {
		if got, err := keyexpr.Canon(tt.key); got != tt.want || err != nil {
			t.Errorf("Canon(%q) = %q, %v, want %q", tt.key, got, err, tt.want)
		}
	}
}

func TestJoin(t *testing.T) {
	if got, err := keyexpr.Join("a/**", "*/b"); got != "a/*/**/b" || err != nil {
		t.Errorf("Join = %q, %v", got, err)
	}
	if got, err := keyexpr.Join("a", "/b"); err == nil {
		t.Errorf("Join with a leading slash = %q, want an error", got)
	}
}

func TestMatch(t *testing.T) {
	const yes, no = true, false
	for _, tt := range []struct {
		a, b                 string
		intersects, includes bool // includes: a includes b
	}{
		{"a/b", "a/b", yes, yes},
		{"a/b", "a/c", no, no},
		{"a/*", "a/b", yes, yes},
		{"a/*", "a", no, no},
		{"a/**", "a", yes, yes},
		{"a/**", "a/*", yes, yes},
		{"a/*", "a/**", yes, no},
		{"**", "@ros2_lv/0", no, no},
		{"**", "a/@adv/b", no, no},
		{"@ros2_lv/**", "@ros2_lv/0/x", yes, yes},
		{"**/@adv/**", "a/b/@adv/pub", yes, yes},
		{"*", "@a", no, no},
		{"$*@x", "@x", no, no},
		{"$*@x", "y@x", yes, yes},
		{"@$*x", "@ax", no, no},
		{"@$*x", "@$*x", yes, yes},
		{"**/a/b/**", "a/a/b", yes, yes},
		{"**/a/**/b", "a/b/b", yes, yes},
		{"a$*b$*c", "abbc", yes, yes},
		{"a$*b$*c", "acb", no, no},
		{"a$*", "a", yes, yes},
		{"a$*", "$*b", yes, no},
		{"a$*x", "b$*x", no, no},
		{"**/a", "b/**", yes, no},
		{"9/chatter/*/*", "9/chatter/std_msgs::msg::dds_::String_/RIHS01_df66", yes, yes},
	} {
		if got := keyexpr.Intersects(tt.a, tt.b); got != tt.intersects {
			t.Errorf("Intersects(%q, %q) = %t", tt.a, tt.b, got)
		}
		if got := keyexpr.Includes(tt.a, tt.b); got != tt.includes {
			t.Errorf("Includes(%q, %q) = %t", tt.a, tt.b, got)
		}
	}
}

// rows reads a tab-separated file made by testdata/generate.py.
func rows(t *testing.T, file string, columns int) [][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# ") {
			continue
		}
		r := strings.Split(line, "\t")
		if len(r) != columns {
			t.Fatalf("%s: %q has %d columns, want %d", file, line, len(r), columns)
		}
		out = append(out, r)
	}
	return out
}

func TestAgainstReferencePairs(t *testing.T) {
	flag := map[bool]string{false: "0", true: "1"}
	all := rows(t, "pairs.tsv", 5)
	if len(all) < 2000 {
		t.Fatalf("%d pairs", len(all))
	}
	for _, r := range all {
		a, b := r[0], r[1]
		got := []string{flag[keyexpr.Intersects(a, b)], flag[keyexpr.Includes(a, b)], flag[keyexpr.Includes(b, a)]}
		if d := cmp.Diff(r[2:], got); d != "" {
			t.Errorf("%q and %q: intersects, includes, included (-reference +ours):\n%s", a, b, d)
		}
		if keyexpr.Validate(a) != nil || keyexpr.Validate(b) != nil {
			t.Errorf("%q or %q is not canonical for us", a, b)
		}
	}
}

func TestAgainstReferenceCanon(t *testing.T) {
	for _, r := range rows(t, "canon.tsv", 2) {
		got, err := keyexpr.Canon(r[0])
		if got != r[1] || (err == nil) != (r[1] != "") {
			t.Errorf("Canon(%q) = %q, %v, reference %q", r[0], got, err, r[1])
		}
		valid := keyexpr.Validate(r[0]) == nil
		if want := r[0] == r[1] && r[1] != ""; valid != want {
			t.Errorf("Validate(%q) ok = %t, want %t", r[0], valid, want)
		}
	}
}

// naiveMatch says whether the concrete key matches the pattern, straight from
// the definition: by recursion over chunks and bytes.
func naiveMatch(pattern, key []string) bool {
	if len(pattern) == 0 {
		return len(key) == 0
	}
	if pattern[0] == "**" {
		return naiveMatch(pattern[1:], key) ||
			len(key) > 0 && key[0][0] != '@' && naiveMatch(pattern, key[1:])
	}
	return len(key) > 0 && naiveChunk(pattern[0], key[0]) && naiveMatch(pattern[1:], key[1:])
}

func naiveChunk(p, k string) bool {
	if p[0] == '@' || k[0] == '@' {
		return p == k
	}
	return p == "*" || naiveGlob(p, k)
}

func naiveGlob(p, k string) bool {
	if strings.HasPrefix(p, "$*") {
		return naiveGlob(p[2:], k) || k != "" && naiveGlob(p, k[1:])
	}
	if p == "" || k == "" {
		return p == k
	}
	return p[0] == k[0] && naiveGlob(p[1:], k[1:])
}

// TestProperties checks matching against the naive definition, and the laws
// between the two relations, on random keys of a tiny alphabet.
func TestProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	literals := []string{"a", "b", "ab", "aba", "@a", "@b"}
	patterns := append([]string{"*", "**", "**", "a$*", "$*b", "$*a$*", "@a$*"}, literals...)
	key := func(from []string) string {
		chunks := make([]string, 1+rng.IntN(5))
		for i := range chunks {
			chunks[i] = from[rng.IntN(len(from))]
		}
		k, err := keyexpr.Canon(strings.Join(chunks, "/"))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	split := func(s string) []string { return strings.Split(s, "/") }
	matches := 0
	for range 50_000 {
		p, q, k := key(patterns), key(patterns), key(literals)
		inP, inQ := naiveMatch(split(p), split(k)), naiveMatch(split(q), split(k))
		if inP {
			matches++
		}
		if got := keyexpr.Intersects(p, k); got != inP {
			t.Fatalf("Intersects(%q, %q) = %t", p, k, got)
		}
		if inP && inQ && !keyexpr.Intersects(p, q) {
			t.Fatalf("%q and %q share %q but do not intersect", p, q, k)
		}
		if keyexpr.Includes(p, q) && inQ && !inP {
			t.Fatalf("%q includes %q but lacks %q", p, q, k)
		}
		laws(t, p, q)
	}
	if matches < 1000 {
		t.Errorf("only %d matches: the test tests little", matches)
	}
}

// laws checks what holds for any two canonical key expressions.
func laws(t *testing.T, a, b string) {
	t.Helper()
	i := keyexpr.Intersects(a, b)
	if i != keyexpr.Intersects(b, a) {
		t.Fatalf("Intersects(%q, %q) is not symmetric", a, b)
	}
	if keyexpr.Includes(a, b) && !i {
		t.Fatalf("%q includes %q but does not intersect it", a, b)
	}
	if !keyexpr.Includes(a, a) || !keyexpr.Intersects(a, a) {
		t.Fatalf("%q does not include itself", a)
	}
	if keyexpr.IsConcrete(b) && i != keyexpr.Includes(a, b) {
		t.Fatalf("%q and concrete %q: intersects is %t, includes is not", a, b, i)
	}
}

func FuzzKeyExpr(f *testing.F) {
	f.Add("a/**/*/b", "**/a$*b/@x")
	f.Add("$*$*/**/**", "@a$*$*")
	f.Add("a//b", "#?$")
	f.Add(strings.Repeat("**/a/", 80)+"b", strings.Repeat("a/**/", 80)+"c")
	f.Add(strings.Repeat("$*a", 80), strings.Repeat("a$*b", 80))
	f.Fuzz(func(t *testing.T, a, b string) {
		keyexpr.Intersects(a, b) // any input: no panic
		keyexpr.Includes(a, b)
		ca, errA := keyexpr.Canon(a)
		cb, errB := keyexpr.Canon(b)
		if errA != nil || errB != nil {
			return
		}
		if again, err := keyexpr.Canon(ca); again != ca || err != nil {
			t.Fatalf("Canon(%q) = %q, %v: not idempotent", ca, again, err)
		}
		if err := keyexpr.Validate(ca); err != nil {
			t.Fatalf("Canon(%q): %v", a, err)
		}
		laws(t, ca, cb)
	})
}

func TestNoAllocations(t *testing.T) {
	key := "0/chatter/std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
	n := testing.AllocsPerRun(100, func() {
		if !keyexpr.Intersects("0/chatter/**", key) || !keyexpr.Intersects("**/std$*String_/*", "0/**") {
			t.Error("no match")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var sink bool

func BenchmarkIntersects(b *testing.B) {
	key := "0/chatter/std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
	for _, bb := range []struct{ name, a, b string }{
		{"equal", key, key},
		{"chunks", "0/chatter/*/*", key},
		{"double", "0/**", key},
		{"middle", "**/std_msgs::msg::dds_::String_/*", key},
		{"sub", "0/chatter/$*String_/RIHS01_$*", key},
		{"no", "0/other/*/*", key},
		{"both", "0/**/String$*/*", "*/chatter/**"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = keyexpr.Intersects(bb.a, bb.b)
			}
		})
	}
}
