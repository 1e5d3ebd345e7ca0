package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/internal/cli/bound"
	"github.com/robospec/robospec/transports"
)

func topicCommand(open opener) *cobra.Command {
	f := &graphFlags{open: open}
	return onGraph("topic", "List, watch, measure and publish topics", f,
		topicListCommand(f), topicInfoCommand(f), echoCommand(f), hzCommand(f), bwCommand(f), delayCommand(f), pubCommand(f))
}

type topicDocument struct {
	Topic         string   `json:"topic"`
	Types         []string `json:"types"`
	Publishers    int      `json:"publishers"`
	Subscriptions int      `json:"subscriptions"`
}

func topicListCommand(f *graphFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the topics of the graph",
		Long: `List the topics of the graph: name, type, how many publish and subscribe. It is
the graph of when it has stood still for a fifth of a second, or at --timeout.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.on(cmd, false, func(s *session) error {
				g, err := s.settledGraph()
				if err != nil {
					return err
				}
				var rows [][]string
				for _, name := range names(g, transports.PublisherEndpoint, transports.SubscriptionEndpoint) {
					d := topicDocument{
						Topic:         name,
						Types:         typeNames(typesOf(endpointsOf(g, name, transports.PublisherEndpoint, transports.SubscriptionEndpoint))),
						Publishers:    len(endpointsOf(g, name, transports.PublisherEndpoint)),
						Subscriptions: len(endpointsOf(g, name, transports.SubscriptionEndpoint)),
					}
					s.object(d)
					rows = append(rows, []string{name, strings.Join(d.Types, ", "), count(d.Publishers, "publisher"), count(d.Subscriptions, "subscription")})
				}
				s.table(rows)
				return nil
			})
		},
	}
}

type endpointDocument struct {
	Kind string `json:"kind"`
	Node string `json:"node"`
	Type string `json:"type"`
	Hash string `json:"type_hash,omitempty"`
	QoS  string `json:"qos,omitempty"`
	ID   string `json:"id,omitempty"`
}

type topicInfoDocument struct {
	topicDocument
	Endpoints []endpointDocument `json:"endpoints"`
	// Deaf is who cannot hear whom, and why.
	Deaf []string `json:"cannot_hear"`
	verdict
}

func topicInfoCommand(f *graphFlags) *cobra.Command {
	var expect []string
	figures := []figure{{"publishers", bound.Number}, {"subscriptions", bound.Number}, {"types", bound.Number}, {"cannot-hear", bound.Number}}
	cmd := &cobra.Command{
		Use:   "info TOPIC",
		Short: "Show who publishes and subscribes, and who cannot hear whom",
		Long: `Show who publishes a topic and who subscribes to it, with types and QoS, and which
subscriptions cannot hear which publishers, and why. It fails if nobody does either
within --timeout.

--expect takes a bound of publishers, subscriptions, types or cannot-hear; it waits
for up to --timeout until all hold.`,
		Example: `  robospec topic info /cmd_vel
  robospec topic info /cmd_vel --timeout 10s --expect 'subscriptions>=1' --expect 'cannot-hear==0'`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, err := resolve(args[0])
			if err != nil {
				return err
			}
			expected, err := expectations(expect, false, figures...)
			if err != nil {
				return err
			}
			return f.on(cmd, len(expected) > 0, func(s *session) error { return s.topicInfo(topic, expected) })
		},
	}
	cmd.Flags().StringArrayVarP(&expect, "expect", "e", nil, "a `bound` of a number by name, such as 'publishers>=1' or 'cannot-hear==0'")
	return cmd
}

func (s *session) topicInfo(topic string, expected []expectation) error {
	document := func(g transports.Graph) topicInfoDocument {
		pubs, subs := endpointsOf(g, topic, transports.PublisherEndpoint), endpointsOf(g, topic, transports.SubscriptionEndpoint)
		all := slices.Concat(pubs, subs)
		d := topicInfoDocument{
			topicDocument: topicDocument{topic, typeNames(typesOf(all)), len(pubs), len(subs)},
			Endpoints:     endpointDocuments(all),
			Deaf:          deaf(pubs, subs),
		}
		d.verdict = judge(expected, func(f figure) (reading, error) {
			n := map[string]int{"publishers": len(pubs), "subscriptions": len(subs), "types": len(d.Types), "cannot-hear": len(d.Deaf)}[f.name]
			return one(float64(n), nil)
		})
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
		return failf("nobody subscribes to %s, and %s", topic, s.rig.View().Missing(transports.PublisherEndpoint, topic))
	}
	s.printf("%s: %s, %s, %s", topic, orNone(strings.Join(d.Types, " and "), "no type"), count(d.Publishers, "publisher"), count(d.Subscriptions, "subscription"))
	s.endpoints(d.Endpoints, len(d.Types) > 1)
	for _, line := range d.Deaf {
		s.printf("%s", line)
	}
	d.tell(s.printer)
	return d.exit()
}

func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

func endpointDocuments(endpoints []transports.Endpoint) []endpointDocument {
	docs := []endpointDocument{}
	for _, e := range endpoints {
		d := endpointDocument{Kind: e.Kind.String(), Node: e.Node, Type: e.Type.Name, Hash: e.Type.Hash, QoS: e.QoS.String()}
		if !e.ID.IsZero() {
			d.ID = e.ID.String()
		}
		docs = append(docs, d)
	}
	return docs
}

// endpoints prints endpoints in a table.
func (s *session) endpoints(docs []endpointDocument, types bool) {
	rows := make([][]string, len(docs))
	for i, d := range docs {
		rows[i] = []string{"  " + d.Kind, d.Node, d.QoS}
		if types {
			rows[i] = []string{"  " + d.Kind, d.Node, d.Type, d.QoS}
		}
	}
	s.table(rows)
}

// deaf says which subscriptions cannot hear which publishers, and why.
func deaf(pubs, subs []transports.Endpoint) []string {
	lines := []string{}
	for _, u := range subs {
		for _, p := range pubs {
			why := u.QoS.Incompatible(p.QoS)
			switch {
			case u.Type.Name != "" && p.Type.Name != "" && u.Type.Name != p.Type.Name:
				why = fmt.Sprintf("type: asked %s, offered %s", u.Type.Name, p.Type.Name)
			case u.Type.Hash != "" && p.Type.Hash != "" && u.Type.Hash != p.Type.Hash:
				why = fmt.Sprintf("type hash of %s: asked %s, offered %s: their definitions differ", u.Type.Name, u.Type.Hash, p.Type.Hash)
			}
			if why != "" {
				lines = append(lines, fmt.Sprintf("%s cannot hear %s: %s", u.Node, p.Node, why))
			}
		}
	}
	return lines
}
