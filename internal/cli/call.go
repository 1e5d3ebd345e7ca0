package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/cli/bound"
	"github.com/robospec/robospec/internal/oneline"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/dynamic"
	"github.com/robospec/robospec/msgs/rosidl"
	"github.com/robospec/robospec/transports"
)

func callCommand(f *graphFlags) *cobra.Command {
	c := &call{}
	cmd := &cobra.Command{
		Use:   "call SERVICE [TYPE] [REQUEST]",
		Short: "Call a service and print the response",
		Long: `Call a service with a request given as YAML or JSON; fields left out have their
defaults. Without TYPE it is the type that the service has on the graph. On plain
Zenoh, without TYPE, the payload is REQUEST itself.

It waits for a server for up to --timeout, and for the response for up to --for. That
nobody serves is inconclusive; that the server refuses, or does not answer in time,
is a failure.

--expect takes a bound of the time from the call to the reception of the response, or
a field of the response with its bound; it may be given several times. All must
hold.`,
		Example: `  robospec service call /reset
  robospec service call /arm std_srvs/srv/SetBool '{data: true}' --expect '<100ms' --expect 'success==true'`,
		Args: takes(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := resolve(args[0])
			if err := firstOf(err, func() error { return c.read(args[1:]) }); err != nil {
				return err
			}
			return f.on(cmd, len(c.expect) > 0, func(s *session) error { return c.run(s, name) })
		},
	}
	fl := cmd.Flags()
	fl.DurationVar(&c.length, "for", 10*time.Second, "wait so `long` for the response")
	fl.StringArrayVarP(&c.expect, "expect", "e", nil, "a `bound` of the time, such as '<100ms', or of a field of the response, such as 'success==true'")
	addShare(cmd, &c.shares)
	return cmd
}

// call is what to call, and what is expected of the response.
type call struct {
	typ, text string
	length    time.Duration
	expect    []string
	shares    []string

	times  []bound.Bound
	fields []fieldExpectation
}

func (c *call) read(args []string) error {
	switch {
	case len(args) == 2:
		c.typ, c.text = args[0], args[1]
	case len(args) == 1 && isTypeName(args[0]):
		c.typ = args[0]
	case len(args) == 1:
		c.text = args[0]
	}
	if c.typ != "" {
		var err error
		if c.typ, err = typeName(c.typ, "srv"); err != nil {
			return err
		}
	}
	if c.length <= 0 {
		return misusef("--for %v: the time to wait for the response must be positive, such as 10s", c.length)
	}
	for _, text := range c.expect {
		name, rest := bound.Split(text)
		if name != "" {
			f, err := fieldExpectations([]string{text})
			if err != nil {
				return err
			}
			c.fields = append(c.fields, f...)
			continue
		}
		b, err := bound.Parse(rest, bound.Duration)
		if err != nil {
			return misusef("--expect %q: %v", text, err)
		}
		c.times = append(c.times, b)
	}
	return nil
}

// isTypeName tells std_srvs/srv/Trigger from a request in YAML.
func isTypeName(s string) bool {
	return strings.Contains(s, "/") && !strings.ContainsAny(s, "{}: \t\n\"'")
}

type callDocument struct {
	Service string `json:"service"`
	Type    string `json:"type,omitempty"`
	// Seconds is from the call to the reception of the response.
	Seconds  *float64        `json:"seconds"`
	Response json.RawMessage `json:"response,omitempty"`
	Text     *string         `json:"text,omitempty"`
	Hex      *string         `json:"hex,omitempty"`
	Expect   []string        `json:"expect,omitempty"`
	Verdict  string          `json:"verdict,omitempty"`
	Error    string          `json:"error,omitempty"`
}

func (c *call) run(s *session, name string) error {
	d := callDocument{Service: name, Expect: c.expect}
	v, took, err := c.ask(s, name, &d)
	if err == nil {
		seconds := took.Seconds()
		d.Seconds = &seconds
		if err := c.show(s, &d, v); err != nil {
			return err
		}
		s.printf("# after %s", short(took))
		err = c.judge(v, took)
	}
	_, unknown := errors.AsType[*measure.Inconclusive](err)
	_, wrong := errors.AsType[*misuse](err)
	switch {
	case wrong:
		return err
	case err != nil:
		d.Error, d.Verdict = err.Error(), "fail"
		if unknown {
			d.Verdict = "inconclusive"
		}
	case len(c.expect) > 0:
		d.Verdict = "pass"
		s.printf("pass: %s", strings.Join(c.expect, " and "))
	}
	s.object(d)
	return err
}

// show prints a response.
func (c *call) show(s *session, d *callDocument, v any) (err error) {
	switch v := v.(type) {
	case string:
		d.Text = &v
		s.printf("%s", v)
	case []byte:
		h := fmt.Sprintf("%x", v)
		d.Hex = &h
		s.printf("%s", h)
	default:
		if s.json {
			d.Response, err = partJSON(v)
		}
		s.printf("%s", partText(v, true))
	}
	return err
}

