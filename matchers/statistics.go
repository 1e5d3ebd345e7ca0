package matchers

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/measure"
)

// stat judges one figure of a stretch.
type stat struct {
	leaf
	m      types.GomegaMatcher
	arrive bool // of arrivals, so that what does not decode counts too
	add1   func(*measure.Arrival) error
	result func(measure.Stretch) (value any, detail string, err error)
}

func newStat(text string, m any) *stat {
	return &stat{leaf: leaf{text: text, steady: true}, m: asMatcher(m)}
}

func (j *stat) add(a *measure.Arrival) {
	if !j.takes(a) || a.Err != nil && !j.arrive {
		return
	}
	j.by = a.Order
	if err := j.add1(a); err != nil && j.bad == nil {
		j.bad = fmt.Errorf("%s: message %d: %w", j.text, j.n, err)
	}
}

func (j *stat) close(e ending) verdict {
	s := e(true)
	undecoded := j.undecoded
	if j.arrive {
		undecoded = 0
	}
	if err := s.UntrustedContent(undecoded); err != nil {
		return j.unknown(err)
	}
	if j.n == 0 && s.Life.State != measure.LifeShown {
		return j.unknown(noLife(s))
	}
	v, detail, err := j.result(s)
	if err != nil {
		var why *measure.Inconclusive
		if errors.As(err, &why) {
			return j.unknown(err)
		}
		j.bad = fmt.Errorf("%s: %w", j.text, err)
		return inconclusive
	}
	ok, err := j.m.Match(v)
	if err != nil {
		j.bad = fmt.Errorf("%s cannot judge %v: %w", j.text, v, err)
		return inconclusive
	}
	j.note = "it is " + figure(v)
	if detail != "" {
		j.note += ", " + detail
	}
	if ok {
		return holds
	}
	return fails
}

// figure prints a figure with as many digits as a reader wants.
func figure(v any) string {
	switch v := v.(type) {
	case float64:
		return fmt.Sprintf("%.6g", v)
	case time.Duration:
		return v.Round(time.Microsecond).String()
	}
	return fmt.Sprint(v)
}

// HaveRate is true when the rate of arrival in Hz matches m. It is
// (n−1)/(last−first), but n/d when an edge is empty for more than two intervals;
// under three messages it is inconclusive.
func HaveRate(m any) types.GomegaMatcher {
	return arrivals("HaveRate", "", m, func(j *stat) {
		var r measure.RateOf
		j.add1 = func(a *measure.Arrival) error { r.Add(a.Received); return nil }
		j.result = func(s measure.Stretch) (any, string, error) {
			rate, err := r.Result(s)
			return rate.Hz, fmt.Sprintf("± %.2g Hz: %s, over %v", rate.PlusMinus, messages(rate.Messages), rate.Over.Round(time.Microsecond)), err
		}
	})
}

// HaveMaxGap is true when the longest time without a message, edges included,
// matches m, which gets a time.Duration.
func HaveMaxGap(m any) types.GomegaMatcher {
	return arrivals("HaveMaxGap", "", m, func(j *stat) {
		var g measure.Gaps
		j.add1 = func(a *measure.Arrival) error { g.Add(a.Received); return nil }
		j.result = func(s measure.Stretch) (any, string, error) {
			gap, err := g.Max(s)
			return gap.Length, gap.String(), err
		}
	})
}

// HaveJitter is true when the population standard deviation of the intervals
// between arrivals matches m, which gets a time.Duration.
func HaveJitter(m any) types.GomegaMatcher {
	return arrivals("HaveJitter", "", m, func(j *stat) {
		var g measure.Gaps
		j.add1 = func(a *measure.Arrival) error { g.Add(a.Received); return nil }
		j.result = func(s measure.Stretch) (any, string, error) {
			v, err := g.Jitter(s)
			return v, "of " + messages(j.n), err
		}
	})
}

// HaveNoLoss is true when no publisher's sequence numbers have a hole.
func HaveNoLoss() types.GomegaMatcher {
	return arrivals("HaveNoLoss", "", nil, func(j *stat) {
		var c measure.LossCounter
		j.m = noLoss{}
		j.add1 = func(a *measure.Arrival) error { c.Add(a.Publisher, a.Seq, a.HasSeq); return nil }
		j.result = func(s measure.Stretch) (any, string, error) {
			loss, err := c.Result(s)
			return loss, "", err
		}
	})
}

type noLoss struct{}

func (noLoss) Match(actual any) (bool, error) {
	l, ok := actual.(measure.Loss)
	return ok && l.Lost == 0, nil
}
func (noLoss) FailureMessage(any) string        { return "to have lost nothing" }
func (noLoss) NegatedFailureMessage(any) string { return "to have lost something" }

// HaveDelay is true when a figure of the delay from source stamp to receive
// stamp matches m, which gets a time.Duration. figure is "mean", "min", "max",
// "median", "stddev" or a percentile such as "p95". Stamps of another clock are
// an error.
func HaveDelay(figure string, m any) types.GomegaMatcher {
	of, wrong := figureOf(figure)
	w := arrivals("HaveDelay", strconv.Quote(figure), m, func(j *stat) {
		var d measure.Delays
		j.add1 = func(a *measure.Arrival) error { d.Add(a.Received, a.Sent); return nil }
		j.result = func(s measure.Stretch) (any, string, error) {
			sample, err := d.Sample(s)
			if err != nil {
				return nil, "", err
			}
			v, err := of(sample)
			return time.Duration(v), fmt.Sprintf("%s of %s, from source stamp to receipt", figure, messages(j.n)), err
		}
	})
	w.wrong = wrong
	return w
}

