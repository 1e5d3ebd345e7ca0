package matchers

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/onsi/gomega/format"
	gomega "github.com/onsi/gomega/matchers"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/measure"
)

// class is where a word may stand.
type class uint8

const (
	// condition: once true it stays true, so Within can wait for it.
	condition class = iota
	// proviso: may stand beside a condition in Within.
	proviso
	// statistic: judges a whole stretch, in Over or on a window.
	statistic
)

// word is a matcher on a window of traffic: every word but the waits.
type word struct {
	text  string
	class class
	judge func() judge
	// wrong is misuse found when the word was made, told when it is used.
	wrong error
	// needs are checked against the message type before anything is awaited.
	needs []typeCheck

	last atomic.Pointer[outcome]
}

// typeCheck reports what of a question cannot be asked of a message type.
type typeCheck func(reflect.Type) error

func (w *word) String() string { return w.text }

// Match judges a *measure.Window at once.
func (w *word) Match(actual any) (bool, error) {
	if err := refusePolling(w.text, instead(w)); err != nil {
		return false, err
	}
	if w.wrong != nil {
		return false, w.wrong
	}
	switch a := actual.(type) {
	case *measure.Window:
		o, err := judgeWindow(w, a)
		w.last.Store(o)
		return o.verdict(w.text, err)
	case harness.Observed:
		return false, fmt.Errorf("%s judges a stretch of traffic; on live traffic say how long: %s", w.text, instead(w))
	}
	return false, fmt.Errorf("%s expects a *measure.Window, or stands inside Within or Over on live traffic; it got\n%s",
		w.text, format.Object(actual, 1))
}

// instead is the wait to put a word in.
func instead(w *word) string {
	if w.class == condition {
		return fmt.Sprintf("Within(d, %s)", w.text)
	}
	return fmt.Sprintf("Over(d, %s)", w.text)
}

func (w *word) FailureMessage(actual any) string {
	return w.last.Load().message(actual, "to show "+w.text)
}

func (w *word) NegatedFailureMessage(actual any) string {
	return w.last.Load().message(actual, "not to show "+w.text)
}

// MatchMayChangeInTheFuture is false: a window does not change.
func (w *word) MatchMayChangeInTheFuture(any) bool { return false }

// judgeWindow asks c about a window.
func judgeWindow(c types.GomegaMatcher, w *measure.Window) (*outcome, error) {
	t := reflect.TypeFor[any]()
	for _, a := range w.All() {
		if a.Err == nil && a.Value != nil {
			t = reflect.TypeOf(a.Value)
			break
		}
	}
	j, err := compile(c, harness.Watch, t)
	if err != nil {
		return nil, err
	}
	o := &outcome{judge: j, window: w}
	j.begin(beginning{from: w.From})
	if w.Dropped > 0 {
		j.lost()
	}
	for _, a := range w.All() {
		j.add(&a)
		if err := j.misuse(); err != nil {
			return nil, err
		}
	}
	o.v = j.close(func(bool) measure.Stretch { return w.Stretch })
	if err := j.misuse(); err != nil {
		return nil, err
	}
	return o, nil
}

// compile makes the judge of a matcher, or says what is wrong with asking it in
// that mode of messages of type t.
func compile(m types.GomegaMatcher, mode harness.Mode, t reflect.Type) (judge, error) {
	j, conditions, err := compileIn(m, mode, t, false)
	if err == nil && mode == harness.Effect && conditions == 0 {
		err = fmt.Errorf("within waits for something to happen, which %s is not; use Over(d, %[1]s)", describe(m))
	}
	return j, err
}

