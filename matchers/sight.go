package matchers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// graphOutcome is how one Match on a graph ended: what its messages are made of.
type graphOutcome struct {
	view   *harness.View
	c      types.GomegaMatcher
	state  transports.Graph // the one that decided, else the last
	found  string           // what there was in it, where c is one word
	polled bool             // by Gomega

	// Of a wait only.
	obs    *harness.Observation
	mode   harness.Mode
	d      time.Duration
	v      verdict
	at     time.Time // of state
	states int
	why    error
}

// onGraph waits on the states of a graph, of which the first is the one in force
// at the call.
func (w *wait) onGraph(v *harness.View) (*graphOutcome, error) {
	if err := ofGraph(w.c); err != nil {
		return nil, err
	}
	obs, err := v.Observe(w.mode, w.d)
	if err != nil {
		return nil, withAsked(err, w.text)
	}
	defer obs.Close()
	o := &graphOutcome{view: v, c: w.c, obs: obs, mode: w.mode, d: w.d}
	for arrivals, state := obs.Before(1), harness.Arrived; ; arrivals, state = obs.Next(time.Time{}) {
		for _, a := range arrivals {
			ok, err := w.c.Match(a.Value)
			if err != nil {
				return nil, err
			}
			o.states++
			o.state, o.at = a.Value.(transports.Graph), a.Received
			if ok && w.mode == harness.Effect {
				o.v = holds
				return o, nil
			}
			if !ok && w.mode == harness.Watch {
				o.v = fails
				return o, nil
			}
		}
		switch {
		case state == harness.Arrived:
			continue
		case state == harness.Cut:
			o.why, o.v = obs.Err(), inconclusive
		case obs.Missed() > 0:
			o.why, o.v = fmt.Errorf("%d states of it were dropped by the log before they could be judged", obs.Missed()), inconclusive
		case w.mode == harness.Watch:
			o.v = holds
		default:
			o.v = fails
		}
		return o, nil
	}
}

// verdict is what Match returns.
func (o *graphOutcome) verdict(asked string) (bool, error) {
	if o.v != inconclusive {
		return o.v == holds, nil
	}
	lines := append([]string{"the graph was not seen to the end of the stretch: " + o.why.Error(), row("asked", asked)}, o.facts()...)
	return false, &measure.Inconclusive{Reason: strings.Join(lines, "\n"), Err: o.why,
		Remedy: "find out why; a change that was not seen could have made the verdict another"}
}

// withAsked adds what was asked to an inconclusive error.
func withAsked(err error, asked string) error {
	var why *measure.Inconclusive
	if !errors.As(err, &why) {
		return err
	}
	with := *why
	with.Reason += "\n" + row("asked", asked)
	return &with
}

// ofGraph is what is wrong with asking a matcher of the states of a graph.
func ofGraph(m types.GomegaMatcher) error {
	switch m := m.(type) {
	case *word:
		return fmt.Errorf("%s judges messages, and a graph has none; say HaveNode, HavePublishers, HaveSubscribers, HaveService or MatchGraph of it", m.text)
	case *wait:
		return fmt.Errorf("%s is a wait in a wait; %s", m.text, m.hint())
	}
	for _, k := range kidsOf(m) {
		if err := ofGraph(k); err != nil {
			return err
		}
	}
	return nil
}

// words are the words on the graph that m is made of.
func words(m types.GomegaMatcher) (out []*graphWord) {
	if w, ok := m.(*graphWord); ok {
		return []*graphWord{w}
	}
	for _, k := range kidsOf(m) {
		out = append(out, words(k)...)
	}
	return out
}

// message is the failure message, in about 25 lines at most.
func (o *graphOutcome) message(actual any, expected string) string {
	s := fmt.Sprintf("Expected\n    %s\n%s", subject(actual), expected)
	if o == nil { // asked by a progress report while the wait goes on
		return s + "\n(the wait has not ended)"
	}
	lines := slices.Concat([]string{s, ""}, o.facts(), o.explain())
	return strings.Join(lines, "\n")
}

// facts are what there was, and in which stretch.
func (o *graphOutcome) facts() (out []string) {
	found := o.there()
	if o.obs == nil {
		return []string{row("found", found)}
	}
	tl := o.obs.Timeline()
	from := "the call at " + tl.Since(o.obs.Call.Time())
	if o.obs.Counted != "the call" {
		from = fmt.Sprintf("%s; %s", o.obs.Counted, from)
	}
	return []string{
		row("found", fmt.Sprintf("since %s: %s", tl.Since(o.at), found)),
		row("counted from", from),
		row("until", fmt.Sprintf("%s, %v after %s", tl.Since(o.obs.End), o.obs.End.Sub(o.obs.From), tl.Since(o.obs.From))),
		row("states", fmt.Sprintf("%d seen, the one at the call included", o.states)),
	}
}

// there says what there was, of what the words ask about.
func (o *graphOutcome) there() string {
	if o.found != "" {
		return o.found
	}
	ws := words(o.c)
	var lines []string
	for _, w := range ws {
		_, found, err := w.ask(o.state)
		if err != nil {
			found = err.Error()
		}
		if len(ws) > 1 {
			found = w.text + ": " + found
		}
		lines = append(lines, found)
	}
	if len(lines) == 0 {
		return mismatch(o.c, o.state)
	}
	return strings.Join(lines, "\n")
}

// explain is the cause, as far as it can be known.
func (o *graphOutcome) explain() (out []string) {
	tl := o.view.Timeline()
	if late := o.late(); late != "" {
		return []string{row("cause", late)}
	}
	asked := words(o.c)
	var causes []string
	for _, w := range asked {
		if ok, _, err := w.ask(o.state); err == nil && !ok {
			if why := w.why(o.view); why != "" && !slices.Contains(causes, why) {
				causes = append(causes, why)
			}
		}
	}
	if len(causes) > 0 {
		out = append(out, row("cause", strings.Join(causes, "\n")))
	}
	var changes []string
	for _, c := range o.view.Changes() {
		if slices.ContainsFunc(asked, func(w *graphWord) bool { return w.about(c) }) {
			changes = append(changes, fmt.Sprintf("%s %s", tl.Since(c.At.Time()), c))
		}
	}
	const most = 5
	if n := len(changes) - most; n > 0 {
		changes = append([]string{fmt.Sprintf("%d before", n)}, changes[n:]...)
	}
	if len(changes) > 0 {
		out = append(out, row("changes", strings.Join(changes, "\n")))
	}
	return out
}

// late looks a little beyond the end for a state that is as wanted.
func (o *graphOutcome) late() string {
	switch {
	case o.polled:
		if now, err := o.view.Now(); err == nil {
			if ok, err := o.c.Match(now); ok && err == nil {
				return "it is true now, but came after the last poll, which is the last look Gomega takes (Within looks to the end)"
			}
		}
	case o.obs != nil && o.mode == harness.Effect && o.v == fails:
		if a, ok := o.obs.Afterwards(grace(o.d), func(a measure.Arrival) bool { return matchesValue(o.c, a) }); ok {
			return fmt.Sprintf("it came true, but %v late, at %s",
				a.Received.Sub(o.obs.End).Round(time.Microsecond), o.obs.Timeline().Since(a.Received))
		}
	}
	return ""
}
