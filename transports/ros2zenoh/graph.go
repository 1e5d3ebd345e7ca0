package ros2zenoh

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/transports"
)

// graph is what the tokens of the domain tell. The Conn's mu guards it.
type graph struct {
	nodes     map[string]*entity            // by token
	endpoints map[string]map[string]*entity // by name of topic or service, and by token
	ends      map[string]map[*counterparts]struct{}
	view      *transports.Graph // nil when it has changed since
	changed   chan struct{}
	odd       map[string]int // how often something odd was seen
	oddOrder  []string
	oddMore   int
	old       map[string]bool // sessions that speak the old form of attachments
}

func newGraph() graph {
	return graph{
		nodes: map[string]*entity{}, endpoints: map[string]map[string]*entity{}, ends: map[string]map[*counterparts]struct{}{},
		changed: make(chan struct{}), odd: map[string]int{}, old: map[string]bool{},
	}
}

// told takes a liveliness token that came or went.
func (c *Conn) told(e session.Event) {
	x, err := parseToken(e.Key)
	if err != nil {
		if !e.Gone {
			c.note(fmt.Sprintf("the liveliness token %s cannot be read: %v; what it tells of is not in the graph", e.Key, err))
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g := &c.graph
	switch {
	case x.kind == nodes && e.Gone:
		delete(g.nodes, e.Key)
	case x.kind == nodes:
		g.nodes[e.Key] = x
	case e.Gone:
		delete(g.endpoints[x.name], e.Key)
		if len(g.endpoints[x.name]) == 0 {
			delete(g.endpoints, x.name)
		}
	default:
		if g.endpoints[x.name] == nil {
			g.endpoints[x.name] = map[string]*entity{}
		}
		g.endpoints[x.name][e.Key] = x
	}
	g.view = nil
	close(g.changed)
	g.changed = make(chan struct{})
	if x.kind != nodes {
		c.review(x.name)
	}
}

// review follows a change around one name. c.mu is held.
func (c *Conn) review(name string) {
	for end := range c.graph.ends[name] {
		end.recount()
		if end.reviewed != nil {
			end.reviewed()
		}
	}
}

// Graph implements transports.Grapher: what the liveliness tokens of the domain
// tell. Nodes are full names, one for each token. Types have the notation of
// ROS 2, and the QoS of an endpoint is that of its token, with HistoryDefault
// for keep last and LivelinessDefault for automatic. A publisher's ID is the GID
// that its messages carry.
func (c *Conn) Graph() (transports.Graph, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := &c.graph
	if g.view == nil {
		g.view = g.render(c.zid)
	}
	return *g.view, g.changed
}

func (g *graph) render(own string) *transports.Graph {
	v := &transports.Graph{}
	for _, n := range g.nodes {
		v.Nodes = append(v.Nodes, n.fullName())
	}
	slices.Sort(v.Nodes)
	for _, of := range g.endpoints {
		for _, e := range of {
			v.Endpoints = append(v.Endpoints, transports.Endpoint{Kind: endpointKinds[e.kind], Node: e.fullName(), Name: e.name,
				Type: e.typ, QoS: e.qos, ID: e.gid, Local: e.zid == own})
		}
	}
	slices.SortFunc(v.Endpoints, func(a, b transports.Endpoint) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Node, b.Node),
			cmp.Compare(a.Type.Name, b.Type.Name), cmp.Compare(a.Type.Hash, b.Type.Hash), slices.Compare(a.ID[:], b.ID[:]))
	})
	return v
}

// publishersOn are the publishers of a topic. c.mu is held.
func (c *Conn) publishersOn(name string) []*entity {
	return slices.DeleteFunc(slices.Collect(maps.Values(c.graph.endpoints[name])), func(e *entity) bool { return e.kind != publishers })
}

// manyOdd bounds how many kinds of odd things are remembered.
const manyOdd = 100

// note remembers something odd. It may be called often with the same.
func (c *Conn) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := &c.graph
	switch {
	case g.odd[what] > 0:
		g.odd[what]++
	case len(g.oddOrder) < manyOdd:
		g.odd[what] = 1
		g.oddOrder = append(g.oddOrder, what)
	default:
		g.oddMore++
	}
}

// Diagnostics tells what this Conn saw that ROS 2 nodes would not take, one line
// for each thing with how often it was seen: tokens that cannot be read, messages
// and requests without the attachment of rmw_zenoh.
func (c *Conn) Diagnostics() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := &c.graph
	var lines []string
	for _, what := range g.oddOrder {
		if n := g.odd[what]; n > 1 {
			what = fmt.Sprintf("%s (%d times)", what, n)
		}
		lines = append(lines, what)
	}
	if g.oddMore > 0 {
		lines = append(lines, fmt.Sprintf("%d more", g.oddMore))
	}
	return lines
}

// counterparts counts who is at the other end of a topic or service, as far as
// name, type, type hash and QoS let them meet. The Conn's mu guards it.
type counterparts struct {
	c        *Conn
	kind     kind // of theirs
	name     string
	suits    func(*entity) bool
	reviewed func() // follows each change around the name; may be nil

	// What Zenoh itself shows to be declared, when that is asked for: a token may
	// come before what it stands for.
	gated    bool
	declared atomic.Int32

	n       int
	changed chan struct{}
	refusal error // why nothing may be sent to them
}

// join begins to count.
func (p *counterparts) join() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.changed = make(chan struct{})
	ends := p.c.graph.ends
	if ends[p.name] == nil {
		ends[p.name] = map[*counterparts]struct{}{}
	}
	ends[p.name][p] = struct{}{}
	p.recount()
	if p.reviewed != nil {
		p.reviewed()
	}
}

func (p *counterparts) leave() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	ends := p.c.graph.ends
	delete(ends[p.name], p)
	if len(ends[p.name]) == 0 {
		delete(ends, p.name)
	}
}

// shown takes what Zenoh shows of itself.
func (p *counterparts) shown(e session.Event) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if e.Gone {
		p.declared.Add(-1)
	} else {
		p.declared.Add(1)
	}
	p.recount()
}

func (p *counterparts) recount() {
	n := 0
	p.refusal = nil
	for _, e := range p.c.graph.endpoints[p.name] {
		if e.kind != p.kind || !p.suits(e) {
			continue
		}
		// A session's own endpoints are not among those that the router shows it.
		if e.zid == p.c.zid || !p.gated || p.declared.Load() > 0 {
			n++
		}
		if p.c.graph.old[e.zid] {
			p.refusal = fmt.Errorf("%s: %w", e.fullName(), errOldPeer)
		}
	}
	if n != p.n {
		p.n = n
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// Matched implements transports.Matched.
func (p *counterparts) Matched() (int, <-chan struct{}) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	return p.n, p.changed
}

// refused says why nothing may be sent to the counterparts.
func (p *counterparts) refused() error {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	return p.refusal
}

// speaksOld takes note of a message with an attachment of the old form: of
// which session it is tells the GID, or the clock that stamped it.
func (c *Conn) speaksOld(name string, a attachment, stampedBy string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := &c.graph
	zid := stampedBy
	for _, e := range g.endpoints[name] {
		if e.gid == a.gid {
			zid = e.zid
		}
	}
	if zid == "" || zid == c.zid || g.old[zid] {
		return
	}
	g.old[zid] = true
	for name := range g.ends {
		c.review(name)
	}
}
