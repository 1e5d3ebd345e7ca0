package cases_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
)

// publishesCritical: the top-level state repeats every second; a new error is
// published at once, and from then on again with the beat.
func publishesCritical(ctx context.Context, rig *fixtures.Rig) {
	diagnostics := fixtures.Advertise[DiagnosticArray](rig, "/diagnostics", harness.JSON[DiagnosticArray]())
	top := fixtures.Subscribe[DiagnosticStatus](rig, "/diagnostics_toplevel_state", harness.JSON[DiagnosticStatus]())
	fixtures.WaitForSubscribers(rig, diagnostics, 1)
	put := func(level uint8) {
		diagnostics.Publish(ctx, DiagnosticArray{[]DiagnosticStatus{{Level: level, Name: "motor"}}})
	}

	put(levelOK)
	Expect(top).To(ReceiveWithin(1300*ms, Field("Level", levelOK)))
	beat, _ := top.Decided()
	Expect(top.After(beat.Mark())).To(ReceiveBetween(900*ms, 1300*ms, Field("Level", levelOK)))

	put(levelError)
	Expect(top).To(ReceiveWithin(200*ms, Field("Level", levelError)))
	critical, _ := top.Decided()
	put(levelError)
	Expect(top.After(critical.Mark())).To(ReceiveBetween(700*ms, 1300*ms, Field("Level", levelError)))
}

var _ = DescribeTable("a diagnostic aggregator publishes what is critical",
	func(a aggregator, want verdict) { on(a, want, publishesCritical) },
	Entry("that is good", aggregator{}, passes()),
	Entry("that repeats too early", aggregator{period: 500 * ms},
		fails(`/diagnostics_toplevel_state after message on /diagnostics_toplevel_state`,
			`between 900ms and 1.3s to receive a message with Level = 0`, `found: .*a message matched after \S+, \S+ too early`)),
	Entry("that repeats too late", aggregator{first: 500 * ms, period: 1500 * ms},
		fails(`between 900ms and 1.3s to receive a message with Level = 0`, `cause: .*a message matched, but \S+ late`)),
	Entry("that lets an error wait for the beat", aggregator{waits: true},
		fails(`within 200ms to receive a message with Level = 2`, `counted from: the last stimulus, publish on /diagnostics`)),
	Entry("that makes a warning of an error", aggregator{softens: true},
		fails(`within 200ms to receive a message with Level = 2`, `closest: .*Level: got 1, want 2`)),
	Entry("that publishes every error at once", aggregator{everyError: true},
		fails(`between 700ms and 1.3s to receive a message with Level = 2`, `found: .*a message matched after \S+, \S+ too early`)),
	Entry("that dies of an error", aggregator{dies: true},
		provesNothing(`nothing arrived on /diagnostics_toplevel_state,? and (nobody|whether anybody) was there to publish`)),
)
