package cli

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/internal/cli/bound"
	"github.com/robospec/robospec/internal/oneline"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

func echoCommand(f *graphFlags) *cobra.Command {
	var wf watchFlags
	e := &echo{wf: &wf}
	cmd := &cobra.Command{
		Use:   "echo TOPIC",
		Short: "Print messages as they arrive",
		Long: `Print messages as they arrive, as YAML, or as JSON with their stamps.

A message is decoded by the definition of its type: of the common packages, which
robospec brings, or of those found below --share or AMENT_PREFIX_PATH. One of any
other type is shown as its size and in hex. On plain Zenoh, where nothing says what
a payload is, text is shown as such.

--count fails if that many messages do not arrive within --for. --expect waits for a
message with such a field: PATH followed by a bound of a number, or by == or != and a
text, true or false. Given several times, all are of the same message. A path is
like pose.position.x, ranges[0], status[name=cpu].level or position[name=left],
which takes the place from the list name beside it. What nobody was there to send,
and what could not be decoded, is inconclusive.`,
		Example: `  robospec topic echo /odom
  robospec topic echo /odom --count 1 --for 5s
  robospec topic echo /odom --for 10s --expect 'pose.pose.position.x>0.5'
  robospec topic echo /joint_states --field 'position[name=elbow]'
  robospec topic echo /mode --for 5s --expect 'data==AUTO'`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, err := resolve(args[0])
			if err := firstOf(err, e.read, wf.ends); err != nil {
				return err
			}
			return f.on(cmd, len(e.expected) > 0 || wf.count > 0, func(s *session) error { return e.run(s, topic) })
		},
	}
	wf.add(cmd, "a field and its `bound`, such as 'pose.position.x>0.5'")
	cmd.Flags().StringVar(&e.fieldText, "field", "", "print only the part of each message that this `path` leads to")
	cmd.Flags().BoolVar(&e.full, "full", false, "print long lists as a whole")
	addShare(cmd, &e.shares)
	return cmd
}

// echo prints messages and looks for one that is as expected.
type echo struct {
	wf        *watchFlags
	fieldText string
	full      bool
	shares    []string

	field    fieldPath
	expected []fieldExpectation

	decoder   *decoder
	n         int
	undecoded error // the first one's
	matched   bool
	missed    string // what the last message had instead
}

// fieldExpectation is one --expect of a field.
type fieldExpectation struct {
	text  string
	path  fieldPath
	value bound.Value
}

func fieldExpectations(texts []string) ([]fieldExpectation, error) {
	var all []fieldExpectation
	for _, text := range texts {
		name, rest := bound.Split(text)
		p, err := parsePath(name)
		if err != nil {
			return nil, misusef("--expect %v", err)
		}
		v, err := bound.ParseValue(rest)
		if err != nil {
			return nil, misusef("--expect %q: %v", text, err)
		}
		all = append(all, fieldExpectation{text, p, v})
	}
	return all, nil
}

func (e *echo) read() (err error) {
	if err := e.wf.check(); err != nil {
		return err
	}
	if e.field, err = parsePath(e.fieldText); err != nil {
		return misusef("--field %v", err)
	}
	e.expected, err = fieldExpectations(e.wf.expect)
	return err
}

func (e *echo) run(s *session, topic string) error {
	types, err := s.typesOn(topic, e.wf.typ)
	if err != nil {
		return err
	}
	typ := choose(types, e.wf.typ)
	if len(types) > 1 && typ.Name == "" {
		return misusef("%s has %d types; pick one with --type: %s", topic, len(types), strings.Join(typeNames(types), ", "))
	}
	if e.decoder, err = s.decoderOf(typ, e.shares); err != nil {
		return err
	}
	if err := e.checkPaths(); err != nil {
		return err
	}
	w, err := s.subscribe(topic, types, typ, payload)
	if err != nil {
		return err
	}
	// From the start: what a latched publisher kept came while subscribing.
	st, err := w.watch(w.sub.FromStart(), e.wf.length, func(a measure.Arrival) bool {
		e.n++
		if a.Topic != topic { // it was subscribed to with wildcards
			s.printf("# %s", a.Topic)
		}
		e.show(s, a)
		return !e.matched && e.n != e.wf.count
	}, 0, nil)
	if err != nil {
		return err
	}
	if st.Dropped > 0 {
		s.printf("# %s came faster than they could be printed and were not shown", count(int(st.Dropped), "message"))
	}
	return e.verdict(s, w, st)
}

