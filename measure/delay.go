package measure

import (
	"fmt"
	"time"
)

const (
	// maxDelay is beyond what a message is under way: the two stamps are of
	// different clocks.
	maxDelay = time.Hour
	// maxLead is how far a source stamp may lie after the receive stamp. Hybrid
	// logical clocks and coarse stamp formats run ahead by microseconds; more
	// is two clocks that disagree, and no delay between them means anything.
	maxLead = time.Millisecond
)

// simulatedUntil is before any wall clock of today and after any simulation
// that counts from zero.
var simulatedUntil = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// ClockMismatch is a message whose two stamps cannot be of one clock, so that
// their difference is no delay.
type ClockMismatch struct {
	// Index counts the messages from 0.
	Index int
	// Received is by this process's wall clock, Sent by the sender's.
	Received, Sent time.Time
}

func (e *ClockMismatch) Error() string {
	at := fmt.Sprintf("clock mismatch at message %d: received %s by our wall clock, sent ", e.Index, stamp(e.Received.UTC()))
	if simulated(e.Sent) {
		return at + fmt.Sprintf("%v after the zero of a simulated or unset clock", time.Duration(e.Sent.UnixNano()))
	}
	return at + fmt.Sprintf("%s by the sender's clock: %v apart", stamp(e.Sent.UTC()), wall(e.Received).Sub(wall(e.Sent)))
}

func simulated(t time.Time) bool { return t.Before(simulatedUntil) }

// wall drops the monotonic reading, which a source stamp cannot have.
func wall(t time.Time) time.Time { return t.Round(0) }

// Delays adds up Received − Sent one message at a time: from the source stamp
// on the wire, by the sender's clock, to our reader, by this process's wall
// clock. The zero value is ready. It is not for concurrent use.
type Delays struct {
	sample     Sample
	n, unsent  int
	mismatch   ClockMismatch
	mismatched bool
}

// Add takes the two stamps of a message.
func (d *Delays) Add(received, sent time.Time) {
	i := d.n
	d.n++
	if sent.IsZero() {
		d.unsent++
		return
	}
	delay := wall(received).Sub(wall(sent))
	if delay > maxDelay || delay < -maxLead || simulated(sent) {
		if !d.mismatched {
			d.mismatch, d.mismatched = ClockMismatch{Index: i, Received: received, Sent: sent}, true
		}
		return
	}
	d.sample.Add(float64(delay), received)
}

// Sample is the sample of the delays in nanoseconds, of the stretch that the
// added messages are of. It is an *Inconclusive when a message carried no
// source stamp or the stretch is lossy or cut, and a *ClockMismatch for the
// first message that was sent over an hour before or over a millisecond after
// it was received, or at the beginning of simulated time.
func (d *Delays) Sample(s Stretch) (*Sample, error) {
	if err := s.Untrusted(); err != nil {
		return nil, err
	}
	if d.unsent > 0 {
		return nil, &Inconclusive{Reason: fmt.Sprintf("the wire carries no source stamp on %d of %s", d.unsent, messages(d.n))}
	}
	if d.mismatched {
		m := d.mismatch
		return nil, &m
	}
	return &d.sample, nil
}

// Delays is the sample of the delays of the window, in nanoseconds; see
// Delays.Sample.
func (w *Window) Delays() (*Sample, error) {
	d := Delays{sample: Sample{xs: make([]float64, 0, len(w.arrivals))}}
	for i := range w.arrivals {
		d.Add(w.arrivals[i].Received, w.arrivals[i].Sent)
	}
	return d.Sample(w.Stretch)
}
