package ros2zenoh_test

import (
	"strings"
	"testing"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/msgs/std_msgs"
	"github.com/robospec/robospec/msgs/std_srvs"
	"github.com/robospec/robospec/transports"
)

// TestHarness has the types of generated packages meet zenoh-ros2-sdk's, and what
// does not decode be an error that says so.
func TestHarness(t *testing.T) {
	at := embedded(t)
	peer := testenv.StartROSPeer(t, at, 7)
	rig := harness.New(dial(t, at, "harness"), harness.Config{})
	defer rig.Close()
	ctx := testenv.Soon(t)

	sub, err := harness.Subscribe[std_msgs.String](ctx, rig, "/chatter")
	testenv.Must(t, err)
	next := sub.FromNow()
	peer.Do("publish", "/chatter")
	peer.Do("send", "/chatter", "data", "grüß dich")
	m, err := next.WaitForNext(ctx)
	testenv.Must(t, err)
	if m.Value.Data != "grüß dich" {
		t.Errorf("%+v", m)
	}

	arm, err := harness.NewClient(ctx, rig, "/arm", std_srvs.SetBool)
	testenv.Must(t, err)
	peer.Do("serve", "/arm")
	testenv.Must(t, arm.WaitForServer(ctx))
	reply, err := arm.Call(ctx, std_srvs.SetBoolRequest{Data: true}).Wait(ctx)
	testenv.Must(t, err)
	if !reply.Success || reply.Message != "set" {
		t.Errorf("%+v", reply)
	}

	// A reply of another type, and a message of none.
	wrong := dial(t, at, "wrong")
	_, err = wrong.Serve(ctx, "/leg", setBool, func(r transports.Request) {
		if err := r.Reply([]byte{0, 1, 0, 0, 2}); err != nil {
			t.Error(err)
		}
	})
	testenv.Must(t, err)
	leg, err := harness.NewClient(ctx, rig, "/leg", std_srvs.SetBool)
	testenv.Must(t, err)
	testenv.Must(t, leg.WaitForServer(ctx))
	if _, err = leg.Call(ctx, std_srvs.SetBoolRequest{}).Wait(ctx); err == nil || !strings.Contains(err.Error(), "on /leg does not decode: not a std_srvs/srv/SetBool_Response") {
		t.Errorf("a reply of another type: %v", err)
	}
	p := advertise(t, wrong, "/chatter", transports.QoS{})
	matched(t, p, 1)
	testenv.Must(t, p.Publish(ctx, []byte("no CDR")))
	m, err = next.WaitForNext(ctx)
	if err == nil || !strings.Contains(err.Error(), "on /chatter does not decode: not a std_msgs/msg/String") {
		t.Errorf("%+v, %v", m, err)
	}
}
