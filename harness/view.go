package harness

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// View is the graph as its wire shows it: each state of it, stamped when it was
// seen, on the timeline, the newest 4096 states or 16 MiB of them, and the
// newest 1024 changes. Changes that undo each other before the wire tells of the
// first are not seen. Its methods may be called from any goroutine.
type View struct {
	g    *Graph
	wire transports.Grapher // nil where the wire does not show its graph
	log  *log[transports.Graph]

	mu      sync.Mutex // held while looking, so that states are logged in the order they were seen
	looked  bool
	last    transports.Graph
	changes []Change // a ring of the last maxChanges
	oldest  int
}

const maxChanges = 1024

// What a state counts for against the bytes of the log.
var (
	wordSize     = int(reflect.TypeFor[string]().Size())
	endpointSize = int(reflect.TypeFor[transports.Endpoint]().Size())
)

// Change is a node or an endpoint that came to the graph or left it.
type Change struct {
	// At is when it was seen.
	At Mark
	// Came is false for what left.
	Came bool
	// Node is what came or left, or whose endpoint did.
	Node string
	// Endpoint is zero where the change is the node itself.
	Endpoint transports.Endpoint
}

// String says what came or left, without when.
func (c Change) String() string {
	verb := "left"
	if c.Came {
		verb = "came"
	}
	if c.Endpoint.Name == "" {
		return fmt.Sprintf("node %s %s", named(c.Node), verb)
	}
	typ := ""
	if c.Endpoint.Type.Name != "" {
		typ = " of " + c.Endpoint.Type.Name
	}
	return fmt.Sprintf("%s %s%s by %s %s", c.Endpoint.Kind, c.Endpoint.Name, typ, named(c.Node), verb)
}

func named(node string) string {
	if node == "" {
		return "a participant that has no name"
	}
	return node
}

func newView(g *Graph) *View {
	v := &View{g: g}
	var ok bool
	if v.wire, ok = g.conn.(transports.Grapher); ok {
		v.log = newLog[transports.Graph](g.tl, "the graph", options{messages: 4096, bytes: 16 << 20})
		v.look() // what is there now did not come later
		v.log.lives = func() measure.Life { return measure.Life{Sign: "nothing publishes the graph"} }
	}
	return v
}

// watch looks at each change until the connection ends.
func (v *View) watch() {
	done := v.g.conn.Done()
	for v.wire != nil {
		v.mu.Lock()
		changed, ok := v.look()
		v.mu.Unlock()
		if !ok {
			break
		}
		select {
		case <-changed:
			continue
		case <-done:
		}
		break
	}
	<-done
}

// look logs the graph of this instant if it is another than the last; ok is
// false when it is not to be seen any more, since the connection has ended. mu
// is held.
func (v *View) look() (changed <-chan struct{}, ok bool) {
	now, changed := v.wire.Graph()
	if v.g.conn.Err() != nil { // an ended Conn sees nobody, which is no change of the graph
		return changed, false
	}
	if v.looked && slices.Equal(now.Nodes, v.last.Nodes) && slices.Equal(now.Endpoints, v.last.Endpoints) {
		return changed, true
	}
	m := Message[transports.Graph]{Value: now, Topic: v.log.name,
		Size: len(now.Nodes)*wordSize + len(now.Endpoints)*endpointSize}
	v.log.add(&m)
	if v.looked && m.order != 0 {
		v.note(now, m.Mark())
	}
	v.last, v.looked = now, true
	return changed, true
}

// note records what is another in now than in the last state.
func (v *View) note(now transports.Graph, at Mark) {
	gone, came := differ(v.last.Nodes, now.Nodes)
	left, joined := differ(v.last.Endpoints, now.Endpoints)
	for _, e := range left {
		v.record(Change{At: at, Node: e.Node, Endpoint: e})
	}
	for _, n := range gone {
		v.record(Change{At: at, Node: n})
	}
	for _, n := range came {
		v.record(Change{At: at, Came: true, Node: n})
	}
	for _, e := range joined {
		v.record(Change{At: at, Came: true, Node: e.Node, Endpoint: e})
	}
}

