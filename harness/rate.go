package harness

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// Tick is a message of Rate.
type Tick struct {
	// K counts the ticks from 1, Scheduled is start + K·period on the clock of
	// the Rate, whenever it was delivered.
	K         uint64
	Scheduled time.Time
}

// Clock is a clock that somebody else turns, such as simulated time. It is
// safe for use by several goroutines.
type Clock struct {
	mu    sync.Mutex
	now   time.Time
	rates map[*ticker]struct{}
}

// NewClock makes a clock that shows now until it is set.
func NewClock(now time.Time) *Clock {
	return &Clock{now: now, rates: map[*ticker]struct{}{}}
}

// Now is what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set turns the clock. A jump forward gives every Rate the ticks it covers; a
// jump back, or 292 years ahead and more, begins their schedules anew.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	back := now.Before(c.now)
	c.now = now
	for t := range c.rates {
		if back {
			t.start, t.k = now, 0
		}
		t.deliver(now)
	}
}

// ticker is the schedule of one Rate.
type ticker struct {
	start time.Time
	hz    float64
	k     uint64
	most  uint64 // how many ticks the log can hold
	push  func(Tick)
	skip  func(uint64)
}

// after is how long after start tick k is due, in nanoseconds. It is computed
// from k, for the sum of rounded periods drifts.
func (t *ticker) after(k uint64) float64 { return math.Round(float64(k) / t.hz * 1e9) }

func (t *ticker) at(k uint64) time.Time { return t.start.Add(time.Duration(t.after(k))) }

// deliver gives out every tick due by now.
func (t *ticker) deliver(now time.Time) {
	d := now.Sub(t.start)
	if d == math.MaxInt64 { // 292 years or more: only their end can be told
		t.start, t.k = now, 0
		return
	}
	due := uint64(max(0, float64(d)*t.hz/1e9))
	for t.after(due+1) <= float64(d) {
		due++
	}
	for due > 0 && t.after(due) > float64(d) {
		due--
	}
	if due > t.k+t.most {
		t.skip(due - t.k - t.most) // the log would drop them at once
		t.k = due - t.most
	}
	for t.k < due {
		t.k++
		t.push(Tick{K: t.k, Scheduled: t.at(t.k)})
	}
}

// Rate is a subscription of ticks at hz. The message is the scheduled time, so
// it never drifts; after a stall every missed tick is due. The clock is the
// wall clock when c is nil. hz must be at least 1e-9 and at most 1e6.
func Rate(g *Graph, hz float64, c *Clock, opts ...Option) (*Subscription[Tick], error) {
	if !(hz >= 1e-9 && hz <= 1e6) {
		return nil, fmt.Errorf("rate of %v Hz: want at least 1e-9 and at most 1e6", hz)
	}
	o := g.options(opts)
	s := newSubscription[Tick](g, fmt.Sprintf("rate of %g Hz", hz), o)
	t := &ticker{hz: hz, most: uint64(o.messages),
		push: func(k Tick) { s.log.add(&Message[Tick]{Topic: s.log.name, Value: k}) }, skip: s.log.skip}
	if c != nil {
		c.mu.Lock()
		t.start = c.now
		c.rates[t] = struct{}{}
		c.mu.Unlock()
		s.release = func() error {
			c.mu.Lock()
			delete(c.rates, t)
			c.mu.Unlock()
			return nil
		}
		if err := s.begin(); err != nil {
			_ = s.release() // has no error of its own
			return nil, err
		}
		return s, nil
	}
	t.start = time.Now()
	stop, done := make(chan struct{}), make(chan struct{})
	s.release = func() error {
		close(stop)
		<-done
		return nil
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	go func() {
		defer close(done)
		timer := time.NewTimer(time.Until(t.at(1)))
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
			case <-stop:
				return
			}
			t.deliver(time.Now())
			timer.Reset(time.Until(t.at(t.k + 1)))
		}
	}()
	return s, nil
}
