package measure

import (
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// percentileConfidence is the one-sided confidence below which a sample is too
// small to name a percentile at all.
const percentileConfidence = 0.95

// Interval is a range that holds the true percentile with a confidence.
type Interval struct {
	Low, High float64
	// Confidence is that of this very interval, at least the one asked for: the
	// bounds are values of the sample, so it comes in steps.
	Confidence float64
}

func (i Interval) String() string {
	return fmt.Sprintf("[%.6g, %.6g] (%.3g %%)", i.Low, i.High, 100*i.Confidence)
}

// SamplesFor is how many independent values it takes before the highest of
// them is an upper bound of the p-th percentile (for p under 50: the lowest a
// lower bound) with the given one-sided confidence, 0 < confidence < 1: the
// smallest n with q^n ≤ 1−confidence, q = p/100. At 0.95 that is 59 for p95,
// 299 for p99 and 2,995 for p99.9. It is 0 unless 0 < p < 100.
func SamplesFor(p, confidence float64) int {
	if checkPercentile(p, confidence) != nil {
		return 0
	}
	return samplesFor(min(p, 100-p), 1-confidence)
}

// samplesFor is the smallest n with (1−beyond/100)^n ≤ tail.
func samplesFor(beyond, tail float64) int {
	n := math.Log(tail) / math.Log1p(-beyond/100)
	if !(n < math.MaxInt32) { // nobody waits for more
		return math.MaxInt32
	}
	return max(1, int(math.Ceil(n-1e-9)))
}

// Percentile is the p-th percentile, 0 < p < 100, by nearest rank: the
// ⌈p/100·n⌉-th lowest of n values, always a value that was seen. p counts as
// the decimal number it prints as. Fewer than SamplesFor(p, 0.95) values are
// an *Inconclusive: above what they could show lies an unseen tail.
func (s *Sample) Percentile(p float64) (float64, error) {
	if err := checkPercentile(p, percentileConfidence); err != nil {
		return 0, err
	}
	if err := s.enough(p, SamplesFor(p, percentileConfidence), percentileConfidence); err != nil {
		return 0, err
	}
	return s.ordered()[rank(p, len(s.xs))-1], nil
}

// UpperBound is a value that the true p-th percentile, 0 < p < 100, does not
// exceed with at least the given confidence, 0 < confidence < 1. It is the
// lowest value of the sample of which that is true whatever the distribution,
// by the binomial distribution of ranks (Conover, Practical Nonparametric
// Statistics, 3.2), for independent values. Messages of one run are not
// independent: the bound is of that run. Too few values are an *Inconclusive.
func (s *Sample) UpperBound(p, confidence float64) (float64, error) {
	if err := checkPercentile(p, confidence); err != nil {
		return 0, err
	}
	tail := 1 - confidence
	if err := s.enough(p, samplesFor(100-p, tail), confidence); err != nil {
		return 0, err
	}
	return s.ordered()[upperRank(p, len(s.xs), tail)-1], nil
}

// Interval holds the true p-th percentile, 0 < p < 100, with at least the
// given two-sided confidence, 0 < confidence < 1: it leaves out at most half of
// the rest at either side. Like UpperBound it assumes independent values and
// no distribution. Too few values are an *Inconclusive.
func (s *Sample) Interval(p, confidence float64) (Interval, error) {
	if err := checkPercentile(p, confidence); err != nil {
		return Interval{}, err
	}
	tail := (1 - confidence) / 2
	if err := s.enough(p, samplesFor(min(p, 100-p), tail), confidence); err != nil {
		return Interval{}, err
	}
	xs := s.ordered()
	n := len(xs)
	low, high := lowerRank(p, n, tail), upperRank(p, n, tail)
	b := distuv.Binomial{N: float64(n), P: p / 100}
	return Interval{
		Low:        xs[low-1],
		High:       xs[high-1],
		Confidence: 1 - below(b, low) - b.Survival(float64(high-1)),
	}, nil
}

// upperRank is the lowest rank whose value the percentile exceeds with a
// probability of at most tail: P(B ≥ rank) ≤ tail, B ~ Bin(n, p/100) the
// number of values at or below the percentile. n must suffice for it.
func upperRank(p float64, n int, tail float64) int {
	b := distuv.Binomial{N: float64(n), P: p / 100}
	return min(n, 1+sort.Search(n, func(i int) bool { return b.Survival(float64(i)) <= tail }))
}

// lowerRank is the highest rank whose value lies above the percentile with a
// probability of at most tail: P(B < rank) ≤ tail. n must suffice for it.
func lowerRank(p float64, n int, tail float64) int {
	b := distuv.Binomial{N: float64(n), P: p / 100}
	return max(1, sort.Search(n, func(i int) bool { return below(b, i+1) > tail }))
}

// below is P(B < rank).
func below(b distuv.Binomial, rank int) float64 { return b.CDF(float64(rank - 1)) }

// rank is ⌈p/100·n⌉ of the decimal number p, so that 99.9 of 1,000 is 999 and
// not, by a rounding of its binary form, 1,000.
func rank(p float64, n int) int {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(p, 'g', -1, 64))
	r.Mul(r, big.NewRat(int64(n), 100))
	num := new(big.Int).Add(r.Num(), r.Denom())
	num.Sub(num, big.NewInt(1))
	return int(num.Quo(num, r.Denom()).Int64())
}

func (s *Sample) enough(p float64, need int, confidence float64) error {
	if _, err := s.result(0, 0, "percentile"); err != nil {
		return err
	}
	if len(s.xs) < need {
		return &Inconclusive{
			Reason: fmt.Sprintf("p%v needs %d values for %v %% confidence, there are %d", p, need, 100*confidence, len(s.xs)),
			Remedy: "watch longer or ask for a lower percentile",
		}
	}
	return nil
}

func checkPercentile(p, confidence float64) error {
	if !(p > 0 && p < 100) {
		return fmt.Errorf("measure: percentile %v does not lie between 0 and 100; ask for Min or Max", p)
	}
	if !(confidence > 0 && confidence < 1) {
		return fmt.Errorf("measure: confidence %v does not lie between 0 and 1", confidence)
	}
	return nil
}
