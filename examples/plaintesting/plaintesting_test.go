// Package plaintesting is the quickstart without Ginkgo: plain testing, Gomega's
// NewWithT, and a spec in virtual time.
package plaintesting_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/robospec/robospec/examples/quickstart/robot"
	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/std_srvs"
)

const speed = "Twist.Twist.Linear.X"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is what every test here needs.
type bench struct {
	*WithT
	rig  *fixtures.Rig
	cmd  *harness.Publisher[geometry_msgs.Twist]
	odom *harness.Subscription[nav_msgs.Odometry]
}

func newBench(tb fixtures.TB) bench {
	tb.Helper()
	rig := fixtures.Graph(tb)
	b := bench{
		WithT: NewWithT(tb),
		rig:   rig,
		cmd:   fixtures.Advertise[geometry_msgs.Twist](rig, "/cmd_vel"),
		odom:  fixtures.Subscribe[nav_msgs.Odometry](rig, "/odom"),
	}
	node := fixtures.Node(rig, "robot")
	b.Expect(robot.Start(context.Background(), node, "")).To(Succeed())
	fixtures.WaitForSubscribers(rig, b.cmd, 1)
	return b
}

func (b bench) drive(v float64) {
	_, err := b.cmd.Publish(context.Background(), geometry_msgs.Twist{Linear: geometry_msgs.Vector3{X: v}})
	b.Expect(err).NotTo(HaveOccurred())
}

func TestReachesAndKeepsTheSpeed(t *testing.T) {
	b := newBench(t)
	b.drive(0.5)
	b.Expect(b.odom).To(ReceiveWithin(2*time.Second, Field(speed, 0.5)))
	b.Expect(b.odom).To(AverageOver(time.Second, speed, BeNumerically("~", 0.5, 0.01)))
}

func TestArmIsUpInTime(t *testing.T) {
	b := newBench(t)
	arm := fixtures.NewClient(b.rig, "/arm", std_srvs.SetBool)
	fixtures.WaitForServer(b.rig, arm)
	call := arm.Call(t.Context(), std_srvs.SetBoolRequest{Data: true})
	b.Expect(call).To(ReplyWithin(500*time.Millisecond, Field("Success", true)))
}

// Clocks jump in a bubble: ten minutes take a moment, and every figure is exact.
func TestTenMinutes(t *testing.T) {
	fixtures.InBubble(t, func(tb fixtures.TB) {
		b := newBench(tb)
		b.drive(0.5)
		b.Expect(b.odom).To(ReceiveWithin(260*time.Millisecond, Field(speed, 0.5)))
		b.Expect(b.odom).To(Over(10*time.Minute, And(
			HaveCount(10*60*50),
			HaveRate(50.0),
			HaveMaxGap(20*time.Millisecond),
			EveryMessage(Field(speed, 0.5)),
		)))
		last, err := b.odom.WaitForValue(context.Background())
		b.Expect(err).NotTo(HaveOccurred())
		b.Expect(last.Value.Pose.Pose.Position.X).To(BeNumerically("~", 300, 0.1))
	})
}
