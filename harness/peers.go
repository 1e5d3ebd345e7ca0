package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robospec/robospec/internal/edit"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// peers is what the graph says of those whom an endpoint of ours is to meet: of
// a subscription the publishers of its topic, of a client the servers.
type peers struct {
	of role
	// shown is false where the wire does not show its graph, or not any more.
	shown bool
	now   transports.Graph
	// met are the nodes of those that nothing keeps from being met.
	met []string
	// why says why nobody can be met; empty if somebody can.
	why string
	// besides says who cannot be met, or has left, beside those that can.
	besides string
	// left is the last of them to leave each node that has none any more, newest
	// first.
	left []Change
}

// role is how one speaks of a kind of endpoint.
type role struct {
	other         transports.EndpointKind
	does, did, no string
}

// roles are those whom each kind is to meet.
var roles = [...]role{
	transports.PublisherEndpoint:    {transports.SubscriptionEndpoint, "subscribes to", "subscribed to", "nobody subscribes to"},
	transports.SubscriptionEndpoint: {transports.PublisherEndpoint, "publishes", "published", "nobody publishes"},
	transports.ServerEndpoint:       {transports.ClientEndpoint, "has a client of", "had a client of", "nobody has a client of"},
	transports.ClientEndpoint:       {transports.ServerEndpoint, "serves", "served", "nobody serves"},
}

// peersOf says whom an endpoint of ours, known by kind, name, type and QoS, can
// meet. remote is what the transport returned for it.
func (v *View) peersOf(own transports.Endpoint, remote any) peers {
	now, err := v.Now()
	if err != nil {
		return peers{}
	}
	r, name := roles[own.Kind], own.Name
	p := peers{of: r, shown: true, now: now, left: v.left(r.other, name, now)}
	var there []transports.Endpoint
	for _, e := range now.Endpoints {
		switch {
		case e.Name != name:
		case e.Kind == r.other:
			there = append(there, e)
		case e.Kind == own.Kind && e.Local:
			own.Node = e.Node
		}
	}
	matched := -1 // not known
	if m, ok := remote.(transports.Matched); ok {
		matched, _ = m.Matched()
	}
	var besides []string
	for _, e := range there {
		why := ""
		if matched < len(there) { // else they meet, whatever QoS they have: not every wire heeds each policy
			why = unmet(own, e)
		}
		if why == "" {
			p.met = append(p.met, named(e.Node))
		} else if s := fmt.Sprintf("%s %s %s, but %s", named(e.Node), r.does, name, why); !slices.Contains(besides, s) {
			besides = append(besides, s)
		}
	}
	p.met = slices.Compact(p.met)
	switch {
	case len(there) == 0:
		p.why = v.nobody(name, p, false)
	case len(p.met) == 0:
		p.why = few(besides)
	default:
		if matched == 0 {
			p.why = fmt.Sprintf("%s %s %s, and nothing in the graph keeps them apart, but the wire has not matched them", strings.Join(p.met, ", "), r.does, name)
		}
		if len(p.left) > 0 {
			besides = append(besides, v.farewells(p, name))
		}
		p.besides = few(besides)
	}
	return p
}

// nobody says that there are none of them, and who left or which name may have
// been meant, be it one of our own if that counts.
func (v *View) nobody(name string, p peers, own bool) string {
	s := fmt.Sprintf("%s %s", p.of.no, name)
	if len(p.left) > 0 {
		return s + " any more: " + v.farewells(p, "it")
	}
	var names []string
	for _, e := range p.now.Endpoints {
		if e.Kind == p.of.other && (own || !e.Local) && !Infrastructure(e) {
			names = append(names, e.Name)
		}
	}
	return s + hint(name, names)
}

