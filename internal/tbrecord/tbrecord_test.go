package tbrecord_test

import (
	"strings"
	"testing"

	"github.com/robospec/robospec/internal/tbrecord"
)

func TestRun(t *testing.T) {
	var order []string
	r := tbrecord.Run(func(tb *tbrecord.TB) {
		tb.Cleanup(func() { order = append(order, "first") })
		tb.Cleanup(func() {
			if tb.Context().Err() == nil {
				t.Error("the context outlives the spec")
			}
			tb.Cleanup(func() { order = append(order, "added") })
			order = append(order, "second")
			tb.Fatalf("in the clean-up")
		})
		tb.Logf("went %s", "well")
		tb.Errorf("failed %d", 1)
		tb.Fatalf("failed %d", 2)
		t.Error("went on")
	})
	if got := strings.Join(order, " "); got != "second added first" {
		t.Errorf("clean-up: %s", got)
	}
	if r.Finished() || !r.Failed() || len(r.Failures()) != 3 || r.Failure() != "failed 1\n---\nfailed 2\n---\nin the clean-up" || r.Log() != "went well" {
		t.Errorf("%v %q %q", r.Finished(), r.Failures(), r.Log())
	}
	if r := tbrecord.Run(func(tb *tbrecord.TB) { tb.Logf("fine") }); !r.Finished() || r.Failed() {
		t.Errorf("%v %q", r.Finished(), r.Failures())
	}
}
