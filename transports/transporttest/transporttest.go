// Package transporttest is the one suite that every transport passes. It says
// in code what transports.Conn says in words, so that a spec means the same on
// every wire. It is no load test and measures nothing.
//
// Every case waits for events under a generous deadline of its own, so the
// suite runs on real sockets as well as in a testing/synctest bubble, where a
// deadline costs nothing.
package transporttest

import (
	"context"
	"testing"
	"time"

	"github.com/robospec/robospec/transports"
)

// TB is what a case needs of its test. *testing.T meets it.
type TB interface {
	Helper()
	Cleanup(func())
	Context() context.Context
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Wire is the transport under test.
type Wire struct {
	// Dial opens a participant named node; what one case dials meets on one
	// wire. The case closes it. Cases use names of their own, so the wire may be
	// shared with others.
	Dial func(t TB, node string) transports.Conn
	// Kill ends a participant that Dial opened as a crash or a pulled cable
	// would, with no word of farewell: its peers find out, and it finds out
	// itself. It may return before anybody did.
	Kill func(t TB, c transports.Conn)
	// BadBytes makes a peer send, on topic, what the wire's own format does not
	// allow, and returns once that is sent. Nil where the wire has no format of
	// its own or no peer that misbehaves.
	BadBytes func(t TB, topic string)
	// Each runs one case, such as in a bubble. Nil runs it as it is.
	Each func(t *testing.T, run func(t *testing.T))
	// Patience is how long a case waits for what must happen. 0 means 30 s.
	Patience time.Duration
	// Lacks is what the wire cannot express.
	Lacks Lacks
}

// Lacks is what a wire says it cannot express; the zero value is a wire that
// can do all. Where a capability is not lacking it must be there, and where
// Life is lacking it must not claim to know.
type Lacks struct {
	// Types: endpoints carry no types, so that all meet and the graph shows none.
	Types bool
	// Reliability: nothing keeps a reliable subscription from a best-effort
	// publisher.
	Reliability bool
	// Durability: nothing is kept for late joiners.
	Durability bool
	// DepthOver1: a transient-local publisher keeps one message, whatever depth
	// it asked for (ROS 1 latching).
	DepthOver1 bool
	// Default: a subscription that leaves durability open stays volatile.
	Default bool
	// Strict: the wire takes names that ROS 2 refuses.
	Strict bool
	// Sent, Seq, PublisherID: samples carry no source stamp, sequence number,
	// publisher.
	Sent, Seq, PublisherID bool
	// Matched: endpoints do not tell their counterparts. The suite then probes
	// until messages pass.
	Matched bool
	// Graph: the Conn is no transports.Grapher.
	Graph bool
	// Nodes: the graph does not tell whose an endpoint is.
	Nodes bool
	// GraphQoS: the graph does not show the QoS of endpoints.
	GraphQoS bool
	// GraphClients: the graph does not show clients of services.
	GraphClients bool
	// Life: the Conn cannot tell whether somebody is there to publish.
	Life bool
	// LifeNone: life is shown, but that nobody is there cannot be.
	LifeNone bool
	// Settle: the Conn is no transports.Settler.
	Settle bool
	// Services: there is no request and reply.
	Services bool
	// ManyServers: a name has one server (ROS 1).
	ManyServers bool
	// NoResponder: a call that nobody serves stays open until its context ends.
	NoResponder bool
	// ServerDeath: a call whose server has died stays open until its context ends.
	ServerDeath bool
	// Fail: a server cannot refuse a call (DDS).
	Fail bool
	// MaxPayload is the longest message in bytes, 0 when there is no limit that
	// matters.
	MaxPayload int
}

// Run runs every case on w as a subtest. A case about what w lacks is skipped,
// naming the lack.
func Run(t *testing.T, w Wire) {
	each := w.Each
	if each == nil {
		each = func(t *testing.T, run func(t *testing.T)) { run(t) }
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if lack := c.missing(w); lack != "" {
				t.Skip("the wire lacks " + lack)
			}
			each(t, func(t *testing.T) { c.run(newBench(t, w)) })
		})
	}
}

type testCase struct {
	name string
	run  func(b *bench)
	// needs is what the wire must not lack, "" when nothing.
	needs need
}

type need string

