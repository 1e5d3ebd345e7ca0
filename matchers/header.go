package matchers

import (
	"fmt"
	"reflect"
	"time"

	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/measure"
)

// HaveFrame is a matcher of a message in the frame: that of its Header, or of a
// header itself.
func HaveFrame(frame string) types.GomegaMatcher {
	return &valueMatcher{question: &inFrame{frame, part{who: fmt.Sprintf("HaveFrame(%q)", frame), noun: "frame",
		names: []string{"Header", "FrameID"}, is: func(t reflect.Type) ([][]int, bool) { return nil, t.Kind() == reflect.String }}}}
}

type inFrame struct {
	frame string
	part  part
}

func (m *inFrame) String() string { return fmt.Sprintf("frame %q", m.frame) }

func (m *inFrame) check(t reflect.Type) error {
	_, err := m.part.in(t)
	return err
}

func (m *inFrame) ask(v any) (bool, error) {
	at, _, _, err := m.part.of(v)
	return err == nil && at.IsValid() && at.String() == m.frame, err
}

func (m *inFrame) near(any) float64 { return 0 }

func (m *inFrame) explain(v any, where string) []string {
	at, pl, absent, err := m.part.of(v)
	switch {
	case err != nil:
		return line(where, "%v", err)
	case absent != "":
		return line(where, "%s", absent)
	}
	return line(join(where, pl.path.text), "got %q, want %q", at.String(), m.frame)
}

// HaveStampGaps is true when each step of the stamp from one message to the next
// matches m, which gets a time.Duration: the stamp of the Header, or the message's
// own under the names Stamp and Clock, as in rosgraph_msgs/Clock. A stamp that
// stands still or goes back fails whatever m is. Under two messages it is
// inconclusive.
func HaveStampGaps(m any) types.GomegaMatcher {
	a := sortOut("HaveStampGaps", []any{m})
	w := &word{text: call("HaveStampGaps", "", []any{m}), class: statistic, wrong: a.wrong}
	at := &part{who: w.text, noun: "stamp", names: []string{"Header", "Stamp", "Clock"},
		is: func(t reflect.Type) ([][]int, bool) { return nil, isTime(t) }}
	w.needs = append(w.needs, func(t reflect.Type) error {
		if t.Kind() == reflect.Interface {
			return nil
		}
		_, err := at.in(t)
		return err
	})
	w.judge = func() judge { return &stampGaps{leaf: leaf{text: w.text, steady: true}, m: a.m, part: at} }
	return w
}

type stampGaps struct {
	leaf
	m    types.GomegaMatcher
	part *part

	last      stamp
	publisher measure.PublisherID
	follows   bool // the next message is the one after last
	gaps      int
	violated  bool

	shortest, longest time.Duration
}

func (j *stampGaps) add(a *measure.Arrival) {
	if !j.takes(a) || j.violated {
		return
	}
	if a.Err != nil || a.Value == nil {
		j.follows = false
		return
	}
	v, _, absent, err := j.part.of(a.Value)
	switch {
	case err != nil:
		j.bad = fmt.Errorf("%s: message %d: %w", j.text, j.n, err)
		return
	case absent != "":
		j.violate(a, "message %d has no stamp: %s", j.n, absent)
		return
	}
	s := stampOf(v)
	if j.follows {
		j.step(a, s)
	}
	j.last, j.publisher, j.follows = s, a.Publisher, true
}

// step judges one gap.
func (j *stampGaps) step(a *measure.Arrival, s stamp) {
	gap := s.since(j.last)
	if j.gaps++; j.gaps == 1 {
		j.shortest, j.longest = gap, gap
	}
	j.shortest, j.longest = min(j.shortest, gap), max(j.longest, gap)
	other := ""
	if a.Publisher != j.publisher {
		other = "; another publisher sent it"
	}
	switch {
	case s.zero() && j.last.zero():
		j.violate(a, "the stamps of messages %d and %d are zero, as if never set%s", j.n-1, j.n, other)
	case s.zero():
		j.violate(a, "the stamp of message %d is zero, as if never set%s", j.n, other)
	case gap == 0:
		j.violate(a, "the stamp of message %d stands still at %v%s", j.n, s, other)
	case gap < 0:
		j.violate(a, "the stamp of message %d goes back by %v, to %v%s", j.n, -gap, s, other)
	default:
		ok, err := j.m.Match(gap)
		if err != nil {
			j.bad = fmt.Errorf("%s cannot judge %v: %w", j.text, gap, err)
		}
		if ok || err != nil {
			return
		}
		if j.last.zero() {
			other += fmt.Sprintf("; that of message %d is zero, as if never set", j.n-1)
		}
		j.violate(a, "the stamp of message %d is %v after the one before, want %s%s", j.n, gap, wanted(j.m), other)
	}
}

func (j *stampGaps) violate(a *measure.Arrival, format string, args ...any) {
	j.violated, j.by = true, a.Order
	j.note = fmt.Sprintf(format, args...)
}

func (j *stampGaps) lost() { j.follows = false }

func (j *stampGaps) settled() verdict {
	if j.violated {
		return fails
	}
	return undecided
}

func (j *stampGaps) close(e ending) verdict {
	if j.violated {
		return fails
	}
	s := e(true)
	if err := s.UntrustedContent(j.undecoded); err != nil {
		return j.unknown(err)
	}
	switch j.n {
	case 0:
		return j.unknown(nothing(s))
	case 1:
		return j.unknown(&measure.Inconclusive{Reason: fmt.Sprintf("one message arrived on %s, which makes no gap", s.Topic), Remedy: "watch longer"})
	}
	j.note = fmt.Sprintf("gaps of %v", j.longest)
	if j.shortest < j.longest {
		j.note = fmt.Sprintf("gaps from %v to %v", j.shortest, j.longest)
	}
	return holds
}
