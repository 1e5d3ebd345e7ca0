package measure_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/robospec/robospec/measure"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const ms = time.Millisecond

// window is a stretch of d with messages received at the given times after its
// start.
func window(d time.Duration, at ...time.Duration) *measure.Window {
	arrivals := make([]measure.Arrival, len(at))
	for i, a := range at {
		arrivals[i] = measure.Arrival{Received: t0.Add(a), Order: uint64(i + 1), Topic: "/odom"}
	}
	return measure.NewWindow(measure.Stretch{Topic: "/odom", From: t0, To: t0.Add(d)}, arrivals)
}

// steady is n times, the first at start, the others period apart.
func steady(start, period time.Duration, n int) []time.Duration {
	at := make([]time.Duration, n)
	for i := range at {
		at[i] = start + time.Duration(i)*period
	}
	return at
}

// with is the window with another stretch.
func with(w *measure.Window, change func(*measure.Stretch)) *measure.Window {
	s := w.Stretch
	change(&s)
	arrivals := make([]measure.Arrival, w.Len())
	for i, a := range w.All() {
		arrivals[i] = a
	}
	return measure.NewWindow(s, arrivals)
}

func wantInconclusive(t *testing.T, err error, words ...string) {
	t.Helper()
	var inc *measure.Inconclusive
	if !errors.As(err, &inc) {
		t.Fatalf("error is %v, want *Inconclusive", err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error is %q, want it to say %q", err, word)
		}
	}
}

// untrusted are windows no statistic may be drawn from, and what is to be said.
func untrusted(w *measure.Window) map[string]*measure.Window {
	return map[string]*measure.Window{
		"lost 3 messages in our own log": with(w, func(s *measure.Stretch) { s.Dropped = 3 }),
		"link to peer lost":              with(w, func(s *measure.Stretch) { s.Cut = errors.New("link to peer lost") }),
	}
}
