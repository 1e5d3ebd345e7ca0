package matchers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

// joins makes another participant, who leaves with the test.
func (w *world) joins(node string) *harness.Graph {
	g := harness.New(w.net.Join(node), harness.Config{})
	w.t.Cleanup(func() {
		if err := g.Close(); err != nil {
			w.t.Errorf("close: %v", err)
		}
	})
	return g
}

// joinsAfter is joins after d, whose joining the end of the test waits for.
func (w *world) joinsAfter(d time.Duration, node string, then ...func(*harness.Graph)) {
	joined := make(chan *harness.Graph, 1)
	time.AfterFunc(d, func() {
		g := harness.New(w.net.Join(node), harness.Config{})
		for _, f := range then {
			f(g)
		}
		joined <- g
	})
	w.t.Cleanup(func() {
		if err := (<-joined).Close(); err != nil {
			w.t.Errorf("close: %v", err)
		}
	})
}

// leavesAfter closes something after d, from another goroutine.
func (w *world) leavesAfter(d time.Duration, c interface{ Close() error }) {
	time.AfterFunc(d, func() { _ = c.Close() })
}

// typed is a codec of strings of an interface type.
type typed struct {
	msgs.Codec[string]
	name, hash string
}

func (c typed) TypeName() string { return c.name }
func (c typed) TypeHash() string { return c.hash }

// as sends strings as that interface type.
func as(name, hash string) harness.Option {
	raw, err := msgs.CodecFor[string](msgs.Raw)
	if err != nil {
		panic(err)
	}
	return harness.Using[string](typed{raw, name, hash})
}

const (
	hashA = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
	hashB = "RIHS01_b6578ded3c58c626cfe8d1a6fb6e04f706f97e9f03d2727c9ff4e74b1cef0deb"
)

// Each word, now: true, false, and the opposite of both.
func TestWordsOnTheGraphOfNow(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		advertise(t, w.robot, "/odom")
		advertise(t, w.rig, "/odom")
		w.sub("/cmd_vel")
		w.double()
		for _, x := range []struct {
			m    types.GomegaMatcher
			true bool
			text string // of the failure
		}{
			{HaveNode("robot"), true, "node robot"},
			{HaveNode("/robot"), true, "node /robot"},
			{HaveNode("/robo"), false, "there is no node /robo; there is robot"},
			{HaveNode("/ns/robot"), false, "there is robot, the same name in another namespace"},
			{HavePublishers("/odom", 2), true, "2 publishers of /odom, by robot, spec (ours)"},
			{HavePublishers("odom", BeNumerically(">=", 1)), true, "2 publishers of /odom"},
			{HavePublishers("/odom", 1), false, "2 publishers of /odom, by robot, spec (ours)"},
			{HavePublishers("/odm", 1), false, "nobody publishes /odm; there is /odom"},
			{HavePublishers("/odm", 0), true, "0 publishers of /odm"},
			{HaveSubscribers("/cmd_vel", 1), true, "1 subscription of /cmd_vel, by spec (ours)"},
			{HaveSubscribers("/robot1/cmd_vel", 1), false, "nobody subscribes to /robot1/cmd_vel; there is /cmd_vel, the same name in another namespace"},
			{HaveService("/double"), true, "/double served by robot"},
			{HaveService("/double", "demo/srv/Double"), true, "as demo/srv/Double"},
			{HaveService("/double", "demo/srv/Triple"), false, "/double served by robot as demo/srv/Double"},
			{HaveService("/doubel"), false, "nobody serves /doubel; there is /double"},
			{And(HaveNode("robot"), HavePublishers("/odom", 2)), true, "To not satisfy all of these"},
			{Not(HaveNode("robot")), false, "node robot"},
			{MatchGraph([]transports.Endpoint{{Node: "robot", Name: "/odom"}, {Node: "spec"}}), true, "no difference"},
			{MatchGraph([]transports.Endpoint{{Name: "/odom"}, {Name: "/odom"}, {Name: "/odom"}}), false, "missing: publisher /odom"},
		} {
			c, text := to(w.rig, x.m)
			not, notText := notTo(w.rig, x.m)
			if x.true {
				want(t, c, text, green)
				want(t, not, notText, red, x.text)
			} else {
				want(t, c, text, red, x.text)
				want(t, not, notText, green)
			}
		}
	})
}

