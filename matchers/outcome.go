package matchers

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/oneline"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

var anyType = reflect.TypeFor[any]()

// outcome is how one Match ended: what its messages are made of.
type outcome struct {
	judge  judge
	v      verdict
	d      time.Duration
	polled bool                 // by Gomega, which stopped asking at obs.End
	obs    *harness.Observation // live
	window *measure.Window      // or recorded
}

// verdict is what Match returns.
func (o *outcome) verdict(asked string, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	if o.v == inconclusive {
		return false, o.inconclusive(asked)
	}
	return o.v == holds, nil
}

// inconclusive is the error of the third verdict, with what there was.
func (o *outcome) inconclusive(asked string) error {
	why := o.judge.why()
	if why == nil {
		why = &measure.Inconclusive{Reason: "the judge gave no reason"}
	}
	e := *why
	var link *transports.LinkError
	switch {
	case e.Remedy != "":
	case errors.As(why.Err, &link):
		e.Remedy = "find out why the link died; nothing after it was seen"
	default:
		e.Remedy = "see below what was not observed"
	}
	lines := append([]string{e.Reason, row("asked", asked)}, o.facts()...)
	if o.obs != nil && o.obs.Wire && o.obs.Seen() == 0 && o.obs.Stretch(false).Life.State == measure.LifeNone {
		lines = append(lines, row("cause", o.obs.Silence()))
	}
	e.Reason = strings.Join(lines, "\n")
	return &e
}

// note leaves the verdict in the evidence.
func (o *outcome) note(w *wait) {
	o.obs.Timeline().Note(o.v.String()+":", w.text+" on "+o.obs.Topic, o.judge.found())
}

// message is the failure message, in about 25 lines at most.
func (o *outcome) message(actual any, expected string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Expected\n    %s\n%s", subject(actual), expected)
	if o == nil { // asked by a progress report while the wait goes on
		b.WriteString("\n(the wait has not ended)")
		return b.String()
	}
	b.WriteString("\n")
	for _, line := range o.facts() {
		b.WriteString("\n" + line)
	}
	for _, line := range o.explain() {
		b.WriteString("\n" + line)
	}
	return b.String()
}

func subject(actual any) string {
	if g, ok := actual.(interface{ GomegaString() string }); ok {
		return g.GomegaString()
	}
	return strings.TrimSpace(format.Object(actual, 1))
}

// row prints a labelled line; further lines of text are indented below it.
func row(label, text string) string {
	return fmt.Sprintf("%-13s %s", label+":", strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 14)))
}

// facts are where it counted from, the window, counts and losses.
func (o *outcome) facts() []string {
	out := []string{row("found", o.judge.found())}
	if o.obs == nil {
		w := o.window
		s := fmt.Sprintf("%s in %v", messages(w.Len()), w.Duration())
		if w.Dropped > 0 {
			s += fmt.Sprintf(", %d dropped by us", w.Dropped)
		}
		return append(out, row("window", s))
	}
	ob, tl := o.obs, o.obs.Timeline()
	out = append(out, row("counted from", o.from()))
	if o.polled {
		out = append(out, row("until", "the last poll at "+tl.Since(ob.End)))
	} else {
		out = append(out, row("until", fmt.Sprintf("%s, %v after %s", tl.Since(ob.End), ob.End.Sub(ob.From), tl.Since(ob.From))))
	}
	s := fmt.Sprintf("%d in the stretch, %d dropped by us; %d since the subscription began", ob.Seen(), ob.Missed(), ob.Received())
	out = append(out, row("messages", s))
	err := ob.Err()
	if err == nil && errors.Is(ob.Ended(), harness.ErrEnded) {
		err = ob.Ended()
	}
	if err != nil {
		out = append(out, row("ended", err.Error()))
	}
	return out
}

