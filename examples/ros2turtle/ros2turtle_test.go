// Package ros2turtle tests turtle.py, a ROS 2 node that knows nothing of
// robospec, with no ROS installation and no router to start: each spec has a
// router and a turtle of its own.
//
//	go test ./examples/ros2turtle
//
// ROBOSPEC_GRAPH=ros2+zenoh://127.0.0.1:7447 runs it on the router there.
// TURTLE_FAULT=slow-rate, or another fault of turtle.py, shows it fail.
package ros2turtle_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/testenv"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/rcl_interfaces"
	"github.com/robospec/robospec/msgs/std_srvs"
	"github.com/robospec/robospec/transports"
)

const embedded = "ros2+zenoh:?router=embedded" // a router in this process, for each spec its own

var python, graph string

func TestTurtle(t *testing.T) {
	python = testenv.ROSPython(t)
	graph = os.Getenv(fixtures.EnvGraph)
	switch {
	case graph == "":
		graph = embedded
	case strings.HasPrefix(graph, "zenoh"):
		graph = "ros2+" + graph // through the same router
	case !strings.HasPrefix(graph, "ros2+zenoh"):
		t.Fatalf("%s=%s: the turtle is on ROS 2 over Zenoh: name a graph of it, such as ros2+zenoh://127.0.0.1:7447", fixtures.EnvGraph, graph)
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "turtle", fixtures.Interruptible)
}

// start runs the node. Process tells it by its environment where the router is.
func start(rig *fixtures.Rig) *fixtures.Proc {
	GinkgoHelper()
	cmd := exec.Command(python, "turtle.py")
	_, err := cmd.StdinPipe() // whose end is the end of the node, should these tests die
	Expect(err).NotTo(HaveOccurred())
	turtle := fixtures.Process(rig, cmd)
	Expect(turtle.Stdout()).To(ReceiveWithin(time.Minute, "ready"))
	return turtle
}

const (
	ms     = time.Millisecond
	middle = 11.088889 / 2 // m
)

var speed = Norm("Twist.Twist.Linear") // m/s, in the odometry

func ahead(v float64) geometry_msgs.Twist {
	return geometry_msgs.Twist{Linear: geometry_msgs.Vector3{X: v}}
}

func turn(w float64) geometry_msgs.Twist {
	return geometry_msgs.Twist{Angular: geometry_msgs.Vector3{Z: w}}
}

