package matchers

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/measure"
)

// verdict is what a judge says of a stretch of traffic.
type verdict uint8

const (
	undecided verdict = iota
	holds
	fails
	// inconclusive: what was not observed could have made it the other.
	inconclusive
)

func (v verdict) String() string {
	return [...]string{"undecided", "held", "failed", "inconclusive"}[v]
}

// judge judges one stretch, message after message.
type judge interface {
	// begin says where the stretch begins, before anything else.
	begin(b beginning)
	// add takes the next message. lost says that messages before the next were
	// dropped by the log.
	add(a *measure.Arrival)
	lost()
	// settled is holds or fails once nothing that may come can change it.
	settled() verdict
	// soFar is holds while it holds as a condition: what Within waits for.
	soFar() verdict
	// due is the next instant at which it could be settled by nothing coming, zero
	// when there is none; passed says that the instant is over.
	due() time.Time
	passed(at time.Time)
	// close is the verdict on the whole stretch, never undecided.
	close(e ending) verdict
	// misuse is what was wrong with the question itself.
	misuse() error
	// decided is the place of the message that decided, 0 for none.
	decided() uint64
	// want says what was asked for, found what there was.
	want() string
	found() string
	// why says what was not observed when the verdict is inconclusive.
	why() *measure.Inconclusive
	// starts says which starts it judges from.
	starts() (quiet, steady bool)
	// seeks is the matcher that one more message would have to match, nil when
	// that is not what it waits for.
	seeks() types.GomegaMatcher
}

// beginning is where a stretch begins.
type beginning struct {
	quiet, steady harness.Mark
	// from is what the length of a wait is counted from.
	from time.Time
	// held is the newest message before the stretch if none of it had come at the
	// call; nil when there is none.
	held *measure.Arrival
}

// ending is what is known of a stretch at its end, seen from either start.
type ending func(steady bool) measure.Stretch

// leaf is what judges of messages have in common.
type leaf struct {
	steady bool // counts from where statistics do
	text   string
	mark   harness.Mark
	from   time.Time

	n         int // messages of its stretch
	undecoded int
	badBytes  error // why the first of them did not decode
	by        uint64
	bad       error
	reason    *measure.Inconclusive
	note      string // found, when it was decided
}

func (l *leaf) begin(b beginning) {
	l.from = b.from
	if l.mark = b.quiet; l.steady {
		l.mark = b.steady
	}
}

// takes counts a message if it belongs to the judge's stretch.
func (l *leaf) takes(a *measure.Arrival) bool {
	if !l.mark.Precedes(a.Order, a.Received) {
		return false
	}
	l.n++
	if a.Err != nil {
		if l.undecoded++; l.undecoded == 1 {
			l.badBytes = a.Err
		}
	}
	return true
}

// matches asks m about a message; what does not decode matches nothing.
func (l *leaf) matches(m types.GomegaMatcher, a *measure.Arrival) bool {
	if a.Err != nil {
		return false
	}
	if m == nil {
		return true
	}
	ok, err := m.Match(a.Value)
	if err != nil && l.bad == nil {
		l.bad = fmt.Errorf("%s cannot judge a message of %s: %w", describe(m), a.Topic, err)
	}
	return ok && err == nil
}

func (l *leaf) lost()                        {}
func (l *leaf) settled() verdict             { return undecided }
func (l *leaf) soFar() verdict               { return undecided }
func (l *leaf) due() time.Time               { return time.Time{} }
func (l *leaf) passed(time.Time)             {}
func (l *leaf) misuse() error                { return l.bad }
func (l *leaf) decided() uint64              { return l.by }
func (l *leaf) want() string                 { return l.text }
func (l *leaf) why() *measure.Inconclusive   { return l.reason }
func (l *leaf) starts() (quiet, steady bool) { return !l.steady, l.steady }
func (l *leaf) seeks() types.GomegaMatcher   { return nil }

func (l *leaf) found() string {
	if l.note != "" {
		return l.note
	}
	return l.count()
}

