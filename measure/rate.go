package measure

import (
	"fmt"
	"strconv"
	"time"
)

// Rate is how often messages came.
type Rate struct {
	// Hz is messages per second.
	Hz float64
	// PlusMinus is what one message more or fewer would change, in hertz: a
	// stretch cannot tell rates apart that lie closer.
	PlusMinus float64
	// Messages is how many were counted.
	Messages int
	// Over is the time they were counted in.
	Over time.Duration
}

func (r Rate) String() string {
	return fmt.Sprintf("%s ± %s Hz (%d messages, over %v)", decimal(r.Hz, 4), decimal(r.PlusMinus, 1), r.Messages, r.Over)
}

// decimal is x to so many digits, and with no exponent.
func decimal(x float64, digits int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// RateOf adds up a rate one message at a time. The zero value is ready. It is
// not for concurrent use.
type RateOf struct{ stamps }

// Add counts a message by its receive stamp.
func (r *RateOf) Add(received time.Time) { r.add(received) }

// Result is the rate over the stretch that the added messages are of:
// (n−1)/(last−first), but n/(To−From) when From→first or last→To is longer
// than two mean intervals, since a publisher that began late or stopped early
// has no steady rate to report. It is an *Inconclusive for under three
// messages and over a stretch that is lossy, cut or without bounds.
func (r *RateOf) Result(s Stretch) (Rate, error) {
	if err := r.in(s, 3, "a rate"); err != nil {
		return Rate{}, err
	}
	span := r.last.Sub(r.first)
	limit := 2 * float64(span) / float64(r.n-1)
	n, over := r.n-1, span
	if float64(r.first.Sub(s.From)) > limit || float64(s.To.Sub(r.last)) > limit {
		n, over = r.n, s.Duration()
	}
	if over <= 0 {
		return Rate{}, &Inconclusive{Reason: fmt.Sprintf("%s in no time at all have no rate", messages(r.n))}
	}
	return Rate{
		Hz:        float64(n) / over.Seconds(),
		PlusMinus: 1 / over.Seconds(),
		Messages:  r.n,
		Over:      over,
	}, nil
}

// Rate is RateOf over the window.
func (w *Window) Rate() (Rate, error) {
	var r RateOf
	for i := range w.arrivals {
		r.Add(w.arrivals[i].Received)
	}
	return r.Result(w.Stretch)
}
