package matchers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

// errored is what a wait said that had to end with an error.
func errored(err error) (color, string) {
	if err == nil {
		return green, ""
	}
	return red, err.Error()
}

// within is a context that ends after d.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, fmt.Errorf("%v are over", d))
	t.Cleanup(cancel)
	return ctx
}

func service(name, hash string) msgs.Service[int, int] {
	s := msgs.JSONService[int, int](name)
	s.Hash = hash
	return s
}

// ladder are the causes, from nobody there to too late, of topics and services,
// and what the words on the graph say.
var ladder = []scene{
	{"nobody publishes, but in another namespace", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/robot1/scan")
		advertise(t, w.robot, "/robot2/scan")
		return to(w.sub("/scan"), ReceiveWithin(500*ms))
	}},
	{"only one who cannot be heard: deadline", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/scan", harness.WithQoS(harness.QoS{Deadline: 200 * ms}))
		return to(w.sub("/scan", harness.WithQoS(harness.QoS{Deadline: 100 * ms})), ReceiveWithin(500*ms))
	}},
	{"only one who cannot be heard: liveliness", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/scan")
		return to(w.sub("/scan", harness.WithQoS(harness.QoS{Liveliness: transports.ManualByTopic})), ReceiveWithin(500*ms))
	}},
	{"only one who cannot be heard: lease", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/scan", harness.WithQoS(harness.QoS{Lease: time.Second}))
		return to(w.sub("/scan", harness.WithQoS(harness.QoS{Lease: 100 * ms})), StaySilentFor(500*ms))
	}},
	{"only one who cannot be heard: type", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/scan", as("sensor_msgs/msg/LaserScan", hashA))
		return to(w.sub("/scan", as("sensor_msgs/msg/PointCloud2", hashB)), ReceiveWithin(500*ms))
	}},
	{"only one who cannot be heard: type hash, and durability", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/scan", as("sensor_msgs/msg/LaserScan", hashA))
		return to(w.sub("/scan", as("sensor_msgs/msg/LaserScan", hashB), harness.Latched(1)), ReceiveWithin(500*ms))
	}},
	{"one is silent, another cannot be heard, a third has left", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/scan")
		advertise(t, w.joins("lidar"), "/scan", harness.SensorData())
		other := w.joins("other")
		advertise(t, other, "/scan")
		sub := w.sub("/scan", harness.Reliable(5))
		w.leavesAfter(200*ms, other)
		return to(sub, ReceiveWithin(500*ms))
	}},
	{"the node of the publisher died before", func(t *testing.T, w *world, s *stage) (color, string) {
		sub := w.sub("/scan")
		says(t, advertise(t, w.robot, "/scan"), "x")
		w.leavesAfter(200*ms, w.robot)
		time.Sleep(time.Second)
		w.rig.Mark("operator pressed start")
		return to(sub, ReceiveWithin(500*ms))
	}},
	{"the publisher was closed before", func(t *testing.T, w *world, s *stage) (color, string) {
		w.leavesAfter(200*ms, s.pub)
		time.Sleep(time.Second)
		return to(s.odom, StaySilentFor(500*ms))
	}},
	{"the node of the publisher dies in the stretch, after messages", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		w.leavesAfter(330*ms, w.robot)
		return to(s.odom, ReceiveWithin(2*time.Second, Field("Speed", near)))
	}},
	{"the node of the publisher dies in the stretch of a statistic", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		w.leavesAfter(330*ms, w.robot)
		return to(s.odom, Over(time.Second, HaveCount(50)))
	}},
	{"the command is of another type than the robot takes", func(t *testing.T, w *world, s *stage) (color, string) {
		state, sub := advertise(t, w.robot, "/state"), w.sub("/state")
		_, err := harness.Subscribe[string](t.Context(), w.robot, "/cmd", as("geometry_msgs/msg/TwistStamped", hashB))
		if err != nil {
			t.Fatal(err)
		}
		says(t, advertise(t, w.rig, "/cmd", as("geometry_msgs/msg/Twist", hashA)), "go")
		w.later(100*ms, state, "standing")
		return to(sub, ReceiveWithin(500*ms, "driving"))
	}},
	{"the command came before the robot", func(t *testing.T, w *world, s *stage) (color, string) {
		state, sub := advertise(t, w.robot, "/state"), w.sub("/state")
		says(t, advertise(t, w.rig, "/cmd"), "go")
		if _, err := harness.Subscribe[string](t.Context(), w.robot, "/cmd"); err != nil {
			t.Fatal(err)
		}
		w.later(100*ms, state, "standing")
		return to(sub, ReceiveWithin(500*ms, "driving"))
	}},
	{"a Server that nobody calls", func(t *testing.T, w *world, s *stage) (color, string) {
		srv, err := harness.Serve(t.Context(), w.rig, "/arm", service("demo/srv/Arm", ""))
		if err != nil {
			t.Fatal(err)
		}
		return to(srv, StaySilentFor(500*ms))
	}},
	{"a Server whose client does not call", func(t *testing.T, w *world, s *stage) (color, string) {
		srv, err := harness.Serve(t.Context(), w.rig, "/arm", service("demo/srv/Arm", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := harness.NewClient(t.Context(), w.robot, "/arm", service("demo/srv/Arm", "")); err != nil {
			t.Fatal(err)
		}
		return to(srv, ReceiveWithin(500*ms))
	}},
	{"a Server whose client is of another type", func(t *testing.T, w *world, s *stage) (color, string) {
		srv, err := harness.Serve(t.Context(), w.rig, "/arm", service("demo/srv/Arm", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := harness.NewClient(t.Context(), w.robot, "/arm", service("demo/srv/Disarm", "")); err != nil {
			t.Fatal(err)
		}
		return to(srv, ReceiveWithin(500*ms))
	}},
	{"ReplyWithin: served under another name", func(t *testing.T, w *world, s *stage) (color, string) {
		w.double()
		cli, err := harness.NewClient(t.Context(), w.rig, "/cell/double", service("demo/srv/Double", ""))
		if err != nil {
			t.Fatal(err)
		}
		return to(cli.Call(t.Context(), 21), ReplyWithin(100*ms))
	}},
	{"ReplyWithin: served with another type", func(t *testing.T, w *world, s *stage) (color, string) {
		w.double()
		cli, err := harness.NewClient(t.Context(), w.rig, "/double", service("demo/srv/Triple", ""))
		if err != nil {
			t.Fatal(err)
		}
		return to(cli.Call(t.Context(), 21), ReplyWithin(100*ms))
	}},
	{"ReplyWithin: the server died in the call", func(t *testing.T, w *world, s *stage) (color, string) {
		_, cli := w.double()
		w.leavesAfter(37*ms, w.robot)
		return to(cli.Call(t.Context(), 21), ReplyWithin(100*ms))
	}},
	{"Call.Wait: not answered", func(t *testing.T, w *world, s *stage) (color, string) {
		_, cli := w.double()
		_, err := cli.Call(t.Context(), 21).Wait(within(t, 100*ms))
		return errored(err)
	}},
	{"WaitForServer: another type hash", func(t *testing.T, w *world, s *stage) (color, string) {
		if _, err := harness.Serve(t.Context(), w.robot, "/arm", service("demo/srv/Arm", hashA)); err != nil {
			t.Fatal(err)
		}
		cli, err := harness.NewClient(t.Context(), w.rig, "/arm", service("demo/srv/Arm", hashB))
		if err != nil {
			t.Fatal(err)
		}
		return errored(cli.WaitForServer(within(t, time.Second)))
	}},
	{"WaitForServer: it died", func(t *testing.T, w *world, s *stage) (color, string) {
		_, cli := w.double()
		w.leavesAfter(37*ms, w.robot)
		time.Sleep(100 * ms)
		return errored(cli.WaitForServer(within(t, time.Second)))
	}},
	{"WaitForPublishers: nobody", func(t *testing.T, w *world, s *stage) (color, string) {
		return errored(w.sub("/odm").WaitForPublishers(within(t, time.Second), 1))
	}},
	{"WaitForPublishers: one of two", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/scan")
		lidar := w.joins("lidar")
		advertise(t, lidar, "/scan")
		w.leavesAfter(100*ms, lidar)
		time.Sleep(200 * ms)
		return errored(w.sub("/scan").WaitForPublishers(within(t, time.Second), 2))
	}},
	{"WaitForSubscribers: nobody", func(t *testing.T, w *world, s *stage) (color, string) {
		if _, err := harness.Subscribe[string](t.Context(), w.robot, "/robot1/cmd_vel"); err != nil {
			t.Fatal(err)
		}
		return errored(s.cmd.WaitForSubscribers(within(t, time.Second), 1))
	}},
	{"WaitForSubscribers: one that cannot hear", func(t *testing.T, w *world, s *stage) (color, string) {
		if _, err := harness.Subscribe[string](t.Context(), w.robot, "/cmd_vel", harness.Latched(1)); err != nil {
			t.Fatal(err)
		}
		return errored(s.cmd.WaitForSubscribers(within(t, time.Second), 1))
	}},
	{"WaitForNext: silent publisher", func(t *testing.T, w *world, s *stage) (color, string) {
		if _, err := s.pub.Publish(t.Context(), odometry{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		_, err := s.odom.WaitForNext(within(t, time.Second))
		return errored(err)
	}},

	{"HaveNode", func(t *testing.T, w *world, s *stage) (color, string) {
		w.leavesAfter(100*ms, w.joins("/cell/turtle"))
		time.Sleep(200 * ms)
		w.joins("/cell2/turtle")
		return to(w.rig, HaveNode("/cell/turtle"))
	}},
	{"NotTo HaveNode", func(t *testing.T, w *world, s *stage) (color, string) {
		time.Sleep(200 * ms)
		w.joins("turtle")
		return notTo(w.rig, HaveNode("/turtle"))
	}},
	{"Within HaveNode", func(t *testing.T, w *world, s *stage) (color, string) {
		w.rig.Mark("launch")
		w.joins("/cell2/turtle")
		time.Sleep(200 * ms)
		return to(w.rig, Within(2*time.Second, HaveNode("/cell/turtle")))
	}},
	{"Within HaveNode: late", func(t *testing.T, w *world, s *stage) (color, string) {
		w.joinsAfter(237*ms, "turtle")
		return to(w.rig, Within(200*ms, HaveNode("/turtle")))
	}},
	{"Within Not HaveNode", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(w.rig, Within(200*ms, And(Not(HaveNode("robot")), HavePublishers("/odom", 0))))
	}},
	{"Over HavePublishers", func(t *testing.T, w *world, s *stage) (color, string) {
		w.leavesAfter(410*ms, s.pub)
		return to(w.rig, Over(time.Second, HavePublishers("/odom", 1)))
	}},
	{"Over HaveService: another type", func(t *testing.T, w *world, s *stage) (color, string) {
		w.double()
		return to(w.rig, Over(time.Second, HaveService("/double", "demo/srv/Triple")))
	}},
	{"MatchGraph", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/scan", as("sensor_msgs/msg/LaserScan", hashA), harness.SensorData())
		w.double()
		synctest.Wait()
		w.leavesAfter(100*ms, s.pub)
		return to(w.rig, Within(500*ms, MatchGraph([]transports.Endpoint{
			{Node: "/robot", Name: "/imu"},
			{Node: "/robot", Name: "/odom"},
			{Node: "/robot", Name: "/scan", Type: transports.Type{Name: "sensor_msgs/msg/LaserScan", Hash: hashB},
				QoS: transports.QoS{Reliability: transports.Reliable}},
			{Kind: transports.SubscriptionEndpoint, Node: "/spec", Name: "/odom"},
			{Node: "/arm"},
		}, NothingElse())))
	}},
	{"the link died in Over HaveNode", func(t *testing.T, w *world, s *stage) (color, string) {
		time.AfterFunc(310*ms, func() { w.rig.Conn().(*inproc.Conn).Sever(errors.New("cable pulled")) })
		return to(w.rig, Over(time.Second, HaveNode("robot")))
	}},
	{"a graph that its wire does not show", func(t *testing.T, w *world, s *stage) (color, string) {
		rig := harness.New(blind{w.net.Join("blind")}, harness.Config{})
		t.Cleanup(func() {
			if err := rig.Close(); err != nil {
				t.Error(err)
			}
		})
		return to(rig, Within(time.Second, HaveNode("robot")))
	}},
	{"a word on messages asked of a graph", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(w.rig, ReceiveWithin(time.Second))
	}},
}

func TestLadder(t *testing.T) {
	var out bytes.Buffer
	for _, s := range ladder {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			c, text := s.play(t, w, w.stage())
			if c == green {
				t.Errorf("%s: it passed", s.name)
			}
			if n := strings.Count(text, "\n") + 1; n > 25 {
				t.Errorf("%s: %d lines", s.name, n)
			}
			if strings.Contains(text, "0x") {
				t.Errorf("%s: an address in the message", s.name)
			}
			fmt.Fprintf(&out, "### %s: %s\n%s\n\n", s.name, c, text)
		})
	}
	golden(t, "ladder.txt", out.Bytes())
}
