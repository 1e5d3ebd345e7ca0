package measure_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/robospec/robospec/measure"
)

func ExampleWindow_Rate() {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var arrivals []measure.Arrival
	for i := range 10 {
		arrivals = append(arrivals, measure.Arrival{Received: start.Add(time.Duration(i) * 100 * time.Millisecond)})
	}
	w := measure.NewWindow(measure.Stretch{Topic: "/odom", From: start, To: start.Add(time.Second)}, arrivals)
	rate, err := w.Rate()
	fmt.Println(rate, err)

	// Half a stretch of silence is no steady rate.
	w = measure.NewWindow(measure.Stretch{Topic: "/odom", From: start, To: start.Add(2 * time.Second)}, arrivals)
	rate, err = w.Rate()
	fmt.Println(rate, err)
	// Output:
	// 10 ± 1 Hz (10 messages, over 900ms) <nil>
	// 5 ± 0.5 Hz (10 messages, over 2s) <nil>
}

func ExampleRateOf() {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var r measure.RateOf // one message at a time, as they arrive
	r.Add(start)
	r.Add(start.Add(20 * time.Millisecond))
	_, err := r.Result(measure.Stretch{Topic: "/imu", From: start, To: start.Add(30 * time.Millisecond)})
	fmt.Println(err)
	// Output:
	// inconclusive: the stretch of /imu holds 2 messages, a rate needs 3
}

func ExampleGaps() {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var g measure.Gaps
	for _, ms := range []int{10, 20, 50, 60} {
		g.Add(start.Add(time.Duration(ms) * time.Millisecond))
	}
	gap, err := g.Max(measure.Stretch{From: start, To: start.Add(70 * time.Millisecond)})
	fmt.Println(gap, err)
	// Output:
	// 30ms after message 1 <nil>
}

func ExampleWindow_Values() {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := measure.NewWindow(measure.Stretch{Topic: "/battery", From: start, To: start}, []measure.Arrival{
		{Received: start, Value: 12.1}, {Received: start, Value: 12.3}, {Received: start, Value: 12.6},
	})
	volts, err := w.Values(func(a measure.Arrival) (float64, error) { return a.Value.(float64), nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	median, err := volts.Median()
	fmt.Println(median, err)
	// Output:
	// 12.3 <nil>
}

func ExampleSample_Percentile() {
	var s measure.Sample
	for i := range 58 {
		s.Add(float64(i), time.Time{})
	}
	_, err := s.Percentile(95)
	fmt.Println(err)
	s.Add(58, time.Time{})
	p95, err := s.Percentile(95)
	fmt.Println(p95, err)
	bound, err := s.UpperBound(95, 0.95)
	fmt.Println(bound, err)
	// Output:
	// inconclusive: watch longer or ask for a lower percentile
	// p95 needs 59 values for 95 % confidence, there are 58
	// 56 <nil>
	// 58 <nil>
}

func ExampleWindow_Delays() {
	received := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := measure.NewWindow(measure.Stretch{Topic: "/scan", From: received, To: received}, []measure.Arrival{
		{Received: received, Sent: time.Unix(42, 0)}, // simulated time
	})
	_, err := w.Delays()
	var mismatch *measure.ClockMismatch
	fmt.Println(errors.As(err, &mismatch))
	fmt.Println(err)
	// Output:
	// true
	// clock mismatch at message 0: received 2026-03-01T12:00:00Z by our wall clock, sent 42s after the zero of a simulated or unset clock
}

func ExampleLossCounter() {
	var c measure.LossCounter
	gid := measure.PublisherID{0x01, 0x0f}
	for _, seq := range []uint64{1, 2, 5, 4, 6, 6} {
		c.Add(gid, seq, true)
	}
	fmt.Println(c.Result(measure.Stretch{Topic: "/odom"}))
	// Output:
	// 1 lost, 1 duplicate, 1 out of order, 0 restarts in 6 messages of 1 publishers <nil>
}
