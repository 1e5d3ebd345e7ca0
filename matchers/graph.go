package matchers

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/stack"
	"github.com/robospec/robospec/transports"
)

// HaveNode is true while a node of that name is in the graph: "turtle" and
// "/turtle" are one name.
//
// Expect(rig).To(HaveNode("/turtle")) looks at the graph once, now. Within waits
// for a state of the graph in which it is true, the one at the call included;
// Over wants it true in each state, the one at the call included. Both take And,
// Or and Not, which are about one state: Within(d, Not(HaveNode("/turtle"))) waits
// for a node to leave. Every change that the wire tells of is judged. So it is
// with every word on the graph.
//
// For Gomega habits Eventually(rig).Should(HaveNode(name)) works, too, one look
// a poll. It is refused where polls prove nothing: negated, combined, and under
// Consistently.
//
// A wire that does not show its graph, and a lost link, are inconclusive.
func HaveNode(name string) types.GomegaMatcher {
	w := &graphWord{text: fmt.Sprintf("HaveNode(%q)", name)}
	if strings.Trim(name, "/") == "" {
		w.wrong = fmt.Errorf("%s: the name is empty", w.text)
	}
	same := func(n string) bool { return sameNode(n, name) }
	w.ask = func(g transports.Graph) (bool, string, error) {
		if n := len(slices.DeleteFunc(slices.Clone(g.Nodes), func(n string) bool { return !same(n) })); n > 1 {
			return true, fmt.Sprintf("%d nodes %s", n, name), nil
		} else if n == 1 {
			return true, "node " + name, nil
		}
		return false, "nodes: " + list(g.Nodes), nil
	}
	w.why = func(v *harness.View) string { return v.MissingNode(name) }
	w.about = func(c harness.Change) bool { return c.Endpoint.Name == "" && same(c.Node) }
	return w
}

func sameNode(a, b string) bool { return strings.TrimPrefix(a, "/") == strings.TrimPrefix(b, "/") }

// HavePublishers is true while the number of publishers of the topic matches n,
// a number or a matcher of an int. All count, those of the spec's own participant
// too, as count_publishers of ROS 2 does, and whatever their type and QoS. It is
// asked as HaveNode is.
func HavePublishers(topic string, n any) types.GomegaMatcher {
	return counts("HavePublishers", transports.PublisherEndpoint, topic, n)
}

// HaveSubscribers is HavePublishers for the subscriptions of a topic.
func HaveSubscribers(topic string, n any) types.GomegaMatcher {
	return counts("HaveSubscribers", transports.SubscriptionEndpoint, topic, n)
}

func counts(name string, kind transports.EndpointKind, topic string, n any) *graphWord {
	w := &graphWord{text: call(name, fmt.Sprintf("%q", topic), []any{n})}
	resolved := w.resolve(topic)
	m := asMatcher(n)
	w.ask = func(g transports.Graph) (bool, string, error) {
		var who []string
		for _, e := range g.Endpoints {
			if e.Kind == kind && e.Name == resolved {
				who = append(who, owner(e))
			}
		}
		ok, err := m.Match(len(who))
		if err != nil {
			return false, "", fmt.Errorf("%s cannot judge a count: %w", describe(m), err)
		}
		found := fmt.Sprintf("%d %ss of %s", len(who), kind, resolved)
		if len(who) == 1 {
			found = fmt.Sprintf("1 %s of %s", kind, resolved)
		}
		if len(who) > 0 {
			found += ", by " + list(who)
		}
		return ok, found, nil
	}
	w.onEndpoint(kind, resolved)
	return w
}

// HaveService is true while somebody serves a service of that name, of that
// ROS 2 type, such as "std_srvs/srv/Empty", if one is given. It is asked as
// HaveNode is.
func HaveService(name string, typ ...string) types.GomegaMatcher {
	args := []any{name}
	for _, t := range typ {
		args = append(args, t)
	}
	w := &graphWord{text: call("HaveService", "", args)}
	resolved := w.resolve(name)
	if len(typ) > 1 {
		w.wrong = fmt.Errorf("%s: a service has one type", w.text)
	}
	w.ask = func(g transports.Graph) (ok bool, found string, err error) {
		var who []string
		for _, e := range g.Endpoints {
			if e.Kind != transports.ServerEndpoint || e.Name != resolved {
				continue
			}
			ok = ok || len(typ) == 0 || e.Type.Name == typ[0]
			as := ""
			if e.Type.Name != "" {
				as = " as " + e.Type.Name
			}
			who = append(who, owner(e)+as)
		}
		if len(who) == 0 {
			return false, "no server of " + resolved, nil
		}
		return ok, fmt.Sprintf("%s served by %s", resolved, list(who)), nil
	}
	w.onEndpoint(transports.ServerEndpoint, resolved)
	return w
}