// from says where it counted from: absence, count and order may begin before
// statistics.
func (o *outcome) from() string {
	tl := o.obs.Timeline()
	quiet := fmt.Sprintf("%s, %s", o.obs.Counted, o.obs.Start)
	steady := "the call at " + tl.Since(o.obs.Call.Time())
	if o.obs.Steady == o.obs.Quiet && o.obs.Steady != o.obs.Call {
		return quiet
	}
	switch fromQuiet, fromSteady := o.judge.starts(); {
	case o.obs.Quiet == o.obs.Steady || !fromQuiet:
		return steady
	case !fromSteady:
		return quiet
	default:
		return fmt.Sprintf("%s (absence, count, order)\n%s (statistics, EveryMessage)", quiet, steady)
	}
}

// explain is the cause, as far as it can be known.
func (o *outcome) explain() (out []string) {
	m := o.judge.seeks()
	if o.obs == nil || o.v == inconclusive {
		return nil
	}
	if o.v == holds { // it was not to hold
		if by := o.judge.decided(); by > 0 && by < o.obs.Call.Order() {
			out = append(out, row("note", fmt.Sprintf("the message that decided came before the call; Within counts everything since %s.\nTo ask about what comes from now on, say Over(d, NoMessage(…)).", o.obs.Counted)))
		}
		return out
	}
	if m == nil { // it may be the cause of a count, and is none of a violation
		return o.left("note")
	}
	if near, ok := o.closest(m); ok {
		out = append(out, row("closest", fmt.Sprintf("at %s: %s", o.obs.Timeline().Since(near.Received), mismatch(m, near.Value))))
	}
	if late, ok := o.obs.Afterwards(grace(o.d), func(a measure.Arrival) bool { return matchesValue(m, a) }); ok {
		how := "late"
		if o.polled {
			how = "after the last poll, which is the last look Gomega takes (ReceiveWithin looks to the end)"
		}
		out = append(out, row("cause", fmt.Sprintf("a message matched, but %v %s, at %s: %s",
			late.Received.Sub(o.obs.End).Round(time.Microsecond), how, o.obs.Timeline().Since(late.Received), oneline.Print(late.Value))))
		return out
	}
	for _, a := range o.obs.Before(1000) {
		if o.obs.Start.Time().Sub(a.Received) > o.d {
			break // of another step: it explains nothing
		}
		if matchesValue(m, a) {
			out = append(out, row("cause", fmt.Sprintf("a matching message came %v before %s, at %s.\nTo count it, take the mark before its cause: x.After(mark), or x.FromStart().",
				o.obs.Start.Time().Sub(a.Received).Round(time.Microsecond), o.obs.Start.Cause(), o.obs.Timeline().Since(a.Received))))
			return out
		}
	}
	label := "cause"
	switch {
	case errors.Is(o.obs.Ended(), harness.ErrEnded):
		return out
	case o.obs.Seen() == 0:
		out, label = append(out, row("cause", o.obs.Silence())), "note"
	default:
		if who := o.left("cause"); who != nil {
			out, label = append(out, who...), "note"
		}
	}
	if unheard := o.obs.Unheard(); unheard != "" {
		out = append(out, row(label, unheard))
	}
	return out
}

// left says who could have published more, but left the graph meanwhile.
func (o *outcome) left(label string) []string {
	if who := o.obs.Left(); o.obs.Wire && who != "" {
		return []string{row(label, who)}
	}
	return nil
}

// grace is how long a failure waits to see whether a match is only late.
func grace(d time.Duration) time.Duration {
	return min(max(d/2, 100*time.Millisecond), 500*time.Millisecond)
}

func matchesValue(m types.GomegaMatcher, a measure.Arrival) bool {
	if a.Err != nil {
		return false
	}
	ok, err := m.Match(a.Value)
	return ok && err == nil
}

// closest is the message of the stretch that comes nearest to matching; of
// equals the newest.
func (o *outcome) closest(m types.GomegaMatcher) (best measure.Arrival, ok bool) {
	most := -1.0
	for a := range o.obs.Again {
		if a.Err != nil {
			continue
		}
		if c := closeness(m, a.Value); c < 1 && c >= most {
			best, most, ok = a, c, true
		}
	}
	return best, ok
}
