package matchers

import (
	"fmt"
	"strings"
	"time"

	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/internal/oneline"
	"github.com/robospec/robospec/measure"
)

// AnyMessage is true once a message matches m; without m, once one arrives. m
// is a matcher or a value to equal.
func AnyMessage(m ...any) types.GomegaMatcher { return atLeast("AnyMessage", "", 1, m) }

// AtLeast is true once n messages matched m; without m, once n arrived.
func AtLeast(n int, m ...any) types.GomegaMatcher {
	return atLeast("AtLeast", fmt.Sprint(n), n, m)
}

func atLeast(name, first string, n int, args []any) *word {
	a := sortOut(name, args)
	w := newWord(condition, call(name, first, args), a)
	if n < 1 {
		w.wrong = fmt.Errorf("%s: the number of messages must be positive", w.text)
	}
	w.judge = func() judge { return &countdown{leaf: leaf{text: w.text}, arguments: a, need: n} }
	return w
}

// newWord makes a word of arguments; its judge is to be set.
func newWord(c class, text string, a arguments) *word {
	w := &word{text: text, class: c, wrong: a.wrong}
	w.check(a.m)
	return w
}

func (w *word) check(m types.GomegaMatcher) {
	if m != nil {
		w.needs = append(w.needs, fieldChecks(m)...)
	}
}

// call prints a word as it was written.
func call(name, first string, args []any) string {
	var s []string
	if first != "" {
		s = append(s, first)
	}
	for _, a := range args {
		s = append(s, describe(a))
	}
	return name + "(" + strings.Join(s, ", ") + ")"
}

// countdown is AtLeast.
type countdown struct {
	leaf
	arguments
	need, matched int
}

func (j *countdown) add(a *measure.Arrival) {
	if j.takes(a) && j.matches(j.m, a) {
		if j.matched++; j.matched == j.need {
			j.by = a.Order
			j.note = fmt.Sprintf("message %d matched: %s", j.n, oneline.Print(a.Value))
		}
	}
}

func (j *countdown) settled() verdict {
	if j.matched >= j.need {
		return holds
	}
	return undecided
}

func (j *countdown) soFar() verdict { return j.settled() }

func (j *countdown) close(e ending) verdict {
	if j.matched >= j.need {
		return holds
	}
	return j.doubt(fails, e(false), true, j.evenWithout)
}

func (j *countdown) found() string {
	if j.m == nil || j.note != "" {
		return j.leaf.found()
	}
	return fmt.Sprintf("%s, %d matched", j.count(), j.matched)
}

func (j *countdown) seeks() types.GomegaMatcher { return orAnything(j.m) }

// anything is the matcher of a word without one.
type anything struct{}

func (anything) Match(any) (bool, error)          { return true, nil }
func (anything) FailureMessage(any) string        { return "to be a message" }
func (anything) NegatedFailureMessage(any) string { return "not to be a message" }
func (anything) String() string                   { return "any message" }
func orAnything(m types.GomegaMatcher) types.GomegaMatcher {
	if m == nil {
		return anything{}
	}
	return m
}

// InOrder is true once messages matched m1, m2, … in this order; others may lie
// between.
func InOrder(ms ...any) types.GomegaMatcher {
	w := newWord(condition, call("InOrder", "", ms), arguments{})
	list := asMatchers(ms)
	if len(list) == 0 {
		w.wrong = fmt.Errorf("InOrder() wants at least one matcher")
	}
	for _, m := range list {
		w.check(m)
	}
	w.judge = func() judge { return &inOrder{leaf: leaf{text: w.text}, ms: list} }
	return w
}

type inOrder struct {
	leaf
	ms   []types.GomegaMatcher
	next int
}

func (j *inOrder) add(a *measure.Arrival) {
	if j.takes(a) && j.next < len(j.ms) && j.matches(j.ms[j.next], a) {
		j.next++
		j.by = a.Order
	}
}

func (j *inOrder) settled() verdict {
	if j.next == len(j.ms) {
		return holds
	}
	return undecided
}

func (j *inOrder) soFar() verdict { return j.settled() }

func (j *inOrder) close(e ending) verdict {
	if j.next == len(j.ms) {
		return holds
	}
	return j.doubt(fails, e(false), true, false)
}

func (j *inOrder) found() string {
	s := fmt.Sprintf("%s, %d of %d in order", j.count(), j.next, len(j.ms))
	if j.next < len(j.ms) {
		s += ", then none that matched " + describe(j.ms[j.next])
	}
	return s
}

func (j *inOrder) seeks() types.GomegaMatcher {
	if j.next == len(j.ms)-1 {
		return j.ms[j.next]
	}
	return nil
}

// Consecutive is true once k messages in a row matched m.
func Consecutive(k int, m ...any) types.GomegaMatcher {
	a := sortOut("Consecutive", m)
	w := newWord(condition, call("Consecutive", fmt.Sprint(k), m), a)
	if k < 1 {
		w.wrong = fmt.Errorf("%s: the number of messages must be positive", w.text)
	}
	w.judge = func() judge { return &run{leaf: leaf{text: w.text}, arguments: a, k: k} }
	return w
}