var _ = Describe("the turtle", func() {
	var (
		rig    *fixtures.Rig
		cmd    *harness.Publisher[geometry_msgs.Twist]
		odom   *harness.Subscription[nav_msgs.Odometry]
		bump   *harness.Subscription[geometry_msgs.Point]
		reset  *harness.Client[std_srvs.EmptyRequest, std_srvs.EmptyResponse]
		get    *harness.Client[rcl_interfaces.GetParametersRequest, rcl_interfaces.GetParametersResponse]
		set    *harness.Client[rcl_interfaces.SetParametersRequest, rcl_interfaces.SetParametersResponse]
		turtle *fixtures.Proc
	)

	BeforeEach(func() {
		rig = fixtures.Graph(GinkgoT(), fixtures.On(graph))
		cmd = fixtures.Advertise[geometry_msgs.Twist](rig, "/turtle1/cmd_vel")
		odom = fixtures.Subscribe[nav_msgs.Odometry](rig, "/turtle1/odom")
		bump = fixtures.Subscribe[geometry_msgs.Point](rig, "/turtle1/bump")
		reset = fixtures.NewClient(rig, "/reset", std_srvs.Empty)
		get = fixtures.NewClient(rig, "/turtlesim/get_parameters", rcl_interfaces.GetParameters)
		set = fixtures.NewClient(rig, "/turtlesim/set_parameters", rcl_interfaces.SetParameters)

		turtle = start(rig)
		fixtures.WaitForSubscribers(rig, cmd, 1)
		fixtures.WaitForServer(rig, reset)
	})

	setRate := func(ctx SpecContext, hz float64) *harness.Call[rcl_interfaces.SetParametersResponse] {
		return set.Call(ctx, rcl_interfaces.SetParametersRequest{Parameters: []rcl_interfaces.Parameter{{
			Name:  "rate",
			Value: rcl_interfaces.ParameterValue{Type: rcl_interfaces.ParameterTypeParameterDouble, DoubleValue: hz},
		}}})
	}

	It("is on the graph", func() {
		Expect(rig).To(Within(5*time.Second, And(
			HaveNode("/turtlesim"),
			HavePublishers("/turtle1/odom", 1),
			HaveSubscribers("/turtle1/cmd_vel", 1),
			HaveService("/reset"),
		)))
		Expect(rig).To(Within(5*time.Second, MatchGraph([]transports.Endpoint{
			{Kind: transports.PublisherEndpoint, Name: "/turtle1/odom", Node: "/turtlesim",
				Type: transports.Type{Name: "nav_msgs/msg/Odometry"}, QoS: transports.QoS{Reliability: transports.Reliable}},
			{Kind: transports.SubscriptionEndpoint, Name: "/turtle1/cmd_vel", Node: "/turtlesim",
				Type: transports.Type{Name: "geometry_msgs/msg/Twist"}},
			{Kind: transports.ServerEndpoint, Name: "/reset", Node: "/turtlesim",
				Type: transports.Type{Name: "std_srvs/srv/Empty"}},
		})))
	})

	It("tells where it is 62.5 times a second", func() {
		Expect(odom).To(Over(4*time.Second, And(
			HaveRate(BeNumerically("~", 62.5, 1)),
			HaveMaxGap(BeNumerically("<", time.Second)),
			EveryMessage(HaveFrame("odom")),
			HaveStampGaps(BeNumerically("<", time.Second)),
			HaveNoLoss(),
		)))
	})

	It("stands until it is told to move", func() {
		Expect(odom).To(Over(time.Second, And(
			EveryMessage(BeNear(middle, middle, 0, 0.001)),
			HaveAverage(speed, 0),
		)))
		Expect(bump).To(StaySilentFor(500 * ms))
	})

	It("goes ahead", func() {
		fixtures.Publish(rig, cmd, ahead(2))
		Expect(odom).To(ReceiveWithin(time.Second, Field(speed, 2)))
		Expect(odom).To(AverageOver(500*ms, speed, BeNumerically("~", 2, 0.01)))
		Expect(odom).To(ReceiveWithin(2*time.Second, BeNear(middle+2, middle, 0, 0.1)))
	})

	It("turns, past the angle where yaw wraps", func() {
		fixtures.Publish(rig, cmd, turn(3.5)) // which it does for 1 s
		Expect(odom).To(SettleWithin(2*time.Second, 300*ms, HaveYaw(3.5, 0.2)))
	})

	It("forgets a command after a second", func() {
		fixtures.Publish(rig, cmd, ahead(1))
		Expect(odom).To(ReceiveWithin(time.Second, Field(speed, 1)))
		moves, _ := odom.Decided() // the message that the expectation found
		Expect(odom.After(moves.Mark())).To(ReceiveBetween(900*ms, 1300*ms, Field(speed, 0)))
	})

	It("goes back to the middle", func(ctx SpecContext) {
		fixtures.Publish(rig, cmd, geometry_msgs.Twist{Linear: geometry_msgs.Vector3{X: 3}, Angular: geometry_msgs.Vector3{Z: 1}})
		Expect(odom).To(ReceiveWithin(2*time.Second, Not(BeNear(middle, middle, 0, 1))))
		Expect(reset.Call(ctx, std_srvs.EmptyRequest{})).To(ReplyWithin(time.Second))
		Expect(odom).To(BecomeWithin(time.Second, And(
			BeNear(middle, middle, 0, 0.001),
			HaveYaw(0, 0.001),
			Field(speed, 0),
		)))
	})

	It("tells that it bumps into a wall, until it is stopped", func() {
		fixtures.Publish(rig, cmd, ahead(30))
		Expect(bump).To(ReceiveWithin(time.Second, BeNear(2*middle, middle, 0, 0.1)))
		fixtures.Publish(rig, cmd, ahead(0))
		Expect(bump).To(FallSilentWithin(time.Second, 500*ms))
	})

	It("publishes as often as its parameter says", func(ctx SpecContext) {
		Expect(setRate(ctx, 20)).To(ReplyWithin(time.Second, Field("Results[0].Successful", true)))
		Expect(odom).To(Over(3*time.Second, HaveRate(BeNumerically("~", 20, 2))))
		rate := get.Call(ctx, rcl_interfaces.GetParametersRequest{Names: []string{"rate"}})
		Expect(rate).To(ReplyWithin(time.Second, Field("Values[0].DoubleValue", 20)))
	})

	It("refuses a rate of 0", func(ctx SpecContext) {
		Expect(setRate(ctx, 0)).To(ReplyWithin(time.Second, And(
			Field("Results[0].Successful", false),
			Field("Results[0].Reason", ContainSubstring("rate of 0 Hz")),
		)))
	})

	It("leaves the graph when it is told to end", func() {
		turtle.Signal(syscall.SIGINT)
		Expect(turtle).To(ExitWithin(10*time.Second, 0))
		Expect(rig).To(Within(time.Second, Not(HaveNode("/turtlesim"))))
	})

	It("is missed when it dies", func() {
		Expect(odom).To(ReceiveWithin(time.Second))
		turtle.Signal(syscall.SIGKILL)
		Expect(rig).To(Within(time.Second, Not(HaveNode("/turtlesim"))))
		Expect(odom).To(FallSilentWithin(time.Second, 500*ms, EvenWithoutPublisher()))
	})

	It("is alone with its spec", func() {
		if graph != embedded {
			Skip("on one router specs hear each other")
		}
		other := fixtures.Graph(GinkgoT(), fixtures.On(graph))
		start(other)
		elsewhere := fixtures.Advertise[geometry_msgs.Twist](other, "/turtle1/cmd_vel")
		fixtures.WaitForSubscribers(other, elsewhere, 1)
		fixtures.Publish(other, elsewhere, ahead(1))
		Expect(odom).To(Over(time.Second, EveryMessage(Field(speed, 0))))
	})
})
