package matchers

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/oneline"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// awaited is an expectation on something that ends once: a call, a process.
type awaited struct {
	text   string
	d      time.Duration
	expect string
	wrong  error
	// judge says whether an outcome that came in time is the one expected, and
	// what it was.
	judge func(harness.Outcome) (ok bool, found string, err error)

	last atomic.Pointer[awaitedOutcome]
}

const notEnded = "nothing: it had not ended then, nor a little later"

type awaitedOutcome struct {
	from  harness.Mark
	end   time.Time
	found string
}

// ReplyWithin passes when the call is answered within d of being sent, by the
// receive stamp of the reply, and the reply matches m. That nobody serves, or
// that the link died, is inconclusive.
func ReplyWithin(d time.Duration, m ...any) types.GomegaMatcher {
	a := sortOut("ReplyWithin", m)
	w := newAwaited(call("ReplyWithin", d.String(), m), d, fmt.Sprintf("to be answered within %v", d), a.wrong)
	if a.m != nil {
		w.expect += " with " + wanted(a.m)
	}
	w.judge = func(o harness.Outcome) (bool, string, error) {
		if o.Err != nil {
			return false, "the call failed: " + o.Err.Error(), unobserved(o.Err)
		}
		if a.m == nil {
			return true, "the reply was " + oneline.Print(o.Value), nil
		}
		ok, err := a.m.Match(o.Value)
		if err != nil {
			return false, "", fmt.Errorf("%s cannot judge the reply: %w", describe(a.m), err)
		}
		if !ok {
			return false, "the reply did not match: " + mismatch(a.m, o.Value), nil
		}
		return true, "the reply was " + oneline.Print(o.Value), nil
	}
	return w
}

// unobserved is why a failed call says nothing about its server, nil if it does.
func unobserved(err error) error {
	var link *transports.LinkError
	switch {
	case errors.Is(err, transports.ErrNoResponder):
		return &measure.Inconclusive{Reason: "nobody was there to answer", Err: err,
			Remedy: "start the server and wait for it with WaitForServer, find out why it ended, or check the service's name and type"}
	case errors.As(err, &link):
		return &measure.Inconclusive{Reason: err.Error(), Err: err, Remedy: "find out why the link died; no reply could have come after it"}
	case errors.Is(err, harness.ErrClosed):
		return &measure.Inconclusive{Reason: "the client was closed before a reply came", Err: err, Remedy: "keep the client open while the call is awaited"}
	}
	return nil
}

// FailWithin passes when the call fails within d of being sent, with an error
// that matches target: an error to be found by errors.Is, a text it contains, a
// matcher, or nil for any. A refusal by the server is a *transports.RemoteError.
func FailWithin(d time.Duration, target any) types.GomegaMatcher {
	w := newAwaited(call("FailWithin", d.String(), []any{target}), d, fmt.Sprintf("to fail within %v", d), nil)
	if target != nil {
		w.expect += " with " + describe(target)
	}
	w.judge = func(o harness.Outcome) (bool, string, error) {
		if o.Err == nil {
			return false, "it was answered with " + oneline.Print(o.Value), nil
		}
		found := "it failed: " + o.Err.Error()
		var link *transports.LinkError
		if errors.As(o.Err, &link) {
			return false, found, unobserved(o.Err)
		}
		switch t := target.(type) {
		case nil:
			return true, found, nil
		case error:
			return errors.Is(o.Err, t), found, nil
		case string:
			return strings.Contains(o.Err.Error(), t), found, nil
		case types.GomegaMatcher:
			ok, err := t.Match(o.Err)
			return ok, found, err
		}
		return false, found, fmt.Errorf("%s takes an error, a text, a matcher or nil", w.text)
	}
	return w
}

// ExitWithin passes when the process exits within d with a code that matches, a
// number or a matcher of an int; a death by signal n has the code −n. d counts
// from the last stimulus if no expectation followed it yet, such as the signal
// that is to end it, and else from the call.
func ExitWithin(d time.Duration, code any) types.GomegaMatcher {
	m := asMatcher(code)
	w := newAwaited(call("ExitWithin", d.String(), []any{code}), d, fmt.Sprintf("to exit within %v with code %s", d, wanted(m)), nil)
	w.judge = func(o harness.Outcome) (bool, string, error) {
		if o.Err != nil {
			return false, "it did not run: " + o.Err.Error(), nil //nolint:nilerr // a failure, not misuse
		}
		ok, err := m.Match(o.Value)
		return ok, fmt.Sprintf("it exited with code %v", o.Value), err
	}
	return w
}

