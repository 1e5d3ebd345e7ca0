package measure_test

import (
	"testing"
	"time"

	"github.com/robospec/robospec/measure"
)

// traffic is n messages at 10 kHz, with one in a hundred lost.
func traffic(n int) *measure.Window {
	arrivals := make([]measure.Arrival, n)
	start := time.Now()
	for i := range arrivals {
		at := start.Add(time.Duration(i) * 100 * time.Microsecond)
		arrivals[i] = measure.Arrival{
			Received: at, Sent: at.Round(0).Add(-ms), Publisher: alice,
			Seq: uint64(i + i/100), HasSeq: true, Value: float64(i % 97),
		}
	}
	return measure.NewWindow(measure.Stretch{From: start, To: arrivals[n-1].Received}, arrivals)
}

func BenchmarkRateGapMean100k(b *testing.B) {
	w := traffic(100_000)
	b.ReportAllocs()
	for b.Loop() {
		var r measure.RateOf
		var g measure.Gaps
		var m measure.Moments
		for _, a := range w.All() {
			r.Add(a.Received)
			g.Add(a.Received)
			m.Add(a.Value.(float64), a.Received)
		}
		rate, err := r.Result(w.Stretch)
		if err != nil || rate.Messages != w.Len() {
			b.Fatal(rate, err)
		}
		if _, err := g.Max(w.Stretch); err != nil {
			b.Fatal(err)
		}
		if mean, err := m.Mean(); err != nil || mean < 47 || mean > 49 {
			b.Fatal(mean, err)
		}
	}
}

func BenchmarkLoss100k(b *testing.B) {
	w := traffic(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if l, err := w.Loss(); err != nil || l.Lost != 999 {
			b.Fatal(l, err)
		}
	}
}

func BenchmarkPercentile100k(b *testing.B) {
	w := traffic(100_000)
	b.ReportAllocs()
	for b.Loop() {
		s, err := w.Values(value)
		if err != nil {
			b.Fatal(err)
		}
		if p, err := s.Percentile(99); err != nil || p != 96 {
			b.Fatal(p, err)
		}
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	var r measure.RateOf
	var g measure.Gaps
	var m measure.Moments
	var l measure.LossCounter
	l.Add(alice, 0, true)
	l.Add(bob, 0, true)
	at, seq := t0, uint64(0)
	add := func() {
		at, seq = at.Add(ms), seq+1
		r.Add(at)
		g.Add(at)
		m.Add(float64(seq), at)
		l.Add(alice, seq, true)
		l.Add(bob, seq, true)
	}
	if n := testing.AllocsPerRun(1000, add); n != 0 {
		t.Errorf("one message costs %v allocations", n)
	}
}
