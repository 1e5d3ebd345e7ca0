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

type VehicleCommand struct {
	Command uint32
	Param1  float32
}

type VehicleStatus struct {
	ArmingState  uint8
	NavState     uint8
	ExternalMode bool // it may be entered
}

// ArmingCheckReply is what the node of a mode says of it, again and again.
type ArmingCheckReply struct {
	NavState  uint8
	CanArmRun bool
}

// runsTheMode: the spec plays the node of a mode. The autopilot does not enter
// it while its check fails, does when asked once it does not, and by itself on a
// GPS failure in the air; when the node leaves, it falls back to a mode of its
// own; in the end it is disarmed, after 120 s at most.
func runsTheMode(ctx context.Context, rig *fixtures.Rig) {
	const hold, descend, mine = 4, 12, 23
	const setMode, arm, gpsFailure = 100000, 400, 420
	const disarmed, armed = 1, 2
	commands := fixtures.Advertise[VehicleCommand](rig, "/fmu/in/vehicle_command", harness.JSON[VehicleCommand]())
	checks := fixtures.Advertise[ArmingCheckReply](rig, "/fmu/in/arming_check_reply", harness.JSON[ArmingCheckReply]())
	status := fixtures.Subscribe[VehicleStatus](rig, "/fmu/out/vehicle_status", harness.JSON[VehicleStatus]())
	fixtures.WaitForSubscribers(rig, commands, 1)
	fixtures.WaitForSubscribers(rig, checks, 1)

	mode := checks.Every(100*ms, func(int) ArmingCheckReply { return ArmingCheckReply{mine, false} })
	start, _ := commands.Publish(ctx, VehicleCommand{arm, 1})
	Expect(status).To(ReceiveWithin(2*time.Second, Field("ArmingState", armed)))

	commands.Publish(ctx, VehicleCommand{setMode, mine}) // the check fails
	Expect(status).To(Over(time.Second, NoMessage(Field("NavState", mine))))

	mode.Set(func(int) ArmingCheckReply { return ArmingCheckReply{mine, true} })
	Expect(status).To(ReceiveWithin(2*time.Second, Field("ExternalMode", true)))
	commands.Publish(ctx, VehicleCommand{setMode, mine})
	Expect(status).To(ReceiveWithin(2*time.Second, Field("NavState", mine)))

	commands.Publish(ctx, VehicleCommand{setMode, hold})
	Expect(status).To(ReceiveWithin(2*time.Second, Field("NavState", hold)))
	commands.Publish(ctx, VehicleCommand{gpsFailure, 1})
	Expect(status).To(ReceiveWithin(5*time.Second, Field("NavState", mine)))

	mode.Stop()
	Expect(status).To(ReceiveWithin(5*time.Second, Field("NavState", descend)))
	commands.Publish(ctx, VehicleCommand{arm, 0})
	Expect(status.After(start)).To(Within(120*time.Second, InOrder(
		Field("ArmingState", armed), Field("NavState", mine), Field("NavState", hold), Field("NavState", mine),
		Field("NavState", descend), Field("ArmingState", disarmed))))
}

var _ = DescribeTable("an autopilot runs a mode of somebody else",
	func(a autopilot, want verdict) { on(a, want, runsTheMode) },
	Entry("that is good", autopilot{}, passes()),
	Entry("that ignores a failing check", autopilot{ignoresCheck: true},
		fails(`over 1s to show NoMessage\(NavState = 23\)`, `found: .*message \d+ matched, \S+ after the start: .*NavState:23`)),
	Entry("that enters a mode of its own on a GPS failure", autopilot{descends: true},
		fails(`within 5s to receive a message with NavState = 23`, `counted from: the last stimulus, publish on /fmu/in/vehicle_command`)),
	Entry("that stays in the mode of a node that left", autopilot{staysInMode: true},
		fails(`within 5s to receive a message with NavState = 12`, `stop of the stream on /fmu/in/arming_check_reply`, `got 23, want 12`)),
	Entry("that falls back too late", autopilot{checkTimeout: 5300 * ms},
		fails(`within 5s to receive a message with NavState = 12`, `cause: .*a message matched, but \S+ late`)),
	Entry("that dies of the GPS failure", autopilot{dies: true},
		fails(`within 5s to receive a message with NavState = 23`, `closest: .*NavState: got 4, want 23`)),
	Entry("that does not disarm", autopilot{staysArmed: true},
		fails(`within 2m0s to show InOrder`, `found: .*5 of 6 in order, then none that matched ArmingState = 1`)),
)
