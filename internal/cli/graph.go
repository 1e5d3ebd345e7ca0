package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/dial"
)

// opener joins the graph that a URL names, as dial.Open does.
type opener func(ctx context.Context, address string) (transports.Conn, error)

// graphFlags are those of every command on a graph.
type graphFlags struct {
	open    opener
	address string
	asJSON  bool
	timeout time.Duration
}

// onGraph is a group of commands on a graph.
func onGraph(use, short string, f *graphFlags, commands ...*cobra.Command) *cobra.Command {
	c := group(use, short, commands...)
	fl := c.PersistentFlags()
	fl.StringVarP(&f.address, "graph", "g", os.Getenv("ROBOSPEC_GRAPH"), "the graph's `URL`, such as zenoh://localhost:7447; by default $ROBOSPEC_GRAPH")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line")
	fl.DurationVar(&f.timeout, "timeout", 2*time.Second, "how long to look for what is asked about")
	return c
}

// urls are those of the graphs there are from the command line.
const urls = "ros2+zenoh://HOST:7447?domain=N, zenoh://HOST:7447, or either with +tls before the ://"

// takes is what a command is answered with that gets fewer or more arguments.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return misusef("it got %s; write %s", count(len(args), "argument"), cmd.UseLine())
		}
		return nil
	}
}

// hidden is how this process is named where a wire shows names. As ros2 does,
// names that begin with an underscore are not listed.
func hidden() string { return fmt.Sprintf("_robospec_%d", os.Getpid()) }

// session is one command's time on a graph. It is for one goroutine.
type session struct {
	*graphFlags
	*printer
	// ctx ends with Ctrl-C, and when nobody reads what is printed any more.
	ctx context.Context
	rig *harness.Graph
}

// errUnread ends a command whose reader has gone, as that of | head does.
var errUnread = errors.New("cli: nobody reads the output")

// on joins the graph, does what is asked and leaves the graph. judged is whether
// there is a verdict to come to even if nobody reads what is printed.
func (f *graphFlags) on(cmd *cobra.Command, judged bool, do func(*session) error) (err error) {
	address, err := f.target()
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(cmd.Context())
	defer end(nil)
	out := &printer{w: cmd.OutOrStdout(), json: f.asJSON}
	if !judged {
		out.unread = func() { end(errUnread) }
	}
	patient, cancel := context.WithTimeoutCause(ctx, max(f.timeout, time.Second), fmt.Errorf("it did not answer within --timeout %v", f.timeout))
	defer cancel()
	conn, err := f.open(patient, address)
	if err != nil {
		why := strings.ReplaceAll(err.Error(), address, f.address)
		switch {
		case errors.Is(err, dial.ErrURL):
			why, _, _ = strings.Cut(why, "; write inproc:")
			return misusef("%s; write %s", why, urls)
		case ctx.Err() != nil:
			return &measure.Inconclusive{Reason: "interrupted before the graph was reached", Err: err}
		}
		return &measure.Inconclusive{Reason: why, Err: err, Remedy: "start what is to be reached, or correct --graph"}
	}
	rig := harness.New(conn, harness.Config{})
	rig.Timeline().Until(ctx)
	defer func() { err = errors.Join(err, rig.Close()) }()
	s := &session{graphFlags: f, printer: out, ctx: ctx, rig: rig}
	if err := explained(do(s)); err != nil {
		return err
	}
	return out.err
}

// interrupted reports whether Ctrl-C, or a reader that has gone, ended the command.
func (s *session) interrupted() bool { return s.ctx.Err() != nil }

// explained turns an error into what it means for the exit code.
func explained(err error) error {
	if _, ok := errors.AsType[*measure.Inconclusive](err); ok {
		return err
	}
	if e, ok := errors.AsType[*transports.NameError](err); ok {
		return misusef("%v", e)
	}
	if e, ok := errors.AsType[*transports.LinkError](err); ok {
		return &measure.Inconclusive{Reason: e.Error(), Err: err, Remedy: "find out why the link died, and measure again"}
	}
	return err
}