func (v *View) record(c Change) {
	if len(v.changes) < maxChanges {
		v.changes = append(v.changes, c)
		return
	}
	v.changes[v.oldest] = c
	v.oldest = (v.oldest + 1) % maxChanges
}

// differ is what stands in before only and what in now only, each as often as it
// stands there more, in their order.
func differ[E comparable](before, now []E) (left, came []E) {
	for len(before) > 0 && len(now) > 0 && before[0] == now[0] { // nearly all of them, as a rule
		before, now = before[1:], now[1:]
	}
	for len(before) > 0 && len(now) > 0 && before[len(before)-1] == now[len(now)-1] {
		before, now = before[:len(before)-1], now[:len(now)-1]
	}
	counts := make(map[E]int, len(before))
	for _, e := range before {
		counts[e]++
	}
	for _, e := range now {
		if counts[e]--; counts[e] < 0 {
			came = append(came, e)
		}
	}
	for _, e := range before {
		if counts[e] > 0 {
			counts[e]--
			left = append(left, e)
		}
	}
	return left, came
}

// Now looks at the graph. A wire that does not show it, and a lost or closed
// one, are an *measure.Inconclusive.
func (v *View) Now() (transports.Graph, error) {
	if err := v.unseen(); err != nil {
		return transports.Graph{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.look(); !ok {
		return transports.Graph{}, v.unseen()
	}
	return v.last, nil
}

// unseen is why the graph is not to be seen, nil if it is.
func (v *View) unseen() error {
	if v.wire == nil {
		return &measure.Inconclusive{Reason: "this wire does not show its graph",
			Remedy: "ask about the traffic instead, such as with ReceiveWithin, or run the spec on a wire that shows its graph"}
	}
	if err := v.g.conn.Err(); err != nil {
		return &measure.Inconclusive{Reason: "the graph is not to be seen any more: " + closed(err).Error(), Err: closed(err),
			Remedy: "find out why the link ended; nothing after it was seen"}
	}
	return nil
}

// Changes returns what came and left since the participant joined, oldest
// first, at most the newest 1024.
func (v *View) Changes() []Change {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Concat(v.changes[v.oldest:], v.changes[:v.oldest])
}

// Timeline is the timeline the graph is seen on.
func (v *View) Timeline() *Timeline { return v.g.tl }

// Observe begins an expectation on the states of the graph: on the one in force
// at the call, which is Observation.Before(1), and on each that follows. d runs
// from the call; an Effect's from the last stimulus if no expectation followed
// it yet. Where d is over already it is the state that was in force at its end.
// Errors are as of Now.
func (v *View) Observe(mode Mode, d time.Duration) (*Observation, error) {
	if err := v.unseen(); err != nil {
		return nil, err
	}
	tl := v.g.tl
	stim, first := tl.expect()
	o := newObservation(v.log, v.g, v.log.name)
	v.mu.Lock()
	_, seen := v.look()
	o.Call = tl.Now()
	i := v.log.count()
	v.mu.Unlock()
	if !seen {
		o.Close()
		return nil, v.unseen()
	}
	o.Start, o.Counted = o.Call, "the call"
	o.End = o.Call.at.Add(d)
	if mode == Effect && first {
		if err := tl.unhappened(stim); err != nil {
			o.Close()
			return nil, err
		}
		o.Counted, o.End = "the last stimulus, "+stim.String(), stim.at.Add(d)
		if o.End.Before(o.Call.at) {
			o.Start.at = o.End
			i = v.log.indexBehind(o.End)
		}
	}
	o.Quiet, o.Steady, o.From = o.Start, o.Start, o.End.Add(-d)
	o.beginAt(i)
	if o.before.Order == 0 {
		o.Close()
		return nil, &measure.Inconclusive{Reason: "the graph of that time is no longer held, or was never seen", Err: ErrNotHeld,
			Remedy: "ask sooner"}
	}
	return o, nil
}

// indexBehind is the index of the first message received after at, where stamps
// are in order.
func (l *log[T]) indexBehind(at time.Time) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ring.Search(func(m *Message[T]) bool { return m.Received.After(at) })
}
