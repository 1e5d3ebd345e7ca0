package matchers_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs/builtin_interfaces"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
)

// drives has a robot that drives to x = 1 in a second, turning by 1 rad, with
// its odometry at 50 Hz.
func drives(t *testing.T, w *world, change func(i int, o *nav_msgs.Odometry)) *harness.Subscription[nav_msgs.Odometry] {
	pub, err := harness.Advertise[nav_msgs.Odometry](t.Context(), w.robot, "/wheels")
	if err != nil {
		t.Fatal(err)
	}
	sub, err := harness.Subscribe[nav_msgs.Odometry](t.Context(), w.rig, "/wheels")
	if err != nil {
		t.Fatal(err)
	}
	w.rig.Mark("go")
	pub.Every(20*ms, func(i int) (o nav_msgs.Odometry) {
		way := math.Min(1, float64(i)/50)
		o.Header.FrameID, o.Header.Stamp = "odom", builtin_interfaces.Time{Sec: int32(100 + i/50), Nanosec: uint32(i % 50 * 20_000_000)}
		o.Pose.Pose = geometry_msgs.Pose{Position: geometry_msgs.Point{X: way}, Orientation: about(2, way)}
		o.Twist.Twist.Linear = geometry_msgs.Vector3{X: 0.6, Y: 0.8}
		if change != nil {
			change(i, &o)
		}
		return o
	})
	synctest.Wait() // the first message, in either order with the call otherwise
	return sub
}

var robotScenes = []scene{
	{"ReceiveWithin BeNear and HaveYaw", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(drives(t, w, nil), ReceiveWithin(1200*ms, And(BeNear(1.3, 0, 0, 0.05), HaveYaw(1, 0.05))))
	}},
	{"SettleWithin BeNear of a field", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(drives(t, w, nil), SettleWithin(1200*ms, 500*ms, Field("Pose.Pose", BeNear(1, 0, 0, 0.05))))
	}},
	{"EveryMessage HaveYaw: never set", func(t *testing.T, w *world, s *stage) (color, string) {
		sub := drives(t, w, func(i int, o *nav_msgs.Odometry) {
			if i == 7 {
				o.Pose.Pose.Orientation = geometry_msgs.Quaternion{}
			}
		})
		return to(sub, Over(time.Second, EveryMessage(HaveYaw(0, 0.5))))
	}},
	{"ReceiveWithin BeRotated", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(drives(t, w, nil), ReceiveWithin(1200*ms, BeRotated(about(2, 1.2), 0.1)))
	}},
	{"NotTo ReceiveWithin BeNear", func(t *testing.T, w *world, s *stage) (color, string) {
		return notTo(drives(t, w, nil), ReceiveWithin(1200*ms, BeNear(0.5, 0, 0, 0.05)))
	}},
	{"LastMessage Approximately", func(t *testing.T, w *world, s *stage) (color, string) {
		sub := drives(t, w, func(_ int, o *nav_msgs.Odometry) { o.Pose.Covariance[7] = math.NaN() })
		wanted := geometry_msgs.PoseWithCovariance{Pose: geometry_msgs.Pose{Position: geometry_msgs.Point{X: 2}, Orientation: about(2, 1)}}
		return to(sub, Over(1200*ms, LastMessage(Field("Pose", Approximately(wanted, 1e-3)))))
	}},
	{"EveryMessage Norm", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(drives(t, w, nil), Over(time.Second, EveryMessage(Field(Norm("Twist.Twist.Linear"), BeNumerically("<", 0.9)))))
	}},
	{"AverageOver Norm", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(drives(t, w, nil), AverageOver(time.Second, Norm("Twist.Twist.Linear"), BeNumerically("<", 0.9)))
	}},
	{"ReceiveWithin HaveFrame", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(drives(t, w, nil), ReceiveWithin(100*ms, HaveFrame("map")))
	}},
	{"Over HaveStampGaps", func(t *testing.T, w *world, s *stage) (color, string) {
		sub := drives(t, w, func(i int, o *nav_msgs.Odometry) {
			if i == 7 {
				o.Header.Stamp.Nanosec -= 20_000_000
			}
		})
		return to(sub, Over(time.Second, HaveStampGaps(BeNumerically("~", 20*ms, ms))))
	}},
	{"NotTo Over HaveStampGaps", func(t *testing.T, w *world, s *stage) (color, string) {
		return notTo(drives(t, w, nil), Over(time.Second, HaveStampGaps(BeNumerically("~", 20*ms, ms))))
	}},
	{"Within a stamp word", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(drives(t, w, nil), Within(time.Second, HaveStampGaps(20*ms)))
	}},
	{"ReceiveWithin: no wheel of that name", func(t *testing.T, w *world, s *stage) (color, string) {
		pub, err := harness.Advertise[sensor_msgs.JointState](t.Context(), w.robot, "/joint_states")
		if err != nil {
			t.Fatal(err)
		}
		sub, err := harness.Subscribe[sensor_msgs.JointState](t.Context(), w.rig, "/joint_states")
		if err != nil {
			t.Fatal(err)
		}
		pub.Every(20*ms, func(int) sensor_msgs.JointState { return joints() })
		synctest.Wait()
		return to(sub, ReceiveWithin(100*ms, Field("Velocity[Name=left_wheel]", 2)))
	}},
	{"a message without a position", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(s.odom, ReceiveWithin(100*ms, BeNear(1, 2, 3, 0.1)))
	}},
	{"a tolerance in degrees", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(drives(t, w, nil), ReceiveWithin(100*ms, HaveYaw(90, 5)))
	}},
}
