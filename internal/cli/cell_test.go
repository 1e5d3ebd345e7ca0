package cli_test

import (
	"context"
	"testing"
	"time"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/builtin_interfaces"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
	"github.com/robospec/robospec/msgs/std_srvs"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/dial"
)

// startCell starts a small robot cell, until the test ends:
//
//	/base      publishes /odom (50 Hz, stamped), /battery (20 Hz, best effort); subscribes to /cmd_vel
//	/sim       publishes /sim_odom (50 Hz, in simulated time)
//	/arm       publishes /joint_states (50 Hz), /name (latched); serves /grip, /slow, /refuse
//	/custom    publishes /joint (20 Hz), of a type that is defined nowhere
//	/two, /other  publish /both (20 Hz) with two types
//	/quiet     publishes /quiet, but nothing
//	/picky     subscribes to /battery, reliable
//
// and plain Zenoh programs that publish and serve text. It returns a node that
// looks on.
func startCell(t *testing.T, ros, plain string) *harness.Graph {
	base := join(t, ros, "base")
	publish(t, base, "/odom", 50, harness.Reliable(10), func(i int) nav_msgs.Odometry {
		var m nav_msgs.Odometry
		now := time.Now()
		m.Header.Stamp = builtin_interfaces.Time{Sec: int32(now.Unix()), Nanosec: uint32(now.Nanosecond())}
		m.Header.FrameID, m.ChildFrameID = "odom", "base_link"
		m.Pose.Pose.Position.X = 0.01 * float64(i%200)
		m.Pose.Pose.Orientation.W = 1
		return m
	})
	publish(t, base, "/battery", 20, harness.WithQoS(harness.QoS{Reliability: transports.BestEffort}), func(int) std_msgs.Float32 {
		return std_msgs.Float32{Data: 12.5}
	})
	_, err := harness.Subscribe[geometry_msgs.Twist](t.Context(), base, "/cmd_vel", harness.Reliable(10))
	testenv.Must(t, err)

	publish(t, join(t, ros, "sim"), "/sim_odom", 50, harness.Reliable(10), func(i int) nav_msgs.Odometry {
		var m nav_msgs.Odometry
		m.Header.Stamp.Sec = int32(i / 50)
		return m
	})

	arm := join(t, ros, "arm")
	publish(t, arm, "/joint_states", 50, harness.Reliable(10), func(int) sensor_msgs.JointState {
		return sensor_msgs.JointState{Name: []string{"shoulder", "elbow"}, Position: []float64{0.25, -0.5}}
	})
	name, err := harness.Advertise[std_msgs.String](t.Context(), arm, "/name", harness.Latched(1))
	testenv.Must(t, err)
	_, err = name.Publish(t.Context(), std_msgs.String{Data: "arm 7"})
	testenv.Must(t, err)
	serve(t, arm, "/grip", std_srvs.SetBool, func(r *harness.Responder[std_srvs.SetBoolRequest, std_srvs.SetBoolResponse]) error {
		_, err := r.Reply(std_srvs.SetBoolResponse{Success: r.Request.Data, Message: "gripped"})
		return err
	})
	serve(t, arm, "/refuse", std_srvs.Trigger, func(r *harness.Responder[std_srvs.TriggerRequest, std_srvs.TriggerResponse]) error {
		_, err := r.Fail("the arm is locked")
		return err
	})
	serve(t, arm, "/slow", std_srvs.Trigger, func(*harness.Responder[std_srvs.TriggerRequest, std_srvs.TriggerResponse]) error { return nil })

	publish(t, join(t, ros, "custom"), "/joint", 20, harness.Using[[]byte](foreign{}), func(int) []byte { return []byte{0, 1, 0, 0, 1, 2, 3, 4} })
	publish(t, join(t, ros, "two"), "/both", 20, harness.Reliable(10), func(int) std_msgs.String { return std_msgs.String{Data: "text"} })
	publish(t, join(t, ros, "other"), "/both", 20, harness.Reliable(10), func(int) std_msgs.Bool { return std_msgs.Bool{Data: true} })
	_, err = harness.Advertise[std_msgs.Bool](t.Context(), join(t, ros, "quiet"), "/quiet")
	testenv.Must(t, err)
	_, err = harness.Subscribe[std_msgs.Float32](t.Context(), join(t, ros, "picky"), "/battery", harness.Reliable(10))
	testenv.Must(t, err)

	program := join(t, plain, "")
	publish(t, program, "/plain/text", 20, harness.Reliable(10), func(int) string { return "hello" })
	publish(t, program, "/plain/json", 20, harness.Reliable(10), func(int) string { return `{"speed":1.5,"mode":"AUTO"}` })
	publish(t, program, "/plain/bytes", 20, harness.Reliable(10), func(int) []byte { return []byte{0xde, 0xad, 0xbe, 0xef} })
	serve(t, program, "/plain/echo", msgs.Service[string, string]{}, func(r *harness.Responder[string, string]) error {
		_, err := r.Reply("you said " + r.Request)
		return err
	})
	return join(t, ros, "_observer")
}

// foreign is a type that no definition is known of.
type foreign struct{}

func (foreign) Append(dst, v []byte) ([]byte, error) { return append(dst, v...), nil }
func (foreign) Decode(src []byte) ([]byte, error)    { return src, nil }
func (foreign) Encoding() string                     { return msgs.CDR }
func (foreign) TypeName() string                     { return "cell_msgs/msg/Joint" }
func (foreign) TypeHash() string {
	return "RIHS01_00000000000000000000000000000000000000000000000000000000000000ff"
}

// join makes a node on a graph.
func join(t *testing.T, address, node string) *harness.Graph {
	t.Helper()
	if node != "" {
		address += "&node=" + node
	}
	conn, err := dial.Open(testenv.Soon(t), address)
	testenv.Must(t, err)
	g := harness.New(conn, harness.Config{})
	t.Cleanup(func() { testenv.Must(t, g.Close()) })
	return g
}

func publish[T any](t *testing.T, g *harness.Graph, topic string, hz float64, opt harness.Option, f func(i int) T) {
	t.Helper()
	p, err := harness.Advertise[T](t.Context(), g, topic, opt)
	testenv.Must(t, err)
	p.Every(time.Duration(float64(time.Second)/hz), f)
}

func serve[Req, Resp any](t *testing.T, g *harness.Graph, name string, srv msgs.Service[Req, Resp], answer func(*harness.Responder[Req, Resp]) error) {
	t.Helper()
	s, err := harness.Serve(t.Context(), g, name, srv)
	testenv.Must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range s.ListenReliable(ctx) {
			if err != nil {
				return // the server or the test ended
			}
			if err := answer(m.Value); err != nil {
				t.Errorf("answer of %s: %v", name, err)
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}
