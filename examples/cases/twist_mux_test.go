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

type Bool struct{ Data bool }

// muxesTwists: nothing comes out without input; input 1 passes; input 3 takes
// over; input 1 is back once input 3 has timed out after 0.3 s; a lock stops all.
func muxesTwists(ctx context.Context, rig *fixtures.Rig) {
	input1 := fixtures.Advertise[Twist](rig, "/vel_1", harness.JSON[Twist]())
	input3 := fixtures.Advertise[Twist](rig, "/vel_3", harness.JSON[Twist]())
	lock := fixtures.Advertise[Bool](rig, "/lock", harness.JSON[Bool]())
	out := fixtures.Subscribe[Twist](rig, "/cmd_vel_out", harness.JSON[Twist]())
	fixtures.WaitForSubscribers(rig, input1, 1)
	fixtures.WaitForSubscribers(rig, input3, 1)
	fixtures.WaitForSubscribers(rig, lock, 1)
	fixtures.WaitForPublishers(rig, out, 1)

	Expect(out).To(StaySilentFor(600 * ms))

	input1.Every(200*ms, func(int) Twist { return twist(2, 0, 0) })
	Expect(out).To(ReceiveWithin(300*ms, Field("Linear.X", 2)))

	v3 := input3.Every(100*ms, func(int) Twist { return twist(0, 0, 1) })
	Expect(out).To(ReceiveWithin(300*ms, Field("Angular.Z", 1)))
	Expect(out).To(Over(time.Second, EveryMessage(Field("Angular.Z", 1))))
	v3.Stop()
	Expect(out).To(ReceiveBetween(100*ms, 700*ms, Field("Linear.X", 2)))

	locked, _ := lock.Publish(ctx, Bool{true})
	Expect(out.After(locked.Add(100 * ms))).To(StaySilentFor(600 * ms))
	lock.Publish(ctx, Bool{false})
	Expect(out).To(ReceiveWithin(500*ms, Field("Linear.X", 2)))
}

var _ = DescribeTable("a twist multiplexer",
	func(m twistMux, want verdict) { on(m, want, muxesTwists) },
	Entry("that is good", twistMux{}, passes()),
	Entry("that publishes without input", twistMux{zerosWithoutInput: true},
		fails(`/cmd_vel_out`, `to stay silent for 600ms`, `found: .*message 1 arrived`)),
	Entry("that drops input 1", twistMux{dropsInput1: true},
		fails(`within 300ms to receive a message with Linear.X = 2`, `cause: .*(no message|nothing) has ever arrived`)),
	Entry("with the priorities the wrong way round", twistMux{input1First: true},
		fails(`within 300ms to receive a message with Angular.Z = 1`, `closest: .*Angular.Z: got 0, want 1`)),
	Entry("that passes every input", twistMux{passesAll: true},
		fails(`over 1s to show EveryMessage\(Angular.Z = 1\)`, `found: .*did not match: Angular.Z: got 0, want 1`)),
	Entry("whose input 3 never times out", twistMux{timeout: time.Hour},
		fails(`between 100ms and 700ms to receive a message with Linear.X = 2`, `stop of the stream on /vel_3`, `found: .*0 messages, none matched`)),
	Entry("whose input 3 times out late", twistMux{timeout: 750 * ms},
		fails(`between 100ms and 700ms to receive a message with Linear.X = 2`, `cause: .*a message matched, but \S+ late`)),
	Entry("that ignores the lock", twistMux{ignoresLock: true},
		fails(`/cmd_vel_out after .*publish on /lock`, `to stay silent for 600ms`, `found: .*message 1 arrived`)),
	Entry("that dies of the lock", twistMux{dies: true},
		provesNothing(`/cmd_vel_out`, `(nobody|whether anybody) was there to publish`)),
)
