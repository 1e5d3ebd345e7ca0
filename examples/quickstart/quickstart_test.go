// Package quickstart shows what a spec can say about a robot. Run it with
//
//	go test ./examples/quickstart
//
// on a graph in memory, and unchanged on a Zenoh router with
//
//	ROBOSPEC_GRAPH=zenoh://127.0.0.1:7447 go test ./examples/quickstart
//
// ROBOSPEC_FAULT=slow-ramp, or another fault of robot/fault.go, shows it fail.
package quickstart_test

import (
	"context"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/examples/quickstart/robot"
	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
)

const ms = time.Millisecond

var _ = Describe("the robot", func() {
	var (
		rig    *fixtures.Rig
		cmd    *harness.Publisher[robot.Velocity]
		estop  *harness.Publisher[robot.EStop]
		odom   *harness.Subscription[robot.Odometry]
		motors *harness.Subscription[robot.Motors]
		phase  *harness.Subscription[string]
		arm    *harness.Client[robot.ArmGoal, robot.ArmResult]
	)

	// Each spec has a graph and a robot of its own. A real robot would be there
	// already, or be started with fixtures.Process.
	BeforeEach(func(ctx SpecContext) {
		rig = fixtures.Graph(GinkgoT())
		cmd = fixtures.Advertise[robot.Velocity](rig, "/cmd_vel", harness.JSON[robot.Velocity]())
		estop = fixtures.Advertise[robot.EStop](rig, "/estop", harness.JSON[robot.EStop]())
		odom = fixtures.Subscribe[robot.Odometry](rig, "/odom", harness.JSON[robot.Odometry]())
		motors = fixtures.Subscribe[robot.Motors](rig, "/motors", harness.JSON[robot.Motors]())
		phase = fixtures.Subscribe[string](rig, "/arm/phase")
		arm = fixtures.NewClient(rig, "/arm", robot.Arm)

		node := fixtures.Node(rig, "robot")
		fault := robot.Fault(os.Getenv("ROBOSPEC_FAULT"))
		Expect(robot.Start(ctx, node, fault)).To(Succeed())

		// Readiness is waited for, never slept for.
		fixtures.WaitForSubscribers(rig, cmd, 1)
		fixtures.WaitForSubscribers(rig, estop, 1)
		fixtures.WaitForServer(rig, arm)
	})

	// What a spec does to the robot is a stimulus; expectations count from it.
	drive := func(speed float64) {
		GinkgoHelper()
		fixtures.Publish(rig, cmd, robot.Velocity{Linear: speed})
	}

	It("reaches the commanded speed", func() {
		drive(0.5)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field("Speed", 0.5)))
	})

	It("keeps the commanded speed", func() {
		drive(0.5)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field("Speed", 0.5)))
		Expect(odom).To(AverageOver(500*ms, "Speed", BeNumerically("~", 0.5, 0.01)))
	})

	It("settles", func() {
		drive(0.5)
		Expect(odom).To(SettleWithin(2*time.Second, 300*ms, Field("Speed", BeNumerically("~", 0.5, 0.01))))
	})

	It("is never faster than it may be", func() {
		// Judged on every message until the spec ends.
		fixtures.Always(rig, odom, Field("Speed", BeNumerically("<=", robot.TopSpeed)))
		drive(robot.TopSpeed)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field("Speed", robot.TopSpeed)))
	})

	It("gives odometry at 40 Hz at least, without a gap", func() {
		Expect(odom).To(Over(3*time.Second, And(
			HaveRate(BeNumerically(">", 40)),
			HaveMaxGap(BeNumerically("<", time.Second)),
		)))
	})

	It("turns the wheels against each other to turn on the spot", func() {
		fixtures.Publish(rig, cmd, robot.Velocity{Angular: 1})
		Expect(motors).To(ReceiveWithin(500*ms, robot.Motors{Left: -0.2, Right: 0.2}))
	})

	It("answers when the arm is up", func(ctx SpecContext) {
		call := arm.Call(ctx, robot.ArmGoal{Pose: "up"})
		Expect(call).To(ReplyWithin(500*ms, Field("Pose", "up")))
	})

	It("moves the arm before it says that it is up", func(ctx SpecContext) {
		arm.Call(ctx, robot.ArmGoal{Pose: "up"})
		Expect(phase).To(Within(2*time.Second, InOrder("moving", "up")))
	})

	It("refuses a pose that the arm does not have", func(ctx SpecContext) {
		call := arm.Call(ctx, robot.ArmGoal{Pose: "behind"})
		Expect(call).To(FailWithin(500*ms, "no pose behind"))
	})

	It("leaves the motors alone after an emergency stop", func() {
		drive(0.5)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field("Speed", 0.5)))
		stop := fixtures.Publish(rig, estop, robot.EStop{Pressed: true})
		Expect(motors.After(stop.Add(200 * ms))).To(StaySilentFor(500 * ms))
		Expect(odom.After(stop)).To(ReceiveWithin(2*time.Second, Field("Speed", 0)))
	})

	It("tells its state to those who come late", func() {
		// A latched topic keeps the newest message for new subscribers.
		state := fixtures.Subscribe[robot.State](rig, "/state", harness.Latched(1), harness.JSON[robot.State]())
		Expect(state).To(BecomeWithin(2*time.Second, Field("Mode", "ready")))
		drive(0.5)
		Expect(state).To(BecomeWithin(2*time.Second, And(
			Field("Mode", "driving"),
			Field("Battery", BeNumerically(">", 20)),
		)))
	})

	It("covers the ground that its speed says", func(ctx SpecContext) {
		drive(0.5)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field("Speed", 0.5)))

		// What has no word is a loop: every message of half a second, by hand.
		var way []harness.Message[robot.Odometry]
		err := harness.For(ctx, 500*ms, func(ctx context.Context) error {
			for m, err := range odom.ListenReliable(ctx) {
				if err != nil {
					return err
				}
				way = append(way, m)
			}
			return nil
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(len(way)).To(BeNumerically(">", 1))
		first, last := way[0], way[len(way)-1]
		seconds := last.Received.Sub(first.Received).Seconds()
		Expect((last.Value.X - first.Value.X) / seconds).To(BeNumerically("~", 0.5, 0.1))
	})
})
