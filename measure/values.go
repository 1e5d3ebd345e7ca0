package measure

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// NotFiniteError is a value that is no number one can calculate with: NaN or
// an infinity. One of them spoils every statistic of its sample, so it is an
// error and never a result.
type NotFiniteError struct {
	// Index counts the values of the sample from 0; it is the message's place
	// in the window when every message gave a value.
	Index int
	// Received is the stamp of the message that carried it.
	Received time.Time
	Value    float64
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("message %d, received at %s, carries %v", e.Index, stamp(e.Received), e.Value)
}

// Moments adds up mean, extremes and spread one value at a time, in constant
// memory, by Welford's method (Technometrics 4, 1962). The zero value is
// ready. It is not for concurrent use.
//
// Its results are *Inconclusive when there are too few values, and the first
// *NotFiniteError when a value was not finite.
type Moments struct {
	n         int
	mean, m2  float64
	low, high float64
	bad       NotFiniteError
	spoilt    bool // bad is set
}

// Add takes the value x of a message received at the given stamp, which only
// serves to name the message.
func (m *Moments) Add(x float64, received time.Time) {
	if x-x != 0 && !m.spoilt { // NaN or infinite
		m.bad, m.spoilt = NotFiniteError{Index: m.n, Received: received, Value: x}, true
	}
	m.n++
	if m.n == 1 {
		m.mean, m.low, m.high = x, x, x
		return
	}
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (x - m.mean)
	m.low, m.high = min(m.low, x), max(m.high, x)
}

// Len is how many values there are.
func (m *Moments) Len() int { return m.n }

// Mean is the arithmetic mean of at least one value.
func (m *Moments) Mean() (float64, error) {
	// Rounding must not carry the mean of equal values past them.
	return m.result(min(max(m.mean, m.low), m.high), 1, "mean")
}

// Min is the lowest of at least one value.
func (m *Moments) Min() (float64, error) { return m.result(m.low, 1, "minimum") }

// Max is the highest of at least one value.
func (m *Moments) Max() (float64, error) { return m.result(m.high, 1, "maximum") }

// Range is the highest less the lowest of at least two values.
func (m *Moments) Range() (float64, error) { return m.result(m.high-m.low, 2, "range") }

// StdDev is the population standard deviation of at least two values.
func (m *Moments) StdDev() (float64, error) {
	return m.result(math.Sqrt(m.m2/float64(m.n)), 2, "standard deviation")
}

func (m *Moments) result(x float64, need int, what string) (float64, error) {
	switch {
	case m.spoilt:
		bad := m.bad
		return 0, &bad
	case m.n < need:
		return 0, &Inconclusive{Reason: fmt.Sprintf("a %s needs %d, there are %s", what, need, values(m.n))}
	case x-x != 0:
		return 0, &Inconclusive{Reason: fmt.Sprintf("the %s of values between %v and %v is beyond what a float64 holds", what, m.low, m.high)}
	}
	return x, nil
}

func values(n int) string {
	switch n {
	case 0:
		return "no values"
	case 1:
		return "1 value"
	}
	return fmt.Sprintf("%d values", n)
}

// Sample is Moments that keeps its values, 8 bytes each, for median and
// percentiles. The zero value is ready. It is not for concurrent use.
type Sample struct {
	Moments
	xs     []float64
	sorted bool
}

// Add takes the value x of a message received at the given stamp, which only
// serves to name the message.
func (s *Sample) Add(x float64, received time.Time) {
	s.Moments.Add(x, received)
	s.xs = append(s.xs, x)
	s.sorted = false
}

// Median is the middle one of at least one value, or the mean of the two in
// the middle. (Percentile(50) is the lower of the two, and asks for more
// values.)
func (s *Sample) Median() (float64, error) {
	if _, err := s.result(0, 1, "median"); err != nil {
		return 0, err
	}
	xs, half := s.ordered(), len(s.xs)/2
	if len(xs)%2 == 1 {
		return xs[half], nil
	}
	low, high := xs[half-1], xs[half]
	if sum := low + high; sum-sum == 0 {
		return sum / 2, nil
	}
	return low/2 + high/2, nil // the sum overflows
}

func (s *Sample) ordered() []float64 {
	if !s.sorted {
		slices.Sort(s.xs)
		s.sorted = true
	}
	return s.xs
}

// Values is the sample of what of makes of each message, in its unit. It is an
// *Inconclusive over a stretch that is lossy or cut or has messages that did
// not decode. An error of of ends it, wrapped with the message's place.
func (w *Window) Values(of func(Arrival) (float64, error)) (*Sample, error) {
	if err := w.UntrustedContent(); err != nil {
		return nil, err
	}
	s := &Sample{xs: make([]float64, 0, len(w.arrivals))}
	for i, a := range w.arrivals {
		x, err := of(a)
		if err != nil {
			return nil, fmt.Errorf("message %d, received at %s: %w", i, stamp(a.Received), err)
		}
		s.Add(x, a.Received)
	}
	return s, nil
}