func newAwaited(text string, d time.Duration, expect string, wrong error) *awaited {
	w := &awaited{text: text, d: d, expect: expect, wrong: wrong}
	if d <= 0 {
		w.wrong = fmt.Errorf("%s: the time must be positive", text)
	}
	return w
}

func (w *awaited) String() string { return w.text }

// Match waits. It ends early when the spec is over.
func (w *awaited) Match(actual any) (bool, error) {
	w.last.Store(nil)
	if err := refusePolling(w.text, fmt.Sprintf("Expect(x).To(%s)", w.text)); err != nil {
		return false, err
	}
	if w.wrong != nil {
		return false, w.wrong
	}
	a, ok := actual.(harness.Awaited)
	if !ok {
		return false, fmt.Errorf("%s expects a call or a process; it got\n%s", w.text, format.Object(actual, 1))
	}
	o, from, inTime, err := harness.Await(a, w.d)
	if err != nil {
		return false, err
	}
	out := &awaitedOutcome{from: from, end: from.Time().Add(w.d)}
	switch {
	case inTime:
		ok, out.found, err = w.judge(o)
	case o.Ended.IsZero():
		ok, out.found = false, notEnded
	default:
		var late string
		_, late, _ = w.judge(o)
		ok, out.found = false, fmt.Sprintf("%v late: %s", o.Ended.Time().Sub(out.end).Round(time.Microsecond), late)
	}
	verdict := fails
	var why *measure.Inconclusive
	switch {
	case errors.As(err, &why):
		verdict = inconclusive
		with := *why
		lines := []string{why.Reason, row("asked", w.text), row("of", subject(actual)), row("counted from", from.String())}
		if c, ok := a.(caller); ok && errors.Is(o.Err, transports.ErrNoResponder) {
			lines = append(lines, causeOf(c)...)
		}
		with.Reason = strings.Join(lines, "\n")
		err = &with
	case err != nil:
		verdict = inconclusive
	case ok:
		verdict = holds
	}
	found := out.found
	if found == notEnded {
		found = "it had not ended" // the look for a late end is taken for the message only
	}
	a.Timeline().Note(verdict.String()+":", w.text, found)
	w.last.Store(out)
	return ok, err
}

func (w *awaited) FailureMessage(actual any) string { return w.message(actual, w.expect) }

func (w *awaited) NegatedFailureMessage(actual any) string {
	return w.message(actual, "not "+w.expect)
}

func (w *awaited) message(actual any, expect string) string {
	s := fmt.Sprintf("Expected\n    %s\n%s", subject(actual), expect)
	o := w.last.Load()
	if o == nil {
		return s + "\n(the wait has not ended)"
	}
	found := o.found
	var cause []string
	if a, ok := actual.(harness.Awaited); ok && found == notEnded {
		if late, ended := lateOutcome(a, o.end, grace(w.d)); ended {
			_, what, _ := w.judge(late)
			found = fmt.Sprintf("%v late: %s", late.Ended.Time().Sub(o.end).Round(time.Microsecond), what)
		} else if c, ok := actual.(caller); ok {
			cause = causeOf(c)
		}
	}
	lines := append([]string{s, "", row("found", found), row("counted from", o.from.String())}, cause...)
	return strings.Join(lines, "\n")
}

// caller is a call, which can tell why it was not answered.
type caller interface{ Cause() string }

func causeOf(c caller) []string {
	if cause := c.Cause(); cause != "" {
		return []string{row("cause", cause)}
	}
	return nil
}

// lateOutcome waits a little to see whether it is only late.
func lateOutcome(a harness.Awaited, end time.Time, grace time.Duration) (harness.Outcome, bool) {
	timer := time.NewTimer(time.Until(end.Add(grace)))
	defer timer.Stop()
	select {
	case <-a.Ended():
	case <-timer.C:
	case <-a.Timeline().Context().Done():
	}
	return a.Outcome()
}

// MatchMayChangeInTheFuture is false: a wait is asked once.
func (w *awaited) MatchMayChangeInTheFuture(any) bool { return false }
