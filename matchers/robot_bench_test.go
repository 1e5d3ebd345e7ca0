package matchers_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
)

// One message judged, by each way into it.
func BenchmarkMessage(b *testing.B) {
	o := any(odometryAt(at(1, 2, 3)))
	arm := joints()
	for range 27 { // thirty joints, the one asked for last
		arm.Name, arm.Velocity = append([]string{"finger"}, arm.Name...), append([]float64{0}, arm.Velocity...)
	}
	j := any(arm)
	image := make([]byte, 1<<20)
	other := make([]byte, 1<<20)
	other[len(other)-1] = 1
	slow := BeNumerically("<", 9)
	for _, bench := range []struct {
		name string
		m    types.GomegaMatcher
		of   any
	}{
		{"Field", Field("Pose.Pose.Position.X", slow), o},
		{"Field by index", Field("Velocity[29]", slow), j},
		{"Field by name", Field("Velocity[Name=wheel_right]", slow), j},
		{"Of", Field(Of(func(o nav_msgs.Odometry) float64 { return o.Pose.Pose.Position.X }), slow), o},
		{"Norm", Field(Norm("Pose.Pose.Position"), slow), o},
		{"BeNear", BeNear(1, 2, 3, 0.1), o},
		{"HaveYaw", HaveYaw(0, 0.1), o},
		{"BeRotated", BeRotated([4]float64{0, 0, 0, 1}, 0.1), o},
		{"HaveFrame", HaveFrame(""), o},
		{"Approximately", Approximately(o, 0.1), o},
		{"Approximately equal 1 MiB", Approximately(sensor_msgs.Image{Data: image}, 1), sensor_msgs.Image{Data: image}},
		{"Approximately near 1 MiB", Approximately(sensor_msgs.Image{Data: image}, 1), sensor_msgs.Image{Data: other}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := bench.m.Match(bench.of); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
