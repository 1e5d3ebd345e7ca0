// Package transports is the seam between the harness and the wires: bytes and
// stamps, no types and no verdicts. It is to the harness what
// database/sql/driver is to database/sql. Every implementation passes
// transporttest; none has semantics of its own. Names and QoS mean what ROS 2
// means by them; a transport maps them to its wire and refuses what it cannot
// express.
package transports

import (
	"context"
	"time"

	"github.com/robospec/robospec/measure"
)

// Conn is one participant on one wire. Its methods may be called from any
// goroutine. A lost Conn stays lost; to reconnect is to open another.
//
// Optional capabilities are found by type assertion: Grapher, Lifer and
// Settler on a Conn, Matched on what Advertise, Subscribe and Client return.
//
// ctx bounds the call it is given to, never the life of what the call returns.
type Conn interface {
	// Advertise declares a publisher. When it returns, a subscription made
	// afterwards by anyone on the same wire is found by it.
	Advertise(ctx context.Context, topic string, t Type, q QoS) (Publisher, error)
	// Subscribe declares a subscription. sink is called for each message, for
	// one publisher in the order of its publishing, and must not block; messages
	// of several publishers may be delivered by several goroutines at a time.
	// When Subscribe returns, the wire's first hop knows the subscription. Close
	// of the result returns when sink is not running and will not be called
	// again, unless it is called from a sink: then it does not wait.
	Subscribe(ctx context.Context, topic string, t Type, q QoS, sink func(Sample)) (Closer, error)
	// Serve declares a server. handle is called for each request, must not
	// block, and may be called by several goroutines at a time; the reply may be
	// given later, from any goroutine.
	Serve(ctx context.Context, service string, t Type, handle func(Request)) (Closer, error)
	// Client declares a client of a service.
	Client(ctx context.Context, service string, t Type) (Client, error)
	// Encoding names the bytes this wire carries, such as msgs.Raw.
	Encoding() string
	// Close leaves the wire. It is idempotent, may be called from a sink, and
	// returns when nothing of the Conn runs any more (but the sink it was called
	// from).
	Close() error
	// Done is closed when the Conn was closed or lost.
	Done() <-chan struct{}
	// Err is nil while the Conn lives, ErrClosed after Close, and else a
	// *LinkError that says why the link was lost.
	Err() error
}

// Sample is one message as the wire gave it.
type Sample struct {
	// Payload is the message, owned by the receiver; nobody changes it.
	Payload []byte
	// Topic is the name it came under, with a leading slash.
	Topic string
	// Received is when the reader saw it, before any decoding.
	Received time.Time
	// Sent, Seq and Publisher are what the wire carries: zero where it carries
	// none. HasSeq tells a sequence number of 0 from none.
	Sent      time.Time
	Seq       uint64
	HasSeq    bool
	Publisher measure.PublisherID
}

// Type names what a topic or service carries. Both fields may be empty on
// wires without types.
type Type struct {
	// Name is the ROS 2 name, such as "std_msgs/msg/String".
	Name string
	// Hash is the RIHS01 hash.
	Hash string
}

// ShortHash is as much of the hash as tells it from others in a line of text.
func (t Type) ShortHash() string {
	const enough = len("RIHS01_") + 12
	if len(t.Hash) <= enough {
		return t.Hash
	}
	return t.Hash[:enough] + "…"
}

// Closer ends one thing. Close is idempotent.
type Closer interface {
	Close() error
}

// Publisher sends on one topic.
type Publisher interface {
	// Publish sends payload, which it does not keep after it returns. It returns
	// when the message is handed to the wire; ctx bounds the wait for room, and
	// nothing is sent when it has ended before.
	Publish(ctx context.Context, payload []byte) error
	Closer
}

// Client calls one service.
type Client interface {
	// Call sends a request, which it does not keep after it returns. done is
	// called at most once, must not block, and gets the reply or an error:
	// ErrNoResponder when nobody serves, a *RemoteError when the server refused,
	// ctx's cause when ctx ended first, a *LinkError when the link was lost,
	// ErrClosed when the client was closed. When ctx ends the call is forgotten: a reply that comes later goes nowhere. An
	// error returned by Call itself means that the request was not sent and done
	// will not be called.
	Call(ctx context.Context, payload []byte, done func(Sample, error)) error
	Closer
}

// Request is one call as its server gets it. One of Reply and Fail is to be
// called once; a second answer is ErrAnswered. Both may be called from any
// goroutine, long after the handler returned.
type Request struct {
	Sample
	Reply func(payload []byte) error
	Fail  func(reason string) error
}

// Matched is the optional capability to tell how many counterparts there are:
// of a Publisher its subscriptions, of a subscription its publishers, of a
// Client its servers, as far as QoS and type let them meet.
type Matched interface {
	// Matched returns the count of this instant and a channel that is closed
	// when it changes.
	Matched() (n int, changed <-chan struct{})
}

// Grapher is the optional capability of a Conn to show the graph as its wire
// shows it.
type Grapher interface {
	// Graph returns the graph of this instant and a channel that is closed when
	// it changes.
	Graph() (g Graph, changed <-chan struct{})
}

// Graph is who is there. Slices are sorted and must not be changed.
type Graph struct {
	// Nodes are the names of all participants.
	Nodes []string
	// Endpoints are what they declared.
	Endpoints []Endpoint
}

// Endpoint is a publisher, subscription, server or client of some node.
type Endpoint struct {
	Kind EndpointKind
	// Node is who declared it, Name its topic or service with a leading slash.
	Node, Name string
	Type       Type
	QoS        QoS
	ID         measure.PublisherID
	// Local is true for what this very Conn declared.
	Local bool
}

// Lifer is the optional capability of a Conn to say whether somebody is there
// to publish on a topic, now. A Conn without it cannot tell.
type Lifer interface {
	Life(topic string) measure.Life
}

// Settler is the optional capability of a Conn to wait for its readers.
type Settler interface {
	// Settle returns once each message that was stamped before the call has
	// reached its sink. It must not be called from a sink.
	Settle()
}
