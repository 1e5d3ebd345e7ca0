package transports

import "fmt"

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
	return fmt.Sprintf("%v, %v, depth %d", q.Reliability, q.Durability, q.HistoryDepth())
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
	return ""
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
