package matchers_test

import (
	"context"
	"errors"
	"strings"
	"sync"
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

const ms = time.Millisecond

// color is what a user sees of an expectation.
type color string

const (
	green        color = "green"
	red          color = "red"
	inconclusive color = "inconclusive"
)

// to is Expect(actual).To(m), notTo Expect(actual).NotTo(m): the color and the
// text.
func to(actual any, m types.GomegaMatcher) (color, string) {
	ok, err := m.Match(actual)
	return colorOf(ok, err, func() string { return m.FailureMessage(actual) })
}

func notTo(actual any, m types.GomegaMatcher) (color, string) {
	ok, err := m.Match(actual)
	return colorOf(!ok, err, func() string { return m.NegatedFailureMessage(actual) })
}

func colorOf(ok bool, err error, text func() string) (color, string) {
	var why *measure.Inconclusive
	switch {
	case errors.As(err, &why):
		return inconclusive, err.Error()
	case err != nil:
		return red, err.Error()
	case !ok:
		return red, text()
	}
	return green, ""
}

// want fails unless the color is as wanted and the text has every part.
func want(t *testing.T, c color, text string, wanted color, parts ...string) {
	t.Helper()
	if c != wanted {
		t.Errorf("got %s, want %s\n%s", c, wanted, text)
	}
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("the message lacks %q:\n%s", p, text)
		}
	}
}

// world is a spec's participant and a robot's on one graph.
type world struct {
	t     *testing.T
	net   *inproc.Network
	rig   *harness.Graph
	robot *harness.Graph
}

// play runs a scene in a bubble.
func play(t *testing.T, scene func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		scene(t, w)
	})
}

func newWorld(t *testing.T) *world {
	net := inproc.NewNetwork()
	w := &world{t: t, net: net,
		rig: harness.New(net.Join("spec"), harness.Config{}), robot: harness.New(net.Join("robot"), harness.Config{})}
	t.Cleanup(func() {
		if err := errors.Join(w.rig.Close(), w.robot.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return w
}

// sub subscribes the spec to a topic the robot publishes.
func (w *world) sub(topic string, opts ...harness.Option) *harness.Subscription[string] {
	w.t.Helper()
	s, err := harness.Subscribe[string](w.t.Context(), w.rig, topic, opts...)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func advertise(t *testing.T, g *harness.Graph, topic string, opts ...harness.Option) *harness.Publisher[string] {
	t.Helper()
	p, err := harness.Advertise[string](t.Context(), g, topic, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// says makes the robot publish on topic, now.
func says(t *testing.T, p *harness.Publisher[string], v string) {
	t.Helper()
	if _, err := p.Publish(t.Context(), v); err != nil {
		t.Fatal(err)
	}
}

// later makes the robot publish after d.
func (w *world) later(d time.Duration, p *harness.Publisher[string], v string) {
	go func() {
		time.Sleep(d)
		_, _ = p.Publish(context.Background(), v)
	}()
}

func (w *world) react(topic string) (cmd *harness.Publisher[string], state *harness.Publisher[string], sub *harness.Subscription[string]) {
	return advertise(w.t, w.rig, "/cmd"), advertise(w.t, w.robot, topic), w.sub(topic)
}

func TestStaleMessageOfTheSameNanosecond(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, state, "on")
		says(t, cmd, "go")
		c, text := to(sub, ReceiveWithin(500*ms, "on"))
		want(t, c, text, red, "a matching message came 0s before", "publish on /cmd")
	})
}

func TestSynchronousReactionInsidePublish(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		// The robot answers in the callback that delivers the command.
		_, err := w.robot.Conn().Subscribe(t.Context(), "/cmd", transports.Type{}, transports.QoS{}, func(transports.Sample) {
			_, _ = state.Publish(context.Background(), "on")
		})
		if err != nil {
			t.Fatal(err)
		}
		says(t, cmd, "go")
		c, text := to(sub, ReceiveWithin(500*ms, "on"))
		want(t, c, text, green)
	})
}

func TestTwoTopicsInEitherOrder(t *testing.T) {
	for _, firstA := range []bool{true, false} {
		play(t, func(t *testing.T, w *world) {
			cmd, a, subA := w.react("/a")
			b, subB := advertise(t, w.robot, "/b"), w.sub("/b")
			says(t, cmd, "go")
			w.later(100*ms, a, "x")
			w.later(200*ms, b, "y")
			first, second := subA, subB
			vFirst, vSecond := "x", "y"
			if !firstA {
				first, second, vFirst, vSecond = subB, subA, "y", "x"
			}
			c, text := to(first, ReceiveWithin(500*ms, vFirst))
			want(t, c, text, green)
			c, text = to(second, ReceiveWithin(500*ms, vSecond))
			want(t, c, text, green)
		})
	}
}

func TestBudgetsOfStepsAddUpAndOfAMarkDoNot(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, a, subA := w.react("/a")
		b, subB := advertise(t, w.robot, "/b"), w.sub("/b")
		mark, err := cmd.Publish(t.Context(), "go")
		if err != nil {
			t.Fatal(err)
		}
		w.later(400*ms, a, "x")
		w.later(800*ms, b, "y")
		c, text := to(subA, ReceiveWithin(500*ms, "x"))
		want(t, c, text, green)
		c, text = to(subB, ReceiveWithin(500*ms, "y")) // 800 ms from the cause, 400 ms from the first step
		want(t, c, text, green)
		c, text = to(subB.After(mark), ReceiveWithin(500*ms, "y"))
		want(t, c, text, red, "300ms late")
	})
}