func TestWithinOnTheGraph(t *testing.T) {
	for _, x := range []struct {
		name string
		play func(w *world)
		m    types.GomegaMatcher
		to   color
		text string
		not  color
	}{
		{"there already", func(w *world) { w.joins("turtle") }, Within(time.Second, HaveNode("turtle")), green, "", red},
		{"comes soon", func(w *world) { w.joinsAfter(300*ms, "turtle") }, Within(time.Second, HaveNode("/turtle")), green, "", red},
		{"comes at the very end", func(w *world) { w.joinsAfter(time.Second, "turtle") }, Within(time.Second, HaveNode("/turtle")), green, "", red},
		{"comes late", func(w *world) { w.joinsAfter(1037*ms, "turtle") }, Within(time.Second, HaveNode("/turtle")), red, "it came true, but 37ms late", green},
		{"never comes", func(w *world) {}, Within(time.Second, HaveNode("/turtle")), red, "there is no node /turtle", green},
		{"leaves", func(w *world) { w.leavesAfter(300*ms, w.joins("turtle")) }, Within(time.Second, Not(HaveNode("/turtle"))), green, "", red},
		{"stays", func(w *world) { w.joins("turtle") }, Within(time.Second, Not(HaveNode("/turtle"))), red, "node /turtle", green},
		{"both, never at once", func(w *world) {
			w.leavesAfter(300*ms, w.joins("turtle"))
			w.joinsAfter(400*ms, "hare")
		}, Within(time.Second, And(HaveNode("/turtle"), HaveNode("/hare"))), red, "turtle left", green},
		{"either", func(w *world) { w.joinsAfter(400*ms, "hare") },
			Within(time.Second, Or(HaveNode("/turtle"), HaveNode("/hare"))), green, "", red},
		{"gone before the call", func(w *world) {
			_ = w.joins("turtle").Close()
			time.Sleep(ms)
		}, Within(time.Second, HaveNode("/turtle")), red, "node /turtle", green},
	} {
		for name, ask := range map[string]func(any, types.GomegaMatcher) (color, string){"To": to, "NotTo": notTo} {
			t.Run(x.name+" "+name, func(t *testing.T) {
				play(t, func(t *testing.T, w *world) {
					x.play(w)
					c, text := ask(w.rig, x.m)
					if name == "NotTo" {
						want(t, c, text, x.not)
						return
					}
					want(t, c, text, x.to, x.text)
				})
			})
		}
	}
}

// d of Within runs from the stimulus, and where it is over the state of its end
// counts.
func TestWithinOnTheGraphRunsFromTheStimulus(t *testing.T) {
	for came, wanted := range map[time.Duration]color{900 * ms: green, 1000 * ms: green, 1100 * ms: red} {
		play(t, func(t *testing.T, w *world) {
			w.rig.Mark("launch")
			w.joinsAfter(came, "turtle")
			time.Sleep(500 * ms)
			c, text := to(w.rig, Within(time.Second, HaveNode("/turtle")))
			want(t, c, text, wanted)
		})
		play(t, func(t *testing.T, w *world) {
			w.rig.Mark("launch")
			w.joinsAfter(came, "turtle")
			time.Sleep(5 * time.Second)
			c, text := to(w.rig, Within(time.Second, HaveNode("/turtle")))
			want(t, c, text, wanted)
		})
	}
}

