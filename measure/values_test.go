package measure_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/robospec/robospec/measure"
)

var errBad = errors.New("not a Pose")

func sampleOf(xs ...float64) *measure.Sample {
	s := &measure.Sample{}
	for i, x := range xs {
		s.Add(x, t0.Add(time.Duration(i)*ms))
	}
	return s
}

// near compares within a few rounding errors of the magnitudes at hand.
func near(got, want, scale float64) bool {
	return math.Abs(got-want) <= 1e-12*math.Max(math.Abs(want), scale)
}

// expected is testdata/expected.json, made with numpy and scipy by expected.py
// beside it.
type expected struct {
	Samples []struct {
		Name                                  string
		Values                                []float64
		Mean, Min, Max, Median, Range, StdDev float64
		Percentiles                           []struct{ P, Value float64 }
		Intervals                             []struct{ P, Confidence, Low, High, Coverage float64 }
		Upper                                 []struct{ P, Confidence, High float64 }
	}
	Needed []struct {
		P, Confidence float64
		N             int
	}
}

func readExpected(t *testing.T) expected {
	t.Helper()
	b, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	if len(e.Samples) == 0 || len(e.Needed) == 0 {
		t.Fatal("testdata/expected.json is empty")
	}
	return e
}

func TestMomentsAgainstNumPy(t *testing.T) {
	for _, c := range readExpected(t).Samples {
		s := sampleOf(c.Values...)
		for what, f := range map[string]struct {
			get   func() (float64, error)
			want  float64
			scale float64
		}{
			"mean":   {s.Mean, c.Mean, c.Range},
			"min":    {s.Min, c.Min, 0},
			"max":    {s.Max, c.Max, 0},
			"median": {s.Median, c.Median, 0},
			"range":  {s.Range, c.Range, 0},
			// Its error grows with the distance from zero: 1.7e9 · 2^-53.
			"stddev": {s.StdDev, c.StdDev, math.Abs(c.Mean) * 1e-3},
		} {
			got, err := f.get()
			if err != nil || !near(got, f.want, f.scale) {
				t.Errorf("%s: %s is %v, %v, numpy says %v", c.Name, what, got, err, f.want)
			}
		}
	}
}

func TestSampleRefusesTooFew(t *testing.T) {
	none, one := sampleOf(), sampleOf(7)
	for what, f := range map[string]func(*measure.Sample) (float64, error){
		"mean":    func(s *measure.Sample) (float64, error) { return s.Mean() },
		"minimum": func(s *measure.Sample) (float64, error) { return s.Min() },
		"maximum": func(s *measure.Sample) (float64, error) { return s.Max() },
		"median":  func(s *measure.Sample) (float64, error) { return s.Median() },
	} {
		_, err := f(none)
		wantInconclusive(t, err, "a "+what+" needs 1, there are no values")
		if got, err := f(one); err != nil || got != 7 {
			t.Errorf("%s of one value is %v, %v, want 7", what, got, err)
		}
	}
	for what, f := range map[string]func(*measure.Sample) (float64, error){
		"range":              func(s *measure.Sample) (float64, error) { return s.Range() },
		"standard deviation": func(s *measure.Sample) (float64, error) { return s.StdDev() },
	} {
		_, err := f(none)
		wantInconclusive(t, err, "a "+what+" needs 2, there are no values")
		_, err = f(one)
		wantInconclusive(t, err, "a "+what+" needs 2, there are 1 value")
	}
}

func TestNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		s := sampleOf(1, 2, bad, 4, math.NaN())
		for what, f := range statistics(s) {
			got, err := f()
			var e *measure.NotFiniteError
			if !errors.As(err, &e) || e.Index != 2 || !e.Received.Equal(t0.Add(2*ms)) || got != 0 {
				t.Errorf("%s with %v is %v, %v, want a *NotFiniteError for message 2", what, bad, got, err)
				continue
			}
			if !strings.Contains(err.Error(), "message 2, received at 2026-03-01T12:00:00.002Z, carries ") {
				t.Errorf("error is %q", err)
			}
		}
	}
}

