package testenv

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"testing"
)

//go:embed zenoh_peer.py
var peerScript string

//go:embed ros_peer.py
var rosPeerScript string

// ZenohPeer is a real client, eclipse-zenoh for Python, under the test's
// command. It is for one goroutine.
type ZenohPeer struct {
	*Process
	// ZID is its id.
	ZID    string
	events []Told
}

// Told is something that a ZenohPeer tells; zenoh_peer.py says what.
type Told map[string]any

// StartZenohPeer connects a client to a router; caFile is for TLS and may be
// empty.
func StartZenohPeer(tb testing.TB, endpoint, caFile string) *ZenohPeer {
	tb.Helper()
	return startZenohPeer(tb, "client", endpoint, caFile)
}

// StartZenohPeerInPeerMode connects a peer, in Zenoh's sense of the word, to a
// router; rmw_zenoh's nodes are such by default.
func StartZenohPeerInPeerMode(tb testing.TB, endpoint string) *ZenohPeer {
	tb.Helper()
	return startZenohPeer(tb, "peer", endpoint, "")
}

func startZenohPeer(tb testing.TB, mode, endpoint, caFile string) *ZenohPeer {
	tb.Helper()
	args := []string{mode, endpoint}
	if caFile != "" {
		args = append(args, caFile)
	}
	p := &ZenohPeer{Process: StartPython(tb, peerScript, args...)}
	p.ZID, _ = p.read()["zid"].(string)
	return p
}

// StartROSPeer connects ROS 2 nodes on zenoh-ros2-sdk to a router. They do what
// ros_peer.py says there is, in a ROS domain.
func StartROSPeer(tb testing.TB, endpoint string, domain int) *ZenohPeer {
	tb.Helper()
	p := &ZenohPeer{Process: start(tb, ROSPython(tb), "-u", "-c", rosPeerScript, endpoint, strconv.Itoa(domain))}
	p.ZID, _ = p.read()["zid"].(string)
	return p
}

func (p *ZenohPeer) read() (t Told) {
	p.tb.Helper()
	line := p.Line()
	if err := json.Unmarshal([]byte(line), &t); err != nil {
		p.tb.Fatalf("testenv: Zenoh peer told %q: %v", line, err)
	}
	return t
}

// Start tells the peer to do something with a key, such as "subscribe"; more are
// pairs of name and value. zenoh_peer.py says what there is.
func (p *ZenohPeer) Start(what, key string, more ...any) {
	p.tb.Helper()
	m := Told{"do": what, "key": key}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		p.tb.Fatalf("testenv: %v", err)
	}
	p.Send(string(b))
}

// Do is Start, and returns when the router knows of it.
func (p *ZenohPeer) Do(what, key string, more ...any) {
	p.tb.Helper()
	p.Start(what, key, more...)
	p.until("done")
	p.Start("sync", "")
	p.until("synced")
}

func (p *ZenohPeer) until(word string) {
	p.tb.Helper()
	for {
		t := p.read()
		if _, ok := t[word]; ok {
			return
		}
		p.events = append(p.events, t)
	}
}

// Next is what the peer tells next. The test fails when that takes 20 s.
func (p *ZenohPeer) Next() Told {
	p.tb.Helper()
	if len(p.events) == 0 {
		return p.read()
	}
	t := p.events[0]
	p.events = p.events[1:]
	return t
}
