package cases_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
)

type JointJog struct{ Velocities []float64 }

type JointTrajectory struct{ Positions []float64 }

type Int8 struct{ Data int8 }

func jog(velocities ...float64) JointJog { return JointJog{velocities} }

const (
	noWarning = 0
	invalid   = -1
)

// jogsJoints: ten jogs at 10 Hz give ten trajectories and no warning; a jog with
// velocities too few or too many is invalid at once and moves nothing.
func jogsJoints(ctx context.Context, rig *fixtures.Rig) {
	jogs := fixtures.Advertise[JointJog](rig, "/servo_node/delta_joint_cmds", harness.JSON[JointJog]())
	trajectories := fixtures.Subscribe[JointTrajectory](rig, "/joint_trajectory", harness.JSON[JointTrajectory]())
	status := fixtures.Subscribe[Int8](rig, "/servo_node/status", harness.JSON[Int8]())
	fixtures.WaitForSubscribers(rig, jogs, 1)

	good := jogs.Every(100*ms, func(int) JointJog { return jog(0, 0, 0, 0, 0, 0, 0.5) })
	Expect(trajectories).To(Within(1500*ms, AtLeast(10)))
	good.Stop()
	Expect(status).To(BecomeWithin(100*ms, Field("Data", noWarning)))

	for _, bad := range []JointJog{jog(0, 0, 0), jog(0, 0, 0, 0, 0, 0, 0.5, 0)} {
		jogs.Publish(ctx, jog(0, 0, 0, 0, 0, 0, 0.5))
		Expect(trajectories).To(ReceiveWithin(500 * ms))
		Expect(status).To(BecomeWithin(500*ms, Field("Data", noWarning)))
		sent, _ := jogs.Publish(ctx, bad)
		Expect(status).To(ReceiveWithin(300*ms, Field("Data", invalid)))
		Expect(trajectories.After(sent)).To(StaySilentFor(500 * ms))
	}
}

var _ = DescribeTable("a servo node jogs joints",
	func(n servo, want verdict) { on(n, want, jogsJoints) },
	Entry("that is good", servo{}, passes()),
	Entry("that takes every other jog", servo{half: true},
		fails(`/joint_trajectory`, `within 1.5s to show AtLeast\(10\)`, `found: .*[78] messages`)),
	Entry("that warns of good jogs", servo{warns: true},
		fails(`/servo_node/status`, `to become, Data = 0`)),
	Entry("that takes a jog with velocities too few", servo{takesFew: true},
		fails(`/servo_node/status`, `within 300ms to receive a message with Data = -1`, `closest: .*Data: got 0, want -1`)),
	Entry("that takes a jog with velocities too many", servo{takesMany: true},
		fails(`/servo_node/status`, `within 300ms to receive a message with Data = -1`, `closest: .*Data: got 0, want -1`)),
	Entry("that tells an invalid jog late", servo{late: 370 * ms},
		fails(`/servo_node/status`, `cause: .*a message matched, but \S+ late`)),
	Entry("that moves all the same", servo{moves: true},
		fails(`/joint_trajectory after publish on /servo_node/delta_joint_cmds`, `to stay silent for 500ms`, `found: .*message 1 arrived`)),
	Entry("that dies of an invalid jog", servo{dies: true},
		provesNothing(`nothing arrived on /servo_node/status,? and (nobody|whether anybody) was there to publish`)),
)
