package inproc

import "sync"

// shared is the one state of this package that outlives a call: parts of a
// process that have only a URL such as "inproc:cell" in common must meet
// somewhere. It holds a network no longer than a participant of it lives.
var shared = registry{networks: make(map[string]*Network)}

type registry struct {
	mu       sync.Mutex
	networks map[string]*Network
}

// JoinNamed adds a participant named node to the network that everyone in this
// process who uses the same name joins. The network is forgotten when its last
// participant leaves.
func JoinNamed(name, node string) *Conn { return shared.join(name, node) }

func (r *registry) join(name, node string) *Conn {
	// The lock is held over Join so that a network cannot be forgotten between
	// being found and being joined.
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.networks[name]
	if n == nil {
		n = NewNetwork()
		n.emptied = func() { r.release(name, n) }
		r.networks[name] = n
	}
	return n.Join(node)
}

func (r *registry) release(name string, n *Network) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n.mu.Lock()
	empty := len(n.conns) == 0
	n.mu.Unlock()
	if empty && r.networks[name] == n {
		delete(r.networks, name)
	}
}
