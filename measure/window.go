// Package measure is pure arithmetic on arrivals: what a stretch of traffic
// says about count, rate, gaps, jitter, values, delay and loss, and what it
// cannot say. It knows no transport, no clock and no test framework; a Window
// means the same whether it was taken live or from a recording.
//
// Each statistic is an accumulator with Add and a result: RateOf, Gaps,
// Moments, Sample, Delays, LossCounter. A judge of live traffic feeds them one
// message at a time, the methods of Window feed them all at once, so both get
// the same number. Results take the Stretch that the messages are of.
//
// What a sample cannot say is an *Inconclusive, never a zero: the mean of
// nothing, a rate of two messages, p99 of a hundred values, anything of a
// stretch of which we lost a part. A result is never NaN or infinite.
//
// It is no statistics library and compares no runs: a confidence here is that
// of one run with independent messages. Whether a figure is good enough is
// for matchers and budgets to say.
package measure

import (
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"time"
)

// PublisherID tells one publisher from another on its wire: a DDS or ROS 2
// GID, a Zenoh entity. The zero value means that the wire carries none.
type PublisherID [16]byte

// IsZero reports whether the wire named no publisher.
func (p PublisherID) IsZero() bool { return p == PublisherID{} }

// String is the identifier in hex without trailing zero bytes, "-" when it is
// zero.
func (p PublisherID) String() string {
	if p.IsZero() {
		return "-"
	}
	n := len(p)
	for p[n-1] == 0 {
		n--
	}
	return hex.EncodeToString(p[:n])
}

// Arrival is one message as it was received.
type Arrival struct {
	// Received is when the transport's reader saw the message, before any
	// decoding, on this process's monotonic clock.
	Received time.Time
	// Sent is the source stamp the wire carried, on the sender's clock; zero
	// where it carried none.
	Sent time.Time
	// Order is the message's place on its timeline: arrivals and stimuli draw
	// from one counter, so it tells what came first where clocks tie.
	Order uint64
	// Seq counts the messages of one Publisher, as the wire carried it; it is
	// meaningful only where HasSeq is true, since some wires begin at 0.
	Seq    uint64
	HasSeq bool
	// Publisher is who sent it, zero where the wire does not say.
	Publisher PublisherID
	// Topic is the name it arrived under.
	Topic string
	// Size is the length of the payload in bytes.
	Size int
	// Value is the decoded message, nil when Err is set.
	Value any
	// Err says why the payload did not decode. Such a message counts for rate
	// and silence, and matches nothing.
	Err error
}

// LifeState is one of the three answers a wire can give to "is anybody there
// to publish?".
type LifeState uint8

const (
	// LifeUnknown means that this wire cannot tell.
	LifeUnknown LifeState = iota
	// LifeShown means that somebody was there to publish.
	LifeShown
	// LifeNone means that nobody was there to publish.
	LifeNone
)

// String is "cannot tell", "shown" or "none".
func (s LifeState) String() string {
	switch s {
	case LifeShown:
		return "shown"
	case LifeNone:
		return "none"
	default:
		return "cannot tell"
	}
}

// Life is what is known about somebody being there to publish during a
// stretch. Silence means something only with life shown.
type Life struct {
	State LifeState
	// Sign says what the answer relies on, such as "1 publisher in the graph"
	// or "process talker still runs".
	Sign string
	// At is when the sign was seen; zero when the sign has no instant.
	At time.Time
}

// Stretch is what is known about a piece of traffic besides its messages.
// The zero value is an empty stretch about which nothing is known.
type Stretch struct {
	// Topic is the topic or source that was watched.
	Topic string
	// Requests is true where it is a service, and what arrives are the requests of
	// its clients.
	Requests bool
	// From and To bound the stretch by receive stamp, both inclusive.
	From, To time.Time
	// Dropped is how many messages of the stretch we lost ourselves before
	// they were judged. A lossy stretch has no rate and proves no absence.
	Dropped uint64
	// Life says whether somebody was there to publish.
	Life Life
	// Cut says why the stretch cannot be trusted as a whole: the link died,
	// the subscription began later than From, its start is no longer held.
	// Nil when it can.
	Cut error
}

// Duration is To − From.
func (s Stretch) Duration() time.Duration { return s.To.Sub(s.From) }

// Window is an immutable stretch of traffic with its messages in the order of
// arrival. It may be shared between goroutines. The zero value is an empty
// window.
type Window struct {
	Stretch
	arrivals  []Arrival
	undecoded int
}

// NewWindow makes a window of the messages of a stretch, in the order of
// arrival. It keeps arrivals, which must not be changed afterwards.
func NewWindow(s Stretch, arrivals []Arrival) *Window {
	w := &Window{Stretch: s, arrivals: slices.Clip(arrivals)}
	for i := range arrivals {
		if arrivals[i].Err != nil {
			w.undecoded++
		}
	}
	return w
}

// Len is the number of messages, undecodable ones included.
func (w *Window) Len() int { return len(w.arrivals) }

// At is the i-th message, 0 ≤ i < Len.
func (w *Window) At(i int) Arrival { return w.arrivals[i] }

// All ranges over the messages in the order of arrival.
func (w *Window) All() iter.Seq2[int, Arrival] { return slices.All(w.arrivals) }

// Undecoded is how many of the messages did not decode.
func (w *Window) Undecoded() int { return w.undecoded }

// GomegaString prints the window in one line.
func (w *Window) GomegaString() string { return w.String() }

// String prints the window in one line.
func (w *Window) String() string {
	if w == nil {
		return "no window"
	}
	s := fmt.Sprintf("window of %s: %d messages in %v", w.Topic, len(w.arrivals), w.Duration())
	if w.Dropped > 0 {
		s += fmt.Sprintf(", %d dropped by us", w.Dropped)
	}
	if w.undecoded > 0 {
		s += fmt.Sprintf(", %d did not decode", w.undecoded)
	}
	if w.Cut != nil {
		s += ", cut: " + w.Cut.Error()
	}
	return s
}

// Inconclusive is the third verdict: what was asked could not be observed, so
// neither yes nor no would be true. It is red in a spec, also under negation.
type Inconclusive struct {
	// Reason says what was not observed.
	Reason string
	// Remedy says what to do about it, in the imperative; may be empty.
	Remedy string
	// Err is the cause, such as the reason a link was lost; may be nil.
	Err error
}

func (e *Inconclusive) Error() string {
	s := "inconclusive: " + e.Reason
	if e.Remedy != "" {
		s = "inconclusive: " + e.Remedy + "\n" + e.Reason
	}
	return s
}

// Unwrap is the cause.
func (e *Inconclusive) Unwrap() error { return e.Err }

// FormattedGomegaError keeps Gomega from dumping the error by reflection.
func (e *Inconclusive) FormattedGomegaError() string { return e.Error() }