// resolve is the one spelling of a name; a name that has none is misuse.
func (w *graphWord) resolve(name string) string {
	resolved, err := transports.Resolve(name)
	if err != nil {
		w.wrong = fmt.Errorf("%s: %w", w.text, err)
	}
	return resolved
}

func (w *graphWord) onEndpoint(kind transports.EndpointKind, name string) {
	w.why = func(v *harness.View) string { return v.Missing(kind, name) }
	w.about = func(c harness.Change) bool { return c.Endpoint.Kind == kind && c.Endpoint.Name == name }
}

func owner(e transports.Endpoint) string {
	switch {
	case e.Node == "":
		return "a participant that has no name"
	case e.Local:
		return e.Node + " (ours)"
	}
	return e.Node
}

// list is names, at most ten, "none" for none.
func list(names []string) string {
	const most = 10
	if len(names) == 0 {
		return "none"
	}
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// viewed is what has a graph to look at: a *harness.Graph, a *fixtures.Rig.
type viewed interface{ View() *harness.View }

// graphWord is a word on one state of the graph.
type graphWord struct {
	text  string
	wrong error
	// ask says whether a state is as wanted and what there is.
	ask func(transports.Graph) (ok bool, found string, err error)
	// why says why what is wanted is not there, as far as the graph tells.
	why func(*harness.View) string
	// about says whether a change is one of what the word asks about.
	about func(harness.Change) bool

	last atomic.Pointer[graphOutcome]
	site uintptr // of the poll that held last
	held bool
}

func (w *graphWord) String() string { return w.text }

// combinations are what of Gomega asks several matchers, or for the opposite.
var combinations = append([]string{
	"github.com/onsi/gomega/matchers.(*AndMatcher)",
	"github.com/onsi/gomega/matchers.(*OrMatcher)",
}, negations...)

// Match asks of a state of the graph, or of that of now.
func (w *graphWord) Match(actual any) (bool, error) {
	if g, ok := actual.(transports.Graph); ok { // in a wait, or a user's own
		if w.wrong != nil {
			return false, w.wrong
		}
		ok, _, err := w.ask(g)
		return ok, err
	}
	w.last.Store(nil)
	site, polled := pollSite()
	if polled && stack.Has(combinations...) {
		return false, gomega.StopTrying(fmt.Sprintf("%s under Eventually or Consistently proves nothing when it is negated or combined; say Expect(rig).To(Within(d, …)) for what is to come true, Expect(rig).To(Over(d, …)) for what is to stay", w.text))
	}
	if polled && w.held && w.site == site {
		return false, gomega.StopTrying(fmt.Sprintf("%s held and is asked again, as Consistently does, whose polls prove nothing of the time between them; say Expect(rig).To(Over(d, %[1]s))", w.text))
	}
	w.held, w.site = false, site
	stopping := func(err error) error {
		if err != nil && polled {
			return gomega.StopTrying(err.Error())
		}
		return err
	}
	if w.wrong != nil {
		return false, stopping(w.wrong)
	}
	a, ok := actual.(viewed)
	if !ok {
		return false, stopping(w.misplaced(actual))
	}
	g, err := a.View().Now()
	if err != nil {
		return false, stopping(withAsked(err, w.text))
	}
	o := &graphOutcome{view: a.View(), c: w, state: g, polled: polled}
	ok, o.found, err = w.ask(g)
	if err != nil {
		return false, stopping(err)
	}
	w.held = ok
	w.last.Store(o)
	return ok, nil
}

func (w *graphWord) misplaced(actual any) error {
	if o, ok := actual.(harness.Observed); ok {
		return fmt.Errorf("%s is about the graph, not about the messages of %s; say Expect(rig).To(%[1]s)", w.text, o.GomegaString())
	}
	return fmt.Errorf("%s expects a graph (a *harness.Graph or a *fixtures.Rig); it got\n%s", w.text, format.Object(actual, 1))
}

func (w *graphWord) FailureMessage(actual any) string {
	return w.last.Load().message(actual, "to show "+w.text)
}

func (w *graphWord) NegatedFailureMessage(actual any) string {
	return w.last.Load().message(actual, "not to show "+w.text)
}

// pollSite says whether Gomega polls, and from which place in the spec.
func pollSite() (site uintptr, polled bool) {
	pcs := make([]uintptr, 128)
	pcs = pcs[:runtime.Callers(2, pcs)]
	frames := runtime.CallersFrames(pcs)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "github.com/onsi/gomega/internal.(*AsyncAssertion)"):
			polled, site = true, 0
		case polled:
			site = site*31 + f.PC
		}
	}
	return site, polled
}
