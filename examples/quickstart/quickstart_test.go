// Package quickstart shows what a spec can say about a robot. Run it with
//
//	go test ./examples/quickstart
//
// on a graph in memory, and unchanged on a Zenoh router with
//
//	ROBOSPEC_GRAPH=zenoh://127.0.0.1:7447 go test ./examples/quickstart
//
// or on ROS 2 with
//
//	ROBOSPEC_GRAPH=ros2+zenoh://127.0.0.1:7447 go test ./examples/quickstart
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
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
	"github.com/robospec/robospec/msgs/std_srvs"
)

const (
	ms    = time.Millisecond
	speed = "Twist.Twist.Linear.X" // in the odometry
)

var _ = Describe("the robot", func() {
	var (
		rig    *fixtures.Rig
		cmd    *harness.Publisher[geometry_msgs.Twist]
		estop  *harness.Publisher[std_msgs.Bool]
		odom   *harness.Subscription[nav_msgs.Odometry]
		wheels *harness.Subscription[sensor_msgs.JointState]
		phase  *harness.Subscription[std_msgs.String]
		arm    *harness.Client[std_srvs.SetBoolRequest, std_srvs.SetBoolResponse]
	)

	// Each spec has a graph and a robot of its own. A real robot would be there
	// already, or be started with fixtures.Process.
	BeforeEach(func(ctx SpecContext) {
		rig = fixtures.Graph(GinkgoT())
		cmd = fixtures.Advertise[geometry_msgs.Twist](rig, "/cmd_vel")
		estop = fixtures.Advertise[std_msgs.Bool](rig, "/estop")
		odom = fixtures.Subscribe[nav_msgs.Odometry](rig, "/odom")
		wheels = fixtures.Subscribe[sensor_msgs.JointState](rig, "/wheel_commands")
		phase = fixtures.Subscribe[std_msgs.String](rig, "/arm/phase")
		arm = fixtures.NewClient(rig, "/arm", std_srvs.SetBool)

		node := fixtures.Node(rig, "robot")
		fault := robot.Fault(os.Getenv("ROBOSPEC_FAULT"))
		Expect(robot.Start(ctx, node, fault)).To(Succeed())

		// Readiness is waited for, never slept for.
		fixtures.WaitForSubscribers(rig, cmd, 1)
		fixtures.WaitForSubscribers(rig, estop, 1)
		fixtures.WaitForServer(rig, arm)
	})

	// What a spec does to the robot is a stimulus; expectations count from it.
	drive := func(v float64) {
		GinkgoHelper()
		fixtures.Publish(rig, cmd, geometry_msgs.Twist{Linear: geometry_msgs.Vector3{X: v}})
	}

	It("reaches the commanded speed", func() {
		drive(0.5)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field(speed, 0.5)))
	})

	It("keeps the commanded speed", func() {
		drive(0.5)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field(speed, 0.5)))
		Expect(odom).To(AverageOver(500*ms, speed, BeNumerically("~", 0.5, 0.01)))
	})

	It("settles", func() {
		drive(0.5)
		Expect(odom).To(SettleWithin(2*time.Second, 300*ms, Field(speed, BeNumerically("~", 0.5, 0.01))))
	})

	It("is never faster than it may be", func() {
		// Judged on every message until the spec ends.
		fixtures.Always(rig, odom, Field(speed, BeNumerically("<=", robot.TopSpeed)))
		drive(robot.TopSpeed)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field(speed, robot.TopSpeed)))
	})

	It("gives odometry at 40 Hz at least, without a gap", func() {
		Expect(odom).To(Over(3*time.Second, And(
			HaveRate(BeNumerically(">", 40)),
			HaveMaxGap(BeNumerically("<", time.Second)),
		)))
	})

	It("turns the wheels against each other to turn on the spot", func() {
		fixtures.Publish(rig, cmd, geometry_msgs.Twist{Angular: geometry_msgs.Vector3{Z: 1}})
		Expect(wheels).To(ReceiveWithin(500*ms, And(
			Field("Velocity[Name=left]", -2),
			Field("Velocity[Name=right]", 2),
		)))
	})

	It("answers when the arm is up", func(ctx SpecContext) {
		call := arm.Call(ctx, std_srvs.SetBoolRequest{Data: true})
		Expect(call).To(ReplyWithin(500*ms, std_srvs.SetBoolResponse{Success: true, Message: "up"}))
	})

	It("moves the arm before it says that it is up", func(ctx SpecContext) {
		arm.Call(ctx, std_srvs.SetBoolRequest{Data: true})
		Expect(phase).To(Within(2*time.Second, InOrder(Field("Data", "moving"), Field("Data", "up"))))
	})

	It("does not move the arm while the emergency stop is pressed", func(ctx SpecContext) {
		fixtures.Publish(rig, estop, std_msgs.Bool{Data: true})
		Expect(wheels).To(FallSilentWithin(500*ms, 100*ms))
		call := arm.Call(ctx, std_srvs.SetBoolRequest{Data: true})
		Expect(call).To(ReplyWithin(500*ms, Field("Success", false)))
		Expect(phase).To(StaySilentFor(200 * ms))
	})

	It("leaves the motors alone after an emergency stop", func() {
		drive(0.5)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field(speed, 0.5)))
		stop := fixtures.Publish(rig, estop, std_msgs.Bool{Data: true})
		Expect(wheels.After(stop.Add(200 * ms))).To(StaySilentFor(500 * ms))
		Expect(odom.After(stop)).To(ReceiveWithin(2*time.Second, Field(speed, 0)))
	})

	It("tells its state to those who come late", func() {
		// A latched topic keeps the newest message for new subscribers.
		state := fixtures.Subscribe[std_msgs.String](rig, "/state", harness.Latched(1))
		Expect(state).To(BecomeWithin(2*time.Second, Field("Data", "ready")))
		drive(0.5)
		Expect(state).To(BecomeWithin(2*time.Second, Field("Data", "driving")))
	})

	It("covers the ground that its speed says", func(ctx SpecContext) {
		drive(0.5)
		Expect(odom).To(ReceiveWithin(2*time.Second, Field(speed, 0.5)))

		// What has no word is a loop: every message of half a second, by hand.
		var way []harness.Message[nav_msgs.Odometry]
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
		Expect((last.Value.Pose.Pose.Position.X - first.Value.Pose.Pose.Position.X) / seconds).To(BeNumerically("~", 0.5, 0.1))
	})
})
