package measure_test

import (
	"math"
	"testing"
	"time"

	"github.com/robospec/robospec/measure"
)

func TestRate(t *testing.T) {
	for _, c := range []struct {
		name      string
		w         *measure.Window
		hz, pm    float64
		over      time.Duration
		wantCount int
	}{
		{"steady, edges shorter than two intervals", window(1000*ms, steady(50*ms, 100*ms, 10)...), 10, 1 / 0.9, 900 * ms, 10},
		{"an edge of exactly two intervals", window(1100*ms, steady(200*ms, 100*ms, 9)...), 10, 1 / 0.8, 800 * ms, 9},
		{"started late", window(1000*ms, steady(500*ms, 100*ms, 5)...), 5, 1, time.Second, 5},
		{"stopped early", window(2000*ms, steady(0, 100*ms, 10)...), 5, 0.5, 2 * time.Second, 10},
		{"all at one instant", window(1000*ms, 0, 0, 0, 0), 4, 1, time.Second, 4},
		{"uneven", window(400*ms, 0, 10*ms, 400*ms), 5, 2.5, 400 * ms, 3},
		{"two readers that raced", window(300*ms, 0, 200*ms, 100*ms, 300*ms), 10, 1 / 0.3, 300 * ms, 4},
		{"raced at the start", window(300*ms, 100*ms, 0, 200*ms, 300*ms), 10, 1 / 0.3, 300 * ms, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := c.w.Rate()
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(r.Hz-c.hz) > 1e-9 || math.Abs(r.PlusMinus-c.pm) > 1e-9 || r.Over != c.over || r.Messages != c.wantCount {
				t.Errorf("rate is %+v, want %v ± %v Hz of %d over %v", r, c.hz, c.pm, c.wantCount, c.over)
			}
		})
	}
}

func TestRateRefuses(t *testing.T) {
	good := window(1000*ms, steady(50*ms, 100*ms, 10)...)
	if _, err := good.Rate(); err != nil {
		t.Fatal(err)
	}
	for word, w := range untrusted(good) {
		_, err := w.Rate()
		wantInconclusive(t, err, word, "/odom")
	}
	for _, c := range []struct {
		word string
		w    *measure.Window
	}{
		{"0 messages, a rate needs 3", window(time.Second)},
		{"1 message, a rate needs 3", window(time.Second, 0)},
		{"2 messages, a rate needs 3", window(time.Second, 0, 500*ms)},
		{"no time at all", window(0, 0, 0, 0)},
		{"no bounds", with(good, func(s *measure.Stretch) { s.From = time.Time{} })},
		{"no bounds", with(good, func(s *measure.Stretch) { s.To = time.Time{} })},
		{"1s before it begins", with(good, func(s *measure.Stretch) { s.To = t0.Add(-time.Second) })},
		{"40ms before the stretch began", with(good, func(s *measure.Stretch) { s.From = t0.Add(90 * ms) })},
		{"150ms after the stretch ended", with(good, func(s *measure.Stretch) { s.To = t0.Add(800 * ms) })},
		{"step back by 2s at message 2", window(9*time.Second, 3*time.Second, 4*time.Second, 2*time.Second, 5*time.Second)},
		{"1 message without a receive stamp", measure.NewWindow(good.Stretch, []measure.Arrival{{Received: t0}, {}, {Received: t0}})},
		{"292 years", with(good, func(s *measure.Stretch) { s.From = t0.AddDate(-400, 0, 0) })},
	} {
		_, err := c.w.Rate()
		wantInconclusive(t, err, c.word)
	}
}

// An undecodable message was sent all the same.
func TestRateCountsUndecodable(t *testing.T) {
	w := measure.NewWindow(measure.Stretch{From: t0, To: t0.Add(200 * ms)}, []measure.Arrival{
		{Received: t0}, {Received: t0.Add(100 * ms), Err: errBad}, {Received: t0.Add(200 * ms)},
	})
	r, err := w.Rate()
	if err != nil || r.Hz != 10 {
		t.Errorf("rate is %v, %v, want 10 Hz", r, err)
	}
}

// Live stamps carry a monotonic reading; a set wall clock must not show.
func TestRateIsMonotonic(t *testing.T) {
	from := time.Now()
	var r measure.RateOf
	for i := range 11 {
		r.Add(from.Add(time.Duration(i) * 10 * ms))
	}
	got, err := r.Result(measure.Stretch{From: from, To: from.Add(100 * ms)})
	if err != nil || got.Hz != 100 || got.String() != "100 ± 10 Hz (11 messages, over 100ms)" {
		t.Errorf("rate is %v, %v, want 100 Hz", got, err)
	}
}

func TestRateStringHasNoExponent(t *testing.T) {
	for want, r := range map[string]measure.Rate{
		"12350 ± 200 Hz (3 messages, over 1s)":        {Hz: 12345.6, PlusMinus: 234, Messages: 3, Over: time.Second},
		"50.02 ± 0.3 Hz (3 messages, over 1s)":        {Hz: 50.019, PlusMinus: 0.34, Messages: 3, Over: time.Second},
		"0.00002 ± 0.000001 Hz (3 messages, over 1s)": {Hz: 2e-5, PlusMinus: 1e-6, Messages: 3, Over: time.Second},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