// Missing says of endpoints of a kind, if there is none of that name now, who
// had one and left the graph when, or which name may have been meant. It is ""
// where there is one, or where the graph is not to be seen.
func (v *View) Missing(kind transports.EndpointKind, name string) string {
	now, err := v.Now()
	if err != nil || slices.ContainsFunc(now.Endpoints, func(e transports.Endpoint) bool { return e.Kind == kind && e.Name == name }) {
		return ""
	}
	of := slices.IndexFunc(roles[:], func(r role) bool { return r.other == kind })
	return v.nobody(name, peers{of: roles[of], now: now, left: v.left(kind, name, now)}, true)
}

// MissingNode is Missing of a node.
func (v *View) MissingNode(name string) string {
	now, err := v.Now()
	same := func(n string) bool { return strings.TrimPrefix(n, "/") == strings.TrimPrefix(name, "/") }
	if err != nil || slices.ContainsFunc(now.Nodes, same) {
		return ""
	}
	for _, c := range slices.Backward(v.Changes()) {
		if !c.Came && c.Endpoint.Name == "" && same(c.Node) {
			return fmt.Sprintf("node %s is gone from the graph since %s", name, v.g.tl.since(c.At.at))
		}
	}
	return "there is no node " + name + hint(name, slices.DeleteFunc(slices.Clone(now.Nodes), func(n string) bool { return n == "" || strings.HasPrefix(base(n), "_") }))
}

// few is at most three of the lines.
func few(lines []string) string {
	const most = 3
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most:most], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(lines, "\n")
}

