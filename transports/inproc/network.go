package inproc

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// Network is one graph. Networks of one process know nothing of each other.
// Its methods may be called from any goroutine.
type Network struct {
	prefix [8]byte

	// mu guards who is there. It is taken before a lane's lock and never held
	// while a callback runs.
	mu       sync.Mutex
	lastID   uint64
	conns    map[*Conn]struct{}
	topics   map[string]*topic
	services map[string]*service
	lanes    map[*lane]struct{}
	changed  signal
	// emptied is called, without mu, when a Conn left.
	emptied func()
}

// NewNetwork makes an empty graph that only its holder can join.
func NewNetwork() *Network {
	n := &Network{
		conns:    make(map[*Conn]struct{}),
		topics:   make(map[string]*topic),
		services: make(map[string]*service),
		lanes:    make(map[*lane]struct{}),
	}
	rand.Read(n.prefix[:])
	return n
}

// Join adds a participant named node. Several may bear one name.
func (n *Network) Join(node string) *Conn {
	c := &Conn{net: n, node: node, done: make(chan struct{}),
		endpoints: make(map[endpoint]struct{}), ending: make(map[*receiver]struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[c] = struct{}{}
	n.changed.fire()
	return c
}

// id makes an identifier; mu is held.
func (n *Network) id() (id measure.PublisherID) {
	n.lastID++
	copy(id[:], n.prefix[:])
	binary.BigEndian.PutUint64(id[8:], n.lastID)
	return id
}

func (n *Network) forget(l *lane) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.lanes, l)
}

func (n *Network) topic(name string) *topic {
	t := n.topics[name]
	if t == nil {
		t = &topic{}
		n.topics[name] = t
	}
	return t
}

func (n *Network) service(name string) *service {
	s := n.services[name]
	if s == nil {
		s = &service{}
		n.services[name] = s
	}
	return s
}

func (n *Network) graph(viewer *Conn) (transports.Graph, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var g transports.Graph
	if viewer.err != nil {
		return g, n.changed.wait()
	}
	for c := range n.conns {
		g.Nodes = append(g.Nodes, c.node)
		for e := range c.endpoints {
			d := e.describe()
			d.Node, d.Local = c.node, c == viewer
			g.Endpoints = append(g.Endpoints, d)
		}
	}
	slices.Sort(g.Nodes)
	slices.SortFunc(g.Endpoints, func(a, b transports.Endpoint) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Node, b.Node),
			slices.Compare(a.ID[:], b.ID[:]))
	})
	return g, n.changed.wait()
}

// settle waits until what the lanes had accepted when it was called is
// delivered. What is published meanwhile is not waited for.
func (n *Network) settle() {
	var waits []<-chan struct{}
	n.mu.Lock()
	for l := range n.lanes {
		l.mu.Lock()
		if l.finished < l.accepted {
			waits = append(waits, l.wait(l.accepted))
		}
		l.mu.Unlock()
	}
	n.mu.Unlock()
	for _, reached := range waits {
		<-reached
	}
}

// A signal is a channel that is closed when something changes, made when
// somebody asks. The network's lock guards it.
type signal struct{ ch chan struct{} }

func (s *signal) wait() <-chan struct{} {
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) fire() {
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}

// counterparts is how many others an endpoint is matched with.
type counterparts struct {
	net     *Network
	n       int
	changed signal
}

func (c *counterparts) set(n int) {
	if c.n != n {
		c.n = n
		c.changed.fire()
	}
}

// Matched implements transports.Matched.
func (c *counterparts) Matched() (int, <-chan struct{}) {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	return c.n, c.changed.wait()
}

// meet reports whether two ends speak of one type; an empty field leaves it
// open.
func meet(a, b transports.Type) bool {
	return (a.Name == "" || b.Name == "" || a.Name == b.Name) && (a.Hash == "" || b.Hash == "" || a.Hash == b.Hash)
}
