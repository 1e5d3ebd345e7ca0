package cases_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/fixtures"
	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs"
)

type PointCloud struct{ Points int }

type Image struct{ Width, Height int }

type PoseWithCovariance struct{ X, Y float64 }

type SetBoolRequest struct{ Data bool }

type SetBoolResponse struct{ Success bool }

var setBool = msgs.JSONService[SetBoolRequest, SetBoolResponse]("std_srvs/srv/SetBool")

// relaysInputs: the node asks for its estimator to be switched on; then, of ten
// rounds of three inputs, more than five come out on each of four relays, within
// half a second after the last.
func relaysInputs(ctx context.Context, rig *fixtures.Rig) {
	trigger := fixtures.Serve(rig, "/localization/pose_estimator/yabloc/pf/yabloc_trigger_srv", setBool)
	lidar := fixtures.Advertise[PointCloud](rig, "/sensing/lidar/top/pointcloud", harness.SensorData(), harness.JSON[PointCloud]())
	camera := fixtures.Advertise[Image](rig, "/sensing/camera/image_raw", harness.SensorData(), harness.JSON[Image]())
	gnss := fixtures.Advertise[PoseWithCovariance](rig, "/sensing/gnss/pose", harness.JSON[PoseWithCovariance]())
	ndt := fixtures.Subscribe[PointCloud](rig, "/sensing/lidar/top/pointcloud/relay", harness.JSON[PointCloud]())
	yabloc := fixtures.Subscribe[Image](rig, "/sensing/camera/image_raw/yabloc_relay", harness.JSON[Image]())
	artag := fixtures.Subscribe[Image](rig, "/sensing/camera/image_raw/artag_relay", harness.JSON[Image]())
	eagleye := fixtures.Subscribe[PoseWithCovariance](rig, "/sensing/gnss/pose/eagleye_relay", harness.JSON[PoseWithCovariance]())
	fixtures.WaitForSubscribers(rig, lidar, 1)
	fixtures.WaitForSubscribers(rig, camera, 1)
	fixtures.WaitForSubscribers(rig, gnss, 1)

	Expect(trigger).To(ReceiveWithin(5*time.Second, Field("Request.Data", true)))
	request, _ := trigger.Decided()
	request.Value.Reply(SetBoolResponse{Success: true})

	rounds, err := harness.Rate(rig.Graph, 10, nil)
	Expect(err).NotTo(HaveOccurred())
	ten := rig.Stimulus("ten rounds", func() {
		for round, err := range rounds.ListenReliable(ctx) {
			Expect(err).NotTo(HaveOccurred())
			lidar.Publish(ctx, PointCloud{Points: 100})
			camera.Publish(ctx, Image{640, 480})
			gnss.Publish(ctx, PoseWithCovariance{1, 2})
			if round.Value.K == 10 {
				return
			}
		}
	})
	Expect(ndt.After(ten)).To(Within(1500*ms, AtLeast(6)))
	Expect(yabloc.After(ten)).To(Within(1500*ms, AtLeast(6)))
	Expect(artag.After(ten)).To(Within(1500*ms, AtLeast(6)))
	Expect(eagleye.After(ten)).To(Within(1500*ms, AtLeast(6)))
}

var _ = DescribeTable("a pose estimator arbiter relays its inputs",
	func(a poseArbiter, want verdict) { on(a, want, relaysInputs) },
	Entry("that is good", poseArbiter{}, passes()),
	Entry("that never asks for its estimator", poseArbiter{neverAsks: true},
		failsIfShown(`yabloc_trigger_srv`, `found: .*0 messages`)),
	Entry("that asks for it to be switched off", poseArbiter{switchesOff: true},
		fails(`yabloc_trigger_srv`, `closest: .*Request.Data: got false, want true`)),
	Entry("of which one relay drops every other message", poseArbiter{artagDrops: true},
		fails(`/artag_relay`, `within 1.5s to show AtLeast\(6\)`, `found: .*5 messages`)),
	Entry("of which one relay is not fed", poseArbiter{eagleyeIdle: true},
		fails(`/eagleye_relay`, `cause: .*(no message|nothing) has ever arrived`)),
	Entry("of which one relay has another name", poseArbiter{ndtName: "/sensing/lidar/top/pointcloud/rely"},
		provesNothing(`/relay`, `(nobody|whether anybody) was there to publish`)),
	Entry("that relays before the estimator is on only", poseArbiter{stops: true},
		fails(`/sensing/lidar/top/pointcloud/relay`, `cause: .*(no message|nothing) has ever arrived`)),
)
