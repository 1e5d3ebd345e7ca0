package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/internal/cli/bound"
	"github.com/robospec/robospec/transports"
)

func serviceCommand(open opener) *cobra.Command {
	f := &graphFlags{open: open}
	return onGraph("service", "List, show and call services", f, serviceListCommand(f), serviceInfoCommand(f), callCommand(f))
}

type serviceDocument struct {
	Service string   `json:"service"`
	Types   []string `json:"types"`
	Servers int      `json:"servers"`
	Clients int      `json:"clients"`
}

func serviceListCommand(f *graphFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the services of the graph",
		Long: `List the services of the graph: name, type, how many serve and call. It is the
graph of when it has stood still for a fifth of a second, or at --timeout.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.on(cmd, false, func(s *session) error {
				g, err := s.settledGraph()
				if err != nil {
					return err
				}
				var rows [][]string
				for _, name := range names(g, transports.ServerEndpoint, transports.ClientEndpoint) {
					d := serviceDocumentOf(g, name)
					s.object(d)
					rows = append(rows, []string{name, strings.Join(d.Types, ", "), count(d.Servers, "server"), count(d.Clients, "client")})
				}
				s.table(rows)
				return nil
			})
		},
	}
}

func serviceDocumentOf(g transports.Graph, name string) serviceDocument {
	servers, clients := endpointsOf(g, name, transports.ServerEndpoint), endpointsOf(g, name, transports.ClientEndpoint)
	return serviceDocument{name, typeNames(typesOf(slices.Concat(servers, clients))), len(servers), len(clients)}
}

type serviceInfoDocument struct {
	serviceDocument
	Endpoints []endpointDocument `json:"endpoints"`
	verdict
}

func serviceInfoCommand(f *graphFlags) *cobra.Command {
	var expect []string
	cmd := &cobra.Command{
		Use:   "info SERVICE",
		Short: "Show who serves and calls",
		Long: `Show who serves a service and who calls it, with types. It fails if nobody does
either within --timeout.

--expect takes a bound of servers, clients or types; it waits for up to --timeout
until all hold.`,
		Example: `  robospec service info /reset
  robospec service info /reset --timeout 10s --expect 'servers==1'`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := resolve(args[0])
			if err != nil {
				return err
			}
			expected, err := expectations(expect, false, figure{"servers", bound.Number}, figure{"clients", bound.Number}, figure{"types", bound.Number})
			if err != nil {
				return err
			}
			return f.on(cmd, len(expected) > 0, func(s *session) error { return s.serviceInfo(name, expected) })
		},
	}
	cmd.Flags().StringArrayVarP(&expect, "expect", "e", nil, "a `bound` of a number by name, such as 'servers==1'")
	return cmd
}

func (s *session) serviceInfo(name string, expected []expectation) error {
	document := func(g transports.Graph) serviceInfoDocument {
		d := serviceInfoDocument{serviceDocument: serviceDocumentOf(g, name), Endpoints: endpointDocuments(endpointsOf(g, name, transports.ServerEndpoint, transports.ClientEndpoint))}
		d.verdict = judge(expected, func(f figure) (reading, error) {
			return one(float64(map[string]int{"servers": d.Servers, "clients": d.Clients, "types": len(d.Types)}[f.name]), nil)
		})
		for i := range d.Endpoints {
			d.Endpoints[i].QoS = "" // says nothing of a service
		}
		return d
	}
	g, _, err := s.waitForGraph(func(g transports.Graph) bool {
		d := document(g)
		return d.Verdict == "pass" || len(expected) == 0 && len(d.Endpoints) > 0
	})
	if err != nil {
		return err
	}
	d := document(g)
	s.object(d)
	if len(d.Endpoints) == 0 && len(expected) == 0 {
		return failf("nobody calls %s, and %s", name, s.rig.View().Missing(transports.ServerEndpoint, name))
	}
	s.printf("%s: %s, %s, %s", name, orNone(strings.Join(d.Types, " and "), "no type"), count(d.Servers, "server"), count(d.Clients, "client"))
	s.endpoints(d.Endpoints, len(d.Types) > 1)
	d.tell(s.printer)
	return d.exit()
}
