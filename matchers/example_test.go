package matchers_test

import (
	"fmt"
	"math"
	"time"

	. "github.com/onsi/gomega"

	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs/builtin_interfaces"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/rosgraph_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
)

// printing is a Gomega that prints its failures; in a suite it fails the spec.
var printing = NewGomega(func(message string, _ ...int) { fmt.Println(message) })

// recorded is a window as sub.Collect or a recording gives it.
func recorded(period time.Duration, values ...any) *measure.Window {
	start := time.Unix(1_700_000_000, 0)
	var all []measure.Arrival
	for i, v := range values {
		all = append(all, measure.Arrival{Received: start.Add(time.Duration(i+1) * period), Order: uint64(i + 1), Topic: "/topic", Value: v})
	}
	return measure.NewWindow(measure.Stretch{Topic: "/topic", From: start, To: start.Add(time.Duration(len(values)+1) * period), Life: measure.Life{State: measure.LifeShown}}, all)
}

func ExampleBeNear() {
	goal := geometry_msgs.PoseStamped{Pose: geometry_msgs.Pose{Position: geometry_msgs.Point{X: 1.3, Y: 2}}}
	printing.Expect(goal).To(BeNear(1.25, 2, 0, 0.1))
	printing.Expect(goal).To(BeNear(1.25, 2.4, 0, 0.1))
	// Output:
	// Expected
	//     {Pose:{Position:{X:1.3 Y:2 Z:0}}}
	// to have position (1.25, 2.4, 0) ± 0.1
	//
	// Pose.Position: got (1.3, 2, 0), want (1.25, 2.4, 0) ± 0.1: 0.403113 away (x +0.05, y -0.4, z +0)
}

func ExampleHaveYaw() {
	quarter := geometry_msgs.Quaternion{Z: math.Sqrt2 / 2, W: math.Sqrt2 / 2}
	printing.Expect(quarter).To(HaveYaw(math.Pi/2, 0.01))
	printing.Expect(geometry_msgs.Pose2D{Theta: 3.1}).To(HaveYaw(-3.1, 0.1)) // it wraps
	printing.Expect(geometry_msgs.Pose2D{Theta: 3.1}).To(HaveYaw(3, 0.05))
	// Output:
	// Expected
	//     {X:0 Y:0 Theta:3.1}
	// to have yaw 3 ± 0.05 rad
	//
	// Theta: got yaw 3.1, want yaw 3 ± 0.05 rad: +0.1 rad off
}

func ExampleBeRotated() {
	up := geometry_msgs.Quaternion{W: -1} // the same rotation as W: 1
	printing.Expect(up).To(BeRotated(geometry_msgs.Quaternion{W: 1}, 0.01))
	printing.Expect(up).To(BeRotated([4]float64{0, 0, 1, 0}, 0.01))
	// Output:
	// Expected
	//     {X:0 Y:0 Z:0 W:-1}
	// to have rotation (0, 0, 1, 0) ± 0.01 rad
	//
	// got (0, 0, 0, -1), want rotation (0, 0, 1, 0) ± 0.01 rad: 3.14159 rad apart
}

func ExampleApproximately() {
	scan := sensor_msgs.LaserScan{RangeMax: 10, Ranges: []float32{1.001, float32(math.NaN()), 2.5}}
	printing.Expect(scan).To(Field("Ranges", Approximately([]float64{1, 2, 3}, 0.01)))
	// Output:
	// Field Ranges:
	// Expected
	//     [1.001 NaN 2.5]
	// to equal [1 2 3] ± 0.01
	//
	// [1]: got NaN, which equals nothing, want 2
	// [2]: got 2.5, want 3 ± 0.01: 0.5 off
}

func ExampleNorm() {
	var o nav_msgs.Odometry
	o.Twist.Twist.Linear = geometry_msgs.Vector3{X: 0.03, Y: 0.04}
	w := recorded(20*time.Millisecond, o, o, o)
	printing.Expect(w).To(HaveAverage(Norm("Twist.Twist.Linear"), BeNumerically("~", 0.05)))
	printing.Expect(w).To(EveryMessage(Field(Norm("Twist.Twist.Linear"), BeNumerically("<", 0.03))))
	// Output:
	// Expected
	//     window of /topic: 3 messages in 80ms
	// to show EveryMessage(Norm("Twist.Twist.Linear") < 0.03)
	//
	// found:        message 1 did not match: Norm("Twist.Twist.Linear"): got 0.05, want < 0.03
	// window:       3 messages in 80ms
}

func ExampleField() {
	j := sensor_msgs.JointState{Name: []string{"wheel_left", "wheel_right"}, Velocity: []float64{0.1, 0.3}}
	printing.Expect(j).To(Field("Velocity[Name=wheel_left]", 0.1))
	printing.Expect(j).To(Field("Velocity[Name=wheel_rear]", 0.1))
	// Output:
	// Velocity[Name=wheel_rear] is not there: no element with Name=wheel_rear (there are wheel_left, wheel_right)
}

func ExampleHaveFrame() {
	var scan sensor_msgs.LaserScan
	scan.Header.FrameID = "laser"
	printing.Expect(scan).To(HaveFrame("laser"))
	// Output:
}

func ExampleHaveStampGaps() {
	tick := func(ms uint32) rosgraph_msgs.Clock {
		return rosgraph_msgs.Clock{Clock: builtin_interfaces.Time{Sec: 12, Nanosec: ms * 1_000_000}}
	}
	even := HaveStampGaps(BeNumerically("~", 50*time.Millisecond, 5*time.Millisecond))
	printing.Expect(recorded(50*time.Millisecond, tick(0), tick(50), tick(100))).To(even)
	printing.Expect(recorded(50*time.Millisecond, tick(0), tick(50), tick(50))).To(even)
	// Output:
	// Expected
	//     window of /topic: 3 messages in 200ms
	// to show HaveStampGaps(50ms ± 5ms)
	//
	// found:        the stamp of message 3 stands still at 12.05s
	// window:       3 messages in 200ms
}
