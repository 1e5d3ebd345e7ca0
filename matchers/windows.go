package matchers

import (
	"fmt"

	gomega "github.com/onsi/gomega/matchers"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/internal/oneline"
	"github.com/robospec/robospec/measure"
)

// EveryMessage is true while each message matches m. A stretch without a
// message is inconclusive.
func EveryMessage(m any) types.GomegaMatcher {
	a := sortOut("EveryMessage", []any{m})
	w := newWord(proviso, call("EveryMessage", "", []any{m}), a)
	w.judge = func() judge { return &every{leaf: leaf{text: w.text, steady: true}, m: a.m} }
	return w
}

type every struct {
	leaf
	m        types.GomegaMatcher
	violated bool
	missed   bool
}

func (j *every) add(a *measure.Arrival) {
	if !j.takes(a) || a.Err != nil || j.violated {
		return
	}
	j.by = a.Order
	if !j.matches(j.m, a) {
		j.violated = true
		j.note = fmt.Sprintf("message %d did not match: %s", j.n, mismatch(j.m, a.Value))
	}
}

func (j *every) lost() { j.missed = true }

func (j *every) settled() verdict {
	if j.violated {
		return fails
	}
	return undecided
}

func (j *every) soFar() verdict { return proviso3(j.violated, j.missed || j.undecoded > 0) }

// proviso3 is what a proviso says so far.
func proviso3(violated, doubtful bool) verdict {
	switch {
	case violated:
		return fails
	case doubtful:
		return inconclusive
	}
	return holds
}

func (j *every) close(e ending) verdict {
	if j.violated {
		return fails
	}
	s := e(true)
	if err := s.UntrustedContent(j.undecoded); err != nil {
		return j.unknown(err)
	}
	if j.n == 0 {
		return j.unknown(nothing(s))
	}
	return holds
}

// nothing is what judges of content say of an empty stretch.
func nothing(s measure.Stretch) error {
	if s.Life.State == measure.LifeShown {
		return &measure.Inconclusive{Reason: fmt.Sprintf("no message arrived on %s, so there was nothing to judge", s.Topic),
			Remedy: "watch longer, or wait for the first message before"}
	}
	return noLife(s)
}

// NoMessage is true while no message matches m; without m, while none arrives.
// It needs proof that somebody was there to publish, or EvenWithoutPublisher.
func NoMessage(m ...any) types.GomegaMatcher { return noMessage(call("NoMessage", "", m), m) }

func noMessage(text string, args []any) *word {
	a := sortOut("NoMessage", args)
	w := newWord(proviso, text, a)
	w.judge = func() judge { return &none{leaf: leaf{text: w.text}, arguments: a} }
	return w
}

type none struct {
	leaf
	arguments
	violated bool
	missed   bool
}

func (j *none) add(a *measure.Arrival) {
	if !j.takes(a) || j.violated {
		return
	}
	if j.m == nil && a.Err != nil { // it arrived all the same
		j.violated, j.note = true, "message 1 arrived, which does not decode: "+a.Err.Error()
	} else if j.matches(j.m, a) {
		j.violated = true
		verb := "matched"
		if j.m == nil {
			verb = "arrived"
		}
		j.note = fmt.Sprintf("message %d %s, %v after the start: %s", j.n, verb, a.Received.Sub(j.mark.Time()), oneline.Print(a.Value))
		if j.mark.IsZero() {
			j.note = fmt.Sprintf("message %d %s: %s", j.n, verb, oneline.Print(a.Value))
		}
	}
	if j.violated {
		j.by = a.Order
	}
}

func (j *none) lost() { j.missed = true }

func (j *none) settled() verdict {
	if j.violated {
		return fails
	}
	return undecided
}

func (j *none) soFar() verdict {
	return proviso3(j.violated, j.missed || j.m != nil && j.undecoded > 0)
}

func (j *none) close(e ending) verdict {
	if j.violated {
		return fails
	}
	return j.silence(holds, e(false), j.m != nil, j.evenWithout)
}

// Exactly is true when the messages matched m1, m2, … one by one, and there
// were no others.
func Exactly(ms ...any) types.GomegaMatcher {
	list := asMatchers(ms)
	w := newWord(statistic, call("Exactly", "", ms), arguments{})
	for _, m := range list {
		w.check(m)
	}
	w.judge = func() judge { return &exactly{leaf: leaf{text: w.text}, ms: list} }
	return w
}

type exactly struct {
	leaf
	ms      []types.GomegaMatcher
	bad     bool
	tooMany bool // which nothing that was not seen could change
}

func (j *exactly) add(a *measure.Arrival) {
	if !j.takes(a) || j.bad {
		return
	}
	j.by = a.Order
	switch {
	case j.n > len(j.ms):
		j.bad, j.tooMany, j.note = true, true, fmt.Sprintf("message %d is one too many: %s", j.n, oneline.Print(a.Value))
	case a.Err == nil && !j.matches(j.ms[j.n-1], a):
		j.bad, j.note = true, fmt.Sprintf("message %d did not match: %s", j.n, mismatch(j.ms[j.n-1], a.Value))
	}
}

