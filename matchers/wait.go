package matchers

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/stack"
	"github.com/robospec/robospec/measure"
)

// wait is an expectation on live traffic: Within, Over, and their short forms.
type wait struct {
	text string // as it was written
	mode harness.Mode
	d    time.Duration
	c    types.GomegaMatcher
	// expect says in Gomega's grammar what was expected, after "to".
	expect string
	wrong  error

	last    atomic.Pointer[outcome]
	ofGraph atomic.Pointer[graphOutcome] // where it was asked of a graph
}

// Within passes as soon as c comes true and fails after d. c is a condition
// that stays true once it is: AnyMessage, InOrder, AtLeast, Consecutive, Settle;
// NoMessage and EveryMessage may stand beside one in an And: "A before any B" is
// Within(d, And(AnyMessage(A), NoMessage(B))).
//
// It looks for an effect: messages count after the last stimulus or after what
// the last expectation on the same subscription used up, whichever is later. d
// runs from the stimulus for the first expectation that follows it, otherwise
// from the call. x.After(mark) counts and measures from the mark.
//
// On a graph c is made of words on the graph, and it waits for a state in which c
// is true, the one at the call included; see HaveNode.
func Within(d time.Duration, c types.GomegaMatcher) types.GomegaMatcher {
	return newWait(fmt.Sprintf("Within(%v, %s)", d, describe(c)), harness.Effect, d, c, "")
}

// Over watches for d and then judges; a definite no ends it at once. w is any
// word on a window, or a matcher of a *measure.Window.
//
// It watches from now for statistics and EveryMessage; for words of absence,
// count and order it begins at the last stimulus when nothing but reads followed
// it, so that no instant reaction escapes.
//
// On a graph w is made of words on the graph, and is to be true in each state, the
// one at the call included; see HaveNode.
func Over(d time.Duration, w types.GomegaMatcher) types.GomegaMatcher {
	return newWait(fmt.Sprintf("Over(%v, %s)", d, describe(w)), harness.Watch, d, w, "")
}

func newWait(text string, mode harness.Mode, d time.Duration, c types.GomegaMatcher, expect string) *wait {
	w := &wait{text: text, mode: mode, d: d, c: c, expect: expect}
	if expect == "" {
		word := "within"
		if mode == harness.Watch {
			word = "over"
		}
		w.expect = fmt.Sprintf("%s %v to show %s", word, d, describe(c))
	}
	switch {
	case d <= 0:
		w.wrong = fmt.Errorf("%s: the time must be positive", text)
	case c == nil:
		w.wrong = fmt.Errorf("%s: nothing to wait for", text)
	}
	return w
}

func (w *wait) String() string { return w.text }

// hint is what to write instead of this wait inside another.
func (w *wait) hint() string {
	if strings.HasPrefix(w.text, "StaySilentFor") {
		return "to wait until it is silent, say FallSilentWithin(d, hold)"
	}
	return fmt.Sprintf("put its word in the outer wait: %s", describe(w.c))
}

// Match waits. It ends early when the spec is over, see harness.Timeline.Until.
func (w *wait) Match(actual any) (bool, error) {
	w.last.Store(nil)
	w.ofGraph.Store(nil)
	if err := refusePolling(w.text, fmt.Sprintf("Expect(x).To(%s)", w.text)); err != nil {
		return false, err
	}
	if w.wrong != nil {
		return false, w.wrong
	}
	switch a := actual.(type) {
	case *measure.Window:
		o, err := w.onWindow(a)
		w.last.Store(o)
		return o.verdict(w.text, err)
	case harness.Observed:
		o, err := w.live(a)
		if o != nil {
			o.note(w)
		}
		w.last.Store(o)
		return o.verdict(w.text, err)
	case viewed:
		o, err := w.onGraph(a.View())
		if err != nil {
			return false, err
		}
		o.view.Timeline().Note(o.v.String()+":", w.text+" on the graph", o.there())
		w.ofGraph.Store(o)
		return o.verdict(w.text)
	}
	return false, fmt.Errorf("%s expects live traffic (a Subscription, Reader or Server), a graph or a *measure.Window; it got\n%s",
		w.text, format.Object(actual, 1))
}

// onWindow judges a recording, from its beginning on.
func (w *wait) onWindow(a *measure.Window) (*outcome, error) {
	if _, err := compile(w.c, w.mode, anyType); err != nil {
		return nil, err
	}
	if end := a.From.Add(w.d); end.Before(a.To) {
		a = a.Between(a.From, end)
	}
	return judgeWindow(w.c, a)
}

// live waits on live traffic.
func (w *wait) live(a harness.Observed) (*outcome, error) {
	for _, k := range words(w.c) {
		return nil, k.misplaced(a)
	}
	j, err := compile(w.c, w.mode, a.MessageType())
	if err != nil {
		return nil, err
	}
	obs, err := a.Observe(w.mode, w.d)
	if err != nil {
		return nil, err
	}
	defer obs.Close()
	o := &outcome{judge: j, obs: obs, d: w.d}
	b := beginning{quiet: obs.Quiet, steady: obs.Steady, from: obs.From}
	if held, ok := obs.Held(); ok {
		b.held = &held
	}
	j.begin(b)
	if o.v = w.now(j); o.v == undecided {
		o.v = w.watch(obs, j)
	}
	if err := j.misuse(); err != nil {
		return nil, err
	}
	if o.v == holds {
		obs.Hold(j.decided())
	}
	return o, nil
}