// Settle is true once an unbroken run of messages that match m spans hold, from
// the stamp of its first to that of its last message.
func Settle(hold time.Duration, m ...any) types.GomegaMatcher {
	a := sortOut("Settle", m)
	w := newWord(condition, call("Settle", hold.String(), m), a)
	if hold <= 0 {
		w.wrong = fmt.Errorf("%s: the time to hold must be positive", w.text)
	}
	w.judge = func() judge { return &run{leaf: leaf{text: w.text}, arguments: a, hold: hold} }
	return w
}

// run is an unbroken run of matching messages: k of them, or hold long.
type run struct {
	leaf
	arguments
	k    int
	hold time.Duration

	length   int
	first    time.Time
	span     time.Duration
	longest  int
	longSpan time.Duration
	missed   any // the last message that did not match
	misses   bool
	done     bool
}

func (j *run) add(a *measure.Arrival) {
	if !j.takes(a) || j.done {
		return
	}
	if !j.matches(j.m, a) {
		if j.length = 0; a.Err == nil {
			j.missed, j.misses = a.Value, true
		}
		return
	}
	if j.length++; j.length == 1 {
		j.first = a.Received
	}
	j.span = a.Received.Sub(j.first)
	j.longest, j.longSpan = max(j.longest, j.length), max(j.longSpan, j.span)
	if j.k > 0 && j.length >= j.k || j.hold > 0 && j.span >= j.hold {
		j.done, j.by = true, a.Order
	}
}

func (j *run) lost() { j.length = 0 }

func (j *run) settled() verdict {
	if j.done {
		return holds
	}
	return undecided
}

func (j *run) soFar() verdict { return j.settled() }

func (j *run) close(e ending) verdict {
	if j.done {
		return holds
	}
	return j.doubt(fails, e(false), true, j.evenWithout)
}

func (j *run) found() string {
	s := fmt.Sprintf("%s, at most %d in a row matched", j.count(), j.longest)
	if j.hold > 0 {
		s = fmt.Sprintf("%s, the longest run that matched spans %v", j.count(), j.longSpan.Round(time.Microsecond))
	}
	if j.misses && !j.done {
		s += "; the last that did not: " + mismatch(j.m, j.missed)
	}
	return s
}

// become is BecomeWithin: the newest message before the stretch counts too.
type become struct{ countdown }

func (j *become) begin(b beginning) {
	j.countdown.begin(b)
	if b.held != nil && j.matches(j.m, b.held) {
		j.matched, j.by, j.note = 1, b.held.Order, "it is already: "+oneline.Print(b.held.Value)
	}
}

// between is ReceiveBetween: the first match must not come before lo.
type between struct {
	leaf
	arguments
	lo    time.Duration
	v     verdict
	early time.Duration
}

func (j *between) add(a *measure.Arrival) {
	if !j.takes(a) || j.v != undecided || !j.matches(j.m, a) {
		return
	}
	j.by = a.Order
	if at := a.Received.Sub(j.from); at < j.lo {
		j.v, j.early = fails, at
		return
	}
	j.v = holds
}

// restsOnStretch: a message that was missed may have come too early.
func (j *between) restsOnStretch() {}

func (j *between) settled() verdict { return j.v }

func (j *between) soFar() verdict { return j.v }

func (j *between) close(e ending) verdict {
	s := e(false)
	if j.v == holds && (s.Dropped > 0 || j.undecoded > 0) {
		return j.doubt(holds, s, true, j.evenWithout) // what we missed may have come too early
	}
	if j.v != undecided {
		return j.v
	}
	return j.doubt(fails, s, true, j.evenWithout)
}

func (j *between) found() string {
	if j.v == fails {
		return fmt.Sprintf("a message matched after %v, %v too early", j.early.Round(time.Microsecond), (j.lo - j.early).Round(time.Microsecond))
	}
	return j.count() + ", none matched"
}

func (j *between) seeks() types.GomegaMatcher {
	if j.v == fails {
		return nil
	}
	return orAnything(j.m)
}

// silence is FallSilentWithin: no message for hold.
type silence struct {
	leaf
	arguments
	hold time.Duration
	last time.Time
	done bool
}

func (j *silence) begin(b beginning) {
	j.leaf.begin(b)
	if j.last = j.mark.Time(); j.last.IsZero() {
		j.last = b.from
	}
}

func (j *silence) add(a *measure.Arrival) {
	if !j.takes(a) || j.done {
		return
	}
	if a.Received.Sub(j.last) > j.hold {
		j.done = true
		return
	}
	j.last, j.by = a.Received, a.Order
}

func (j *silence) due() time.Time {
	if j.done {
		return time.Time{}
	}
	return j.last.Add(j.hold)
}

func (j *silence) passed(time.Time) { j.done = true }

// restsOnStretch: a silence needs life, which only the stretch tells.
func (j *silence) restsOnStretch() {}

func (j *silence) settled() verdict { return undecided } // life is asked at the end

func (j *silence) soFar() verdict {
	if j.done {
		return holds
	}
	return undecided
}

func (j *silence) close(e ending) verdict {
	s := e(false)
	if !j.done && s.To.Sub(j.last) >= j.hold {
		j.done = true
	}
	if j.done {
		return j.silence(holds, s, false, j.evenWithout)
	}
	return j.silence(fails, s, false, j.evenWithout)
}

func (j *silence) found() string {
	return fmt.Sprintf("%s, never silent for %v", j.count(), j.hold)
}