// judge holds a response against what is expected.
func (c *call) judge(v any, took time.Duration) error {
	for _, b := range c.times {
		if !b.Contains(float64(took)) {
			return failf("the response came after %s, expected %s", short(took), b)
		}
	}
	for _, x := range c.fields {
		part, err := x.path.in(v)
		ok := false
		if err == nil {
			ok, err = x.value.Holds(part)
		}
		switch {
		case err != nil:
			return misusef("--expect %q: %v", x.text, err)
		case !ok:
			return failf("%s is %s, expected %s", x.path, oneline.Print(part), x.text)
		}
	}
	return nil
}

// ask calls the service.
func (c *call) ask(s *session, name string, d *callDocument) (v any, took time.Duration, err error) {
	typ := transports.Type{Name: c.typ}
	if _, _, shown := s.graph(); shown {
		if typ, err = c.typeOf(s, name); err != nil {
			return nil, 0, err
		}
	}
	d.Type = typ.Name
	srv := msgs.Service[any, any]{Name: typ.Name, Hash: typ.Hash}
	request := []byte(c.text)
	raw := codec{encoding: s.rig.Conn().Encoding(), typ: typ, decode: (&decoder{}).decodeOrBytes}
	if typ.Name != "" {
		l, err := openLibrary(c.shares)
		if err != nil {
			return nil, 0, err
		}
		described, err := l.service(typ)
		if err != nil {
			return nil, 0, misusef("%v", err)
		}
		if err := c.checkFields(described); err != nil {
			return nil, 0, err
		}
		m, err := messageOf(described.set, described.request, c.text)
		if err != nil {
			return nil, 0, err
		}
		if request, err = described.srv.Request.Append(nil, m); err != nil {
			return nil, 0, err
		}
		srv.Hash = described.srv.Hash
		raw.decode = func(b []byte) (any, error) { return described.srv.Response.Decode(b) }
	}
	srv.Request, srv.Response = raw, raw
	patient, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	client, err := harness.NewClient(patient, s.rig, name, srv)
	if err != nil {
		return nil, 0, err
	}
	if err := client.WaitForServer(patient); err != nil && s.rig.Err() == nil {
		return nil, 0, c.unserved(s, name, err)
	}
	done := client.Call(s.ctx, request)
	waiting, cancelWait := context.WithTimeout(s.ctx, c.length)
	defer cancelWait()
	v, err = done.Wait(waiting)
	if err == nil {
		return v, done.Done().Time().Sub(done.Began().Time()), nil
	}
	remote, refused := errors.AsType[*transports.RemoteError](err)
	bad, undecodable := errors.AsType[*harness.MessageError](err)
	switch {
	case refused:
		return nil, 0, failf("%s refused: %s", name, remote.Reason)
	case errors.Is(err, transports.ErrNoResponder):
		return nil, 0, c.unserved(s, name, err)
	case undecodable:
		return nil, 0, failf("the response of %s cannot be decoded: %v", name, bad)
	case s.interrupted():
		return nil, 0, &measure.Inconclusive{Reason: "interrupted before " + name + " answered"}
	case waiting.Err() != nil:
		return nil, 0, failf("%s did not answer within %v", name, c.length)
	}
	return nil, 0, err
}

// typeOf is the type of the service on the graph, for which it waits.
func (c *call) typeOf(s *session, name string) (transports.Type, error) {
	g, served, err := s.waitForGraph(func(g transports.Graph) bool { return len(endpointsOf(g, name, transports.ServerEndpoint)) > 0 })
	if err != nil {
		return transports.Type{}, err
	}
	if !served {
		return transports.Type{}, c.unserved(s, name, nil)
	}
	types := typesOf(endpointsOf(g, name, transports.ServerEndpoint))
	typ := choose(types, c.typ)
	switch {
	case c.typ != "" && typ.Hash == "" && len(types) > 0:
		return typ, &measure.Inconclusive{
			Reason: fmt.Sprintf("nobody serves %s as %s; it has the type %s", name, c.typ, listed(typeNames(types))),
			Remedy: "correct the type, or leave it out",
		}
	case c.typ == "" && len(types) > 1:
		return typ, misusef("%s has %d types; name the one to call: %s", name, len(types), listed(typeNames(types)))
	}
	return typ, nil
}

// unserved is what there is to say when nobody serves, as err, which may be nil,
// says.
func (c *call) unserved(s *session, name string, err error) error {
	reason := s.rig.View().Missing(transports.ServerEndpoint, name)
	if e, ok := errors.AsType[*harness.WaitError](err); ok && e.Cause != "" {
		reason = e.Cause
	}
	return &measure.Inconclusive{Reason: orNone(reason, "nobody serves "+name), Err: err,
		Remedy: fmt.Sprintf("start its server, correct the name, or wait longer than --timeout %v", s.timeout)}
}

func (c *call) checkFields(d *serviceDefinition) error {
	for _, x := range c.fields {
		if err := x.path.check(d.set, d.response); err != nil {
			return misusef("--expect %q: %v", x.text, err)
		}
	}
	return nil
}

// decodeOrBytes is decode, but bytes as such where they are no text.
func (d *decoder) decodeOrBytes(raw []byte) (any, error) {
	v, err := d.decode(raw)
	if err != nil {
		return raw, nil //nolint:nilerr // shown in hex
	}
	return v, nil
}

// serviceDefinition is a service type that is known.
type serviceDefinition struct {
	set               *rosidl.Set
	request, response string
	srv               msgs.Service[*dynamic.Message, *dynamic.Message]
}
