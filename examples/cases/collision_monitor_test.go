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

type LaserScan struct{ Ranges []float32 }

type CollisionMonitorState struct{ PolygonName string }

func scan(distance float32) LaserScan { return LaserScan{[]float32{distance}} }

// limitsTheSpeed: with an obstacle at 4.5, 1.5 and 0.5 m a command comes out as
// given, halved, and zero, and the state names the zone, each within 500 ms.
func limitsTheSpeed(ctx context.Context, rig *fixtures.Rig) {
	scans := fixtures.Advertise[LaserScan](rig, "/scan", harness.SensorData(), harness.JSON[LaserScan]())
	in := fixtures.Advertise[Twist](rig, "/cmd_vel_in", harness.JSON[Twist]())
	out := fixtures.Subscribe[Twist](rig, "/cmd_vel_out", harness.JSON[Twist]())
	state := fixtures.Subscribe[CollisionMonitorState](rig, "/state", harness.JSON[CollisionMonitorState]())
	fixtures.WaitForSubscribers(rig, scans, 1)
	fixtures.WaitForSubscribers(rig, in, 1)

	in.Every(50*ms, func(int) Twist { return twist(0.5, 0.2, 0.1) })
	for _, c := range []struct {
		distance float32
		vx       float64
		zone     string
	}{{4.5, 0.5, ""}, {1.5, 0.25, "SlowDown"}, {0.5, 0, "Stop"}} {
		scans.Publish(ctx, scan(c.distance))
		Expect(out).To(ReceiveWithin(500*ms, Field("Linear.X", BeNumerically("~", c.vx, 1e-3))))
		Expect(state).To(ReceiveWithin(500*ms, Field("PolygonName", c.zone)))
	}
}

// ceasesToPublishZeros: some time after the stop the monitor publishes no more,
// though commands go on; once the obstacle is gone it does so within 500 ms.
func ceasesToPublishZeros(ctx context.Context, rig *fixtures.Rig) {
	scans := fixtures.Advertise[LaserScan](rig, "/scan", harness.SensorData(), harness.JSON[LaserScan]())
	in := fixtures.Advertise[Twist](rig, "/cmd_vel_in", harness.JSON[Twist]())
	out := fixtures.Subscribe[Twist](rig, "/cmd_vel_out", harness.JSON[Twist]())
	fixtures.WaitForSubscribers(rig, scans, 1)
	fixtures.WaitForSubscribers(rig, in, 1)

	scans.Publish(ctx, scan(0.5))
	beat := in.Every(50*ms, func(int) Twist { return twist(0.5, 0.2, 0.1) })
	Expect(out).To(ReceiveWithin(500*ms, Field("Linear.X", 0)))
	Expect(out).To(FallSilentWithin(1500*ms, 200*ms))
	Expect(out).To(StaySilentFor(100 * ms))
	scans.Publish(ctx, scan(3))
	Expect(out).To(ReceiveWithin(500*ms, Field("Linear.X", BeNumerically("~", 0.5, 1e-3))))
	beat.Stop()
}

var _ = Describe("a collision monitor", func() {
	DescribeTable("limits the speed", func(m collisionMonitor, want verdict) { on(m, want, limitsTheSpeed) },
		Entry("that is good", collisionMonitor{}, passes()),
		Entry("that ignores the scan", collisionMonitor{ignoresScan: true},
			fails(`/cmd_vel_out`, `with Linear.X 0.25 ± 0.001`, `closest: .*Linear.X: got 0.5, want 0.25`)),
		Entry("that slows down where it has to stop", collisionMonitor{slowsOnly: true},
			fails(`/cmd_vel_out`, `with Linear.X 0 ± 0.001`, `closest: .*Linear.X: got 0.25, want 0`)),
		Entry("that tells its state late", collisionMonitor{stateLate: 700 * ms},
			fails(`/state`, `with PolygonName`, `cause: .*a message matched, but \S+ late`)),
		Entry("that does not name the zone", collisionMonitor{nameless: true},
			fails(`/state`, `with PolygonName = "SlowDown"`, `closest: .*PolygonName: got "", want "SlowDown"`)),
		Entry("that tells no state", collisionMonitor{stateless: true},
			fails(`/state`, `cause: .*(no message|nothing) has ever arrived`)),
		Entry("that dies at the first obstacle", collisionMonitor{diesAt: 2}, provesNothing(`/cmd_vel_out`, `(nobody|whether anybody) was there to publish`)),
	)
	DescribeTable("ceases to publish zeros", func(m collisionMonitor, want verdict) { on(m, want, ceasesToPublishZeros) },
		Entry("that is good", collisionMonitor{}, passes()),
		Entry("that never stops", collisionMonitor{ignoresScan: true},
			fails(`/cmd_vel_out`, `with Linear.X = 0`, `closest: .*Linear.X: got 0.5, want 0`)),
		Entry("that never ceases", collisionMonitor{ceaseAfter: time.Hour},
			fails(`/cmd_vel_out`, `within 1.5s to fall silent for 200ms`, `never silent for 200ms`)),
		Entry("that ceases too late", collisionMonitor{ceaseAfter: 2 * time.Second},
			fails(`/cmd_vel_out`, `within 1.5s to fall silent for 200ms`, `never silent for 200ms`)),
		Entry("that resumes too late", collisionMonitor{resumeAfter: 600 * ms},
			fails(`/cmd_vel_out`, `0.5 ± 0.001`, `cause: .*a message matched, but \S+ late`)),
		Entry("that never resumes", collisionMonitor{resumeAfter: time.Hour},
			fails(`/cmd_vel_out`, `0.5 ± 0.001`, `found: .*0 messages, 0 matched`)),
		Entry("that is silent since it died", collisionMonitor{diesAt: 1, diesAfter: 300 * ms},
			provesNothing(`/cmd_vel_out`, `(nobody|whether anybody) was there to publish`)),
	)
})
