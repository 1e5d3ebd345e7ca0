package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/internal/cli/bound"
	"github.com/robospec/robospec/measure"
)

func bwCommand(f *graphFlags) *cobra.Command {
	var wf watchFlags
	figures := []figure{{"bandwidth", bound.Bandwidth}, {"size", bound.Size}, {"mean-size", bound.Size}, {messages, bound.Number}}
	cmd := &cobra.Command{
		Use:   "bw TOPIC",
		Short: "Measure how many bytes arrive",
		Long: `Measure how many bytes of messages arrive: the rate, as hz measures it, times
the mean size of a message. What the wire adds to a message is not counted.

--expect takes a bound of the bandwidth, or by name of size (of every message),
mean-size or messages; it may be given several times. All must hold.`,
		Example: `  robospec topic bw /image
  robospec topic bw /image --for 5s --expect '<20MB/s' --expect 'size<=1MiB'`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			expected, err := expectations(wf.expect, false, figures...)
			if err := firstOf(err, wf.check, wf.ends); err != nil {
				return err
			}
			return f.runMeter(cmd, args[0], &wf, expected, &bw{}, nil)
		},
	}
	wf.add(cmd, "a `bound` of the bandwidth, such as '<20MB/s', or of a figure by name, such as 'size<=1MiB'")
	return cmd
}

// bw is the meter of a bandwidth.
type bw struct {
	rate  measure.RateOf
	sizes measure.Moments
}

type bwDocument struct {
	common
	BandwidthBytesPerSecond *float64 `json:"bandwidth_bytes_per_second"`
	PlusMinus               *float64 `json:"bandwidth_plus_minus_bytes_per_second"`
	MinSizeBytes            *float64 `json:"min_size_bytes"`
	MeanSizeBytes           *float64 `json:"mean_size_bytes"`
	MaxSizeBytes            *float64 `json:"max_size_bytes"`
}

func (m *bw) add(a measure.Arrival) {
	m.rate.Add(a.Received)
	m.sizes.Add(float64(a.Size), a.Received)
}

// bandwidth is bytes per second, and what one message more or fewer would change.
func (m *bw) bandwidth(st measure.Stretch) (x, plusMinus float64, err error) {
	r, err := m.rate.Result(st)
	if err != nil {
		return 0, 0, err
	}
	mean, err := m.sizes.Mean()
	return r.Hz * mean, r.PlusMinus * mean, err
}

func (m *bw) read(f figure, st measure.Stretch) (reading, error) {
	if f.name == "bandwidth" {
		x, pm, err := m.bandwidth(st)
		return reading{values: []float64{x}, plusMinus: pm}, err
	}
	if err := st.Untrusted(); err != nil {
		return reading{}, err
	}
	if f.name == "mean-size" {
		return one(m.sizes.Mean())
	}
	low, err := m.sizes.Min()
	if err != nil {
		return reading{}, err
	}
	high, err := m.sizes.Max()
	return reading{values: []float64{low, high}}, err
}

func (m *bw) tell(st measure.Stretch) ([]string, error) {
	x, pm, err := m.bandwidth(st)
	if err != nil {
		return nil, err
	}
	low, high := m.extremes()
	mean, err := m.sizes.Mean()
	return []string{fmt.Sprintf("%s: %s/s ± %s/s (%s in %s; a message is %s, from %s to %s)",
		st.Topic, amount(x, 4), amount(pm, 3), count(m.sizes.Len(), "message"), short(st.Duration()), amount(mean, 4), amount(low, 4), amount(high, 4))}, err
}

// extremes are those of at least one message.
func (m *bw) extremes() (low, high float64) {
	low, _ = m.sizes.Min()
	high, _ = m.sizes.Max()
	return low, high
}

func (m *bw) document(c common, st measure.Stretch) any {
	d := bwDocument{common: c}
	if c.Inconclusive != "" {
		return d
	}
	x, pm, err := m.bandwidth(st)
	d.BandwidthBytesPerSecond, d.PlusMinus = in(x, err), in(pm, err)
	d.MinSizeBytes, d.MeanSizeBytes, d.MaxSizeBytes = in(m.sizes.Min()), in(m.sizes.Mean()), in(m.sizes.Max())
	return d
}