func TestOverOnTheGraph(t *testing.T) {
	for _, x := range []struct {
		name string
		play func(w *world)
		to   color
		took time.Duration
		text []string
	}{
		{"stays", func(w *world) {}, green, time.Second + ms, nil},
		{"flickers", func(w *world) {
			p := advertise(w.t, w.robot, "/odom")
			w.leavesAfter(500*ms, p)
		}, red, 0, []string{"2 publishers of /odom"}},
		{"one too many for a millisecond", func(w *world) {
			time.AfterFunc(995*ms, func() {
				p := advertise(w.t, w.robot, "/odom")
				time.Sleep(ms)
				_ = p.Close()
			})
		}, red, 995 * ms, []string{"since +0.995000s: 2 publishers of /odom, by robot, robot"}},
		{"after the end", func(w *world) {
			time.AfterFunc(1001*ms, func() { advertise(w.t, w.robot, "/odom") })
		}, green, time.Second + ms, nil},
		{"dies", func(w *world) { w.leavesAfter(400*ms, w.robot) }, red, 400 * ms,
			[]string{"since +0.400000s: 0 publishers of /odom", "nobody publishes /odom any more: robot, which published it, is gone from the graph since +0.400000s", "publisher /odom by robot left"}},
	} {
		for name, ask := range map[string]func(any, types.GomegaMatcher) (color, string){"To": to, "NotTo": notTo} {
			t.Run(x.name+" "+name, func(t *testing.T) {
				play(t, func(t *testing.T, w *world) {
					advertise(t, w.robot, "/odom")
					x.play(w)
					began := time.Now()
					c, text := ask(w.rig, Over(time.Second, HavePublishers("/odom", 1)))
					if took := time.Since(began); took != x.took {
						t.Errorf("took %v, want %v", took, x.took)
					}
					time.Sleep(2 * time.Second) // what the scene has begun ends
					if name == "NotTo" {
						wanted := green
						if x.to == green {
							wanted = red
						}
						want(t, c, text, wanted)
						return
					}
					want(t, c, text, x.to, x.text...)
				})
			})
		}
	}
}

// What cannot be seen is inconclusive, asked either way.
func TestGraphThatIsNotSeen(t *testing.T) {
	for _, m := range []types.GomegaMatcher{HaveNode("/x"), HavePublishers("/x", 0), HaveSubscribers("/x", 0), HaveService("/x"),
		MatchGraph([]transports.Endpoint{{Node: "x"}}), Within(time.Second, HaveNode("/x")), Over(time.Second, Not(HaveNode("/x")))} {
		for name, ask := range map[string]func(any, types.GomegaMatcher) (color, string){"To": to, "NotTo": notTo} {
			t.Run(fmt.Sprint(m, name), func(t *testing.T) {
				play(t, func(t *testing.T, w *world) {
					rig := harness.New(blind{w.net.Join("blind")}, harness.Config{})
					c, text := ask(rig, m)
					want(t, c, text, inconclusive, "this wire does not show its graph")
					if err := rig.Close(); err != nil {
						t.Error(err)
					}
					c, text = ask(rig, m)
					want(t, c, text, inconclusive)
				})
				play(t, func(t *testing.T, w *world) {
					w.rig.Conn().(*inproc.Conn).Sever(errors.New("cable pulled"))
					c, text := ask(w.rig, m)
					want(t, c, text, inconclusive, "cable pulled")
				})
			})
		}
	}
	for _, m := range []types.GomegaMatcher{Within(time.Hour, HaveNode("/x")), Within(time.Hour, Not(HaveNode("robot"))), Over(time.Hour, HaveNode("robot"))} {
		for name, ask := range map[string]func(any, types.GomegaMatcher) (color, string){"To": to, "NotTo": notTo} {
			t.Run("link dies in "+fmt.Sprint(m, name), func(t *testing.T) {
				play(t, func(t *testing.T, w *world) {
					time.AfterFunc(310*ms, func() { w.rig.Conn().(*inproc.Conn).Sever(errors.New("cable pulled")) })
					began := time.Now()
					c, text := ask(w.rig, m)
					want(t, c, text, inconclusive, "cable pulled", "asked:")
					if took := time.Since(began); took != 310*ms {
						t.Errorf("took %v", took)
					}
				})
			})
		}
	}
}

