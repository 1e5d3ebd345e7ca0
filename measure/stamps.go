package measure

import (
	"fmt"
	"math"
	"time"
)

// maxStepBack is how far a receive stamp may lie before the newest one. Two
// readers that stamp and append side by side get out of order by a scheduling
// delay; more than this is a clock that was set back.
const maxStepBack = 100 * time.Millisecond

// stamps is what the statistics of receive stamps share. A stamp before the
// newest one counts as the newest, which can only lengthen a gap.
type stamps struct {
	n           int
	first, last time.Time // the lowest and the highest so far
	begin       time.Time // that of the first message

	back      time.Duration // the longest step back, at message backAt
	backAt    int
	unstamped int // how many had no stamp
}

// add returns the step from the newest stamp, zero for the first message.
func (s *stamps) add(t time.Time) time.Duration {
	if t.IsZero() {
		s.unstamped++
	}
	s.n++
	if s.n == 1 {
		s.first, s.last, s.begin = t, t, t
		return 0
	}
	if step := t.Sub(s.last); step >= 0 {
		s.last = t
		return step
	}
	if back := s.last.Sub(t); back > s.back {
		s.back, s.backAt = back, s.n-1
	}
	if t.Before(s.first) {
		s.first = t
	}
	return 0
}

// in says why the stamps, as those of a stretch, cannot be calculated with.
func (s *stamps) in(str Stretch, need int, what string) error {
	if err := str.Untrusted(); err != nil {
		return err
	}
	if err := str.unbounded(); err != nil {
		return err
	}
	switch {
	case s.n < need:
		return &Inconclusive{Reason: fmt.Sprintf("%sholds %s, %s needs %d", str.on(), messages(s.n), what, need)}
	case s.unstamped > 0:
		return &Inconclusive{Reason: fmt.Sprintf("%sholds %s without a receive stamp", str.on(), messages(s.unstamped))}
	case s.back > maxStepBack:
		return &Inconclusive{Reason: fmt.Sprintf("the receive stamps step back by %v at message %d: the clock was set back", s.back, s.backAt)}
	case s.first.Before(str.From):
		return &Inconclusive{Reason: fmt.Sprintf("a message was received %v before the stretch began at %s", str.From.Sub(s.first), stamp(str.From))}
	case s.last.After(str.To):
		return &Inconclusive{Reason: fmt.Sprintf("a message was received %v after the stretch ended at %s", s.last.Sub(str.To), stamp(str.To))}
	case str.Duration() == math.MaxInt64:
		return &Inconclusive{Reason: "the stretch is longer than the 292 years a time.Duration holds"}
	}
	return nil
}

func messages[N int | uint64](n N) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}
