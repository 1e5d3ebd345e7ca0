package measure_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/robospec/robospec/measure"
)

// words cuts fuzzed bytes into numbers.
func words(b []byte) []uint64 {
	var ws []uint64
	for ; len(b) >= 8; b = b[8:] {
		ws = append(ws, binary.LittleEndian.Uint64(b))
	}
	return ws
}

func bytesOf(ws ...uint64) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// instant spreads a number over ordinary, tiny and extreme stamps.
func instant(w uint64) time.Time {
	switch v := int64(w >> 2); w & 3 {
	case 0:
		return t0.Add(time.Duration(v % int64(time.Minute)))
	case 1:
		return t0.Add(time.Duration(v % 1000))
	case 2:
		return time.Unix(v, v%1e9)
	default:
		return time.Time{}
	}
}

// known fails unless the error is one of the refusals a statistic may give.
func known(t *testing.T, what string, err error) {
	t.Helper()
	var inc *measure.Inconclusive
	var clock *measure.ClockMismatch
	var nan *measure.NotFiniteError
	if err != nil && !errors.As(err, &inc) && !errors.As(err, &clock) && !errors.As(err, &nan) {
		t.Errorf("%s: error is %v", what, err)
	}
	if err != nil && err.Error() == "" {
		t.Errorf("%s: error says nothing", what)
	}
}

func FuzzStamps(f *testing.F) {
	f.Add(bytesOf(0, 4000, 400, 800, 1200)) // three messages in order
	f.Add(bytesOf(0, 4<<30, 1, 1, 1, 1))    // at one instant
	f.Add(bytesOf(2, math.MaxUint64-1, 2, math.MaxUint64-1, 6))
	f.Add(bytesOf(0, 4e9, 3, 3, 4e9))
	f.Add(bytesOf(0, 80_000_000, 70_000_000, 3))                                             // two readers that raced
	f.Add([]byte("2000\x00\x00\x00\x00000000000001000000010000000100000001000000010000000")) // fifty years
	f.Fuzz(func(t *testing.T, b []byte) {
		ws := words(b)
		if len(ws) < 2 {
			return
		}
		s := measure.Stretch{From: instant(ws[0]), To: instant(ws[1])}
		arrivals := make([]measure.Arrival, 0, len(ws))
		for i, w := range ws[2:] {
			arrivals = append(arrivals, measure.Arrival{Received: instant(w), Sent: instant(w>>3 ^ w<<1), Order: uint64(i)})
		}
		w := measure.NewWindow(s, arrivals)

		rate, err := w.Rate()
		known(t, "rate", err)
		if err == nil && (!(rate.Hz > 0 && rate.PlusMinus > 0) || math.IsInf(rate.Hz, 0) || math.IsInf(rate.PlusMinus, 0) || rate.Messages < 3 || rate.Over <= 0) {
			t.Errorf("rate is %+v", rate)
		}
		gap, err := w.MaxGap()
		known(t, "gap", err)
		if err == nil && (gap.Length < 0 || gap.Length > s.Duration() || gap.After < -1 || gap.After >= len(arrivals) ||
			gap.Length.Seconds()*float64(len(arrivals)+1) < s.Duration().Seconds()*(1-1e-9)-1e-6) {
			t.Errorf("gap is %+v in %v with %d messages", gap, s.Duration(), len(arrivals))
		}
		jitter, err := w.Jitter()
		known(t, "jitter", err)
		if err == nil && (jitter < 0 || jitter > s.Duration()) {
			t.Errorf("jitter is %v in %v", jitter, s.Duration())
		}
		delays, err := w.Delays()
		known(t, "delays", err)
		if err == nil {
			finite(t, delays)
		}
		part := w.Between(instant(ws[1]), instant(ws[0]))
		if part.Len() > w.Len() {
			t.Errorf("a part of %d messages of %d", part.Len(), w.Len())
		}
		_, err = part.Rate()
		known(t, "rate of a part", err)
	})
}

