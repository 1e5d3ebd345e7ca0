package measure

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Untrusted is nil when the stretch was seen as a whole, and else an
// *Inconclusive that says why no statistic of it means anything: it was cut,
// or messages were lost by us.
func (s Stretch) Untrusted() error {
	if s.Cut != nil {
		e := &Inconclusive{Reason: fmt.Sprintf("%swas not observed as a whole: %v", s.on(), s.Cut), Err: s.Cut}
		var cut *Inconclusive
		if errors.As(s.Cut, &cut) {
			e.Reason, e.Remedy = s.on()+"was not observed as a whole: "+cut.Reason, cut.Remedy
		}
		return e
	}
	if s.Dropped > 0 {
		return &Inconclusive{
			Reason: fmt.Sprintf("%slost %s in our own log before judging", s.on(), messages(s.Dropped)),
			Remedy: "give the log more room or judge a shorter stretch",
		}
	}
	return nil
}

// UntrustedContent is Untrusted for statistics of what the messages say:
// undecoded messages, whose content nobody knows, weaken them too.
func (s Stretch) UntrustedContent(undecoded int) error {
	if err := s.Untrusted(); err != nil {
		return err
	}
	if undecoded > 0 {
		return s.undecodable(undecoded)
	}
	return nil
}

// UntrustedContent is Stretch.UntrustedContent with the window's own
// undecodable messages, and with why the first of them did not decode.
func (w *Window) UntrustedContent() error {
	if err := w.Untrusted(); err != nil || w.undecoded == 0 {
		return err
	}
	e := w.undecodable(w.undecoded)
	first := slices.IndexFunc(w.arrivals, func(a Arrival) bool { return a.Err != nil })
	e.Err = w.arrivals[first].Err
	e.Reason += fmt.Sprintf("; the first is message %d: %v", first, e.Err)
	return e
}

func (s Stretch) undecodable(n int) *Inconclusive {
	return &Inconclusive{Reason: fmt.Sprintf("%shas %s that did not decode, so the values are not all known", s.on(), messages(n)),
		Remedy: "make publisher and subscription agree on the type, or ask for what needs no content, such as a count or a rate"}
}

// unbounded is an *Inconclusive when the stretch has no usable bounds.
func (s Stretch) unbounded() error {
	if s.From.IsZero() || s.To.IsZero() {
		return &Inconclusive{Reason: s.on() + "has no bounds, so nobody knows how long it was silent before and after its messages"}
	}
	if s.To.Before(s.From) {
		return &Inconclusive{Reason: fmt.Sprintf("%sends %v before it begins", s.on(), s.From.Sub(s.To))}
	}
	return nil
}

// on begins a sentence about the stretch.
func (s Stretch) on() string {
	if s.Topic == "" {
		return "the stretch "
	}
	return "the stretch of " + s.Topic + " "
}

// stamp prints an instant in error messages.
func stamp(t time.Time) string { return t.Format(time.RFC3339Nano) }