func TestPollsOfTheGraph(t *testing.T) {
	for _, x := range []struct {
		name string
		ask  func(w *world, g Gomega)
		text string // of the failure, "" for none
		took time.Duration
	}{
		{"Eventually", func(w *world, g Gomega) { g.Eventually(w.rig).Should(HaveNode("/turtle")) }, "", 310 * ms},
		{"Eventually of a function", func(w *world, g Gomega) {
			g.Eventually(func() *harness.Graph { return w.rig }).Should(HavePublishers("/pose", 1))
		}, "", 310 * ms},
		{"Eventually twice", func(w *world, g Gomega) {
			m := HaveNode("/turtle")
			g.Eventually(w.rig).Should(m)
			g.Eventually(w.rig).Should(m)
		}, "", 310 * ms},
		{"Eventually too short", func(w *world, g Gomega) {
			g.Eventually(w.rig).WithTimeout(100 * ms).Should(HaveNode("/turtle"))
		}, "there is no node /turtle", 100 * ms},
		{"Eventually too short by a hair", func(w *world, g Gomega) {
			g.Eventually(w.rig).WithTimeout(306 * ms).WithPolling(100 * ms).Should(HaveNode("/turtle"))
		}, "came after the last poll", 306 * ms},
		{"Consistently", func(w *world, g Gomega) { g.Consistently(w.rig).Should(HaveNode("robot")) }, "say Expect(rig).To(Over(d, HaveNode(\"robot\")))", 10 * ms},
		{"Consistently not", func(w *world, g Gomega) { g.Consistently(w.rig).ShouldNot(HaveNode("hare")) }, "proves nothing", 0},
		{"Eventually not", func(w *world, g Gomega) { g.Eventually(w.rig).ShouldNot(HaveNode("hare")) }, "Within(d, …)", 0},
		{"Eventually Not", func(w *world, g Gomega) { g.Eventually(w.rig).Should(Not(HaveNode("hare"))) }, "proves nothing", 0},
		{"Eventually And", func(w *world, g Gomega) { g.Eventually(w.rig).Should(And(HaveNode("robot"), HaveNode("/turtle"))) }, "proves nothing", 0},
		{"Eventually Within", func(w *world, g Gomega) { g.Eventually(w.rig).Should(Within(time.Second, HaveNode("robot"))) }, "is not for Eventually", 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				w.joinsAfter(305*ms, "turtle", func(g *harness.Graph) {
					if _, err := harness.Advertise[string](context.Background(), g, "/pose"); err != nil {
						t.Error(err)
					}
				})
				began := time.Now()
				var failure string
				g := NewGomega(func(message string, _ ...int) { failure = message })
				x.ask(w, g)
				if x.text == "" && failure != "" || !strings.Contains(failure, x.text) {
					t.Errorf("failed with %q, want %q", failure, x.text)
				}
				if took := time.Since(began); took != x.took {
					t.Errorf("took %v, want %v", took, x.took)
				}
			})
		})
	}
}

func TestMisuseOnTheGraph(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		sub := w.sub("/odom")
		for _, x := range []struct {
			actual any
			m      types.GomegaMatcher
			text   string
		}{
			{w.rig, ReceiveWithin(time.Second), "AnyMessage() judges messages, and a graph has none"},
			{w.rig, Over(time.Second, And(HaveNode("/x"), HaveRate(5))), "HaveRate(5) judges messages, and a graph has none"},
			{w.rig, Within(time.Second, Within(time.Second, HaveNode("/x"))), "a wait in a wait"},
			{w.rig, HavePublishers("/x/", 1), "single slashes"},
			{w.rig, HaveNode(""), "the name is empty"},
			{w.rig, HaveService("/x", "a", "b"), "a service has one type"},
			{w.rig, MatchGraph(nil), "nothing is wanted"},
			{w.rig, MatchGraph([]transports.Endpoint{{Kind: transports.ServerEndpoint}}), "neither a Name nor a Node"},
			{w.rig, HaveRate(5), "expects a *measure.Window"},
			{sub, HaveNode("/x"), "say Expect(rig).To(HaveNode"},
			{sub, Within(time.Second, HaveNode("/x")), "is about the graph, not about the messages of subscription to /odom"},
			{42, HaveNode("/x"), "expects a graph"},
		} {
			for _, ask := range []func(any, types.GomegaMatcher) (color, string){to, notTo} {
				c, text := ask(x.actual, x.m)
				want(t, c, text, red, x.text)
			}
		}
	})
}

