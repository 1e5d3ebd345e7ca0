package harness

import (
	"fmt"
	"time"

	"github.com/robospec/robospec/internal/oneline"
	"github.com/robospec/robospec/measure"
)

// Message is one message of a subscription.
type Message[T any] struct {
	Value T
	// Topic is the name it came under.
	Topic string
	// Received is when the transport's reader saw it, before any decoding; Sent
	// the source stamp the wire carried, zero where it carried none.
	Received, Sent time.Time
	// Seq counts the messages of one Publisher where the wire carries it, else 0.
	Seq       uint64
	Publisher measure.PublisherID
	// Size is the length of the payload in bytes.
	Size int

	hasSeq bool
	order  uint64
	tl     *Timeline
	err    error
}

// Mark is the position of the message on its timeline: "after this message" is
// x.After(m.Mark()).
func (m *Message[T]) Mark() Mark {
	return Mark{tl: m.tl, order: m.order, at: m.Received, verb: "message on", object: m.Topic}
}

// Err says why the message did not decode; nil when it did. Value is zero then.
func (m *Message[T]) Err() error { return m.err }

// GomegaString prints the message in one line.
func (m Message[T]) GomegaString() string {
	if m.err != nil {
		return m.err.Error()
	}
	at := m.Received.Format("15:04:05.000000")
	if m.tl != nil {
		at = m.tl.since(m.Received)
	}
	return fmt.Sprintf("%s on %s at %s", oneline.Print(m.Value), m.Topic, at)
}

func (m *Message[T]) arrival() measure.Arrival {
	a := measure.Arrival{Received: m.Received, Sent: m.Sent, Order: m.order, Seq: m.Seq, HasSeq: m.hasSeq,
		Publisher: m.Publisher, Topic: m.Topic, Size: m.Size, Err: m.err}
	if m.err == nil {
		a.Value = m.Value
	}
	return a
}
