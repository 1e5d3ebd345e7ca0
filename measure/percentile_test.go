package measure_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robospec/robospec/measure"
)

func TestPercentilesByNearestRank(t *testing.T) {
	checked := 0
	for _, c := range readExpected(t).Samples {
		s := sampleOf(c.Values...)
		for _, p := range c.Percentiles {
			got, err := s.Percentile(p.P)
			if need := measure.SamplesFor(p.P, 0.95); len(c.Values) < need {
				wantInconclusive(t, err)
				continue
			}
			if checked++; err != nil || got != p.Value {
				t.Errorf("%s: p%v is %v, %v, want %v", c.Name, p.P, got, err, p.Value)
			}
		}
	}
	if checked < 25 {
		t.Errorf("only %d percentiles compared", checked)
	}
}

func TestIntervalsAgainstSciPy(t *testing.T) {
	for _, c := range readExpected(t).Samples {
		s := sampleOf(c.Values...)
		for _, i := range c.Intervals {
			got, err := s.Interval(i.P, i.Confidence)
			if err != nil || got.Low != i.Low || got.High != i.High {
				t.Errorf("%s: interval of p%v at %v is %v, %v, scipy says [%v, %v]", c.Name, i.P, i.Confidence, got, err, i.Low, i.High)
			}
			if got.Confidence < i.Confidence || i.Coverage != 0 && math.Abs(got.Confidence-i.Coverage) > 1e-9 {
				t.Errorf("%s: interval of p%v at %v claims %v, exact is %v", c.Name, i.P, i.Confidence, got.Confidence, i.Coverage)
			}
		}
		for _, u := range c.Upper {
			if got, err := s.UpperBound(u.P, u.Confidence); err != nil || got != u.High {
				t.Errorf("%s: upper bound of p%v at %v is %v, %v, scipy says %v", c.Name, u.P, u.Confidence, got, err, u.High)
			}
		}
	}
}

func TestSamplesFor(t *testing.T) {
	for p, want := range map[float64]int{95: 59, 99: 299, 99.9: 2995, 5: 59} {
		if got := measure.SamplesFor(p, 0.95); got != want {
			t.Errorf("p%v needs %d samples, want %d", p, got, want)
		}
	}
	for _, c := range readExpected(t).Needed {
		if got := measure.SamplesFor(c.P, c.Confidence); got != c.N {
			t.Errorf("p%v at %v needs %d samples, exactly it is %d", c.P, c.Confidence, got, c.N)
		}
	}
	for _, p := range []float64{0, 100, -1, math.NaN(), math.Inf(1)} {
		if got := measure.SamplesFor(p, 0.95); got != 0 {
			t.Errorf("p%v needs %d samples, want 0", p, got)
		}
	}
}

// With exactly as many as are needed the highest value is the bound; with one
// fewer there is none.
func TestPercentileNeedsSamples(t *testing.T) {
	for _, c := range []struct {
		p    float64
		need string
		n    int
	}{{95, "59", 59}, {99, "299", 299}, {99.9, "2995", 2995}} {
		s := &measure.Sample{}
		for i := range c.n - 1 {
			s.Add(float64(i), t0)
		}
		_, err := s.Percentile(c.p)
		wantInconclusive(t, err, "needs "+c.need+" values")
		_, err = s.UpperBound(c.p, 0.95)
		wantInconclusive(t, err, "needs "+c.need+" values")
		s.Add(1e6, t0)
		if got, err := s.UpperBound(c.p, 0.95); err != nil || got != 1e6 {
			t.Errorf("upper bound of p%v with %d values is %v, %v, want the highest", c.p, c.n, got, err)
		}
		if _, err := s.Percentile(c.p); err != nil {
			t.Errorf("p%v with %d values: %v", c.p, c.n, err)
		}
		_, err = s.Interval(c.p, 0.95)
		wantInconclusive(t, err)
	}
}