// restsOnStretch: a message that was missed may have been the one that matches.
func (j *exactly) restsOnStretch() {}

func (j *exactly) settled() verdict {
	if j.bad {
		return fails
	}
	return undecided
}

func (j *exactly) close(e ending) verdict {
	s := e(false)
	switch {
	case j.tooMany:
		return fails
	case j.bad:
		return j.doubt(fails, s, true, false)
	case j.n < len(j.ms):
		j.note = fmt.Sprintf("%s, %d were wanted", j.count(), len(j.ms))
		return j.doubt(fails, s, true, false)
	}
	return j.doubt(holds, s, true, false)
}

// FirstMessage is true when the first message of the stretch matches m.
func FirstMessage(m any) types.GomegaMatcher { return edge("FirstMessage", m, true) }

// LastMessage is true when the last message of the stretch matches m.
func LastMessage(m any) types.GomegaMatcher { return edge("LastMessage", m, false) }

func edge(name string, m any, first bool) *word {
	a := sortOut(name, []any{m})
	w := newWord(statistic, call(name, "", []any{m}), a)
	w.judge = func() judge { return &edgeJudge{leaf: leaf{text: w.text}, m: a.m, first: first} }
	return w
}

type edgeJudge struct {
	leaf
	m     types.GomegaMatcher
	first bool
	at    measure.Arrival
}

func (j *edgeJudge) add(a *measure.Arrival) {
	if j.takes(a) && (!j.first || j.n == 1) {
		j.at = *a
	}
}

func (j *edgeJudge) close(e ending) verdict {
	s := e(false)
	if err := s.Untrusted(); err != nil && (j.first || s.Cut != nil || j.n == 0) {
		return j.unknown(err) // losses lie before what was read, so they do not touch the last
	}
	if j.n == 0 {
		return j.unknown(nothing(s))
	}
	j.by = j.at.Order
	if j.at.Err != nil {
		return j.unknown(&measure.Inconclusive{Reason: "it does not decode: " + j.at.Err.Error()})
	}
	if j.matches(j.m, &j.at) {
		j.note = j.count() + ", it was " + oneline.Print(j.at.Value)
		return holds
	}
	j.note = j.count() + ", it did not match: " + mismatch(j.m, j.at.Value)
	return fails
}

// HaveCount is true when the number of messages matches m, a number or a
// matcher of an int. Zero messages count only with proof that somebody was there
// to publish, or with EvenWithoutPublisher.
func HaveCount(m any, opts ...SilenceOption) types.GomegaMatcher {
	args := []any{m}
	for _, o := range opts {
		args = append(args, o)
	}
	a := sortOut("HaveCount", args)
	w := &word{text: call("HaveCount", "", args), class: statistic, wrong: a.wrong}
	w.judge = func() judge { return &counter{leaf: leaf{text: w.text}, arguments: a, most: mostOf(a.m)} }
	return w
}

// mostOf is the count beyond which m cannot match any more, -1 if there is none.
func mostOf(m types.GomegaMatcher) int {
	var limit any
	switch m := m.(type) {
	case *equalNumber:
		limit = m.want
	case *gomega.BeNumericallyMatcher:
		if len(m.CompareTo) == 1 && (m.Comparator == "==" || m.Comparator == "<=" || m.Comparator == "<") {
			limit = m.CompareTo[0]
		}
	}
	if n, ok := limit.(int); ok {
		return n
	}
	return -1
}

type counter struct {
	leaf
	arguments
	most int
}

func (j *counter) add(a *measure.Arrival) {
	if j.takes(a) {
		j.by = a.Order
	}
}

func (j *counter) settled() verdict {
	if j.most >= 0 && j.n > j.most {
		return fails
	}
	return undecided
}

func (j *counter) close(e ending) verdict {
	s := e(false)
	if j.settled() == fails {
		return fails
	}
	ok, err := j.m.Match(j.n)
	if err != nil {
		j.bad = fmt.Errorf("%s: %w", j.text, err)
		return inconclusive
	}
	v := fails
	if ok {
		v = holds
	}
	return j.doubt(v, s, false, j.evenWithout)
}

// HaveFraction is true when the share of the messages that match m, from 0 to
// 1, matches n.
func HaveFraction(m, n any) types.GomegaMatcher {
	a := sortOut("HaveFraction", []any{m})
	w := newWord(statistic, call("HaveFraction", "", []any{m, n}), a)
	w.judge = func() judge {
		matched := 0
		j := newStat(w.text, n)
		j.add1 = func(a2 *measure.Arrival) error {
			if j.matches(a.m, a2) {
				matched++
			}
			return nil
		}
		j.result = func(s measure.Stretch) (any, string, error) {
			if j.n == 0 {
				return nil, "", nothing(s)
			}
			return float64(matched) / float64(j.n), fmt.Sprintf("%d of %d matched", matched, j.n), nil
		}
		return j
	}
	return w
}
