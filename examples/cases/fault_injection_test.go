package cases_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
)

type SimulationEvent struct {
	Name  string
	Level uint8
}

type DiagnosticStatus struct {
	Level   uint8
	Name    string
	Message string
}

type DiagnosticArray struct{ Status []DiagnosticStatus }

const (
	levelOK    = 0
	levelError = 2
)

// injectsFaults: no error without a fault; one fault shows within half a second;
// two faults from two publishers at once both show, and nothing else does.
func injectsFaults(ctx context.Context, rig *fixtures.Rig) {
	events := fixtures.Advertise[SimulationEvent](rig, "/simulation/events", harness.JSON[SimulationEvent]())
	others := fixtures.Advertise[SimulationEvent](rig, "/simulation/events", harness.JSON[SimulationEvent]())
	diagnostics := fixtures.Subscribe[DiagnosticArray](rig, "/diagnostics", harness.JSON[DiagnosticArray]())
	fixtures.WaitForSubscribers(rig, events, 1)
	fixtures.WaitForSubscribers(rig, others, 1)
	fixtures.WaitForPublishers(rig, diagnostics, 1)

	Expect(diagnostics).To(Over(500*ms, NoMessage(Field("Status", ContainElement(Field("Level", levelError))))))

	events.Publish(ctx, SimulationEvent{"cpu_temperature", levelError})
	Expect(diagnostics).To(ReceiveWithin(500*ms, Field("Status[Name=: CPU Temperature].Level", levelError)))

	events.Publish(ctx, SimulationEvent{"cpu_temperature", levelOK})
	Expect(diagnostics).To(ReceiveWithin(500*ms, Field("Status[Name=: CPU Temperature].Level", levelOK)))

	rig.Stimulus("two faults at once", func() {
		events.Publish(ctx, SimulationEvent{"cpu_temperature", levelError})
		others.Publish(ctx, SimulationEvent{"cpu_usage", levelError})
	})
	Expect(diagnostics).To(Over(500*ms, LastMessage(And(
		Field("Status[Name=: CPU Temperature].Level", levelError),
		Field("Status[Name=: CPU Usage].Level", levelError),
		Field("Status[Name=: CPU Load Average].Level", levelOK),
		Field("Status", HaveLen(3))))))
}

var _ = DescribeTable("a fault injection node injects faults",
	func(n faultInjection, want verdict) { on(n, want, injectsFaults) },
	Entry("that is good", faultInjection{}, passes()),
	Entry("that begins with an error", faultInjection{beginsWithError: true},
		fails(`over 500ms to show NoMessage\(Status contains element Level = 2\)`, `found: .*message 1 matched.*Level:2 Name:: CPU Load Average`)),
	Entry("that ignores events", faultInjection{ignoresEvents: true},
		fails(`/diagnostics`, `closest: .*Status\[Name=: CPU Temperature\].Level: got 0, want 2`)),
	Entry("that tells faults late", faultInjection{late: 550 * ms},
		fails(`Status\[Name=: CPU Temperature\].Level = 2`, `cause: .*a message matched, but \S+ late`)),
	Entry("that forgets the fault before", faultInjection{onlyNewest: true},
		fails(`over 500ms to show LastMessage`, `found: .*did not match: Status\[Name=: CPU Temperature\].Level: got 0, want 2`)),
	Entry("that makes a status of the event's name", faultInjection{addsUnknown: true},
		fails(`over 500ms to show LastMessage`, `found: .*did not match: Status: .*has length 3`)),
	Entry("that says nothing", faultInjection{silent: true},
		fails(`to receive a message with Status\[Name=: CPU Temperature\].Level = 2`, `cause: .*(no message|nothing) has ever arrived`)),
	Entry("that dies of a fault", faultInjection{dies: true}, provesNothing(`/diagnostics`, `(nobody|whether anybody) was there to publish`)),
)