// target is the URL to open.
func (f *graphFlags) target() (string, error) {
	if f.address == "" {
		return "", misusef("which graph? Give its URL with --graph or in ROBOSPEC_GRAPH: %s", urls)
	}
	if f.timeout <= 0 {
		return "", misusef("--timeout %v: the time to look must be positive, such as 2s", f.timeout)
	}
	u, err := url.Parse(f.address)
	if err != nil {
		return f.address, nil //nolint:nilerr // who opens it says what is wrong
	}
	if u.Scheme == "inproc" {
		return "", misusef("--graph %s is the memory of one process, and this one has nobody else in it; give the URL of a wire: %s", f.address, urls)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if query.Has("router") {
		return "", misusef("--graph %s would start a router of its own, which nobody else has joined; give the URL of one that runs: %s", f.address, urls)
	}
	if err != nil || u.Scheme == "" || query.Has("node") {
		return f.address, nil //nolint:nilerr // likewise
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += "node=" + hidden()
	return u.String(), nil
}

// graph is the graph as the wire shows it, without what this process declared.
func (s *session) graph() (g transports.Graph, changed <-chan struct{}, ok bool) {
	grapher, ok := s.rig.Conn().(transports.Grapher)
	if !ok {
		return g, nil, false
	}
	all, changed := grapher.Graph()
	for _, n := range all.Nodes {
		if n = strings.TrimPrefix(n, "/"); path.Base(n) != hidden() {
			g.Nodes = append(g.Nodes, "/"+n)
		}
	}
	for _, e := range all.Endpoints {
		if !e.Local {
			e.Node = "/" + strings.TrimPrefix(e.Node, "/")
			g.Endpoints = append(g.Endpoints, e)
		}
	}
	return g, changed, true
}

// errNoGraph is what a wire without a graph is answered with.
func (s *session) errNoGraph() error {
	return &measure.Inconclusive{
		Reason: fmt.Sprintf("%s does not show who is on it", s.address),
		Remedy: "ask for one topic by its name: plain Zenoh has no graph, only keys",
	}
}

// waitForGraph waits until the graph is as wanted or --timeout is over, and
// returns the last one seen.
func (s *session) waitForGraph(wanted func(transports.Graph) bool) (g transports.Graph, ok bool, err error) {
	timer := time.NewTimer(s.timeout)
	defer timer.Stop()
	for {
		g, changed, shown := s.graph()
		if !shown {
			return g, false, s.errNoGraph()
		}
		if wanted(g) {
			return g, true, nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return g, false, nil
		case <-s.ctx.Done():
			return g, false, nil
		case <-s.rig.Done():
			return g, false, s.rig.Err()
		}
	}
}

// still is how long a graph must not change to be taken for known.
const still = 200 * time.Millisecond

// settledGraph is the graph once it stands still, or when --timeout is over.
func (s *session) settledGraph() (transports.Graph, error) {
	end := time.Now().Add(s.timeout)
	for {
		g, changed, shown := s.graph()
		if !shown {
			return g, s.errNoGraph()
		}
		timer := time.NewTimer(min(still, time.Until(end)))
		select {
		case <-timer.C:
			return g, nil
		case <-changed:
		case <-s.ctx.Done():
			timer.Stop()
			return g, nil
		case <-s.rig.Done():
			timer.Stop()
			return g, s.rig.Err()
		}
		timer.Stop()
	}
}

// endpointsOf are those of a name and of one of the kinds.
func endpointsOf(g transports.Graph, name string, kinds ...transports.EndpointKind) []transports.Endpoint {
	var found []transports.Endpoint
	for _, e := range g.Endpoints {
		if e.Name == name && slices.Contains(kinds, e.Kind) {
			found = append(found, e)
		}
	}
	return found
}

// typesOf are the types of endpoints, each once, sorted.
func typesOf(endpoints []transports.Endpoint) []transports.Type {
	var types []transports.Type
	for _, e := range endpoints {
		if e.Type.Name != "" && !slices.Contains(types, e.Type) {
			types = append(types, e.Type)
		}
	}
	slices.SortFunc(types, func(a, b transports.Type) int { return strings.Compare(a.Name+" "+a.Hash, b.Name+" "+b.Hash) })
	return types
}

// typeNames are the names of types, with the hashes where names do not differ.
func typeNames(types []transports.Type) []string {
	var names []string
	for i, t := range types {
		name := t.Name
		if i > 0 && types[i-1].Name == t.Name || i+1 < len(types) && types[i+1].Name == t.Name {
			name += " " + t.Hash
		}
		names = append(names, name)
	}
	return names
}

// names are those of endpoints of the kinds, each once, sorted.
func names(g transports.Graph, kinds ...transports.EndpointKind) []string {
	var all []string
	for _, e := range g.Endpoints {
		if slices.Contains(kinds, e.Kind) {
			all = append(all, e.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// resolve gives a topic, service or node name its one spelling.
func resolve(name string) (string, error) {
	resolved, err := transports.Resolve(name)
	if err != nil {
		return "", misusef("%v", err)
	}
	return resolved, nil
}

// count is n of something.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
