package cases_test

import (
	"context"

	"github.com/robospec/robospec/harness"
)

// poseArbiter relays sensor data to four pose estimators once the one that has
// to be switched on is. Its fields are its faults.
type poseArbiter struct {
	neverAsks, switchesOff, stops bool
	artagDrops, eagleyeIdle       bool
	ndtName                       string
}

func (a poseArbiter) join(e *executor) {
	if a.ndtName == "" {
		a.ndtName = "/sensing/lidar/top/pointcloud/relay"
	}
	ndt := publisher[PointCloud](e, a.ndtName, harness.SensorData())
	yabloc := publisher[Image](e, "/sensing/camera/image_raw/yabloc_relay", harness.SensorData())
	artag := publisher[Image](e, "/sensing/camera/image_raw/artag_relay", harness.SensorData())
	eagleye := publisher[PoseWithCovariance](e, "/sensing/gnss/pose/eagleye_relay")
	on, images := false, 0

	onMessage(e, "/sensing/lidar/top/pointcloud", func(c PointCloud) {
		if on {
			ndt(c)
		}
	}, harness.SensorData())
	onMessage(e, "/sensing/camera/image_raw", func(i Image) {
		if !on {
			return
		}
		yabloc(i)
		if images++; !a.artagDrops || images%2 == 0 {
			artag(i)
		}
	}, harness.SensorData())
	onMessage(e, "/sensing/gnss/pose", func(p PoseWithCovariance) {
		if on && !a.eagleyeIdle {
			eagleye(p)
		}
	})

	trigger := client(e, "/localization/pose_estimator/yabloc/pf/yabloc_trigger_srv", setBool)
	if a.neverAsks {
		return
	}
	e.wg.Go(func() {
		if err := trigger.WaitForServer(context.Background()); err != nil {
			e.trouble(err)
			return
		}
		reply, err := trigger.Call(context.Background(), SetBoolRequest{Data: !a.switchesOff}).Wait(context.Background())
		e.trouble(err)
		e.call(func() { on = reply.Success && !a.stops })
	})
}
