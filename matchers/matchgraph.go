package matchers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/transports"
)

// MatchGraph is true while the graph has each of these endpoints. A field that
// is left out is left open: Kind and Name say what is wanted, Node whose it is, and
// Type and QoS, field by field, how it is to be; an endpoint without a Name stands
// for a node alone. Two that are alike are two endpoints.
//
//	MatchGraph([]transports.Endpoint{
//		{Node: "/turtlesim", Kind: transports.PublisherEndpoint, Name: "/turtle1/pose"},
//		{Kind: transports.ServerEndpoint, Name: "/reset", Type: transports.Type{Name: "std_srvs/srv/Empty"}},
//		{Node: "/teleop"},
//	})
//
// Others may be there, unless NothingElse is said. The failure message is the
// difference: what is missing, what is there but incompatible, what is extra. It
// is asked as HaveNode is.
func MatchGraph(want []transports.Endpoint, opts ...GraphOption) types.GomegaMatcher {
	m := graphMatch{want: slices.Clone(want)}
	w := &graphWord{text: fmt.Sprintf("MatchGraph(%d endpoints", len(want))}
	for _, o := range opts {
		o.apply(&m)
		w.text += ", NothingElse()"
	}
	w.text += ")"
	if len(want) == 0 && !m.strict {
		w.wrong = fmt.Errorf("%s: nothing is wanted; for an empty graph say NothingElse()", w.text)
	}
	for i, e := range m.want {
		if e.Name != "" {
			m.want[i].Name = w.resolve(e.Name)
		} else if e.Node == "" {
			w.wrong = fmt.Errorf("%s: endpoint %d has neither a Name nor a Node", w.text, i)
		}
	}
	w.ask = func(g transports.Graph) (bool, string, error) {
		diff := m.diff(g)
		if len(diff) == 0 {
			return true, "no difference", nil
		}
		return false, few(diff, 12), nil
	}
	w.why = func(v *harness.View) string {
		var why []string
		for _, e := range m.want {
			reason := v.MissingNode(e.Node)
			if e.Name != "" {
				reason = v.Missing(e.Kind, e.Name)
			}
			if reason != "" && !slices.Contains(why, reason) {
				why = append(why, reason)
			}
		}
		return few(why, 3)
	}
	w.about = func(c harness.Change) bool {
		return slices.ContainsFunc(m.want, func(e transports.Endpoint) bool {
			return e.Name == c.Endpoint.Name && e.Kind == c.Endpoint.Kind && (e.Node == "" || sameNode(e.Node, c.Node))
		})
	}
	return w
}

func few(lines []string, most int) string {
	if n := len(lines) - most; n > 0 {
		lines = append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more", n))
	}
	return strings.Join(lines, "\n")
}

// GraphOption changes what MatchGraph asks for.
type GraphOption interface{ apply(*graphMatch) }

type nothingElse struct{}

func (nothingElse) apply(m *graphMatch) { m.strict = true }

// NothingElse makes MatchGraph want no other endpoints. Those of the spec's own
// participant are no others, nor is what every ROS 2 node has, see
// harness.Infrastructure; a node with none but these is not told from one of
// ours, and may be there, too.
func NothingElse() GraphOption { return nothingElse{} }

type graphMatch struct {
	want   []transports.Endpoint
	strict bool
}

// diff is where a graph is another than wanted.
func (m graphMatch) diff(g transports.Graph) (out []string) {
	taken := m.assign(g.Endpoints)
	for i, want := range m.want {
		if want.Name == "" {
			if !slices.ContainsFunc(g.Nodes, func(n string) bool { return sameNode(n, want.Node) }) {
				out = append(out, "missing: node "+want.Node)
			}
			continue
		}
		if slices.Contains(taken, i) {
			continue
		}
		near := -1 // what nothing else accounts for, and is unlike
		for k, e := range g.Endpoints {
			if taken[k] < 0 && names(want, e) {
				near = k
				break
			}
		}
		if near < 0 {
			out = append(out, "missing: "+endpoint(want))
			continue
		}
		taken[near] = i
		e := g.Endpoints[near]
		out = append(out, fmt.Sprintf("incompatible: %s: %s", endpoint(transports.Endpoint{Kind: e.Kind, Name: e.Name, Node: owner(e)}), unlike(want, e)))
	}
	if !m.strict {
		return out
	}
	for i, e := range g.Endpoints {
		if taken[i] < 0 && !e.Local && !harness.Infrastructure(e) {
			out = append(out, "extra: "+endpoint(e))
		}
	}
	return out
}

