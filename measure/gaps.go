package measure

import (
	"fmt"
	"math"
	"time"
)

// Gap is a time in which nothing was received. It is no latency: it says
// nothing about how long a message was under way.
type Gap struct {
	Length time.Duration
	// From is where it begins: the receive stamp of a message, or the start of
	// the stretch.
	From time.Time
	// After is the index of the message before it, −1 at the start of the
	// stretch.
	After int
}

func (g Gap) String() string {
	if g.After < 0 {
		return fmt.Sprintf("%v before the first message", g.Length.Round(time.Microsecond))
	}
	return fmt.Sprintf("%v after message %d", g.Length.Round(time.Microsecond), g.After)
}

// Gaps adds up the intervals between successive receptions one message at a
// time. The zero value is ready. It is not for concurrent use.
type Gaps struct {
	stamps
	steps   Moments // in nanoseconds
	longest Gap
}

// Add takes the receive stamp of the next message.
func (g *Gaps) Add(received time.Time) {
	from := g.last
	step := g.add(received)
	if g.n == 1 {
		return
	}
	g.steps.Add(float64(step), received)
	if step > g.longest.Length {
		g.longest = Gap{Length: step, From: from, After: g.n - 2}
	}
}

// Max is the longest time without a message in the stretch that the added
// messages are of, both edges included: From→first and last→To. It is an
// *Inconclusive without any message and over a stretch that is lossy, cut or
// without bounds.
func (g *Gaps) Max(s Stretch) (Gap, error) {
	if err := g.in(s, 1, "a longest gap"); err != nil {
		return Gap{}, err
	}
	longest := g.longest
	if longest.Length == 0 {
		longest = Gap{From: g.begin, After: 0}
	}
	// From the first message's own stamp, though a later one may lie before it:
	// the time between those two is no shorter for it.
	if d := g.begin.Sub(s.From); d > longest.Length {
		longest = Gap{Length: d, From: s.From, After: -1}
	}
	if d := s.To.Sub(g.last); d > longest.Length {
		longest = Gap{Length: d, From: g.last, After: g.n - 1}
	}
	return longest, nil
}

// Jitter is the population standard deviation of the intervals between
// successive receptions; the edges of the stretch are no intervals. It is an
// *Inconclusive for under three messages and over a stretch that is lossy, cut
// or without bounds.
func (g *Gaps) Jitter(s Stretch) (time.Duration, error) {
	if err := g.in(s, 3, "jitter"); err != nil {
		return 0, err
	}
	d, err := g.steps.StdDev()
	if err != nil {
		return 0, err
	}
	return time.Duration(math.Round(d)), nil
}

// MaxGap is Gaps.Max over the window.
func (w *Window) MaxGap() (Gap, error) { return w.gaps().Max(w.Stretch) }

// Jitter is Gaps.Jitter over the window.
func (w *Window) Jitter() (time.Duration, error) { return w.gaps().Jitter(w.Stretch) }

func (w *Window) gaps() *Gaps {
	var g Gaps
	for i := range w.arrivals {
		g.Add(w.arrivals[i].Received)
	}
	return &g
}
