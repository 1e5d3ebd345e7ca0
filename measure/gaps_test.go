package measure_test

import (
	"testing"
	"time"

	"github.com/robospec/robospec/measure"
)

func TestMaxGap(t *testing.T) {
	for _, c := range []struct {
		name string
		w    *measure.Window
		want measure.Gap
		says string
	}{
		{"inside", window(500*ms, 50*ms, 100*ms, 400*ms, 450*ms), measure.Gap{Length: 300 * ms, From: t0.Add(100 * ms), After: 1}, "300ms after message 1"},
		{"at the start", window(500*ms, 310*ms, 400*ms, 450*ms), measure.Gap{Length: 310 * ms, From: t0, After: -1}, "310ms before the first message"},
		{"at the end", window(500*ms, 10*ms, 100*ms), measure.Gap{Length: 400 * ms, From: t0.Add(100 * ms), After: 1}, "400ms after message 1"},
		{"one message", window(500*ms, 200*ms), measure.Gap{Length: 300 * ms, From: t0.Add(200 * ms), After: 0}, ""},
		{"the first of equal ones", window(400*ms, 0, 200*ms, 400*ms), measure.Gap{Length: 200 * ms, From: t0, After: 0}, ""},
		{"no time", window(0, 0, 0), measure.Gap{From: t0}, ""},
		{"a raced stamp", window(110*ms, 0, 60*ms, 50*ms, 110*ms), measure.Gap{Length: 60 * ms, From: t0, After: 0}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.w.MaxGap()
			if err != nil {
				t.Fatal(err)
			}
			if got.Length != c.want.Length || !got.From.Equal(c.want.From) || got.After != c.want.After {
				t.Errorf("gap is %+v, want %+v", got, c.want)
			}
			if c.says != "" && got.String() != c.says {
				t.Errorf("gap says %q, want %q", got, c.says)
			}
		})
	}
}

func TestJitter(t *testing.T) {
	for _, c := range []struct {
		name string
		w    *measure.Window
		want time.Duration
	}{
		{"steady", window(time.Second, steady(0, 100*ms, 10)...), 0},
		// Intervals 90, 110, 90, 110 ms.
		{"alternating", window(time.Second, 0, 90*ms, 200*ms, 290*ms, 400*ms), 10 * ms},
		// Intervals 2, 4, 4, 4, 5, 5, 7, 9 ms, the textbook deviation of 2; the long edge is no interval.
		{"textbook", window(time.Second, 0, 2*ms, 6*ms, 10*ms, 14*ms, 19*ms, 24*ms, 31*ms, 40*ms), 2 * ms},
	} {
		got, err := c.w.Jitter()
		if err != nil || got != c.want {
			t.Errorf("%s: jitter is %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

func TestGapsRefuse(t *testing.T) {
	good := window(time.Second, steady(0, 100*ms, 10)...)
	for word, w := range untrusted(good) {
		_, err := w.MaxGap()
		wantInconclusive(t, err, word)
		_, err = w.Jitter()
		wantInconclusive(t, err, word)
	}
	_, err := window(time.Second).MaxGap()
	wantInconclusive(t, err, "0 messages, a longest gap needs 1")
	_, err = window(time.Second, 0, 10*ms).Jitter()
	wantInconclusive(t, err, "2 messages, jitter needs 3")
	_, err = with(good, func(s *measure.Stretch) { s.To = time.Time{} }).MaxGap()
	wantInconclusive(t, err, "no bounds")
	_, err = window(9*time.Second, 3*time.Second, 2*time.Second, 4*time.Second).Jitter()
	wantInconclusive(t, err, "step back by 1s at message 1")
}

// A streaming judge asks while the stretch still runs.
func TestMaxGapSoFar(t *testing.T) {
	var g measure.Gaps
	s := measure.Stretch{From: t0}
	g.Add(t0.Add(10 * ms))
	for _, now := range []time.Duration{20 * ms, 200 * ms} {
		s.To = t0.Add(now)
		got, err := g.Max(s)
		if want := max(10*ms, now-10*ms); err != nil || got.Length != want {
			t.Errorf("after %v the gap is %v, %v, want %v", now, got, err, want)
		}
	}
}
