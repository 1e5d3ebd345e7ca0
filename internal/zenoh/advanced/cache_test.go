package advanced

import (
	"fmt"
	"math"
	"testing"

	"github.com/robospec/robospec/internal/zenoh/session"
)

func TestCacheKeepsTheLast(t *testing.T) {
	for depth := 1; depth <= 4; depth++ {
		c := &Cache{depth: depth}
		for n := range 11 {
			for ask := range 6 {
				want := []string{}
				for i := max(0, n-min(depth, ask)); i < n; i++ {
					want = append(want, fmt.Sprint(i))
				}
				got := []string{}
				for _, x := range c.last(ask) {
					got = append(got, string(x.Payload))
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("depth %d, %d published: the last %d are %q, want %q", depth, n, ask, got, want)
				}
			}
			payload := fmt.Append(nil, n)
			c.Keep(&session.Sample{Payload: payload})
			clear(payload) // which is the publisher's
		}
	}
}

func TestMost(t *testing.T) {
	for parameters, want := range map[string]int{
		"": math.MaxInt, "_max=3": 3, "_max=3;_anyke": 3, "_anyke;_max=0": 0, "_max=": math.MaxInt, "_max=-1": math.MaxInt,
		"_max=x;_max=2": 2, "_sn=1..": math.MaxInt, "max=3": math.MaxInt,
	} {
		if got := most(parameters); got != want {
			t.Errorf("most(%q) = %d, want %d", parameters, got, want)
		}
	}
}