// watch feeds the judge until it has a verdict.
func (w *wait) watch(obs *harness.Observation, j judge) verdict {
	var missed uint64
	for {
		due := j.due()
		arrivals, state := obs.Next(due)
		if n := obs.Missed(); n > missed {
			missed = n
			j.lost()
		}
		for i := range arrivals {
			j.add(&arrivals[i])
			if j.misuse() != nil {
				return inconclusive
			}
			if v := w.now(j); v != undecided {
				return w.early(v, obs, j)
			}
		}
		switch state {
		case harness.Due:
			j.passed(due)
			if v := w.now(j); v != undecided {
				return w.early(v, obs, j)
			}
		case harness.Over, harness.Cut:
			return j.close(obs.Stretch)
		}
	}
}

// now is the verdict that need not wait any longer.
func (w *wait) now(j judge) verdict {
	if w.mode == harness.Effect && j.soFar() == holds {
		return holds
	}
	if j.settled() == fails {
		return fails
	}
	return undecided
}

// early lets a judge look at the stretch so far when that is what its verdict
// rests on.
func (w *wait) early(v verdict, obs *harness.Observation, j judge) verdict {
	if _, ok := j.(interface{ restsOnStretch() }); ok {
		return j.close(obs.Stretch)
	}
	return v
}

func (w *wait) FailureMessage(actual any) string {
	return w.message(actual, w.expect)
}

func (w *wait) NegatedFailureMessage(actual any) string {
	return w.message(actual, "not "+w.expect)
}

func (w *wait) message(actual any, expect string) string {
	if o := w.ofGraph.Load(); o != nil {
		return o.message(actual, expect)
	}
	return w.last.Load().message(actual, expect)
}

// MatchMayChangeInTheFuture is false: a wait is asked once.
func (w *wait) MatchMayChangeInTheFuture(any) bool { return false }

// refusePolling is an error when the matcher is asked by Eventually or
// Consistently, whose polls would each be a wait of their own.
func refusePolling(text, instead string) error {
	if !stack.Has("github.com/onsi/gomega/internal.(*AsyncAssertion)") {
		return nil
	}
	return gomega.StopTrying(fmt.Sprintf("%s is not for Eventually or Consistently, which ask again and again; say %s", text, instead))
}

// HaveReceived is AnyMessage for Gomega's Eventually: each poll looks back over
// all that arrived since the last stimulus, or since what the last expectation
// used up, so that nothing is missed between polls. It is refused where a poll
// proves nothing: negated, and under Consistently's ShouldNot.
func HaveReceived(m ...any) types.GomegaMatcher {
	a := sortOut("HaveReceived", m)
	w := newWord(condition, call("HaveReceived", "", m), a)
	w.judge = func() judge { return &countdown{leaf: leaf{text: w.text}, arguments: a, need: 1} }
	return &received{w: w, args: m}
}

// negations are the functions of Gomega that ask for the opposite.
var negations = []string{
	"github.com/onsi/gomega/matchers.(*NotMatcher)",
	"github.com/onsi/gomega/internal.(*AsyncAssertion).ShouldNot",
	"github.com/onsi/gomega/internal.(*AsyncAssertion).NotTo",
	"github.com/onsi/gomega/internal.(*AsyncAssertion).ToNot",
	"github.com/onsi/gomega/internal.(*Assertion).ShouldNot",
	"github.com/onsi/gomega/internal.(*Assertion).NotTo",
	"github.com/onsi/gomega/internal.(*Assertion).ToNot",
}

type received struct {
	w    *word
	args []any
	last atomic.Pointer[outcome]
}

func (r *received) String() string { return r.w.text }

// Match looks at the log once.
func (r *received) Match(actual any) (bool, error) {
	if stack.Has(negations...) {
		return false, gomega.StopTrying(fmt.Sprintf("no poll can prove that %s is false; say Expect(x).To(Over(d, %s))", r.w.text, call("NoMessage", "", r.args)))
	}
	obs, ok := actual.(harness.Observed)
	if !ok {
		return false, fmt.Errorf("%s expects a Subscription, Reader or Server; it got\n%s", r.w.text, format.Object(actual, 1))
	}
	j, err := compile(r.w, harness.Effect, obs.MessageType())
	if err != nil {
		return false, stop(err)
	}
	seen, err := obs.Observe(harness.Effect, time.Nanosecond)
	if err != nil {
		return false, stop(err)
	}
	defer seen.Close()
	o := &outcome{judge: j, obs: seen, polled: true}
	j.begin(beginning{quiet: seen.Quiet, steady: seen.Steady, from: seen.From})
	seen.End = time.Now()
	for a := range seen.Sofar() {
		j.add(&a)
		if j.misuse() != nil || j.settled() == holds {
			break
		}
	}
	if err := j.misuse(); err != nil {
		return false, stop(err)
	}
	if o.v = j.settled(); o.v == holds {
		seen.Hold(j.decided())
	} else {
		o.v = fails
		if err := seen.Ended(); err != nil {
			return false, gomega.StopTrying(fmt.Sprintf("nothing more will arrive on %s", seen.Topic)).Wrap(err)
		}
	}
	r.last.Store(o)
	return o.v == holds, nil
}

func stop(err error) error { return gomega.StopTrying(err.Error()) }

func (r *received) FailureMessage(actual any) string {
	return r.last.Load().message(actual, "to have received "+strings.TrimPrefix(r.w.text, "HaveReceived"))
}

func (r *received) NegatedFailureMessage(actual any) string { return r.FailureMessage(actual) }