// checkPaths refuses paths that the type has not, as far as it is known.
func (e *echo) checkPaths() error {
	if e.decoder.message == nil {
		return nil
	}
	set, typ := e.decoder.message.set, e.decoder.typ.Name
	if err := e.field.check(set, typ); err != nil {
		return misusef("--field %s: %v", e.fieldText, err)
	}
	for _, x := range e.expected {
		if err := x.path.check(set, typ); err != nil {
			return misusef("--expect %q: %v", x.text, err)
		}
	}
	return nil
}

type echoDocument struct {
	Topic     string  `json:"topic"`
	Received  string  `json:"received"`
	Sent      string  `json:"sent,omitempty"`
	Seq       *uint64 `json:"seq,omitempty"`
	Publisher string  `json:"publisher,omitempty"`
	Size      int     `json:"size"`
	Type      string  `json:"type,omitempty"`
	// One of these holds the message: decoded, as text, or undecoded.
	Message json.RawMessage `json:"message,omitempty"`
	Text    *string         `json:"text,omitempty"`
	Hex     *string         `json:"hex,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// show prints a message and holds it against what is expected.
func (e *echo) show(s *session, a measure.Arrival) {
	raw, _ := a.Value.([]byte)
	d := echoDocument{Topic: a.Topic, Received: stampText(a.Received), Sent: stampText(a.Sent), Size: a.Size, Type: e.decoder.typ.Name}
	if a.HasSeq {
		d.Seq = &a.Seq
	}
	if !a.Publisher.IsZero() {
		d.Publisher = a.Publisher.String()
	}
	v, err := e.decoder.decode(raw)
	if err == nil {
		e.judge(v)
		if v, err = e.field.in(v); err != nil {
			d.Error = err.Error()
			s.printf("# %v\n---", err)
			s.object(d)
			return
		}
	} else if e.undecoded == nil {
		e.undecoded = err
	}
	text, isText := v.(string)
	switch {
	case err != nil:
		if e.decoder.typ.Name != "" {
			d.Error = err.Error()
		}
		h := hex.EncodeToString(raw)
		d.Hex = &h
		s.printf("# %v\n%s\n---", err, e.dump(raw))
	case isText && e.decoder.message == nil:
		d.Text = &text
		s.printf("%s\n---", text)
	default:
		if s.json {
			if d.Message, err = partJSON(v); err != nil {
				s.err = errors.Join(s.err, err)
			}
		} else {
			s.printf("%s\n---", partText(v, e.full))
		}
	}
	s.object(d)
}

// dump is bytes for people.
func (e *echo) dump(raw []byte) string {
	shown := raw
	if !e.full && len(raw) > 256 {
		shown = raw[:256]
	}
	text := strings.TrimRight(hex.Dump(shown), "\n")
	if len(shown) < len(raw) {
		text += fmt.Sprintf("\n# the first %d of %d bytes; --full shows them all", len(shown), len(raw))
	}
	return text
}

// judge holds a message against what is expected of one.
func (e *echo) judge(v any) {
	if len(e.expected) == 0 {
		return
	}
	for _, x := range e.expected {
		part, err := x.path.in(v)
		ok := false
		if err == nil {
			ok, err = x.value.Holds(part)
		}
		switch {
		case err != nil:
			e.missed = fmt.Sprintf("%s: %v", x.text, err)
			return
		case !ok:
			e.missed = fmt.Sprintf("%s is %s", orNone(x.path.String(), "the message"), oneline.Print(part))
			return
		}
	}
	e.matched = true
}

// echoVerdict ends what is printed in JSON if something was expected, or lost.
type echoVerdict struct {
	Topic    string `json:"topic"`
	Messages int    `json:"messages"`
	// DroppedByUs is how many came faster than they could be printed.
	DroppedByUs uint64   `json:"dropped_by_us"`
	Expect      []string `json:"expect,omitempty"`
	Verdict     string   `json:"verdict,omitempty"`
	Reason      string   `json:"reason,omitempty"`
}

// verdict is what came of it all.
func (e *echo) verdict(s *session, w *watched, st measure.Stretch) error {
	v := echoVerdict{Topic: w.topic, Messages: e.n, DroppedByUs: st.Dropped, Expect: e.wf.expect}
	judged := len(e.expected) > 0 || e.wf.count > 0
	err := e.missing(s, w, st)
	if _, ok := errors.AsType[*measure.Inconclusive](err); ok {
		v.Verdict, v.Reason = "inconclusive", err.Error()
	} else if err != nil {
		v.Verdict, v.Reason = "fail", err.Error()
	} else if judged {
		v.Verdict = "pass"
	}
	if judged || st.Dropped > 0 {
		s.object(v)
	}
	if err == nil && len(e.expected) > 0 {
		s.printf("pass: message %d has %s", e.n, strings.Join(e.wf.expect, " and "))
	}
	return err
}

// missing is what was to come and did not, nil if all did.
func (e *echo) missing(s *session, w *watched, st measure.Stretch) error {
	switch {
	case e.matched, len(e.expected) == 0 && e.wf.count > 0 && e.n == e.wf.count:
		return nil
	case len(e.expected) == 0 && (s.interrupted() || e.wf.count == 0 && e.n > 0):
		return nil
	}
	if err := st.Untrusted(); err != nil {
		return err
	}
	wanted := "no message has " + strings.Join(e.wf.expect, " and ")
	if len(e.expected) == 0 {
		wanted = fmt.Sprintf("%d of %s", e.n, count(e.wf.count, "message"))
	}
	switch {
	case s.interrupted():
		return &measure.Inconclusive{Reason: fmt.Sprintf("interrupted after %s; until then %s", short(st.Duration()), wanted)}
	case e.n == 0:
		err := w.silence(st)
		if quiet, ok := errors.AsType[*measure.Inconclusive](err); ok && st.Life.State == measure.LifeShown && (len(e.expected) > 0 || e.wf.count > 0) {
			return failf("%s", quiet.Reason) // somebody was there, and did not
		}
		return err
	case e.undecoded != nil && len(e.expected) > 0:
		return &measure.Inconclusive{Reason: fmt.Sprintf("%s, but not all could be looked into: %v", wanted, e.undecoded), Err: e.undecoded}
	case len(e.expected) > 0:
		return failf("%s of %s in %s; in the last, %s", wanted, count(e.n, "message"), short(st.Duration()), e.missed)
	}
	return failf("%s in %s", wanted, short(st.Duration()))
}

// decoder makes values of the payloads of one type.
type decoder struct {
	typ transports.Type
	// message decodes CDR; nil where the type is not known, and why is why.
	message *definition
	why     error
}

// decoderOf is the decoder of a type, also where there is no definition of it.
func (s *session) decoderOf(typ transports.Type, shares []string) (*decoder, error) {
	l, err := openLibrary(shares)
	if err != nil {
		return nil, err
	}
	d := &decoder{typ: typ}
	if typ.Name != "" {
		d.message, d.why = l.message(typ)
	}
	return d, nil
}

// decode makes a value of a payload: a message, or, where the payload has no type,
// what its JSON says, or its text.
func (d *decoder) decode(raw []byte) (any, error) {
	switch {
	case d.message != nil:
		return d.message.codec.Decode(raw)
	case d.why != nil:
		return nil, fmt.Errorf("%s of %s: %w", count(len(raw), "byte"), d.typ.Name, d.why)
	}
	var v any
	if json.Unmarshal(raw, &v) == nil {
		switch v.(type) {
		case map[string]any, []any:
			return v, nil
		}
	}
	if utf8.Valid(raw) && strings.IndexFunc(string(raw), func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) < 0 {
		return string(raw), nil
	}
	return nil, fmt.Errorf("%s that are no text", count(len(raw), "byte"))
}
