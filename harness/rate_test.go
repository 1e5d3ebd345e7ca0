package harness_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robospec/robospec/harness"
)

func nextTick(t *testing.T, r *harness.Reader[harness.Tick]) harness.Tick {
	t.Helper()
	m, err := r.WaitForNext(soft(t, 0))
	if err != nil {
		t.Fatal(err)
	}
	return m.Value
}

func TestRateOnTheWallClock(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		began := time.Now()
		s := must(harness.Rate(w.rig, 10, nil))
		n := 0
		for m, err := range s.ListenReliable(soft(t, time.Second+ms)) {
			n++
			if want := began.Add(time.Duration(n) * 100 * ms); err != nil || m.Value.K != uint64(n) || !m.Value.Scheduled.Equal(want) || !m.Received.Equal(want) {
				t.Errorf("tick %d: %+v, %v", n, m, err)
			}
			time.Sleep(20 * ms) // work in the loop shifts nothing
		}
		if n != 10 {
			t.Errorf("%d ticks in a second at 10 Hz", n)
		}
		// After a stall of the loop every missed tick is due …
		r := s.FromNow()
		latest := s.FromNow()
		time.Sleep(time.Second)
		for range 10 {
			nextTick(t, r)
		}
		// … and the latest reader sees the last.
		if m := must(latest.WaitForNew(t.Context())); m.Value.K != 20 {
			t.Errorf("latest is %d", m.Value.K)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if s.Received() != 20 || s.Topic() != "rate of 10 Hz" {
			t.Errorf("%s: %d ticks after Close", s.Topic(), s.Received())
		}
	})
}

// A period that is no whole number of nanoseconds adds up to nothing.
func TestRateNeverDrifts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := harness.New(newFake(), harness.Config{})
		defer g.Close()
		start := time.Unix(0, 0)
		// The last tick of each is one whose quotient rounds up a nanosecond early.
		for hz, last := range map[float64]uint64{3: 19_099_313, 60: 408_538_601, 29.97: 145_334_306, 7: 51_251_107, 0.1: 709_728} {
			c := harness.NewClock(start)
			s := must(harness.Rate(g, hz, c, harness.Keep(10, 0)))
			for _, k := range []uint64{1, 2, 1000, 700_000, last} {
				want := start.Add(time.Duration(math.Round(float64(k) / hz * 1e9)))
				c.Set(want.Add(-1))
				if m, err := s.FromStart().WaitForNew(soft(t, 0)); k > 1 && (err != nil || m.Value.K != k-1) {
					t.Errorf("%v Hz: tick %d a nanosecond before tick %d", hz, m.Value.K, k)
				}
				c.Set(want)
				if m, err := s.FromStart().WaitForNew(soft(t, 0)); err != nil || m.Value.K != k || !m.Value.Scheduled.Equal(want) {
					t.Errorf("%v Hz: %+v, want tick %d at %v", hz, m.Value, k, want)
				}
			}
			if s.Received() != last {
				t.Errorf("%v Hz: %d ticks", hz, s.Received())
			}
		}
	})
}

func TestRateOnASimulatedClock(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		start := time.Unix(1000, 0)
		c := harness.NewClock(start)
		s := must(harness.Rate(w.rig, 10, c, harness.Keep(100, 0)))
		r := s.FromStart()
		expect := func(what string, want ...uint64) {
			t.Helper()
			for _, k := range want {
				if tick := nextTick(t, r); tick.K != k || !tick.Scheduled.Equal(start.Add(time.Duration(k)*100*ms)) {
					t.Errorf("%s: tick %+v, want %d", what, tick, k)
				}
			}
			if m, err := r.WaitForNext(soft(t, 0)); !isSoft(err) {
				t.Errorf("%s: one more, %+v, %v", what, m.Value, err)
			}
		}
		expect("nothing yet")
		c.Set(start)
		time.Sleep(time.Hour)
		expect("paused")
		c.Set(start.Add(99 * ms))
		expect("before the first")
		c.Set(start.Add(100 * ms))
		expect("at the first", 1)
		c.Set(start.Add(450 * ms))
		expect("a jump gives those it covers", 2, 3, 4)
		if !c.Now().Equal(start.Add(450 * ms)) {
			t.Errorf("shows %v", c.Now())
		}
		// Back: the schedule begins anew.
		start = time.Unix(500, 0)
		c.Set(start)
		expect("jumped back")
		c.Set(start.Add(200 * ms))
		expect("and on", 1, 2)

		// A huge jump costs no more than the log holds, and each tick is counted.
		c.Set(start.Add(1000 * time.Hour))
		_, err := r.WaitForNext(soft(t, 0))
		var lost *harness.LossError
		if !errors.As(err, &lost) || lost.Lost != 36_000_000-2-100 {
			t.Errorf("after a huge jump: %v", err)
		}
		for k := uint64(36_000_000 - 99); k <= 36_000_000; k++ {
			if tick := nextTick(t, r); tick.K != k {
				t.Fatalf("tick %d, want %d", tick.K, k)
			}
		}
		// From a clock that was never set to the date: the schedule begins there.
		far := harness.NewClock(time.Time{})
		f := must(harness.Rate(w.rig, 10, far))
		start = time.Unix(1700000000, 0)
		far.Set(start)
		far.Set(start.Add(100 * ms))
		r = f.FromStart()
		expect("from the year 1", 1)

		if err := s.Close(); err != nil {
			t.Error(err)
		}
		n := s.Received()
		c.Set(c.Now().Add(1000 * time.Hour))
		if s.Received() != n {
			t.Error("ticks after Close")
		}
	})
}

func TestRateRefuses(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		for _, hz := range []float64{0, -1, 1e7, math.NaN(), math.Inf(1), 1e-12} {
			if _, err := harness.Rate(w.rig, hz, nil); err == nil || !strings.Contains(err.Error(), "Hz: want at least 1e-9 and at most 1e6") {
				t.Errorf("%v Hz: %v", hz, err)
			}
		}
		_ = w.rig.Close()
		c := harness.NewClock(time.Now())
		for _, clock := range []*harness.Clock{nil, c} {
			if s, err := harness.Rate(w.rig, 10, clock); !errors.Is(err, harness.ErrClosed) || s != nil {
				t.Errorf("on a closed graph: %v, %v", s, err)
			}
		}
		c.Set(time.Now().Add(time.Hour))
	})
}

// A rate may be closed while its clock is turned.
func TestRateClosedWhileTheClockTurns(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		c := harness.NewClock(time.Unix(0, 0))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 1000 {
				c.Set(time.Unix(int64(i), 0))
			}
		}()
		for range 100 {
			s := must(harness.Rate(w.rig, 100, c))
			_ = s.Close()
		}
		<-done
	})
}