func (l *leaf) count() string {
	s := messages(l.n)
	if l.undecoded > 0 {
		s += fmt.Sprintf(", %d did not decode (first: %v)", l.undecoded, l.badBytes)
	}
	return s
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// doubt turns a verdict that rests on what did not arrive into inconclusive
// where that may have been our not seeing it.
func (l *leaf) doubt(v verdict, s measure.Stretch, content bool, evenWithoutPublisher bool) verdict {
	undecoded := 0
	if content {
		undecoded = l.undecoded
	}
	silent := l.n == 0 && !evenWithoutPublisher
	if err := s.UntrustedContent(undecoded); err != nil {
		// That nobody publishes explains more than that we came late to it.
		if late := new(measure.Inconclusive); silent && s.Life.State == measure.LifeNone && errors.As(s.Cut, &late) {
			return l.unknown(noLife(s))
		}
		return l.unknown(err)
	}
	if silent && s.Life.State != measure.LifeShown {
		return l.unknown(noLife(s))
	}
	return v
}

// silence is doubt for a verdict of silence, which needs life whether or not
// other messages came.
func (l *leaf) silence(v verdict, s measure.Stretch, content, evenWithoutPublisher bool) verdict {
	if v = l.doubt(v, s, content, evenWithoutPublisher); v != inconclusive && !evenWithoutPublisher && s.Life.State != measure.LifeShown {
		return l.unknown(noLife(s))
	}
	return v
}

func (l *leaf) unknown(err error) verdict {
	if !errors.As(err, &l.reason) {
		l.reason = &measure.Inconclusive{Reason: err.Error(), Err: err}
	}
	return inconclusive
}

func noLife(s measure.Stretch) error {
	sign := ""
	if s.Life.Sign != "" {
		sign = ": " + s.Life.Sign
	}
	if s.Requests {
		reason := fmt.Sprintf("no request arrived on %s, and whether anybody was there to call is not known%s", s.Topic, sign)
		if s.Life.State == measure.LifeNone {
			reason = fmt.Sprintf("no request arrived on %s and nobody was there to call%s", s.Topic, sign)
		}
		return &measure.Inconclusive{Reason: reason,
			Remedy: "start the client, check the name and type of the service, or say EvenWithoutPublisher() if nobody need be there"}
	}
	if s.Life.State == measure.LifeNone {
		return &measure.Inconclusive{Reason: fmt.Sprintf("nothing arrived on %s and nobody was there to publish%s", s.Topic, sign),
			Remedy: "start the publisher and wait for it with WaitForPublishers, check the name, type and QoS of the topic, or say EvenWithoutPublisher() if nobody need be there"}
	}
	return &measure.Inconclusive{Reason: fmt.Sprintf("nothing arrived on %s, and whether anybody was there to publish is not known%s", s.Topic, sign),
		Remedy: "show that the publisher lives (start it with fixtures.Process, or let it declare a liveliness token), or say EvenWithoutPublisher() if nobody need be there"}
}

// The judges of And, Or and Not: three-valued logic on one stretch.

type allOf struct{ kids []judge }

type anyOf struct{ allOf }

type not struct{ judge }

func (j allOf) each(f func(judge)) {
	for _, k := range j.kids {
		f(k)
	}
}

func (j allOf) begin(b beginning)      { j.each(func(k judge) { k.begin(b) }) }
func (j allOf) add(a *measure.Arrival) { j.each(func(k judge) { k.add(a) }) }
func (j allOf) lost()                  { j.each(judge.lost) }
func (j allOf) passed(at time.Time) {
	j.each(func(k judge) {
		if d := k.due(); !d.IsZero() && !d.After(at) {
			k.passed(at)
		}
	})
}

func (j allOf) due() (first time.Time) {
	j.each(func(k judge) {
		if d := k.due(); !d.IsZero() && (first.IsZero() || d.Before(first)) {
			first = d
		}
	})
	return first
}

func (j allOf) starts() (quiet, steady bool) {
	j.each(func(k judge) {
		q, s := k.starts()
		quiet, steady = quiet || q, steady || s
	})
	return quiet, steady
}

func (j allOf) misuse() error {
	for _, k := range j.kids {
		if err := k.misuse(); err != nil {
			return err
		}
	}
	return nil
}

func (j allOf) decided() (by uint64) {
	j.each(func(k judge) { by = max(by, k.decided()) })
	return by
}

// all and one are the two folds: of And over fails, of Or over holds.
func fold(kids []judge, of func(judge) verdict, decisive verdict) verdict {
	other := holds + fails - decisive
	v := other
	for _, k := range kids {
		switch of(k) {
		case decisive:
			return decisive
		case undecided:
			v = undecided
		case inconclusive:
			if v == other {
				v = inconclusive
			}
		}
	}
	return v
}

func (j allOf) settled() verdict { return fold(j.kids, judge.settled, fails) }
func (j allOf) soFar() verdict   { return fold(j.kids, judge.soFar, fails) }
func (j anyOf) settled() verdict { return fold(j.kids, judge.settled, holds) }
func (j anyOf) soFar() verdict   { return fold(j.kids, judge.soFar, holds) }

func (j allOf) close(e ending) verdict { return fold(j.closed(e), judge.settled, fails) }
func (j anyOf) close(e ending) verdict { return fold(j.closed(e), judge.settled, holds) }

// closed closes every kid, so that each has something to say.
func (j allOf) closed(e ending) []judge {
	out := make([]judge, len(j.kids))
	for i, k := range j.kids {
		out[i] = final{k, k.close(e)}
	}
	return out
}

// final is a judge that has closed.
type final struct {
	judge
	v verdict
}

func (f final) settled() verdict { return f.v }

func (j allOf) want() string { return joined(j.kids, " and ") }
func (j anyOf) want() string { return joined(j.kids, " or ") }

func joined(kids []judge, word string) string {
	var s []string
	for _, k := range kids {
		s = append(s, k.want())
	}
	return strings.Join(s, word)
}

func (j allOf) found() string {
	var s []string
	for _, k := range j.kids {
		s = append(s, fmt.Sprintf("%s: %s", k.want(), k.found()))
	}
	return strings.Join(s, "\n")
}

func (j allOf) why() *measure.Inconclusive {
	for _, k := range j.kids {
		if w := k.why(); w != nil {
			return w
		}
	}
	return nil
}

// seeks is the only thing still missing, if it is only one.
func (j allOf) seeks() types.GomegaMatcher {
	var m types.GomegaMatcher
	for _, k := range j.kids {
		if k.soFar() == holds {
			continue
		}
		s := k.seeks()
		if s == nil || m != nil {
			return nil
		}
		m = s
	}
	return m
}

func opposite(v verdict) verdict {
	switch v {
	case holds:
		return fails
	case fails:
		return holds
	}
	return v
}

func (j not) settled() verdict           { return opposite(j.judge.settled()) }
func (j not) soFar() verdict             { return opposite(j.judge.soFar()) }
func (j not) close(e ending) verdict     { return opposite(j.judge.close(e)) }
func (j not) want() string               { return "not " + j.judge.want() }
func (j not) seeks() types.GomegaMatcher { return nil }
