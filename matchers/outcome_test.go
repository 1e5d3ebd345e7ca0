package matchers_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/robospec/robospec/matchers"
)

func TestMatchOfAnEarlierStepIsNoCause(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, state, "on")
		time.Sleep(600 * ms)
		says(t, cmd, "go")
		c, text := to(sub, ReceiveWithin(500*ms, "on"))
		want(t, c, text, red, "publishes /state, but has been silent since +0.000000s")
		if strings.Contains(text, "a matching message came") {
			t.Errorf("what came 600 ms before is no cause within 500 ms:\n%s", text)
		}
	})
}
