package matchers_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type odometry struct {
	X, Speed, Turn float64
	Frame          string
	Covariance     [4]float32
	Status         []status
}

type status struct {
	Name  string
	Level uint8
}

// scene is one failure message of the golden file.
type scene struct {
	name string
	play func(t *testing.T, w *world, s *stage) (color, string)
}

// stage is what most scenes need: a robot with odometry at 50 Hz whose speed
// rises to 0.5, and a command to it.
type stage struct {
	cmd  *harness.Publisher[string]
	odom *harness.Subscription[odometry]
	pub  *harness.Publisher[odometry]
}

func (w *world) stage() *stage {
	s := &stage{cmd: advertise(w.t, w.rig, "/cmd_vel")}
	var err error
	if s.pub, err = harness.Advertise[odometry](w.t.Context(), w.robot, "/odom", harness.JSON[odometry]()); err != nil {
		w.t.Fatal(err)
	}
	if s.odom, err = harness.Subscribe[odometry](w.t.Context(), w.rig, "/odom", harness.JSON[odometry]()); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// drive commands the robot, whose speed rises to top in a second.
func (s *stage) drive(t *testing.T, top float64) harness.Mark {
	m, err := s.cmd.Publish(t.Context(), "go")
	if err != nil {
		t.Fatal(err)
	}
	s.pub.Every(20*ms, func(i int) odometry {
		return odometry{Speed: min(top, top*float64(i)/50), Frame: "odom", Status: []status{{"cpu", 1}, {"disk", 0}}}
	})
	synctest.Wait() // the first message, in either order with the call otherwise
	return m
}

var near = BeNumerically("~", 0.5, 0.01)

var scenes = []scene{
	{"ReceiveWithin: late", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, ReceiveWithin(900*ms, Field("Speed", near)))
	}},
	{"ReceiveWithin: never", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.45)
		return to(s.odom, ReceiveWithin(1500*ms, And(Field("Speed", near), Field("Frame", "odom"))))
	}},
	{"ReceiveWithin: nobody publishes", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(w.sub("/odm"), ReceiveWithin(500*ms))
	}},
	{"StaySilentFor: incompatible QoS", func(t *testing.T, w *world, s *stage) (color, string) {
		advertise(t, w.robot, "/scan", harness.SensorData())
		return to(w.sub("/scan", harness.Reliable(5)), StaySilentFor(500*ms))
	}},
	{"ReceiveWithin: silent publisher", func(t *testing.T, w *world, s *stage) (color, string) {
		if _, err := s.pub.Publish(t.Context(), odometry{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		w.rig.Mark("operator pressed start")
		return to(s.odom, ReceiveWithin(500*ms))
	}},
	{"ReceiveWithin: before the stimulus", func(t *testing.T, w *world, s *stage) (color, string) {
		if _, err := s.pub.Publish(t.Context(), odometry{Speed: 0.5}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(37 * ms)
		w.rig.Mark("operator pressed start")
		return to(s.odom, ReceiveWithin(500*ms, Field("Speed", 0.5)))
	}},
	{"NotTo ReceiveWithin", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		time.Sleep(1210 * ms)
		return notTo(s.odom, ReceiveWithin(2000*ms, Field("Speed", near)))
	}},
	{"ReceiveWithin: Equal of a struct", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, ReceiveWithin(1500*ms, odometry{Speed: 0.5, Frame: "map", Status: []status{{"cpu", 2}, {"disk", 0}}}))
	}},
	{"ReceiveWithin: element of an array", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, ReceiveWithin(100*ms, Field("Status[Name=fan].Level", 0)))
	}},
	{"a misspelt field", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(s.odom, ReceiveWithin(time.Second, Field("Sped", 0.5)))
	}},
	{"ReceiveBetween: too early", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, ReceiveBetween(1100*ms, 2*time.Second, Field("Speed", near)))
	}},
	{"BecomeWithin", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.4)
		return to(s.odom, BecomeWithin(1100*ms, Field("Speed", near)))
	}},
	{"SettleWithin", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, SettleWithin(1200*ms, 500*ms, Field("Speed", near)))
	}},
	{"Within Consecutive", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, Within(1100*ms, Consecutive(10, Field("Speed", near))))
	}},
	{"Within And with a proviso", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, Within(2*time.Second, And(AnyMessage(Field("Speed", near)), NoMessage(Field("Speed", BeNumerically(">", 0.3))))))
	}},
	{"Within InOrder", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, Within(1100*ms, InOrder(Field("Speed", 0), Field("Speed", 0.25), Field("Speed", 0.1))))
	}},
	{"StaySilentFor", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, StaySilentFor(500*ms))
	}},
	{"StaySilentFor: no publisher", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(w.sub("/nobody"), StaySilentFor(500*ms))
	}},
	{"FallSilentWithin", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, FallSilentWithin(time.Second, 100*ms))
	}},
	{"Over EveryMessage", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, Over(time.Second, EveryMessage(Field("Speed", BeNumerically("<", 0.3)))))
	}},
	{"Over statistics", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, Over(time.Second, And(HaveRate(BeNumerically("~", 60, 1)), HaveAverage("Speed", near), HaveMaxGap(BeNumerically("<", 30*ms)))))
	}},
	{"AverageOver", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, AverageOver(time.Second, "Speed", near))
	}},
	{"Over HavePercentile: too few", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, Over(time.Second, HavePercentile(99, "Speed", BeNumerically("<", 1))))
	}},
	{"Over HaveCount", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, Over(time.Second, HaveCount(15)))
	}},
	{"Over Exactly", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, Over(time.Second, Exactly(Field("Speed", 0), Field("Speed", 0.02))))
	}},
	{"Over HaveNoLoss", func(t *testing.T, w *world, s *stage) (color, string) {
		win := measure.NewWindow(measure.Stretch{Topic: "/scan", To: time.Time{}.Add(time.Second), Life: measure.Life{State: measure.LifeShown}}, []measure.Arrival{
			{Received: time.Time{}.Add(ms), Seq: 1, HasSeq: true}, {Received: time.Time{}.Add(2 * ms), Seq: 4, HasSeq: true}})
		return to(win, HaveNoLoss())
	}},
	{"an average of a window without messages", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(measure.NewWindow(measure.Stretch{Topic: "/odom", To: time.Time{}.Add(time.Second)}, nil), HaveAverage("Speed", 0.5))
	}},
	{"messages dropped by the log", func(t *testing.T, w *world, s *stage) (color, string) {
		m := s.drive(t, 0.5)
		sub, err := harness.Subscribe[odometry](t.Context(), w.rig, "/odom", harness.JSON[odometry](), harness.Keep(10, 0))
		if err != nil {
			t.Fatal(err)
		}
		_ = m
		from := w.rig.Mark("from here")
		time.Sleep(990 * ms)
		return to(sub.After(from), Over(900*ms, HaveRate(50)))
	}},
	{"a message that does not decode", func(t *testing.T, w *world, s *stage) (color, string) {
		raw := advertise(t, w.robot, "/odom")
		w.rig.Mark("from here")
		says(t, raw, `{"Speed": "fast"}`)
		return to(s.odom, Over(100*ms, NoMessage(Field("Speed", 1))))
	}},
	{"the link died", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		time.AfterFunc(310*ms, func() { w.rig.Conn().(*inproc.Conn).Sever(errors.New("cable pulled")) })
		return to(s.odom, AverageOver(time.Second, "Speed", near))
	}},
	{"a stimulus that failed", func(t *testing.T, w *world, s *stage) (color, string) {
		if err := s.cmd.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.cmd.Publish(t.Context(), "go"); err == nil {
			t.Fatal("published on a closed publisher")
		}
		return to(s.odom, ReceiveWithin(time.Second))
	}},
	{"the subscription began after the stimulus", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		time.Sleep(110 * ms)
		sub, err := harness.Subscribe[odometry](t.Context(), w.rig, "/odom", harness.JSON[odometry]())
		if err != nil {
			t.Fatal(err)
		}
		return to(sub, ReceiveWithin(100*ms, Field("Speed", 0)))
	}},
	{"the subscription began after the stimulus, and nobody publishes", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(w.sub("/odm"), ReceiveWithin(100*ms))
	}},
	{"ReplyWithin: late", func(t *testing.T, w *world, s *stage) (color, string) {
		srv, cli := w.double()
		c := cli.Call(t.Context(), 21)
		r, err := srv.WaitForNext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(137*ms, func() { _, _ = r.Value.Reply(42) })
		return to(c, ReplyWithin(100*ms, 42))
	}},
	{"ReplyWithin: another reply", func(t *testing.T, w *world, s *stage) (color, string) {
		srv, cli := w.double()
		c := cli.Call(t.Context(), 21)
		r, err := srv.WaitForNext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(37*ms, func() { _, _ = r.Value.Reply(41) })
		return to(c, ReplyWithin(100*ms, 42))
	}},
	{"ReplyWithin: never", func(t *testing.T, w *world, s *stage) (color, string) {
		_, cli := w.double()
		return to(cli.Call(t.Context(), 21), ReplyWithin(100*ms))
	}},
	{"ReplyWithin: nobody serves", func(t *testing.T, w *world, s *stage) (color, string) {
		srv, cli := w.double()
		synctest.Wait() // for the graph to be seen with it
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
		return to(cli.Call(t.Context(), 21), ReplyWithin(100*ms))
	}},
	{"FailWithin", func(t *testing.T, w *world, s *stage) (color, string) {
		srv, cli := w.double()
		c := cli.Call(t.Context(), 21)
		r, err := srv.WaitForNext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = r.Value.Reply(42)
		return to(c, FailWithin(100*ms, transports.ErrNoResponder))
	}},
	{"Within a statistic", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(s.odom, Within(time.Second, HaveRate(BeNumerically("~", 50, 1))))
	}},
	{"a wait in a wait", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(s.odom, Within(time.Second, StaySilentFor(100*ms)))
	}},
	{"a bare word on live traffic", func(t *testing.T, w *world, s *stage) (color, string) {
		return to(s.odom, HaveRate(BeNumerically("~", 50, 1)))
	}},
	{"a matcher of a message in Over", func(t *testing.T, w *world, s *stage) (color, string) {
		s.drive(t, 0.5)
		return to(s.odom, Over(100*ms, Equal(odometry{})))
	}},
}

