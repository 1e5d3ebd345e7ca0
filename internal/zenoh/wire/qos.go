package wire

import "fmt"

// Priority of a message, 0 the most urgent.
type Priority byte

const (
	PriorityControl Priority = iota
	PriorityRealTime
	PriorityInteractiveHigh
	PriorityInteractiveLow
	PriorityDataHigh
	PriorityData // the default
	PriorityDataLow
	PriorityBackground
)

// QoS is the QoS extension of a network message, and of a frame its lane. The
// zero value means absent: priority data, drop under congestion, batched.
//
// The low bits are those of the wire; the top bit tells an explicit value from
// an absent one.
type QoS byte

const (
	qosBlock      = 0x08
	qosExpress    = 0x10
	qosBlockFirst = 0x20
	qosPresent    = 0x80

	// QoSDeclare (control, block) and QoSRequest (data, block) are what Rust
	// peers put on declarations and interests, and on queries and replies.
	QoSDeclare = QoS(qosPresent|qosBlock) | QoS(PriorityControl)
	QoSRequest = QoS(qosPresent|qosBlock) | QoS(PriorityData)
)

// NewQoS returns an explicit QoS. block: the sender waits under congestion
// instead of dropping. express: the message is not held back for batching.
func NewQoS(p Priority, block, express bool) QoS {
	q := QoS(qosPresent) | QoS(p&7)
	if block {
		q |= qosBlock
	}
	if express {
		q |= qosExpress
	}
	return q
}

func qosFromBits(v uint64) QoS { return QoS(v&0x7f) | qosPresent }

func (q QoS) bits() byte { return byte(q &^ qosPresent) }

// IsZero reports whether q is absent.
func (q QoS) IsZero() bool { return q&qosPresent == 0 }

// Priority is [PriorityData] if q is absent.
func (q QoS) Priority() Priority {
	if q.IsZero() {
		return PriorityData
	}
	return Priority(q & 7)
}

// Block reports whether the sender waits under congestion.
func (q QoS) Block() bool { return !q.IsZero() && q&qosBlock != 0 }

// Express reports whether the message skips batching.
func (q QoS) Express() bool { return !q.IsZero() && q&qosExpress != 0 }

// BlockFirst reports whether the sender waits with the first message only.
func (q QoS) BlockFirst() bool { return !q.IsZero() && q&qosBlockFirst != 0 }

func (q QoS) String() string {
	if q.IsZero() {
		return "default"
	}
	return fmt.Sprintf("priority=%d block=%t express=%t", q.Priority(), q.Block(), q.Express())
}
