package cli

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/internal/cli/bound"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

func delayCommand(f *graphFlags) *cobra.Command {
	var wf watchFlags
	var stamp string
	var shares []string
	figures := []figure{
		{"delay", bound.Duration}, {"min", bound.Duration}, {"mean", bound.Duration}, {"median", bound.Duration},
		{"max", bound.Duration}, {messages, bound.Number},
	}
	cmd := &cobra.Command{
		Use:   "delay TOPIC",
		Short: "Measure how long messages are under way",
		Long: `Measure how long messages are under way: from the stamp that their sender gave
them to the stamp of their reception by this machine's wall clock.

The sender's stamp is the source stamp of the wire, or with --stamp header the
field header.stamp of the message. The two clocks must agree: a stamp of simulated
time, one never set, one over an hour old or over a millisecond ahead is a clock
mismatch, and the command is inconclusive.

--expect takes a bound that every delay must keep, or one of min, mean, median, max
or a percentile such as p95 by name; it may be given several times. A percentile
needs enough messages: 59 for p95, 299 for p99.`,
		Example: `  robospec topic delay /scan --for 5s --expect '<20ms'
  robospec topic delay /scan --stamp header --count 300 --expect 'p99<50ms'`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			expected, err := expectations(wf.expect, true, figures...)
			if err := firstOf(err, wf.check, wf.ends); err != nil {
				return err
			}
			m := &delays{clock: "source"}
			var decoder func(s *session, topic string, types []transports.Type, typ transports.Type) (func([]byte) (any, error), error)
			switch stamp {
			case "source":
			case "header":
				m.clock = "header"
				decoder = func(s *session, topic string, types []transports.Type, typ transports.Type) (func([]byte) (any, error), error) {
					return s.headerStamps(topic, types, typ, shares)
				}
			default:
				return misusef("--stamp %q: write source, the stamp of the wire, or header, the field header.stamp", stamp)
			}
			return f.runMeter(cmd, args[0], &wf, expected, m, decoder)
		},
	}
	wf.add(cmd, "a `bound` of every delay, such as '<20ms', or of a figure by name, such as 'p95<20ms'")
	cmd.Flags().StringVar(&stamp, "stamp", "source", "where the sender's stamp is: `source`, on the wire, or header, in header.stamp")
	addShare(cmd, &shares)
	return cmd
}

// delays is the meter of delays.
type delays struct {
	clock  string // source or header
	d      measure.Delays
	failed error // the first message without a header
}

type delayDocument struct {
	common
	FromClock string   `json:"from_clock"`
	ToClock   string   `json:"to_clock"`
	Min       *float64 `json:"min_seconds"`
	Mean      *float64 `json:"mean_seconds"`
	Median    *float64 `json:"median_seconds"`
	Max       *float64 `json:"max_seconds"`
	P95       *float64 `json:"p95_seconds"`
	P99       *float64 `json:"p99_seconds"`
}

func (m *delays) add(a measure.Arrival) {
	if m.clock == "source" {
		m.d.Add(a.Received, a.Sent)
		return
	}
	if a.Err != nil {
		m.failed = cmp.Or(m.failed, a.Err)
		return
	}
	sent, _ := a.Value.(time.Time)
	m.d.Add(a.Received, sent)
}

// clocks names the two clocks.
func (m *delays) clocks() (from, to string) {
	if m.clock == "header" {
		return "header.stamp, by the clock its sender stamps with", "reception, by this machine's wall clock"
	}
	return "the wire's source stamp, by the sender's wall clock", "reception, by this machine's wall clock"
}

func (m *delays) sample(st measure.Stretch) (*measure.Sample, error) {
	if m.failed != nil {
		return nil, &measure.Inconclusive{Reason: fmt.Sprintf("a message on %s has no header.stamp to be read: %v", st.Topic, m.failed), Err: m.failed}
	}
	s, err := m.d.Sample(st)
	if e, ok := errors.AsType[*measure.ClockMismatch](err); ok {
		return nil, &measure.Inconclusive{Reason: e.Error(), Err: e, Remedy: "set both clocks by one source, or measure on the machine of the sender"}
	}
	if e, ok := errors.AsType[*measure.Inconclusive](err); ok && m.clock == "source" && st.Untrusted() == nil {
		with := *e
		with.Remedy = "take --stamp header where the messages have one"
		return nil, &with
	}
	return s, err
}

func (m *delays) read(f figure, st measure.Stretch) (reading, error) {
	s, err := m.sample(st)
	if err != nil {
		return reading{}, err
	}
	switch f.name {
	case "delay":
		low, err := s.Min()
		if err != nil {
			return reading{}, err
		}
		high, err := s.Max()
		return reading{values: []float64{low, high}}, err
	case "min":
		return one(s.Min())
	case "mean":
		return one(s.Mean())
	case "median":
		return one(s.Median())
	case "max":
		return one(s.Max())
	}
	p, err := percentileOf(f.name)
	if err != nil {
		return reading{}, err
	}
	return one(s.Percentile(p))
}

func (m *delays) tell(st measure.Stretch) ([]string, error) {
	s, err := m.sample(st)
	if err != nil {
		return nil, err
	}
	low, err := s.Min()
	if err != nil {
		return nil, err
	}
	high, _ := s.Max() // there is one, as there is a lowest
	mean, _ := s.Mean()
	median, _ := s.Median()
	line := fmt.Sprintf("%s: %s to %s, mean %s, median %s", st.Topic, short(time.Duration(low)), short(time.Duration(high)), short(time.Duration(mean)), short(time.Duration(median)))
	for _, p := range []float64{95, 99} {
		if x, err := s.Percentile(p); err == nil {
			line += fmt.Sprintf(", p%v %s", p, short(time.Duration(x)))
		}
	}
	from, to := m.clocks()
	return []string{
		fmt.Sprintf("%s (%s in %s)", line, count(s.Len(), "message"), short(st.Duration())),
		fmt.Sprintf("from %s, to %s", from, to),
	}, nil
}

func (m *delays) document(c common, st measure.Stretch) any {
	from, to := m.clocks()
	d := delayDocument{common: c, FromClock: from, ToClock: to}
	s, err := m.sample(st)
	if err != nil || c.Inconclusive != "" {
		return d
	}
	seconds := func(ns float64, err error) *float64 { return in(ns/1e9, err) }
	d.Min, d.Mean, d.Median, d.Max = seconds(s.Min()), seconds(s.Mean()), seconds(s.Median()), seconds(s.Max())
	d.P95, d.P99 = seconds(s.Percentile(95)), seconds(s.Percentile(99))
	return d
}