func (w *world) double() (*harness.Server[int, int], *harness.Client[int, int]) {
	svc := msgs.JSONService[int, int]("demo/srv/Double")
	srv, err := harness.Serve(w.t.Context(), w.robot, "/double", svc)
	if err != nil {
		w.t.Fatal(err)
	}
	cli, err := harness.NewClient(w.t.Context(), w.rig, "/double", svc)
	if err != nil {
		w.t.Fatal(err)
	}
	return srv, cli
}

// Every kind of failure message, as a user reads it.
func TestFailureMessages(t *testing.T) {
	var out bytes.Buffer
	for _, s := range slices.Concat(scenes, robotScenes) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			c, text := s.play(t, w, w.stage())
			if c == green {
				t.Errorf("%s: it passed", s.name)
			}
			if n := strings.Count(text, "\n") + 1; n > 25 {
				t.Errorf("%s: %d lines", s.name, n)
			}
			if strings.Contains(text, "0x") || strings.Contains(text, "0xc") {
				t.Errorf("%s: an address in the message", s.name)
			}
			fmt.Fprintf(&out, "### %s: %s\n%s\n\n", s.name, c, text)
		})
	}
	golden(t, "messages.txt", out.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs; if the change is meant, run go test ./matchers -update\n%s", file, d)
	}
}
