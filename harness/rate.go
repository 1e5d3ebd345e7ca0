package harness

import (
	"fmt"
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
// jump back begins their schedules anew.
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
	start  time.Time
	period time.Duration
	k      uint64
	most   uint64 // how many ticks the log can hold
	push   func(Tick)
	skip   func(uint64)
}

// deliver gives out every tick due by now.
func (t *ticker) deliver(now time.Time) {
	due := t.k
	if d := now.Sub(t.start); d > 0 {
		due = uint64(d / t.period)
	}
	if due > t.k+t.most {
		t.skip(due - t.k - t.most) // the log would drop them at once
		t.k = due - t.most
	}
	for t.k < due {
		t.k++
		t.push(Tick{K: t.k, Scheduled: t.start.Add(time.Duration(t.k) * t.period)})
	}
}

// Rate is a subscription of ticks at hz. The message is the scheduled time, so
// it never drifts; after a stall every missed tick is due. The clock is the
// wall clock when c is nil. hz must be positive and at most 1e6.
func Rate(g *Graph, hz float64, c *Clock, opts ...Option) (*Subscription[Tick], error) {
	if !(hz > 0 && hz <= 1e6) {
		return nil, fmt.Errorf("rate of %v Hz: want more than 0 and at most 1e6", hz)
	}
	o := g.options(opts)
	s := newSubscription[Tick](g, fmt.Sprintf("rate of %g Hz", hz), o)
	t := &ticker{period: time.Duration(float64(time.Second) / hz), most: uint64(o.messages),
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
		return s, s.begin()
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
		timer := time.NewTimer(t.period)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
			case <-stop:
				return
			}
			t.deliver(time.Now())
			timer.Reset(time.Until(t.start.Add(time.Duration(t.k+1) * t.period)))
		}
	}()
	return s, nil
}
