package matchers_test

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports/inproc"
)

// From the stamp of the deciding message to the return of Match.
func BenchmarkArrivalToVerdict(b *testing.B) {
	net := inproc.NewNetwork()
	rig, robot := harness.New(net.Join("spec"), harness.Config{}), harness.New(net.Join("robot"), harness.Config{})
	defer rig.Close()
	defer robot.Close()
	sub, err := harness.Subscribe[string](b.Context(), rig, "/state")
	if err != nil {
		b.Fatal(err)
	}
	pub, err := harness.Advertise[string](b.Context(), robot, "/state")
	if err != nil {
		b.Fatal(err)
	}
	m := ReceiveWithin(10*time.Second, "on")
	var took []time.Duration
	for b.Loop() {
		go func() {
			time.Sleep(100 * time.Microsecond) // so that Match waits
			_, _ = pub.Publish(b.Context(), "on")
		}()
		ok, err := m.Match(sub)
		end := time.Now()
		if !ok || err != nil {
			b.Fatalf("%v, %v\n%s", ok, err, m.FailureMessage(sub))
		}
		decided, _ := sub.Decided()
		took = append(took, end.Sub(decided.Received))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "median-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
	b.ReportMetric(0, "ns/op") // most of it is the sleep
}

// Judging 100,000 messages with three conditions, by a path and by a function.
func BenchmarkJudge100000(b *testing.B) {
	start := time.Now()
	all := make([]measure.Arrival, 100_000)
	for i := range all {
		all[i] = measure.Arrival{Received: start.Add(time.Duration(i) * time.Microsecond * 100), Order: uint64(i + 1), Value: speed{1}}
	}
	w := measure.NewWindow(measure.Stretch{Topic: "/speed", From: start, To: start.Add(10 * time.Second), Life: measure.Life{State: measure.LifeShown}}, all)
	for name, field := range map[string]any{"path": "X", "func": Of(func(s speed) float64 { return s.X })} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ok, err := And(EveryMessage(Field("X", BeNumerically("~", 1, 0.1))), HaveRate(BeNumerically("~", 10000, 1)), HaveAverage(field, 1)).Match(w)
				if !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