func TestGoalThenStatus(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		svc := msgs.JSONService[string, string]("demo/srv/Goal")
		srv, err := harness.Serve(t.Context(), w.robot, "/goal", svc)
		if err != nil {
			t.Fatal(err)
		}
		status, sub := advertise(t, w.robot, "/status"), w.sub("/status")
		var wg sync.WaitGroup
		wg.Go(func() {
			for m, err := range srv.ListenReliable(context.Background()) {
				if err != nil {
					return
				}
				time.Sleep(9 * time.Second)
				_, _ = m.Value.Reply("done")
				time.Sleep(900 * ms)
				_, _ = status.Publish(context.Background(), "idle")
			}
		})
		cli, err := harness.NewClient(t.Context(), w.rig, "/goal", svc)
		if err != nil {
			t.Fatal(err)
		}
		c, text := to(cli.Call(t.Context(), "go"), ReplyWithin(10*time.Second, "done"))
		want(t, c, text, green)
		c, text = to(sub, ReceiveWithin(time.Second, "idle"))
		want(t, c, text, green)
		_ = w.robot.Close()
		wg.Wait()
	})
}

func TestTwoStepsOnOneTopic(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		says(t, state, "A")
		time.Sleep(time.Microsecond)
		says(t, state, "B")
		for _, v := range []string{"A", "B"} {
			c, text := to(sub, ReceiveWithin(500*ms, v))
			want(t, c, text, green)
		}
		c, text := to(sub, ReceiveWithin(500*ms, "A"))
		want(t, c, text, red, "a matching message came")
	})
}

func TestTwoReactionsOnOneTopicInTheWrongOrder(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		w.later(100*ms, state, "A")
		w.later(200*ms, state, "B")
		c, text := to(sub, ReceiveWithin(500*ms, "B"))
		want(t, c, text, green)
		c, text = to(sub, ReceiveWithin(500*ms, "A"))
		want(t, c, text, red, "a matching message came")

		says(t, cmd, "go")
		w.later(100*ms, state, "A")
		w.later(200*ms, state, "B")
		c, text = to(sub, Within(500*ms, And(AnyMessage("B"), AnyMessage("A"))))
		want(t, c, text, green)
	})
}

func TestReactionBetweenTwoStimuli(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		first, err := cmd.Publish(t.Context(), "go")
		if err != nil {
			t.Fatal(err)
		}
		says(t, state, "on")
		says(t, cmd, "also")
		c, text := to(sub, ReceiveWithin(500*ms, "on"))
		want(t, c, text, red, "a matching message came", "x.After(mark)")
		c, text = to(sub.After(first), ReceiveWithin(500*ms, "on"))
		want(t, c, text, green)
	})
}

func TestLatchedBeforeTheExpectation(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		state := advertise(t, w.robot, "/state", harness.Latched(1))
		says(t, state, "ready")
		sub := w.sub("/state", harness.Latched(1))
		c, text := to(sub, ReceiveWithin(500*ms, "ready"))
		want(t, c, text, green)

		sub = w.sub("/state", harness.Latched(1))
		says(t, advertise(t, w.rig, "/cmd"), "unrelated")
		c, text = to(sub, ReceiveWithin(500*ms, "ready"))
		want(t, c, text, red, "x.FromStart()")
		c, text = to(sub.FromStart(), ReceiveWithin(500*ms, "ready"))
		want(t, c, text, green)
	})
}

// ramp is a robot whose speed rises to 1 in half a second, at 50 Hz.
type speed struct{ X float64 }