func TestMatchGraphDifferences(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		advertise(t, w.robot, "/odom", as("nav_msgs/msg/Odometry", hashA))
		advertise(t, w.robot, "/scan", harness.SensorData())
		advertise(t, w.robot, "/rosout")
		w.double()
		w.sub("/odom")
		odom := transports.Endpoint{Node: "/robot", Name: "odom", Type: transports.Type{Name: "nav_msgs/msg/Odometry", Hash: hashA},
			QoS: transports.QoS{Reliability: transports.Reliable, Durability: transports.Volatile, Depth: 10, History: transports.KeepLast, Liveliness: transports.Automatic}}
		scan := transports.Endpoint{Name: "/scan"}
		double := transports.Endpoint{Kind: transports.ServerEndpoint, Name: "/double", Type: transports.Type{Name: "demo/srv/Double"}}
		all := []transports.Endpoint{odom, scan, double, {Node: "robot"}}

		c, text := to(w.rig, MatchGraph(all, NothingElse()))
		want(t, c, text, green)
		c, text = notTo(w.rig, MatchGraph(all))
		want(t, c, text, red, "no difference")
		c, text = to(w.rig, MatchGraph([]transports.Endpoint{odom, double}, NothingElse()))
		want(t, c, text, red, "extra: publisher /scan by robot")
		c, text = notTo(w.rig, MatchGraph([]transports.Endpoint{odom, double}, NothingElse()))
		want(t, c, text, green)

		wrong := odom
		wrong.Type.Name, wrong.QoS.Durability = "nav_msgs/msg/Path", transports.TransientLocal
		c, text = to(w.rig, MatchGraph([]transports.Endpoint{wrong, scan, double, {Name: "/imu"}, {Node: "arm"}}, NothingElse()))
		want(t, c, text, red, "missing: publisher /imu", "missing: node arm",
			"incompatible: publisher /odom by robot: type: want nav_msgs/msg/Path, is nav_msgs/msg/Odometry; durability: want transient local, is volatile",
			"nobody publishes /imu", "there is no node arm")
		if strings.Contains(text, "extra") {
			t.Errorf("what is incompatible is no extra one:\n%s", text)
		}

		// One that says little must not take the place of one that says more.
		advertise(t, w.rig, "/scan")
		c, text = to(w.rig, MatchGraph([]transports.Endpoint{scan, {Name: "/scan", QoS: transports.QoS{Reliability: transports.BestEffort}}}))
		want(t, c, text, green)
		c, text = to(w.rig, MatchGraph([]transports.Endpoint{{Name: "/scan", QoS: transports.QoS{Reliability: transports.BestEffort}}, scan}))
		want(t, c, text, green)

		var window measure.Window
		c, text = to(&window, MatchGraph(all))
		want(t, c, text, red, "expects a graph")
	})
}

// A graph of many states is judged as a whole.
func TestEveryStateIsJudged(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		go func() {
			for range 500 {
				p, err := harness.Advertise[string](t.Context(), w.robot, "/odom")
				if err != nil {
					return
				}
				time.Sleep(ms)
				_ = p.Close()
				time.Sleep(ms)
			}
		}()
		synctest.Wait()
		c, text := to(w.rig, Over(time.Second, HavePublishers("/odom", BeNumerically("<=", 1))))
		want(t, c, text, green)
		if n := len(w.rig.View().Changes()); n < 990 {
			t.Errorf("%d changes seen of 1000", n)
		}
	})
}
