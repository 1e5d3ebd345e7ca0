package cases_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
)

type TwistStamped struct{ Twist Twist }

type Odometry struct{ Twist Twist }

type JointState struct {
	Name     []string
	Velocity []float64
}

// holdsZeroSpeed: drive at 0.15 m/s, publish nothing until the controller has
// timed out, then publish zeros: for a second of those neither the body nor a
// wheel moves.
func holdsZeroSpeed(_ context.Context, rig *fixtures.Rig) {
	commands := fixtures.Advertise[TwistStamped](rig, "/cmd_vel", harness.JSON[TwistStamped]())
	odometry := fixtures.Subscribe[Odometry](rig, "/odom", harness.JSON[Odometry]())
	joints := fixtures.Subscribe[JointState](rig, "/joint_states", harness.JSON[JointState]())
	fixtures.WaitForSubscribers(rig, commands, 1)

	Expect(odometry).To(ReceiveWithin(10 * time.Second))
	drive := commands.Every(100*ms, func(int) TwistStamped { return TwistStamped{twist(0.15, 0, 0)} })
	Expect(odometry).To(Over(1500*ms, LastMessage(Field("Twist.Linear.X", BeNumerically("~", 0.15, 0.03)))))
	drive.Stop()
	Expect(odometry).To(SettleWithin(1500*ms, 300*ms, Field("Twist.Linear.X", BeNumerically("~", 0, 0.03))))

	zeros := commands.Every(100*ms, func(int) TwistStamped { return TwistStamped{} }).Mark()
	Expect(odometry.After(zeros)).To(Over(time.Second, EveryMessage(And(
		Field(Norm("Twist.Linear"), BeNumerically("<", 0.03)),
		Field("Twist.Angular.Z", BeNumerically("~", 0, 0.05))))))
	Expect(joints.After(zeros)).To(Over(time.Second, EveryMessage(And(
		Field("Velocity[Name=left_wheel_joint]", BeNumerically("~", 0, 0.3)),
		Field("Velocity[Name=right_wheel_joint]", BeNumerically("~", 0, 0.3))))))
}

var _ = DescribeTable("a base holds still under zero commands",
	func(b base, want verdict) { on(b, want, holdsZeroSpeed) },
	Entry("that is good", base{}, passes()),
	Entry("that does not reach its speed", base{weak: 0.5},
		fails(`/odom`, `over 1.5s to show LastMessage`, `found: .*Twist.Linear.X: got 0.07\d+, want 0.15 ± 0.03`)),
	Entry("that never times out", base{timeout: time.Hour},
		fails(`/odom`, `within 1.5s to settle for 300ms`, `the longest run that matched spans 0s`)),
	Entry("that jumps at the first zero", base{jump: twist(0.1, 0, 0)},
		fails(`/odom after start of a stream on /cmd_vel`, `found: .*did not match: Norm\("Twist.Linear"\): got 0.0\d+, want < 0.03`)),
	Entry("that turns at the first zero", base{jump: twist(0, 0, 0.2)},
		fails(`/odom after start of a stream on /cmd_vel`, `Twist.Angular.Z: got 0.\d+, want 0 ± 0.05`)),
	Entry("of which a wheel slips at the first zero", base{slips: 0.5},
		fails(`/joint_states after start of a stream on /cmd_vel`, `found: .*did not match: Velocity\[Name=right_wheel_joint\]: got 0.5\d+, want 0 ± 0.3`)),
	Entry("that is not heard of once it holds", base{mute: true},
		provesNothing(`watch longer`, `no message arrived on /odom, so there was nothing to judge`)),
)
