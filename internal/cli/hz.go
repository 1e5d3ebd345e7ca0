package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/internal/cli/bound"
	"github.com/robospec/robospec/measure"
)

func hzCommand(f *graphFlags) *cobra.Command {
	var wf watchFlags
	figures := []figure{{"rate", bound.Rate}, {"max-gap", bound.Duration}, {"jitter", bound.Duration}, {messages, bound.Number}}
	cmd := &cobra.Command{
		Use:   "hz TOPIC",
		Short: "Measure how often messages arrive",
		Long: `Measure how often messages arrive, by the stamps of their reception.

The rate is (n−1)/(last−first), but n over the whole time if the topic was silent
at its beginning or end for more than two intervals. ± is what one message more
or fewer would change. A stretch in which this program lost messages, and one with
under three, has no rate: the command is inconclusive.

--expect takes a bound of the rate, or of max-gap, jitter or messages by name; it
may be given several times. All must hold.`,
		Example: `  robospec topic hz /odom
  robospec topic hz /odom --for 2s --expect '50±1' --expect 'max-gap<40ms'
  robospec topic hz /odom --count 100 --expect '>=49' --json`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			expected, err := expectations(wf.expect, false, figures...)
			if err := firstOf(err, wf.check, wf.ends); err != nil {
				return err
			}
			return f.runMeter(cmd, args[0], &wf, expected, &hz{}, nil)
		},
	}
	wf.add(cmd, "a `bound` of the rate, such as '50±1' or '>=49', or of a figure by name, such as 'max-gap<40ms'")
	return cmd
}

// firstOf is the first error there is.
func firstOf(err error, checks ...func() error) error {
	for _, c := range checks {
		if err == nil {
			err = c()
		}
	}
	return err
}

// hz is the meter of a rate.
type hz struct {
	rate measure.RateOf
	gaps measure.Gaps
}

type hzDocument struct {
	common
	RateHz          *float64 `json:"rate_hz"`
	RatePlusMinusHz *float64 `json:"rate_plus_minus_hz"`
	MaxGapSeconds   *float64 `json:"max_gap_seconds"`
	JitterSeconds   *float64 `json:"jitter_seconds"`
}

func (m *hz) add(a measure.Arrival) {
	m.rate.Add(a.Received)
	m.gaps.Add(a.Received)
}

func (m *hz) read(f figure, st measure.Stretch) (reading, error) {
	switch f.name {
	case "max-gap":
		g, err := m.gaps.Max(st)
		return one(float64(g.Length), err)
	case "jitter":
		j, err := m.gaps.Jitter(st)
		return one(float64(j), err)
	default:
		r, err := m.rate.Result(st)
		return reading{values: []float64{r.Hz}, plusMinus: r.PlusMinus}, err
	}
}

func (m *hz) tell(st measure.Stretch) ([]string, error) {
	r, err := m.rate.Result(st)
	if err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("%s: %s ± %s Hz (%s, over %s)", st.Topic, fourDigits(r.Hz), oneDigit(r.PlusMinus), count(r.Messages, "message"), short(r.Over))}
	g, err := m.gaps.Max(st)
	if err != nil {
		return nil, err
	}
	where := "before the first message"
	if g.After >= 0 {
		where = fmt.Sprintf("after message %d", g.After+1)
	}
	j, err := m.gaps.Jitter(st)
	if err != nil {
		return nil, err
	}
	return append(lines, fmt.Sprintf("longest gap %s %s, jitter %s", short(g.Length), where, short(j))), nil
}

func (m *hz) document(c common, st measure.Stretch) any {
	d := hzDocument{common: c}
	if c.Inconclusive != "" {
		return d
	}
	r, err := m.rate.Result(st)
	d.RateHz, d.RatePlusMinusHz = in(r.Hz, err), in(r.PlusMinus, err)
	g, err := m.gaps.Max(st)
	d.MaxGapSeconds = inSeconds(g.Length, err)
	d.JitterSeconds = inSeconds(m.gaps.Jitter(st))
	return d
}