// 99.9 % of 5,000 is 4,995 however 0.999 is rounded in binary.
func TestPercentileRankIsExact(t *testing.T) {
	for _, c := range []struct {
		p    float64
		n    int
		want float64
	}{{99.9, 5000, 4995}, {99.9, 5001, 4996}, {95, 60, 57}, {50, 10, 5}, {50, 11, 6}, {7, 100, 7}, {55, 100, 55}, {56, 100, 56}, {58, 100, 58}, {0.1, 3000, 3}, {99.99999, 30, 0}} {
		s := &measure.Sample{}
		for i := range c.n {
			s.Add(float64(i+1), t0)
		}
		got, err := s.Percentile(c.p)
		if c.want == 0 {
			wantInconclusive(t, err, "there are 30")
		} else if err != nil || got != c.want {
			t.Errorf("p%v of 1…%d is %v, %v, want %v", c.p, c.n, got, err, c.want)
		}
	}
}

func TestPercentileMisuse(t *testing.T) {
	s := sampleOf(1, 2, 3, 4, 5, 6, 7, 8)
	for _, p := range []float64{0, 100, -5, 120, math.NaN()} {
		_, err := s.Percentile(p)
		if err == nil || !strings.Contains(err.Error(), "ask for Min or Max") {
			t.Errorf("p%v: error is %v", p, err)
		}
	}
	for _, c := range []float64{0, 1, 95, math.NaN()} {
		if _, err := s.Interval(50, c); err == nil {
			t.Errorf("confidence %v is taken", c)
		}
		if _, err := s.UpperBound(50, c); err == nil {
			t.Errorf("confidence %v is taken", c)
		}
	}
}

// The intervals must hold the true percentile as often as they claim, on
// distributions as latencies have them.
func TestIntervalCoverage(t *testing.T) {
	const runs, n = 3000, 400
	normal := func(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }
	for _, d := range []struct {
		name string
		draw func(*rand.Rand) float64
		true func(q float64) float64
	}{
		{
			"log-normal",
			func(r *rand.Rand) float64 { return math.Exp(1 + 0.8*r.NormFloat64()) },
			func(q float64) float64 { return math.Exp(1 + 0.8*normal(q)) },
		},
		{ // 70 % uniform in [0,1), 30 % uniform in [10,12)
			"bimodal",
			func(r *rand.Rand) float64 {
				if r.Float64() < 0.7 {
					return r.Float64()
				}
				return 10 + 2*r.Float64()
			},
			func(q float64) float64 {
				if q < 0.7 {
					return q / 0.7
				}
				return 10 + 2*(q-0.7)/0.3
			},
		},
	} {
		ps := []float64{50, 95, 99}
		held, bounded, claimed := make([]int, len(ps)), make([]int, len(ps)), make([]float64, len(ps))
		r := rand.New(rand.NewPCG(20260301, 7))
		for range runs {
			s := &measure.Sample{}
			for range n {
				s.Add(d.draw(r), t0)
			}
			for i, p := range ps {
				truth := d.true(p / 100)
				in, err := s.Interval(p, 0.95)
				if err != nil {
					t.Fatal(err)
				}
				up, err := s.UpperBound(p, 0.95)
				if err != nil {
					t.Fatal(err)
				}
				claimed[i] = in.Confidence
				if in.Low <= truth && truth <= in.High {
					held[i]++
				}
				if truth <= up {
					bounded[i]++
				}
			}
		}
		for i, p := range ps {
			two, one := float64(held[i])/runs, float64(bounded[i])/runs
			t.Logf("%s p%v: two-sided 95 %% interval holds in %.2f %%, one-sided bound in %.2f %% of %d runs of %d", d.name, p, 100*two, 100*one, runs, n)
			if two < 0.945 || two > 0.985 {
				t.Errorf("%s: the interval of p%v holds the truth in %.2f %% of runs", d.name, p, 100*two)
			}
			// Four standard errors of a share seen in so many runs.
			if noise := 4 * math.Sqrt(claimed[i]*(1-claimed[i])/runs); math.Abs(two-claimed[i]) > noise {
				t.Errorf("%s: the interval of p%v holds the truth in %.2f %% of runs, it claims %.2f ± %.2f %%", d.name, p, 100*two, 100*claimed[i], 100*noise)
			}
			if noise := 4 * math.Sqrt(0.95*0.05/runs); one < 0.95-noise {
				t.Errorf("%s: the upper bound of p%v holds in %.2f %% of runs, less than 95 − %.2f %%", d.name, p, 100*one, 100*noise)
			}
		}
	}
}
