package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// watchFlags say what to watch, for how long and what to expect of it.
type watchFlags struct {
	typ    string
	length time.Duration
	count  int
	expect []string
}

func (f *watchFlags) add(cmd *cobra.Command, expect string) {
	fl := cmd.Flags()
	fl.StringVar(&f.typ, "type", "", "watch messages of this `TYPE` only, such as std_msgs/msg/String")
	fl.DurationVar(&f.length, "for", 0, "end after this `time`, such as 2s; 0 is never")
	fl.IntVarP(&f.count, "count", "n", 0, "end after this `number` of messages; 0 is never")
	fl.StringArrayVarP(&f.expect, "expect", "e", nil, expect)
}

// check refuses what has no meaning.
func (f *watchFlags) check() error {
	switch {
	case f.length < 0:
		return misusef("--for %v: a time to watch cannot be negative; 0 is without end", f.length)
	case f.count < 0:
		return misusef("--count %d: a number of messages cannot be negative; 0 is without end", f.count)
	case f.typ != "" && strings.Count(f.typ, "/") != 2:
		return misusef("--type %q: a type is named like std_msgs/msg/String", f.typ)
	}
	return nil
}

// ends is an error unless there is an end to judge at.
func (f *watchFlags) ends() error {
	if len(f.expect) > 0 && f.length == 0 && f.count == 0 {
		return misusef("--expect is judged at the end; say when that is, with --for 2s or --count 100")
	}
	return nil
}

// watched is a topic that is subscribed to.
type watched struct {
	s     *session
	topic string
	// types are those that the graph shows of its publishers.
	types []transports.Type
	// typ is the one subscribed to, empty for any.
	typ transports.Type
	sub *harness.Subscription[any]
	// quiet is why nothing arrived.
	quiet string
}

