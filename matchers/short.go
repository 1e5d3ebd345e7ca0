package matchers

import (
	"fmt"
	"strings"
	"time"

	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
)

// ReceiveWithin is Within(d, AnyMessage(m…)): eventually receives.
func ReceiveWithin(d time.Duration, m ...any) types.GomegaMatcher {
	return newWait(call("ReceiveWithin", d.String(), m), harness.Effect, d, AnyMessage(m...),
		fmt.Sprintf("within %v to receive %s", d, aMessage(m)))
}

// aMessage says which message is meant.
func aMessage(m []any) string {
	a := sortOut("", m)
	if a.m == nil {
		return "a message"
	}
	if d := describe(a.m); strings.HasPrefix(d, "= ") {
		return "a message equal to " + wanted(a.m)
	}
	return "a message with " + describe(a.m)
}

// ReceiveBetween passes when the first message that matches m comes lo after
// what Within counts from, or later, and by hi.
func ReceiveBetween(lo, hi time.Duration, m ...any) types.GomegaMatcher {
	a := sortOut("ReceiveBetween", m)
	text := call("ReceiveBetween", fmt.Sprintf("%v, %v", lo, hi), m)
	w := newWord(condition, text, a)
	if lo < 0 || lo >= hi {
		w.wrong = fmt.Errorf("%s: want 0 ≤ lo < hi", text)
	}
	w.judge = func() judge { return &between{leaf: leaf{text: text}, arguments: a, lo: lo} }
	return newWait(text, harness.Effect, hi, w, fmt.Sprintf("between %v and %v to receive %s", lo, hi, aMessage(m)))
}

// BecomeWithin passes when the newest message at the call matches m, be it from
// before the last stimulus, or one that came since or comes within d does.
func BecomeWithin(d time.Duration, m any) types.GomegaMatcher {
	a := sortOut("BecomeWithin", []any{m})
	text := call("BecomeWithin", d.String(), []any{m})
	w := newWord(condition, text, a)
	w.judge = func() judge { return &become{countdown{leaf: leaf{text: text}, arguments: a, need: 1}} }
	return newWait(text, harness.Effect, d, w, fmt.Sprintf("to be, or within %v to become, %s", d, describe(a.m)))
}

// SettleWithin is Within(d, Settle(hold, m…)).
func SettleWithin(d, hold time.Duration, m ...any) types.GomegaMatcher {
	return newWait(call("SettleWithin", fmt.Sprintf("%v, %v", d, hold), m), harness.Effect, d, Settle(hold, m...),
		fmt.Sprintf("within %v to settle for %v on %s", d, hold, aMessage(m)))
}

// AverageOver is Over(d, HaveAverage(field, m)).
func AverageOver(d time.Duration, field, m any) types.GomegaMatcher {
	return newWait(call("AverageOver", d.String(), []any{field, m}), harness.Watch, d, HaveAverage(field, m),
		fmt.Sprintf("over %v to have an average of %s %s", d, describe(field), describe(asMatcher(m))))
}

// StaySilentFor is Over(d, NoMessage()): silence from the last stimulus, or
// from now, with proof that somebody was there to publish.
func StaySilentFor(d time.Duration, opts ...SilenceOption) types.GomegaMatcher {
	args := asArgs(opts)
	text := call("StaySilentFor", d.String(), args)
	return newWait(text, harness.Watch, d, noMessage(text, args), fmt.Sprintf("to stay silent for %v", d))
}

// FallSilentWithin passes once no message has come for hold, the silence ending
// within d.
func FallSilentWithin(d, hold time.Duration, opts ...SilenceOption) types.GomegaMatcher {
	args := asArgs(opts)
	a := sortOut("FallSilentWithin", args)
	text := call("FallSilentWithin", fmt.Sprintf("%v, %v", d, hold), args)
	w := &word{text: text, class: condition}
	if hold <= 0 || hold > d {
		w.wrong = fmt.Errorf("%s: want 0 < hold ≤ d", text)
	}
	w.judge = func() judge { return &silence{leaf: leaf{text: text}, arguments: a, hold: hold} }
	return newWait(text, harness.Effect, d, w, fmt.Sprintf("within %v to fall silent for %v", d, hold))
}

func asArgs(opts []SilenceOption) []any {
	var args []any
	for _, o := range opts {
		args = append(args, o)
	}
	return args
}
