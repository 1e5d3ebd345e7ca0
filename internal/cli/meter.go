package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// meter is what hz, bw and delay measure of a stretch of messages.
type meter interface {
	add(measure.Arrival)
	// read is one of the figures, as they are by the arithmetic of package measure.
	read(figure, measure.Stretch) (reading, error)
	// tell is what there is to say for people; an error is that the first figure
	// cannot be told.
	tell(measure.Stretch) ([]string, error)
	// document is an object with these fields for JSON.
	document(common, measure.Stretch) any
}

// common are the fields of every measurement in JSON. Times are in seconds.
type common struct {
	Topic string   `json:"topic"`
	Types []string `json:"types,omitempty"`
	// Final is false of what is told on the way.
	Final    bool    `json:"final"`
	Seconds  float64 `json:"seconds"`
	Messages int     `json:"messages"`
	// LostOnWire is what the publishers' sequence numbers tell to be missing, null
	// where the wire carries none.
	LostOnWire *uint64 `json:"lost_on_wire"`
	// DroppedByUs is what this program had no room for; with any, nothing else
	// is told.
	DroppedByUs uint64 `json:"dropped_by_us"`
	// Inconclusive is why figures are null.
	Inconclusive string `json:"inconclusive,omitempty"`
	verdict
}

// runMeter measures a topic.
func (f *graphFlags) runMeter(cmd *cobra.Command, topic string, wf *watchFlags, expected []expectation, m meter, decoder func(s *session, topic string, types []transports.Type, typ transports.Type) (func([]byte) (any, error), error)) error {
	topic, err := resolve(topic)
	if err != nil {
		return err
	}
	return f.on(cmd, len(expected) > 0, func(s *session) error {
		types, err := s.typesOn(topic, wf.typ)
		if err != nil {
			return s.inconclusive(topic, expected, err)
		}
		decode := nothing
		typ := choose(types, wf.typ)
		if decoder != nil {
			if decode, err = decoder(s, topic, types, typ); err != nil {
				return err
			}
		}
		// Of a message nothing is kept, so its bytes count for nothing.
		w, err := s.subscribe(topic, types, typ, decode, harness.Keep(0, 1<<60))
		if err != nil {
			return err
		}
		if note := w.several(); note != "" {
			s.printf("%s", note)
		}
		var loss measure.LossCounter
		n := 0
		report := func(st measure.Stretch, final bool) error {
			return s.report(w, st, wf, expected, m, &loss, n, final)
		}
		every := time.Second
		if wf.length > 0 || wf.count > 0 {
			every = 0
		}
		st, err := w.watch(w.sub, wf.length, func(a measure.Arrival) bool {
			n++
			loss.Add(a.Publisher, a.Seq, a.HasSeq)
			m.add(a)
			return n != wf.count
		}, every, func(st measure.Stretch) { _ = report(st, false) }) // the last one counts
		if st.From.IsZero() {
			return err
		}
		return report(st, true)
	})
}

// inconclusive tells that a measurement never began.
func (s *session) inconclusive(topic string, expected []expectation, why error) error {
	v := judge(expected, func(figure) (reading, error) { return reading{}, why })
	s.object(common{Topic: topic, Final: true, Inconclusive: why.Error(), verdict: v})
	return why
}

// report tells what was measured so far.
func (s *session) report(w *watched, st measure.Stretch, wf *watchFlags, expected []expectation, m meter, loss *measure.LossCounter, n int, final bool) error {
	var silent error
	if n == 0 && st.Untrusted() == nil {
		silent = w.silence(st)
	}
	lines, unknown := m.tell(st)
	if silent != nil {
		unknown = silent
	}
	c := common{Topic: w.topic, Types: typeNames(w.types), Final: final, Seconds: st.Duration().Seconds(), Messages: n, DroppedByUs: st.Dropped}
	lost := fmt.Sprintf("dropped by us: %d", st.Dropped)
	if l, err := loss.Result(st); err == nil {
		c.LostOnWire = &l.Lost
		lost = fmt.Sprintf("lost on the wire: %d of %d by sequence numbers of %s; %s", l.Lost, uint64(l.Messages)+l.Lost, count(l.Publishers, "publisher"), lost)
	} else if e, ok := errors.AsType[*measure.Inconclusive](err); ok && st.Untrusted() == nil {
		lost = fmt.Sprintf("lost on the wire: unknown, %s; %s", e.Reason, lost)
	}
	if unknown != nil {
		c.Inconclusive = unknown.Error()
	} else {
		for _, line := range lines {
			s.printf("%s", line)
		}
	}
	if !final {
		if unknown != nil {
			s.printf("%s: no figure yet (%s)", w.topic, count(n, "message"))
		}
		s.object(m.document(c, st))
		return nil
	}
	if n > 0 || st.Dropped > 0 {
		s.printf("%s", lost)
	}
	c.verdict = judge(expected, func(f figure) (reading, error) {
		switch {
		case f.name == messages && silent != nil && st.Life.State != measure.LifeShown:
			return reading{}, silent // of nobody
		case f.name == messages:
			return one(float64(n), st.Untrusted())
		case silent != nil:
			return reading{}, silent
		}
		return m.read(f, st)
	})
	c.tell(s.printer)
	s.object(m.document(c, st))
	switch {
	case len(expected) > 0:
		return c.exit()
	case unknown != nil && !s.interrupted():
		return inconclusive(unknown)
	case unknown != nil: // and nobody waits for a figure any more
		s.printf("%v", unknown)
	}
	return nil
}

// in is a pointer to x in the base unit of JSON, nil for an error.
func in(x float64, err error) *float64 {
	if err != nil {
		return nil
	}
	return &x
}

func inSeconds(d time.Duration, err error) *float64 { return in(d.Seconds(), err) }

// one is a reading of one value.
func one(x float64, err error) (reading, error) { return reading{values: []float64{x}}, err }

// messages is the figure that every meter has.
const messages = "messages"
