package cli

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/internal/cli/bound"
	"github.com/robospec/robospec/transports"
)

func nodeCommand(open opener) *cobra.Command {
	f := &graphFlags{open: open}
	return onGraph("node", "List and show nodes", f, nodeListCommand(f), nodeInfoCommand(f))
}

type nodeDocument struct {
	Node string `json:"node"`
	// Count is how many nodes have this name.
	Count int `json:"count"`
}

func nodeListCommand(f *graphFlags) *cobra.Command {
	var all bool
	var expect []string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the nodes of the graph",
		Long: `List the nodes of the graph. A name that several nodes have is said to be so: ROS 2
does not keep them apart. Names that begin with an underscore are hidden.

--expect takes a bound of nodes, of how many there are; it waits for up to --timeout
until it holds.`,
		Example: `  robospec node list
  robospec node list --timeout 10s --expect 'nodes>=3'`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			expected, err := expectations(expect, false, figure{"nodes", bound.Number})
			if err != nil {
				return err
			}
			return f.on(cmd, len(expected) > 0, func(s *session) error {
				shown := func(g transports.Graph) []string {
					nodes := slices.Sorted(slices.Values(g.Nodes))
					return slices.DeleteFunc(nodes, func(n string) bool { return !all && strings.HasPrefix(path.Base(n), "_") })
				}
				read := func(g transports.Graph) verdict {
					return judge(expected, func(figure) (reading, error) { return one(float64(len(shown(g))), nil) })
				}
				g, err := s.settledGraph()
				if len(expected) > 0 {
					g, _, err = s.waitForGraph(func(g transports.Graph) bool { return read(g).Verdict == "pass" })
				}
				if err != nil {
					return err
				}
				nodes := shown(g)
				for len(nodes) > 0 {
					d := nodeDocument{Node: nodes[0]}
					for len(nodes) > d.Count && nodes[d.Count] == d.Node {
						d.Count++
					}
					nodes = nodes[d.Count:]
					s.object(d)
					if d.Count > 1 {
						s.printf("%s (%d nodes have this name)", d.Node, d.Count)
					} else {
						s.printf("%s", d.Node)
					}
				}
				v := read(g)
				if len(expected) > 0 {
					s.object(v)
				}
				v.tell(s.printer)
				return v.exit()
			})
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list hidden nodes, too")
	cmd.Flags().StringArrayVarP(&expect, "expect", "e", nil, "a `bound` of the number of nodes, such as 'nodes>=3'")
	return cmd
}

type nodeInfoDocument struct {
	nodeDocument
	Publishers    []endpointNameDocument `json:"publishers"`
	Subscriptions []endpointNameDocument `json:"subscriptions"`
	Servers       []endpointNameDocument `json:"servers"`
	Clients       []endpointNameDocument `json:"clients"`
}

type endpointNameDocument struct {
	Name string `json:"name"`
	Type string `json:"type"`
	QoS  string `json:"qos,omitempty"`
}

func nodeInfoCommand(f *graphFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "info NODE",
		Short: "Show what a node publishes, subscribes to, serves and calls",
		Long: `Show what a node publishes, subscribes to, serves and calls. It waits for the node
for up to --timeout, and fails if it is not there then.`,
		Example: `  robospec node info /turtlesim
  robospec node info /turtlesim --timeout 10s >/dev/null && echo it runs`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			node, err := resolve(args[0])
			if err != nil {
				return err
			}
			return f.on(cmd, false, func(s *session) error { return s.nodeInfo(node) })
		},
	}
}

func (s *session) nodeInfo(node string) error {
	there := func(g transports.Graph) bool { return slices.Contains(g.Nodes, node) }
	_, ok, err := s.waitForGraph(there)
	if err != nil {
		return err
	}
	if !ok {
		return failf("%s (within --timeout %v)", s.rig.View().MissingNode(node), s.timeout)
	}
	g, err := s.settledGraph() // its endpoints come after it
	if err != nil {
		return err
	}
	d := nodeInfoDocument{nodeDocument: nodeDocument{Node: node}}
	for _, n := range g.Nodes {
		if n == node {
			d.Count++
		}
	}
	s.printf("%s", node)
	if d.Count > 1 {
		s.printf("  %d nodes have this name; what they declared is listed together", d.Count)
	}
	for _, of := range []struct {
		kind transports.EndpointKind
		to   *[]endpointNameDocument
		text string
	}{
		{transports.PublisherEndpoint, &d.Publishers, "publishes"}, {transports.SubscriptionEndpoint, &d.Subscriptions, "subscribes to"},
		{transports.ServerEndpoint, &d.Servers, "serves"}, {transports.ClientEndpoint, &d.Clients, "calls"},
	} {
		*of.to = []endpointNameDocument{}
		var rows [][]string
		for _, e := range g.Endpoints {
			if e.Node != node || e.Kind != of.kind {
				continue
			}
			qos := ""
			if of.kind == transports.PublisherEndpoint || of.kind == transports.SubscriptionEndpoint {
				qos = e.QoS.String()
			}
			*of.to = append(*of.to, endpointNameDocument{e.Name, e.Type.Name, qos})
			rows = append(rows, []string{"    " + e.Name, e.Type.Name, qos})
		}
		if len(rows) > 0 {
			s.printf("  %s", of.text)
			s.table(rows)
		}
	}
	s.object(d)
	return nil
}