// statistics is every number a sample can be asked for.
func statistics(s *measure.Sample) map[string]func() (float64, error) {
	return map[string]func() (float64, error){
		"mean": s.Mean, "min": s.Min, "max": s.Max, "range": s.Range, "stddev": s.StdDev, "median": s.Median,
		"percentile": func() (float64, error) { return s.Percentile(50) },
		"upper":      func() (float64, error) { return s.UpperBound(50, 0.5) },
		"low":        func() (float64, error) { i, err := s.Interval(50, 0.5); return i.Low, err },
		"high":       func() (float64, error) { i, err := s.Interval(50, 0.5); return i.High, err },
	}
}

func TestOverflowIsNoNumber(t *testing.T) {
	s := sampleOf(-math.MaxFloat64, math.MaxFloat64)
	_, err := s.Range()
	wantInconclusive(t, err, "beyond what a float64 holds")
	_, err = s.StdDev()
	wantInconclusive(t, err, "beyond what a float64 holds")
	if m, err := sampleOf(math.MaxFloat64, math.MaxFloat64).Median(); err != nil || m != math.MaxFloat64 {
		t.Errorf("median is %v, %v, want %v", m, err, math.MaxFloat64)
	}
}

func TestMeanOfEqualValuesIsTheValue(t *testing.T) {
	for _, x := range []float64{0.1, 1.0 / 3, 1e300, 5e-324} {
		s := &measure.Moments{}
		for range 1000 {
			s.Add(x, t0)
		}
		mean, err := s.Mean()
		dev, err2 := s.StdDev()
		if err != nil || err2 != nil || mean != x || dev != 0 {
			t.Errorf("mean of %v is %v ± %v, %v %v", x, mean, dev, err, err2)
		}
	}
}

// Asking sorts; adding after it must still be seen.
func TestSampleAddAfterAsking(t *testing.T) {
	s := sampleOf(3, 1)
	if m, err := s.Median(); err != nil || m != 2 {
		t.Fatalf("median is %v, %v", m, err)
	}
	s.Add(0, t0)
	if m, err := s.Median(); err != nil || m != 1 {
		t.Errorf("median is %v, %v, want 1", m, err)
	}
}

func value(a measure.Arrival) (float64, error) {
	x, ok := a.Value.(float64)
	if !ok {
		return 0, errBad
	}
	return x, nil
}

func TestWindowValues(t *testing.T) {
	arrivals := []measure.Arrival{{Received: t0, Value: 1.5}, {Received: t0.Add(ms), Value: 2.5}}
	s := measure.Stretch{Topic: "/pose", From: t0, To: t0.Add(ms)}
	w := measure.NewWindow(s, arrivals)
	sample, err := w.Values(value)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := sample.Mean(); err != nil || m != 2 || sample.Len() != 2 {
		t.Errorf("mean of %d is %v, %v, want 2", sample.Len(), m, err)
	}
	for word, w := range untrusted(w) {
		_, err := w.Values(value)
		wantInconclusive(t, err, word)
	}
	_, err = measure.NewWindow(s, append(arrivals, measure.Arrival{Received: t0, Err: errBad})).Values(value)
	wantInconclusive(t, err, "/pose has 1 message that did not decode", "message 2: not a Pose")
	if !errors.Is(err, errBad) {
		t.Errorf("error %v does not unwrap to why the message did not decode", err)
	}
	_, err = measure.NewWindow(s, append(arrivals, measure.Arrival{Received: t0, Value: "x"})).Values(value)
	if !errors.Is(err, errBad) || !strings.Contains(err.Error(), "message 2, received at ") {
		t.Errorf("error is %v, want it to name message 2", err)
	}
	empty, err := measure.NewWindow(s, nil).Values(value)
	if err != nil {
		t.Fatal(err)
	}
	_, err = empty.Mean()
	wantInconclusive(t, err, "no values")
}
