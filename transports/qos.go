package transports

import (
	"fmt"
	"strings"
	"time"
)

// QoS is what a publisher offers or a subscription asks for, with the meaning
// of ROS 2. The zero value is the default: of a publisher reliable, volatile
// and keep-last 10; of a subscription whatever hears everyone: best effort and
// volatile, and more where every publisher offers more.
type QoS struct {
	Reliability Reliability
	Durability  Durability
	// Depth is how many messages a transient-local publisher keeps for late
	// joiners, and how many of each publisher a transient-local subscription
	// asks for. 0 means 10.
	Depth int
	// History says whether Depth bounds what a publisher keeps.
	History History
	// Deadline is the longest time between two messages, Lifespan how long a
	// message is worth delivering, Lease how long a publisher is taken for alive
	// without a sign of it. 0 is without end.
	Deadline, Lifespan, Lease time.Duration
	// Liveliness says who gives that sign.
	Liveliness Liveliness
}

// Reliability of delivery.
type Reliability uint8

const (
	ReliabilityDefault Reliability = iota
	Reliable
	BestEffort
)

func (r Reliability) String() string {
	switch r {
	case Reliable:
		return "reliable"
	case BestEffort:
		return "best effort"
	default:
		return "default reliability"
	}
}

// Durability of what was published before a subscription joined.
type Durability uint8

const (
	DurabilityDefault Durability = iota
	Volatile
	TransientLocal
)

func (d Durability) String() string {
	switch d {
	case Volatile:
		return "volatile"
	case TransientLocal:
		return "transient local"
	default:
		return "default durability"
	}
}

// History says how many messages wait for those who are slow or late.
type History uint8

const (
	HistoryDefault History = iota // KeepLast
	KeepLast
	KeepAll
)

func (h History) String() string {
	switch h {
	case KeepLast:
		return "keep last"
	case KeepAll:
		return "keep all"
	default:
		return "default history"
	}
}

// Liveliness says who tells that a publisher is alive.
type Liveliness uint8

const (
	LivelinessDefault Liveliness = iota // Automatic
	Automatic
	ManualByTopic
)

func (l Liveliness) String() string {
	switch l {
	case Automatic:
		return "automatic"
	case ManualByTopic:
		return "manual by topic"
	default:
		return "default liveliness"
	}
}

// DefaultDepth is the history depth that stands for Depth 0.
const DefaultDepth = 10

// HistoryDepth is Depth, or DefaultDepth when it is 0.
func (q QoS) HistoryDepth() int {
	if q.Depth <= 0 {
		return DefaultDepth
	}
	return q.Depth
}

func (q QoS) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, %v, ", q.Reliability, q.Durability)
	if q.History == KeepAll {
		b.WriteString("keep all")
	} else {
		fmt.Fprintf(&b, "depth %d", q.HistoryDepth())
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"deadline", q.Deadline}, {"lifespan", q.Lifespan}, {"lease", q.Lease}} {
		if d.d != 0 {
			fmt.Fprintf(&b, ", %s %v", d.name, d.d)
		}
	}
	if q.Liveliness == ManualByTopic {
		fmt.Fprintf(&b, ", %v", q.Liveliness)
	}
	return b.String()
}

// Incompatible says which policy keeps a subscription that asks for q from a
// publisher that offers offered, with both values, or "" when they match. A
// default asks for nothing and offers reliable and volatile. Source: ROS 2
// "About Quality of Service settings", QoS compatibilities.
func (q QoS) Incompatible(offered QoS) string {
	if q.Reliability == Reliable && offered.Reliability == BestEffort {
		return fmt.Sprintf("reliability: asked %v, offered %v", q.Reliability, offered.Reliability)
	}
	if q.Durability == TransientLocal && offered.Durability != TransientLocal {
		return fmt.Sprintf("durability: asked %v, offered %v", q.Durability, Volatile)
	}
	if q.Deadline != 0 && (offered.Deadline == 0 || offered.Deadline > q.Deadline) {
		return fmt.Sprintf("deadline: asked %s, offered %s", orNone(q.Deadline), orNone(offered.Deadline))
	}
	if q.Liveliness == ManualByTopic && offered.Liveliness != ManualByTopic {
		return fmt.Sprintf("liveliness: asked %v, offered %v", q.Liveliness, Automatic)
	}
	if q.Lease != 0 && (offered.Lease == 0 || offered.Lease > q.Lease) {
		return fmt.Sprintf("lease: asked %s, offered %s", orNone(q.Lease), orNone(offered.Lease))
	}
	return ""
}

func orNone(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return d.String()
}

// EndpointKind is what an Endpoint is.
type EndpointKind uint8

const (
	PublisherEndpoint EndpointKind = iota
	SubscriptionEndpoint
	ServerEndpoint
	ClientEndpoint
)

func (k EndpointKind) String() string {
	switch k {
	case PublisherEndpoint:
		return "publisher"
	case SubscriptionEndpoint:
		return "subscription"
	case ServerEndpoint:
		return "server"
	default:
		return "client"
	}
}