func arrivals(name, first string, m any, set func(*stat)) *word {
	var args []any
	if m != nil {
		args = []any{m}
	}
	w := &word{text: call(name, first, args), class: statistic}
	w.judge = func() judge {
		j := newStat(w.text, m)
		j.arrive = true
		set(j)
		return j
	}
	return w
}

// figureOf is the figure of a sample that a name stands for.
func figureOf(name string) (func(*measure.Sample) (float64, error), error) {
	switch name {
	case "mean":
		return (*measure.Sample).Mean, nil
	case "min":
		return (*measure.Sample).Min, nil
	case "max":
		return (*measure.Sample).Max, nil
	case "median":
		return (*measure.Sample).Median, nil
	case "stddev":
		return (*measure.Sample).StdDev, nil
	}
	if p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64); err == nil && strings.HasPrefix(name, "p") && p > 0 && p < 100 {
		return func(s *measure.Sample) (float64, error) { return s.Percentile(p) }, nil
	}
	return nil, fmt.Errorf("%q is no figure of a delay; there are mean, min, max, median, stddev, and percentiles such as p95", name)
}

// HaveAverage is true when the mean of a numeric field matches m. field is a
// path as in Field, or Norm(path), or Of(func(T) float64).
func HaveAverage(field, m any) types.GomegaMatcher {
	return values("HaveAverage", "", field, m, (*measure.Sample).Mean)
}

// HaveMedian is true when the median of a numeric field matches m.
func HaveMedian(field, m any) types.GomegaMatcher {
	return values("HaveMedian", "", field, m, (*measure.Sample).Median)
}

// HavePercentile is true when the p-th percentile, 0 < p < 100, of a numeric
// field matches m: an order statistic, never interpolated. Too few messages for
// it are inconclusive: p95 needs 59, p99 299, p99.9 2,995.
func HavePercentile(p float64, field, m any) types.GomegaMatcher {
	return values("HavePercentile", fmt.Sprintf("%v", p), field, m, func(s *measure.Sample) (float64, error) { return s.Percentile(p) })
}

// HaveRange is true when maximum − minimum of a numeric field matches m.
func HaveRange(field, m any) types.GomegaMatcher {
	return values("HaveRange", "", field, m, (*measure.Sample).Range)
}

// HaveStdDev is true when the population standard deviation of a numeric field
// matches m.
func HaveStdDev(field, m any) types.GomegaMatcher {
	return values("HaveStdDev", "", field, m, (*measure.Sample).StdDev)
}

func values(name, first string, field, m any, of func(*measure.Sample) (float64, error)) *word {
	n, wrong := numberOf(field)
	w := &word{text: call(name, first, []any{field, m}), class: statistic, wrong: wrong}
	if wrong != nil {
		return w
	}
	w.needs = append(w.needs, n.check)
	w.judge = func() judge {
		j := newStat(w.text, m)
		var s measure.Sample
		j.add1 = func(a *measure.Arrival) error {
			x, err := n.get(a.Value)
			if err == nil {
				s.Add(x, a.Received)
			}
			return err
		}
		j.result = func(measure.Stretch) (any, string, error) {
			v, err := of(&s)
			return v, "of " + messages(j.n), err
		}
		return j
	}
	return w
}

// number is a way to a number in a message.
type number struct {
	check typeCheck
	get   func(v any) (float64, error)
}

// FieldNumber is a way to a number in a message, made by Of or Norm.
type FieldNumber interface{ number() number }

type ofFunc[T any] func(T) float64

// Of is f as a field: HaveAverage(Of(func(o Odometry) float64 { … }), m). It
// costs less than a path.
func Of[T any](f func(T) float64) FieldNumber { return ofFunc[T](f) }

func (f ofFunc[T]) String() string { return fmt.Sprintf("Of(func(%s) float64)", reflect.TypeFor[T]()) }

func (f ofFunc[T]) number() number {
	return number{
		check: func(t reflect.Type) error {
			if t != reflect.TypeFor[T]() && t.Kind() != reflect.Interface {
				return fmt.Errorf("the function takes a %s, but the messages are %s", reflect.TypeFor[T](), t)
			}
			return nil
		},
		get: func(v any) (float64, error) {
			x, ok := v.(T)
			if !ok {
				return 0, fmt.Errorf("the function takes a %s, and the message is a %T", reflect.TypeFor[T](), v)
			}
			return f(x), nil
		},
	}
}

func numberOf(field any) (number, error) {
	switch f := field.(type) {
	case FieldNumber:
		return f.number(), nil
	case string:
		p, err := parsePath(f)
		if err != nil {
			return number{}, err
		}
		return number{
			check: func(t reflect.Type) error { return p.checkNumber(t) },
			get:   p.number,
		}, nil
	}
	return number{}, fmt.Errorf("a field is a path such as %q, Norm(path) or Of(func(T) float64), not a %T", "Twist.Linear.X", field)
}