// left is the last to leave of each node that has none of them any more, newest
// first.
func (v *View) left(kind transports.EndpointKind, name string, now transports.Graph) (out []Change) {
	for _, c := range slices.Backward(v.Changes()) {
		same := func(e transports.Endpoint) bool { return e.Kind == kind && e.Name == name && e.Node == c.Node }
		if c.Came || !same(c.Endpoint) || slices.ContainsFunc(now.Endpoints, same) ||
			slices.ContainsFunc(out, func(o Change) bool { return o.Node == c.Node }) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// farewells says who left when: with its node, or without.
func (v *View) farewells(p peers, name string) string {
	var out []string
	for _, c := range p.left {
		how := fmt.Sprintf("%s, which %s %s, is gone from the graph since %s", named(c.Node), p.of.did, name, v.g.tl.since(c.At.at))
		if v.stays(c) {
			how = fmt.Sprintf("%s, which %s %s, closed its %s at %s, and is still in the graph", named(c.Node), p.of.did, name, p.of.other, v.g.tl.since(c.At.at))
		}
		out = append(out, how)
	}
	return few(out)
}

// together is how long after its endpoints a node that dies may leave the graph.
const together = 100 * time.Millisecond

// stays reports whether the node is still in the graph whose endpoint left. That
// of one that has just left is awaited a little.
func (v *View) stays(c Change) bool {
	late := time.NewTimer(time.Until(c.At.at.Add(together)))
	defer late.Stop()
	for {
		v.mu.Lock()
		changed, seen := v.look()
		stays := slices.Contains(v.last.Nodes, c.Node)
		v.mu.Unlock()
		if !seen || !stays {
			return stays
		}
		select {
		case <-changed:
		case <-late.C:
			return true
		case <-v.g.conn.Done():
			return true
		case <-v.g.tl.Context().Done():
			return true
		}
	}
}

// silent says who could be met but has not been heard.
func (p peers) silent(name, how string) string {
	s := fmt.Sprintf("%s %s %s, but %s", strings.Join(p.met, ", "), p.of.does, name, how)
	if p.besides != "" {
		s += "\n" + p.besides
	}
	return s
}

// silence says why nothing arrived from src, of which the last was received at
// an instant, zero for none.
func (t *Timeline) silence(src source, last time.Time, life measure.Life) string {
	self, p := src.endpoint(), src.peersNow()
	what := "message"
	if self.Kind == transports.ServerEndpoint {
		what = "request"
	}
	silent := fmt.Sprintf("no %s has ever arrived", what)
	if !last.IsZero() {
		silent = "has been silent since " + t.since(last)
	}
	switch {
	case p.why != "":
		return p.why
	case p.shown:
		return p.silent(self.Name, silent)
	}
	if life.State == measure.LifeShown && life.Sign != "" {
		return fmt.Sprintf("somebody is there to publish %s (%s), but %s", self.Name, life.Sign, silent)
	}
	return fmt.Sprintf("%s: %s", self.Name, silent)
}

// unmet is why an endpoint of ours cannot meet e; "" if it can.
func unmet(own, e transports.Endpoint) string {
	us := named(own.Node)
	asking, offering, how := own, e, "cannot be heard by "+us
	switch own.Kind {
	case transports.PublisherEndpoint:
		asking, offering, how = e, own, "cannot hear "+us
	case transports.ServerEndpoint:
		asking, offering, how = e, own, "cannot call "+us
	case transports.ClientEndpoint:
		how = "cannot be called by " + us
	}
	if apart := differences(asking, offering); apart != "" {
		return how + ": " + apart
	}
	return ""
}

// differences is what keeps who asks from who offers.
func differences(asking, offering transports.Endpoint) string {
	var out []string
	switch a, o := asking.Type, offering.Type; {
	case a.Name != "" && o.Name != "" && a.Name != o.Name:
		out = append(out, fmt.Sprintf("type: asked %s, offered %s", a.Name, o.Name))
	case a.Hash != "" && o.Hash != "" && a.Hash != o.Hash:
		out = append(out, fmt.Sprintf("type hash of %s: asked %s, offered %s (their definitions differ)", cmp.Or(a.Name, o.Name, "the type"), a.ShortHash(), o.ShortHash()))
	}
	if asking.Kind == transports.SubscriptionEndpoint {
		if q := asking.QoS.Incompatible(offering.QoS); q != "" {
			out = append(out, q)
		}
	}
	return strings.Join(out, "; ")
}

// Infrastructure reports whether an endpoint is of those that every ROS 2 node
// or tool has: /rosout, /parameter_events, the services of parameters and type
// descriptions, and what ROS 2 tools hide: a name with a token that begins with an
// underscore, or the endpoints of such a node.
func Infrastructure(e transports.Endpoint) bool {
	if e.Name == "/rosout" || e.Name == "/parameter_events" || strings.Contains(e.Name, "/_") || strings.HasPrefix(base(e.Node), "_") {
		return true
	}
	if e.Kind != transports.ServerEndpoint && e.Kind != transports.ClientEndpoint {
		return false
	}
	switch base(e.Name) {
	case "describe_parameters", "get_parameter_types", "get_parameters", "list_parameters", "set_parameters",
		"set_parameters_atomically", "get_type_description":
		return true
	}
	return false
}

func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// hint says which of the names in the graph a name that is not there may have
// been meant for: "; there is /robot1/odom, the same name in another namespace",
// then the nearest by edit distance; three at most, "" if there are none.
func hint(name string, names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	var same, others []string
	for _, n := range names {
		if n == name {
			continue
		}
		if base(n) == base(name) {
			same = append(same, n)
		} else {
			others = append(others, n)
		}
	}
	byDistance := func(a, b string) int { return cmp.Compare(edit.Distance(name, a), edit.Distance(name, b)) }
	slices.SortStableFunc(same, byDistance)
	slices.SortStableFunc(others, byDistance)
	const most = 3
	same = same[:min(most, len(same))]
	others = others[:min(most-len(same), len(others))]
	var out string
	switch len(same) {
	case 0:
	case 1:
		out = fmt.Sprintf("; there is %s, the same name in another namespace", same[0])
	default:
		out = fmt.Sprintf("; there is %s, the same name in other namespaces", strings.Join(same, ", "))
	}
	if len(others) > 0 {
		out += "; there is " + strings.Join(others, ", ")
	}
	return out
}