func compileIn(m types.GomegaMatcher, mode harness.Mode, t reflect.Type, choice bool) (j judge, conditions int, err error) {
	kids := func(ms []types.GomegaMatcher, choice bool) ([]judge, int, error) {
		var js []judge
		for _, k := range ms {
			j, n, err := compileIn(k, mode, t, choice)
			if err != nil {
				return nil, 0, err
			}
			js = append(js, j)
			conditions += n
		}
		return js, conditions, nil
	}
	switch m := m.(type) {
	case *word:
		if m.wrong != nil {
			return nil, 0, m.wrong
		}
		if mode == harness.Effect && m.class == statistic {
			return nil, 0, fmt.Errorf("%s judges a whole stretch and may be true and false again in turn, so Within cannot wait for it; use Over(d, %[1]s)", m.text)
		}
		if mode == harness.Effect && m.class == proviso && choice {
			return nil, 0, fmt.Errorf("%s is true until it is not, so Within cannot wait for it in an Or; use Over(d, %[1]s)", m.text)
		}
		for _, check := range m.needs {
			if err := check(t); err != nil {
				return nil, 0, fmt.Errorf("%s: %w", m.text, err)
			}
		}
		n := 0
		if m.class == condition {
			n = 1
		}
		return m.judge(), n, nil
	case *wait:
		return nil, 0, fmt.Errorf("%s is a wait in a wait; %s", m.text, m.hint())
	case *gomega.AndMatcher:
		js, n, err := kids(m.Matchers, choice)
		return allOf{js}, n, err
	case *gomega.OrMatcher:
		js, n, err := kids(m.Matchers, true)
		return anyOf{allOf{js}}, n, err
	case *gomega.NotMatcher:
		if mode == harness.Effect {
			return nil, 0, fmt.Errorf("within cannot wait for the absence of something; use Over(d, %s)", describe(m))
		}
		j, n, err := compileIn(m.Matcher, mode, t, choice)
		return not{j}, n, err
	}
	if mode == harness.Effect {
		return nil, 0, fmt.Errorf("within takes a condition on the traffic, and %s is a matcher of one value; say AnyMessage(%[1]s)", describe(m))
	}
	if ofOneValue(m) {
		return nil, 0, fmt.Errorf("%s is a matcher of one value, and Over judges many; say EveryMessage(%[1]s), AnyMessage(…) or LastMessage(…)", describe(m))
	}
	return &windowJudge{leaf: leaf{steady: true, text: describe(m)}, m: m}, 0, nil
}

// ofOneValue reports whether m can only be meant for a message.
func ofOneValue(m types.GomegaMatcher) bool {
	switch m := m.(type) {
	case *fieldMatcher, *valueMatcher, *equalNumber, *gomega.BeNumericallyMatcher, *gomega.BeTrueMatcher, *gomega.BeFalseMatcher,
		*gomega.ContainSubstringMatcher, *gomega.HavePrefixMatcher, *gomega.HaveSuffixMatcher, *gomega.MatchRegexpMatcher:
		return true
	case *gomega.EqualMatcher:
		_, window := m.Expected.(*measure.Window)
		return !window
	}
	return false
}

// windowJudge asks a user's own matcher about the whole window.
type windowJudge struct {
	leaf
	m   types.GomegaMatcher
	all []measure.Arrival
}

func (j *windowJudge) add(a *measure.Arrival) {
	if j.takes(a) {
		j.all = append(j.all, *a)
	}
}

func (j *windowJudge) close(e ending) verdict {
	s := e(true)
	if err := s.UntrustedContent(j.undecoded); err != nil {
		return j.unknown(err)
	}
	w := measure.NewWindow(s, j.all)
	ok, err := j.m.Match(w)
	if err != nil {
		j.bad = fmt.Errorf("%s cannot judge a window (a matcher of one message stands in EveryMessage, AnyMessage or LastMessage): %w", j.text, err)
		return inconclusive
	}
	if ok {
		return j.doubt(holds, s, true, false)
	}
	j.note = j.count() + "; " + firstLines(j.m.FailureMessage(w), 6)
	return j.doubt(fails, s, true, false)
}

// arguments sorts the arguments of a word: at most one matcher or value, and
// options.
type arguments struct {
	m           types.GomegaMatcher
	evenWithout bool
	wrong       error
}

// SilenceOption changes what a word asks for.
type SilenceOption interface{ apply(*arguments) }

type evenWithoutPublisher struct{}

func (evenWithoutPublisher) apply(a *arguments) { a.evenWithout = true }

// EvenWithoutPublisher lets silence count though nobody may have been there to
// publish. It stands beside the matcher: NoMessage(m, EvenWithoutPublisher()).
func EvenWithoutPublisher() SilenceOption { return evenWithoutPublisher{} }

func sortOut(name string, args []any) (a arguments) {
	n := 0
	for _, arg := range args {
		if o, ok := arg.(SilenceOption); ok {
			o.apply(&a)
			continue
		}
		n++
		a.m = asMatcher(arg)
	}
	if n > 1 {
		a.wrong = fmt.Errorf("%s takes at most one matcher of a message, and got %d; combine them with And or Or", name, n)
	}
	return a
}

// asMatcher is m itself, or equality with it.
func asMatcher(m any) types.GomegaMatcher {
	if m, ok := m.(types.GomegaMatcher); ok {
		return m
	}
	if _, ok := toNumber(reflect.ValueOf(m)); ok {
		return &equalNumber{m}
	}
	return &gomega.EqualMatcher{Expected: m}
}

func asMatchers(ms []any) []types.GomegaMatcher {
	out := make([]types.GomegaMatcher, len(ms))
	for i, m := range ms {
		out[i] = asMatcher(m)
	}
	return out
}