// finite checks every statistic of a sample.
func finite(t *testing.T, s *measure.Sample) {
	t.Helper()
	got := map[string]float64{}
	for what, get := range statistics(s) {
		x, err := get()
		known(t, what, err)
		if math.IsNaN(x) || math.IsInf(x, 0) || err != nil && x != 0 {
			t.Errorf("%s is %v, %v", what, x, err)
		}
		if err == nil {
			got[what] = x
		}
	}
	for _, what := range []string{"mean", "median", "percentile", "upper", "low", "high"} {
		if x, ok := got[what]; ok && (x < got["min"] || x > got["max"]) {
			t.Errorf("%s %v lies outside %v … %v", what, x, got["min"], got["max"])
		}
	}
	for _, what := range []string{"range", "stddev"} {
		if got[what] < 0 {
			t.Errorf("%s is %v", what, got[what])
		}
	}
}

func FuzzValues(f *testing.F) {
	bits := math.Float64bits
	f.Add(bytesOf(bits(1), bits(2), bits(3)))
	f.Add(bytesOf(bits(math.NaN()), bits(0)))
	f.Add(bytesOf(bits(math.MaxFloat64), bits(-math.MaxFloat64), bits(math.MaxFloat64)))
	f.Add(bytesOf(bits(5e-324), bits(-5e-324)))
	f.Add(bytesOf(bits(5e-324), bits(5e-324))) // halves of which are 0
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &measure.Sample{}
		spoilt := false
		var xs []float64
		for _, w := range words(b) {
			x := math.Float64frombits(w)
			spoilt = spoilt || math.IsNaN(x) || math.IsInf(x, 0)
			xs = append(xs, x)
			s.Add(x, t0)
		}
		finite(t, s)
		_, err := s.Max()
		if spoilt != errors.As(err, new(*measure.NotFiniteError)) {
			t.Errorf("spoilt is %v, error is %v", spoilt, err)
		}
		if high, err := s.Max(); err == nil && high != slices.Max(xs) {
			t.Errorf("max is %v, want %v", high, slices.Max(xs))
		}
	})
}

func FuzzPercentile(f *testing.F) {
	f.Add(95.0, 0.95, uint16(59))
	f.Add(99.9, 0.5, uint16(5000))
	f.Add(5e-324, 0.999999, uint16(3))
	f.Add(100-1e-14, 1e-300, uint16(300))
	f.Fuzz(func(t *testing.T, p, confidence float64, n uint16) {
		s := &measure.Sample{}
		for i := range int(n) {
			s.Add(float64(i), t0)
		}
		if need := measure.SamplesFor(p, confidence); need < 0 || (need == 0) == (p > 0 && p < 100 && confidence > 0 && confidence < 1) {
			t.Errorf("p%v at %v needs %d", p, confidence, need)
		}
		if x, err := s.Percentile(p); err == nil && !(x >= 0 && x < float64(n)) {
			t.Errorf("p%v is %v", p, x)
		}
		if x, err := s.UpperBound(p, confidence); err == nil && !(x >= 0 && x < float64(n)) {
			t.Errorf("bound of p%v is %v", p, x)
		}
		if i, err := s.Interval(p, confidence); err == nil && !(i.Low >= 0 && i.Low <= i.High && i.High < float64(n) && i.Confidence <= 1 && i.Confidence >= confidence-1e-9) {
			t.Errorf("interval of p%v at %v is %v", p, confidence, i)
		}
	})
}

func FuzzLoss(f *testing.F) {
	f.Add(bytesOf(1, 2, 4, 3))
	f.Add(bytesOf(1, 1<<63, 2, 3, math.MaxUint64, 0))
	f.Add(bytesOf(5, 6, 0, 1, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c measure.LossCounter
		ws := words(b)
		for _, w := range ws {
			// Three publishers; numbers that lie close in three of four cases.
			seq := w >> 2
			if w&3 != 0 {
				seq %= 300
			}
			c.Add(measure.PublisherID{byte(w & 3 % 3)}, seq, true)
		}
		l, err := c.Result(measure.Stretch{})
		known(t, "loss", err)
		if err == nil && (l.Duplicates+l.Reordered+l.Restarts > uint64(len(ws)) || l.Messages != len(ws)) {
			t.Errorf("%v of %d messages", l, len(ws))
		}
	})
}
