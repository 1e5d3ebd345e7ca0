package measure_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/robospec/robospec/measure"
)

func delays(received time.Time, sent ...time.Time) *measure.Window {
	arrivals := make([]measure.Arrival, len(sent))
	for i, s := range sent {
		arrivals[i] = measure.Arrival{Received: received, Sent: s}
	}
	return measure.NewWindow(measure.Stretch{Topic: "/scan", From: received, To: received}, arrivals)
}

func TestDelays(t *testing.T) {
	s, err := delays(t0, t0.Add(-2*ms), t0.Add(-4*ms), t0, t0.Add(200*time.Microsecond), t0.Add(-time.Hour)).Delays()
	if err != nil {
		t.Fatal(err)
	}
	low, _ := s.Min()
	high, _ := s.Max()
	median, err := s.Median()
	if err != nil || time.Duration(low) != -200*time.Microsecond || time.Duration(high) != time.Hour || time.Duration(median) != 2*ms {
		t.Errorf("delays are %v … %v, median %v, %v", low, high, median, err)
	}
}

// The receive stamp has a monotonic reading, the source stamp has none; only
// the wall readings may be subtracted.
func TestDelaysUseWallReadings(t *testing.T) {
	received := time.Now()
	sent := time.Unix(0, received.UnixNano()).Add(-7 * ms)
	s, err := delays(received.Add(3*ms), sent).Delays()
	if err != nil {
		t.Fatal(err)
	}
	if d, err := s.Mean(); err != nil || time.Duration(d) != 10*ms {
		t.Errorf("delay is %v, %v, want 10ms", time.Duration(d), err)
	}
}

func TestDelaysRefuse(t *testing.T) {
	_, err := delays(t0, t0, time.Time{}, t0).Delays()
	wantInconclusive(t, err, "carries no source stamp on 1 of 3 messages")
	for word, w := range untrusted(delays(t0, t0)) {
		_, err := w.Delays()
		wantInconclusive(t, err, word)
	}
	empty, err := delays(t0).Delays()
	if err != nil {
		t.Fatal(err)
	}
	_, err = empty.Mean()
	wantInconclusive(t, err, "no values")
}

func TestClockMismatch(t *testing.T) {
	for _, c := range []struct {
		name string
		sent time.Time
		says string
	}{
		{"simulated time", time.Unix(12, 500_000_000), "12.5s after the zero of a simulated or unset clock"},
		{"a stamp never set", time.Unix(0, 0), "0s after the zero of a simulated"},
		{"an hour behind", t0.Add(-time.Hour - 1), "1h0m0.000000001s apart"},
		{"an hour ahead", t0.Add(time.Hour + 1), "-1h0m0.000000001s apart"},
		{"sent after it was received", t0.Add(2 * ms), "-2ms apart"},
		{"another epoch", time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC), "by the sender's clock"},
		{"before all epochs", time.Date(-3000, 1, 1, 0, 0, 0, 0, time.UTC), "simulated"},
	} {
		_, err := delays(t0, t0, c.sent, t0).Delays()
		var m *measure.ClockMismatch
		if !errors.As(err, &m) || m.Index != 1 || !m.Received.Equal(t0) || !m.Sent.Equal(c.sent) {
			t.Errorf("%s: error is %v, want *ClockMismatch for message 1", c.name, err)
			continue
		}
		for _, word := range []string{"clock mismatch at message 1", "our wall clock", c.says} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: error is %q, want it to say %q", c.name, err, word)
			}
		}
	}
	// A simulated stamp is of another clock even where the difference is small.
	if _, err := delays(time.Unix(20, 0), time.Unix(19, 0)).Delays(); err == nil {
		t.Error("a simulated stamp was subtracted")
	}
}