// typesOn waits for a publisher of the topic and returns the types of all. Where
// the wire has no graph it knows of none.
func (s *session) typesOn(topic, want string) ([]transports.Type, error) {
	if _, _, shown := s.graph(); !shown {
		return nil, nil
	}
	g, ok, err := s.waitForGraph(func(g transports.Graph) bool {
		for _, e := range endpointsOf(g, topic, transports.PublisherEndpoint) {
			if want == "" || e.Type.Name == want {
				return true
			}
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	publishers := endpointsOf(g, topic, transports.PublisherEndpoint)
	types := typesOf(publishers)
	switch {
	case ok:
		return types, nil
	case s.interrupted():
		return nil, &measure.Inconclusive{Reason: "interrupted before anybody published " + topic}
	case len(publishers) == 0:
		return nil, s.unpublished(g, topic)
	}
	return nil, &measure.Inconclusive{
		Reason: fmt.Sprintf("nobody publishes %s as %s; it has the type %s", topic, want, strings.Join(typeNames(types), " and ")),
		Remedy: "correct --type, or leave it out",
	}
}

// unpublished is what there is to say when nobody publishes a topic.
func (s *session) unpublished(g transports.Graph, topic string) error {
	reason := orNone(s.rig.View().Missing(transports.PublisherEndpoint, topic), "nobody publishes "+topic)
	if subs := endpointsOf(g, topic, transports.SubscriptionEndpoint); len(subs) > 0 {
		reason += fmt.Sprintf("\n%s would hear it", listed(nodesOf(subs)))
	}
	return &measure.Inconclusive{
		Reason: reason,
		Remedy: fmt.Sprintf("start its publisher, correct the name, or wait longer than --timeout %v", s.timeout),
	}
}

func nodesOf(endpoints []transports.Endpoint) []string {
	nodes := make([]string, len(endpoints))
	for i, e := range endpoints {
		nodes[i] = e.Node
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// choose is which of the types to subscribe to: the one asked for, the only
// one, or else any.
func choose(types []transports.Type, want string) transports.Type {
	if want != "" {
		types = slices.DeleteFunc(slices.Clone(types), func(t transports.Type) bool { return t.Name != want })
	}
	if len(types) == 1 {
		return types[0]
	}
	return transports.Type{Name: want}
}

// subscribe begins to watch a topic. decode makes of a payload what is kept of a
// message; it runs as messages arrive.
func (s *session) subscribe(topic string, types []transports.Type, typ transports.Type, decode func([]byte) (any, error), opts ...harness.Option) (*watched, error) {
	w := &watched{s: s, topic: topic, types: types, typ: typ}
	c := codec{encoding: s.rig.Conn().Encoding(), typ: typ, decode: decode}
	patient, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	var err error
	if w.sub, err = harness.Subscribe[any](patient, s.rig, topic, append(opts, harness.Using[any](c))...); err != nil {
		return nil, err
	}
	if _, _, shown := s.graph(); shown {
		// What is published before the two have met would be missing at the start.
		// That they never do shows in what is measured.
		_ = w.sub.WaitForPublishers(patient, 1)
	}
	return w, s.rig.Err()
}

// codec is how a command sends and takes messages of a type.
type codec struct {
	encoding string
	typ      transports.Type
	decode   func([]byte) (any, error)
}

// Append takes a payload that is encoded already.
func (c codec) Append(dst []byte, v any) ([]byte, error) { return append(dst, v.([]byte)...), nil }
func (c codec) Decode(src []byte) (any, error)           { return c.decode(src) }
func (c codec) Encoding() string                         { return c.encoding }
func (c codec) TypeName() string                         { return c.typ.Name }
func (c codec) TypeHash() string                         { return c.typ.Hash }

// payload keeps a payload as it is.
func payload(b []byte) (any, error) { return b, nil }

// nothing keeps nothing of a payload.
func nothing([]byte) (any, error) { return nil, nil }

// watch hands each message that of sees to each, until length is over (0 is
// without end), each returns false, or the command is interrupted. If every is not
// zero, tick is called so often. What it returns is the stretch watched, and an
// error if the link was lost.
func (w *watched) watch(of harness.Observed, length time.Duration, each func(measure.Arrival) bool, every time.Duration, tick func(measure.Stretch)) (measure.Stretch, error) {
	if length == 0 {
		length = 100 * 365 * 24 * time.Hour
	}
	obs, err := of.Observe(harness.Watch, length)
	if err != nil {
		return measure.Stretch{}, err
	}
	defer obs.Close()
	defer func() {
		if obs.Seen() == 0 {
			w.quiet = obs.Silence()
		}
	}()
	begin := obs.Steady
	due := time.Time{}
	if every > 0 {
		due = begin.Time().Add(every)
	}
	until := func(to time.Time) measure.Stretch {
		st := obs.Stretch(true)
		st.To = to
		return st
	}
	for {
		arrivals, state := obs.Next(due)
		for _, a := range arrivals {
			if begin.Precedes(a.Order, a.Received) && !each(a) {
				return until(a.Received), nil
			}
		}
		switch state {
		case harness.Due:
			tick(until(due))
			due = due.Add(every)
		case harness.Over:
			return obs.Stretch(true), nil
		case harness.Cut:
			st := until(time.Now())
			if w.s.interrupted() { // what was seen until then is whole
				st.Cut = nil
				return st, nil
			}
			return st, w.s.rig.Err()
		}
	}
}

// silence says why nothing arrived in a stretch.
func (w *watched) silence(st measure.Stretch) error {
	why, remedy := w.quiet, "watch longer, or find out why the publisher is silent"
	if g, _, shown := w.s.graph(); shown && len(endpointsOf(g, w.topic, transports.PublisherEndpoint)) == 0 ||
		!shown && st.Life.State != measure.LifeShown {
		remedy = "start its publisher, correct the name, or watch longer"
		if !shown {
			why = st.Life.Sign
		}
	}
	return &measure.Inconclusive{Reason: fmt.Sprintf("no message arrived on %s in %s; %s", w.topic, short(st.Duration()), why), Remedy: remedy}
}

// several says that the topic has several types, "" if it has not.
func (w *watched) several() string {
	if len(w.types) < 2 || w.typ.Name != "" {
		return ""
	}
	return fmt.Sprintf("%s has %d types, all of which are counted: %s; --type picks one", w.topic, len(w.types), strings.Join(typeNames(w.types), ", "))
}