const (
	anything    need = ""
	types       need = "types"
	reliability need = "reliability"
	durability  need = "durability"
	adapting    need = "default durability that adapts"
	strict      need = "strict names"
	matched     need = "matched counts"
	graph       need = "a graph"
	life        need = "signs of life"
	settle      need = "settling"
	services    need = "services"
	manyServers need = "several servers of one name"
	noResponder need = "knowing that nobody serves"
	serverDeath need = "knowing that a server died"
	fail        need = "refusals"
	badBytes    need = "a way to send bad bytes"
	depth       need = "depth over 1"
)

func (c testCase) missing(w Wire) string {
	l := w.Lacks
	lacking := map[need]bool{
		types: l.Types, reliability: l.Reliability, durability: l.Durability, depth: l.Durability || l.DepthOver1,
		adapting: l.Durability || l.Default, strict: l.Strict, matched: l.Matched, graph: l.Graph, life: l.Life,
		settle: l.Settle, services: l.Services, manyServers: l.Services || l.ManyServers,
		noResponder: l.Services || l.NoResponder, serverDeath: l.Services || l.ServerDeath, fail: l.Services || l.Fail,
		badBytes: w.BadBytes == nil,
	}
	if lacking[c.needs] {
		return string(c.needs)
	}
	return ""
}

// cases are in the order of the contract: what stands first explains the
// failures of what follows.
var cases = []testCase{
	{"conn/close", connClose, anything},
	{"conn/close from a sink", connCloseFromSink, anything},
	{"conn/ended context", endedContext, anything},
	{"conn/capabilities", capabilities, anything},
	{"names/one spelling", namesOneSpelling, anything},
	{"names/refused", namesRefused, anything},
	{"names/refused by ROS 2", namesRefusedByROS, strict},

	{"messages/order", messageOrder, anything},
	{"messages/burst", messageBurst, anything},
	{"messages/large", messageLarge, anything},
	{"messages/empty", messageEmpty, anything},
	{"messages/buffer reuse", messageBufferReuse, anything},
	{"messages/stamps", messageStamps, anything},
	{"messages/several readers", severalReaders, anything},
	{"messages/several publishers", severalPublishers, anything},
	{"messages/one publisher, several goroutines", concurrentPublish, anything},
	{"messages/local delivery", localDelivery, anything},
	{"messages/publish from a sink", publishFromSink, anything},
	{"messages/readiness", readiness, matched},
	{"messages/bad bytes", survivesBadBytes, badBytes},

	{"late/volatile", lateVolatile, anything},
	{"late/transient local", lateTransientLocal, depth},
	{"late/latched", lateLatched, durability},
	{"late/several publishers", lateSeveralPublishers, durability},
	{"late/amid a burst", lateAmidBurst, depth},
	{"late/default adapts", lateDefault, adapting},
	{"late/default among volatile", lateDefaultMixed, adapting},
	{"qos/reliability", reliabilityMatrix, reliability},
	{"qos/durability", durabilityMatrix, durability},
	{"types/mismatch", typeMismatch, types},

	{"subscription/close", subscriptionClose, anything},
	{"subscription/close waits for its sink", subscriptionCloseWaits, anything},
	{"subscription/close from its sink", subscriptionCloseFromSink, anything},
	{"publisher/close", publisherClose, anything},

	{"matched/counts", matchedCounts, matched},
	{"settle", settles, settle},
	{"graph/contents", graphContents, graph},
	{"life", lifeShown, life},

	{"calls/answered", callAnswered, services},
	{"calls/out of order", callOutOfOrder, services},
	{"calls/never answered", callNeverAnswered, services},
	{"calls/answered after the client left", callClientLeft, services},
	{"calls/second answer", callSecondAnswer, services},
	{"calls/two servers", callTwoServers, manyServers},
	{"calls/nobody serves", callNobodyServes, noResponder},
	{"calls/refused", callRefused, fail},
	{"calls/1,000 at once", callThousand, services},
	{"calls/buffer reuse", callBufferReuse, services},
	{"calls/large", callLarge, services},
	{"calls/ended context", callEndedContext, services},
	{"calls/from done", callFromDone, services},
	{"calls/conn closed", callConnClosed, services},

	{"end/close during everything", closeDuringEverything, anything},
	{"end/killed publisher", killedPublisher, anything},
	{"end/killed server", killedServer, serverDeath},
	{"end/killed client", killedClient, services},
	{"end/peers live on", peersLiveOn, anything},
}