func (w *world) ramp() *harness.Subscription[speed] {
	w.t.Helper()
	p, err := harness.Advertise[speed](w.t.Context(), w.robot, "/speed", harness.JSON[speed]())
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := harness.Subscribe[speed](w.t.Context(), w.rig, "/speed", harness.JSON[speed]())
	if err != nil {
		w.t.Fatal(err)
	}
	p.Every(20*ms, func(i int) speed { return speed{min(1, float64(i)/25)} })
	return s
}

func TestRampThenAverage(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		says(t, advertise(t, w.rig, "/cmd"), "go")
		sub := w.ramp()
		c, text := to(sub, ReceiveWithin(time.Second, Field("X", 1)))
		want(t, c, text, green)
		c, text = to(sub, AverageOver(time.Second, "X", 1.0))
		want(t, c, text, green)
		c, text = to(sub, Over(time.Second, And(EveryMessage(Field("X", 1)), HaveRate(BeNumerically("~", 50, 1)))))
		want(t, c, text, green)
	})
}

func TestRampSleepAverage(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		says(t, advertise(t, w.rig, "/cmd"), "go")
		sub := w.ramp()
		time.Sleep(time.Second)
		c, text := to(sub, AverageOver(time.Second, "X", 1.0))
		want(t, c, text, green)
		c, text = to(sub, Over(time.Second, EveryMessage(Field("X", 1))))
		want(t, c, text, green)
	})
}

func TestOtherTopicFirstThenOver(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		ramp := w.ramp()
		w.later(600*ms, state, "on")
		c, text := to(sub, ReceiveWithin(time.Second, "on"))
		want(t, c, text, green)
		c, text = to(ramp, Over(time.Second, EveryMessage(Field("X", 1))))
		want(t, c, text, green)
	})
}

func TestEmergencyStopAndSilence(t *testing.T) {
	for name, test := range map[string]struct {
		at   time.Duration // when the bogus reaction comes, −1 never
		want color
	}{"silent": {-1, green}, "before Match": {0, red}, "at the end": {500 * ms, red}, "after it": {501 * ms, green}} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				stop, cmds, sub := w.react("/motor")
				says(t, stop, "stop")
				switch {
				case test.at == 0:
					says(t, cmds, "turn")
				case test.at > 0:
					w.later(test.at, cmds, "turn")
				}
				c, text := to(sub, StaySilentFor(500*ms))
				want(t, c, text, test.want)
				time.Sleep(time.Second)
			})
		})
	}
}

func TestEmergencyStopWithReactionTime(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		stop, cmds, sub := w.react("/motor")
		m, err := stop.Publish(t.Context(), "stop")
		if err != nil {
			t.Fatal(err)
		}
		w.later(50*ms, cmds, "turn")
		after := sub.After(m.Add(100 * ms))
		c, text := to(after, StaySilentFor(500*ms))
		want(t, c, text, green)
		w.later(0, cmds, "turn") // at 600 ms, where the stretch ends
		time.Sleep(ms)
		c, text = to(sub.After(m.Add(100*ms)), StaySilentFor(501*ms))
		want(t, c, text, red, "message 1 arrived")
	})
}

func TestNoPublisher(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		sub, ramp := w.sub("/nobody"), func() *harness.Subscription[speed] {
			s, err := harness.Subscribe[speed](t.Context(), w.rig, "/nobody", harness.JSON[speed]())
			if err != nil {
				t.Fatal(err)
			}
			return s
		}()
		for _, m := range []types.GomegaMatcher{StaySilentFor(100 * ms), Over(100*ms, NoMessage("x")), ReceiveWithin(100*ms, "x"),
			Over(100*ms, HaveCount(0)), Over(100*ms, EveryMessage("x")), FallSilentWithin(200*ms, 100*ms)} {
			c, text := to(sub, m)
			want(t, c, text, inconclusive, "nobody was there to publish", "/nobody")
			c, text = notTo(sub, m)
			want(t, c, text, inconclusive)
		}
		for _, m := range []types.GomegaMatcher{AverageOver(100*ms, "X", 1), Over(100*ms, HaveRate(0)), Over(100*ms, HaveMaxGap(BeNumerically(">", 0)))} {
			c, text := to(ramp, m)
			want(t, c, text, inconclusive)
			c, text = notTo(ramp, m)
			want(t, c, text, inconclusive)
		}
		c, text := to(sub, StaySilentFor(100*ms, EvenWithoutPublisher()))
		want(t, c, text, green)
		c, text = notTo(sub, ReceiveWithin(100*ms, "x", EvenWithoutPublisher()))
		want(t, c, text, green)
	})
}