// assign gives each endpoint of the graph one that is wanted, by its index, or
// −1, so that as many as possible are taken: Kuhn's algorithm.
func (m graphMatch) assign(there []transports.Endpoint) (taken []int) {
	taken = slices.Repeat([]int{-1}, len(there))
	var try func(want int, seen []bool) bool
	try = func(want int, seen []bool) bool {
		for i, e := range there {
			if seen[i] || !fits(m.want[want], e) {
				continue
			}
			seen[i] = true
			if taken[i] < 0 || try(taken[i], seen) {
				taken[i] = want
				return true
			}
		}
		return false
	}
	for i, want := range m.want {
		if want.Name != "" {
			try(i, make([]bool, len(there)))
		}
	}
	return taken
}

// names reports whether an endpoint is of the kind, name and node wanted.
func names(want, e transports.Endpoint) bool {
	return e.Kind == want.Kind && e.Name == want.Name && (want.Node == "" || sameNode(want.Node, e.Node))
}

func fits(want, e transports.Endpoint) bool { return names(want, e) && unlike(want, e) == "" }

// unlike is where an endpoint is another than wanted.
func unlike(want, e transports.Endpoint) string {
	var out []string
	field := func(name string, open bool, want, is any) {
		if !open && want != is {
			if is == "" {
				is = "not shown"
			}
			out = append(out, fmt.Sprintf("%s: want %v, is %v", name, want, is))
		}
	}
	w, q := want.QoS, inForce(e)
	field("type", want.Type.Name == "", want.Type.Name, e.Type.Name)
	field("type hash", want.Type.Hash == "" || want.Type.Hash == e.Type.Hash, want.Type.ShortHash(), e.Type.ShortHash())
	field("reliability", w.Reliability == 0, w.Reliability, q.Reliability)
	field("durability", w.Durability == 0, w.Durability, q.Durability)
	field("depth", w.Depth == 0, w.Depth, q.Depth)
	field("history", w.History == 0, w.History, q.History)
	field("deadline", w.Deadline == 0, w.Deadline, q.Deadline)
	field("lifespan", w.Lifespan == 0, w.Lifespan, q.Lifespan)
	field("lease", w.Lease == 0, w.Lease, q.Lease)
	field("liveliness", w.Liveliness == 0, w.Liveliness, q.Liveliness)
	field("identifier", want.ID.IsZero(), want.ID, e.ID)
	return strings.Join(out, "; ")
}

// inForce is the QoS of an endpoint with what its defaults stand for.
func inForce(e transports.Endpoint) transports.QoS {
	q := e.QoS
	q.Depth = q.HistoryDepth()
	q.History = cmp.Or(q.History, transports.KeepLast)
	q.Liveliness = cmp.Or(q.Liveliness, transports.Automatic)
	if e.Kind == transports.PublisherEndpoint {
		q.Reliability = cmp.Or(q.Reliability, transports.Reliable)
		q.Durability = cmp.Or(q.Durability, transports.Volatile)
	}
	return q
}

// endpoint prints an endpoint in a few words.
func endpoint(e transports.Endpoint) string {
	s := fmt.Sprintf("%s %s", e.Kind, e.Name)
	if e.Type.Name != "" {
		s += " of " + e.Type.Name
	}
	if e.Node != "" {
		s += " by " + e.Node
	}
	return s
}
