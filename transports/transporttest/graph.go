package transporttest

import (
	"slices"
	"strings"
	"sync"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

func matchedCounts(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	p := b.advertise(from, b.name("topic"), settings{})
	n, changed := p.(transports.Matched).Matched()
	if n != 0 {
		b.Fatalf("a publisher alone counts %d subscriptions", n)
	}
	first := b.subscribe(to, b.name("topic"), settings{})
	b.closed("the change of a count to be told", changed)
	b.counted(p, 1)
	second := b.subscribe(from, b.name("topic"), settings{})
	b.counted(p, 2)
	b.counted(first.Closer, 1)
	b.counted(second.Closer, 1)
	q := b.advertise(to, b.name("topic"), settings{})
	b.counted(first.Closer, 2)
	b.counted(q, 2)
	b.advertise(to, b.name("other"), settings{})
	first.Close()
	b.counted(p, 1)
	b.counted(q, 1)
	p.Close()
	b.counted(second.Closer, 1)
	to.Close()
	b.counted(second.Closer, 0)

	if b.w.Lacks.Services {
		return
	}
	serving, calling := b.dial("serving"), b.dial("calling")
	cl := b.client(calling, b.name("service"))
	b.counted(cl, 0)
	srv := b.serve(serving, b.name("service"), func(r transports.Request) { b.reply(r, "") })
	b.counted(cl, 1)
	srv.Close()
	b.counted(cl, 0)
}

// settles blocks a sink, which no real one does, to see that Settle waits.
func settles(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	entered, release := make(chan struct{}), make(chan struct{})
	open := sync.OnceFunc(func() { close(release) })
	defer open() // also where the case fails on the way
	in := b.react(to, b.name("topic"), reliable, func(transports.Sample) {
		close(entered)
		<-release
	})
	p := b.advertise(from, b.name("topic"), reliable)
	b.meets(p, in)
	settler := to.(transports.Settler)
	settler.Settle()
	sent := b.background(func() { b.publish(p, "x") })
	b.closed("the sink to run", entered)
	settled := b.background(settler.Settle)
	b.notClosed("Settle returned while a stamped message had not reached its sink", settled)
	open()
	b.closed("Settle to return", settled)
	if got := len(in.all()); got != 1 {
		b.Errorf("%d messages after Settle, want the one", got)
	}
	b.closed("Publish to return", sent)

	// Settle does not wait for what comes later, so traffic that never pauses
	// does not hold it up.
	busy := b.subscribe(to, b.name("busy"), settings{})
	stream := b.advertise(from, b.name("busy"), settings{})
	b.meets(stream, busy)
	stop := make(chan struct{})
	streaming := b.background(func() {
		for {
			select {
			case <-stop:
				return
			default:
				b.publish(stream, "x")
			}
		}
	})
	busy.wait(1)
	for range 100 {
		settler.Settle()
	}
	close(stop)
	b.closed("the stream to stop", streaming)
}

// awaitGraph waits until the graph, cut down to this case's names, is as
// wanted.
func (b *bench) awaitGraph(what string, c transports.Conn, ok func([]transports.Endpoint) bool) []transports.Endpoint {
	b.Helper()
	var found []transports.Endpoint
	defer func() { b.Logf("%s: the graph shows %+v", what, found) }()
	b.await(what, func() (bool, <-chan struct{}) {
		g, changed := c.(transports.Grapher).Graph()
		if !slices.IsSorted(g.Nodes) {
			b.Fatalf("nodes are not sorted: %q", g.Nodes)
		}
		if !slices.IsSortedFunc(g.Endpoints, func(a, b transports.Endpoint) int { return strings.Compare(a.Name, b.Name) }) {
			b.Fatalf("endpoints are not sorted by name: %+v", g.Endpoints)
		}
		found = nil
		for _, e := range g.Endpoints {
			if strings.HasPrefix(e.Name, "/"+b.prefix+"/") {
				found = append(found, e)
			}
		}
		return ok(found), changed
	})
	return found
}

func graphContents(b *bench) {
	node := "node_" + b.prefix
	near, far := b.dial(node), b.dial(node+"_far")
	text := transports.Type{Name: "std_msgs/msg/String", Hash: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"}
	offer := durable(transports.TransientLocal, 3)
	if b.w.Lacks.Durability {
		offer = reliable
	}
	offer.Type = text
	p := b.advertise(near, b.name("topic"), offer)
	in := b.subscribe(far, b.name("topic"), settings{Type: text, QoS: transports.QoS{Reliability: transports.BestEffort, Durability: transports.Volatile, Depth: 5}})
	b.meets(p, in)
	want := []transports.EndpointKind{transports.PublisherEndpoint, transports.SubscriptionEndpoint}
	if !b.w.Lacks.Services {
		b.serve(near, b.name("service"), func(r transports.Request) { b.reply(r, "") })
		want = append(want, transports.ServerEndpoint)
		if !b.w.Lacks.GraphClients {
			b.client(far, b.name("service"))
			want = append(want, transports.ClientEndpoint)
		}
	}
	complete := func(found []transports.Endpoint) bool {
		return !slices.ContainsFunc(want, func(k transports.EndpointKind) bool {
			return !slices.ContainsFunc(found, func(e transports.Endpoint) bool { return e.Kind == k })
		})
	}
	b.publish(p, "x")
	id := in.wait(1)[0].Publisher
	nearKinds := map[transports.EndpointKind]bool{transports.PublisherEndpoint: true, transports.ServerEndpoint: true}
	for _, viewer := range []transports.Conn{near, far} {
		for _, e := range b.awaitGraph("all endpoints in the graph", viewer, complete) {
			if b.w.Lacks.GraphClients && e.Kind == transports.ClientEndpoint {
				continue
			}
			ofNear := nearKinds[e.Kind]
			if e.Local != (ofNear == (viewer == near)) {
				b.Errorf("%v %s: Local is %v", e.Kind, e.Name, e.Local)
			}
			owner := node
			if !ofNear {
				owner += "_far"
			}
			if !b.w.Lacks.Nodes && e.Node != owner && e.Node != "/"+owner { // where names are full ones
				b.Errorf("%v %s is of node %q, want %q", e.Kind, e.Name, e.Node, owner)
			}
			isTopic := e.Kind == transports.PublisherEndpoint || e.Kind == transports.SubscriptionEndpoint
			if name := map[bool]string{true: b.name("topic"), false: b.name("service")}[isTopic]; e.Name != name {
				b.Errorf("%v has the name %s, want %s", e.Kind, e.Name, name)
			}
			if isTopic && !b.w.Lacks.Types && e.Type != text {
				b.Errorf("%v %s has the type %+v, want %+v", e.Kind, e.Name, e.Type, text)
			}
			if e.Kind == transports.PublisherEndpoint {
				if !b.w.Lacks.PublisherID && e.ID != id {
					b.Errorf("publisher %s has the identifier %v, its message %v", e.Name, e.ID, id)
				}
				if !b.w.Lacks.GraphQoS && e.QoS != offer.QoS {
					b.Errorf("publisher %s offers (%v), want (%v)", e.Name, e.QoS, offer.QoS)
				}
			}
		}
		if !b.w.Lacks.Nodes {
			g, _ := viewer.(transports.Grapher).Graph()
			for _, n := range []string{node, node + "_far"} {
				if !slices.Contains(g.Nodes, n) && !slices.Contains(g.Nodes, "/"+n) {
					b.Errorf("node %q is not in the graph: %q", n, g.Nodes)
				}
			}
		}
	}
	p.Close()
	b.awaitGraph("a closed publisher to leave the graph", far, func(found []transports.Endpoint) bool {
		return !slices.ContainsFunc(found, func(e transports.Endpoint) bool { return e.Kind == transports.PublisherEndpoint })
	})
	near.Close()
	b.awaitGraph("a closed Conn to leave the graph", far, func(found []transports.Endpoint) bool {
		return !slices.ContainsFunc(found, func(e transports.Endpoint) bool { return nearKinds[e.Kind] })
	})
}

// alive waits until c says of topic that life is as wanted.
func (b *bench) alive(c transports.Conn, topic string, want measure.LifeState) {
	b.Helper()
	if want == measure.LifeNone && b.w.Lacks.LifeNone {
		want = measure.LifeUnknown
	}
	var got measure.Life
	b.await("life on "+topic+" to be "+want.String(), func() (bool, <-chan struct{}) {
		got = c.(transports.Lifer).Life(topic)
		return got.State == want, nil
	})
	if got.Sign == "" {
		b.Errorf("life on %s is %v, and no sign says why", topic, got.State)
	}
}

func lifeShown(b *bench) {
	from, to := b.dial("from"), b.dial("to")
	topic := b.name("topic")
	in := b.subscribe(to, topic, settings{})
	b.alive(to, topic, measure.LifeNone)
	p, q := b.advertise(from, topic, settings{}), b.advertise(b.dial("second"), topic, settings{})
	b.meets(p, in)
	b.meets(q, in)
	b.alive(to, topic, measure.LifeShown)
	b.alive(to, topic[1:], measure.LifeShown)
	p.Close()
	if !b.w.Lacks.Matched {
		b.counted(in.Closer, 1)
	}
	b.alive(to, topic, measure.LifeShown)
	q.Close()
	b.alive(to, topic, measure.LifeNone)
}
