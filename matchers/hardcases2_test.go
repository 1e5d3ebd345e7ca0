package matchers_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

// blind is a wire that cannot show who publishes.
type blind struct{ transports.Conn }

func TestWireThatCannotShowPublishers(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		rig := harness.New(blind{w.net.Join("blind")}, harness.Config{})
		defer rig.Close()
		state := advertise(t, w.robot, "/state")
		sub, err := harness.Subscribe[string](t.Context(), rig, "/state")
		if err != nil {
			t.Fatal(err)
		}
		c, text := to(sub, StaySilentFor(100*ms))
		want(t, c, text, inconclusive, "is not known", "EvenWithoutPublisher")

		says(t, state, "before")
		a := rig.Timeline().Now()
		time.Sleep(100 * ms)
		b := a.Add(50 * ms)
		says(t, state, "after")
		c, text = to(sub.After(a), StaySilentFor(50*ms)) // over already; messages lie before and after
		want(t, c, text, green)
		c, text = to(sub.After(b), Over(60*ms, NoMessage("x"))) // a message in the stretch
		want(t, c, text, green)
	})
}

func TestLinkDiesInAWait(t *testing.T) {
	reason := errors.New("cable pulled")
	for _, m := range []types.GomegaMatcher{ReceiveWithin(time.Hour, "x"), StaySilentFor(time.Hour), Over(time.Hour, EveryMessage("alive")),
		Over(time.Hour, HaveRate(BeNumerically(">", 0))), Over(time.Hour, HaveCount(1)), FallSilentWithin(time.Hour, time.Minute)} {
		for name, ask := range map[string]func(any, types.GomegaMatcher) (color, string){"To": to, "NotTo": notTo} {
			t.Run(fmt.Sprint(m, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					net := inproc.NewNetwork()
					conn := net.Join("spec")
					rig, robot := harness.New(conn, harness.Config{}), harness.New(net.Join("robot"), harness.Config{})
					defer rig.Close()
					defer robot.Close()
					state := advertise(t, robot, "/state")
					sub, err := harness.Subscribe[string](t.Context(), rig, "/state")
					if err != nil {
						t.Fatal(err)
					}
					says(t, state, "alive")
					rig.Mark("from here")
					began := time.Now()
					var wg sync.WaitGroup
					defer wg.Wait()
					wg.Go(func() {
						time.Sleep(time.Second)
						conn.Sever(reason)
					})
					c, text := ask(sub, m)
					want(t, c, text, inconclusive, "cable pulled")
					if waited := time.Since(began); waited > 2*time.Second {
						t.Errorf("ended %v after the start, not when the link died", waited)
					}
				})
			})
		}
	}
}

func TestHeartbeat(t *testing.T) {
	scene := func(background bool) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			cmd, state, sub := w.react("/state")
			beat := advertise(t, w.rig, "/heartbeat")
			if background {
				beat = beat.Background()
			}
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() { // a heartbeat by hand
				tick := time.NewTicker(10 * ms)
				defer tick.Stop()
				for {
					select {
					case <-tick.C:
						_, _ = beat.Publish(context.Background(), "alive")
					case <-stop:
						return
					}
				}
			})
			says(t, cmd, "go")
			says(t, state, "on")
			time.Sleep(25 * ms)
			c, text := to(sub, ReceiveWithin(100*ms, "on"))
			if background {
				want(t, c, text, green)
			} else {
				want(t, c, text, red, "publish on /heartbeat")
			}
			close(stop)
			wg.Wait()
		}
	}
	play(t, scene(false))
	play(t, scene(true))
}

func TestOldMessageUnderNegation(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		says(t, state, "bad")
		time.Sleep(ms)
		c, text := to(w.sub("/state"), Over(100*ms, NoMessage("bad")))
		want(t, c, text, inconclusive, "began") // this one began after the stimulus
		c, text = notTo(sub, ReceiveWithin(100*ms, "bad"))
		want(t, c, text, red, "came before the call", "Over(d, NoMessage(…))")
		c, text = to(sub, Over(100*ms, NoMessage("bad")))
		want(t, c, text, green)
	})
}

func TestCombinedOutside(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		says(t, state, "B")
		says(t, state, "A")
		c, text := to(sub, And(ReceiveWithin(100*ms, "A"), ReceiveWithin(100*ms, "B"))) // A, then B
		want(t, c, text, red)
		says(t, cmd, "go")
		says(t, state, "B")
		c, text = to(sub, Or(ReceiveWithin(100*ms, "A"), ReceiveWithin(100*ms, "B")))
		want(t, c, text, green)
		says(t, cmd, "go")
		c, text = to(sub, Not(ReceiveWithin(100*ms, "A")))
		want(t, c, text, green)
	})
}

func TestCombinedInside(t *testing.T) {
	beforeAny := Within(100*ms, And(AnyMessage("A"), NoMessage("C")))
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		says(t, state, "A")
		says(t, state, "C")
		c, text := to(sub, beforeAny)
		want(t, c, text, green)
		says(t, cmd, "go")
		says(t, state, "C")
		says(t, state, "A")
		c, text = to(sub, beforeAny)
		want(t, c, text, red, `NoMessage("C")`, "message 1 matched")
		says(t, cmd, "go")
		w.later(50*ms, state, "B")
		c, text = to(sub, Within(100*ms, Or(AnyMessage("A"), AnyMessage("B"))))
		want(t, c, text, green)
		c, text = to(sub, Over(50*ms, Not(AnyMessage("B"))))
		want(t, c, text, green)
	})
}

func TestMisuse(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		sub := w.sub("/state")
		for _, test := range []struct {
			m    types.GomegaMatcher
			part string
		}{
			{Within(ms, HaveRate(50)), "use Over(d, HaveRate(50))"},
			{Within(ms, HaveCount(3)), "use Over"},
			{Within(ms, NoMessage("x")), `use Over(d, NoMessage("x"))`},
			{Within(ms, EveryMessage("x")), "use Over"},
			{Within(ms, Not(AnyMessage("x"))), "use Over"},
			{Within(ms, Or(AnyMessage("x"), NoMessage("y"))), "in an Or"},
			{Within(ms, Equal("x")), `AnyMessage(= "x")`},
			{Within(ms, Within(ms, AnyMessage())), "a wait in a wait"},
			{Within(ms, StaySilentFor(ms)), "FallSilentWithin(d, hold)"},
			{Over(ms, ReceiveWithin(ms)), "a wait in a wait"},
			{HaveRate(50), "Over(d, HaveRate(50))"},
			{AnyMessage("x"), `Within(d, AnyMessage("x"))`},
			{Within(0, AnyMessage()), "must be positive"},
			{Over(-ms, NoMessage()), "must be positive"},
			{AnyMessage("x", "y"), "at most one"},
			{ReceiveWithin(ms, "x", "y"), "at most one"},
			{ReceiveWithin(ms, Field("X", 1)), "has no fields"},
			{AverageOver(ms, "X", 1), "has no fields"},
			{AverageOver(ms, 7, 1), "a path such as"},
			{AtLeast(0), "must be positive"},
			{Within(ms, AtLeast(0)), "must be positive"},
			{FallSilentWithin(ms, time.Second), "want 0 < hold ≤ d"},
			{ReceiveBetween(time.Second, ms), "want 0 ≤ lo < hi"},
			{Over(ms, HaveDelay("p0", 1)), "no figure of a delay"},
		} {
			for _, ask := range []func(any, types.GomegaMatcher) (color, string){to, notTo} {
				began := time.Now()
				c, text := ask(sub, test.m)
				want(t, c, text, red, test.part)
				if time.Since(began) > 0 {
					t.Errorf("%v waited before it said so", test.m)
				}
			}
		}
		for _, m := range []types.GomegaMatcher{Within(ms, AnyMessage()), HaveRate(1), ReplyWithin(ms), HaveReceived()} {
			c, text := to(3, m)
			want(t, c, text, red, "it got")
		}
	})
}

func TestOneInstanceIsANewWaitEachTime(t *testing.T) {
	m := Within(100*ms, And(AnyMessage("on"), EveryMessage(Not(Equal("off")))))
	for range 2 { // as FlakeAttempts and table entries do
		play(t, func(t *testing.T, w *world) {
			cmd, state, sub := w.react("/state")
			for range 2 {
				says(t, cmd, "go")
				w.later(50*ms, state, "on")
				c, text := to(sub, m)
				want(t, c, text, green)
				says(t, cmd, "go")
				c, text = to(sub, m)
				want(t, c, text, red)
			}
		})
	}
}

// gomegaSays is what a Gomega of its own says, "" for a pass.
func gomegaSays(ask func(g Gomega)) (said string) {
	ask(NewGomega(func(message string, _ ...int) { said = message }))
	return said
}

func TestPollingAWaitIsRefused(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		says(t, state, "on")
		for name, ask := range map[string]func(Gomega){
			"Eventually":           func(g Gomega) { g.Eventually(sub).Should(ReceiveWithin(ms, "on")) },
			"Eventually of a func": func(g Gomega) { g.Eventually(func() any { return sub }).Should(ReceiveWithin(ms, "on")) },
			"Eventually not":       func(g Gomega) { g.Eventually(sub).ShouldNot(ReceiveWithin(ms, "off")) },
			"Consistently":         func(g Gomega) { g.Consistently(sub).Should(Over(ms, NoMessage("off"))) },
			"Consistently a window": func(g Gomega) {
				g.Consistently(sub.Between(harness.Mark{}, w.rig.Timeline().Now())).Should(HaveCount(1))
			},
			"in an And": func(g Gomega) { g.Eventually(sub).Should(And(ReceiveWithin(ms, "on"), ReceiveWithin(ms, "on"))) },
		} {
			began := time.Now()
			said := gomegaSays(ask)
			if !strings.Contains(said, "not for Eventually or Consistently") {
				t.Errorf("%s: it said %q", name, said)
			}
			if time.Since(began) > 0 {
				t.Errorf("%s: refused after %v", name, time.Since(began))
			}
		}
	})
}

func TestEventuallyHaveReceived(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		w.later(15*ms, state, "on") // between two polls
		w.later(16*ms, state, "off")
		if said := gomegaSays(func(g Gomega) { g.Eventually(sub).Should(HaveReceived("on")) }); said != "" {
			t.Errorf("it said %s", said)
		}
		says(t, cmd, "go")
		said := gomegaSays(func(g Gomega) {
			w.later(105*ms, state, "on")
			g.Eventually(sub).WithTimeout(100 * ms).WithPolling(30 * ms).Should(HaveReceived("on"))
		})
		if !strings.Contains(said, "to have received") {
			t.Errorf("it said %s", said)
		}
		for name, ask := range map[string]func(Gomega){
			"Consistently not": func(g Gomega) { g.Consistently(sub).ShouldNot(HaveReceived("x")) },
			"Eventually not":   func(g Gomega) { g.Eventually(sub).ShouldNot(HaveReceived("x")) },
			"NotTo":            func(g Gomega) { g.Eventually(sub).NotTo(HaveReceived("x")) },
			"Not":              func(g Gomega) { g.Eventually(sub).Should(Not(HaveReceived("x"))) },
			"Expect not":       func(g Gomega) { g.Expect(sub).NotTo(HaveReceived("x")) },
		} {
			began := time.Now()
			said := gomegaSays(ask)
			if !strings.Contains(said, `Over(d, NoMessage("x"))`) {
				t.Errorf("%s: it said %q", name, said)
			}
			if time.Since(began) > 0 {
				t.Errorf("%s: refused after %v", name, time.Since(began))
			}
		}
	})
}

func TestHaveReceivedAfterTheLastPollSaysSo(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		w.later(95*ms, state, "on") // the last poll is at 90 ms, and Gomega takes no last look
		said := gomegaSays(func(g Gomega) {
			g.Eventually(sub).WithTimeout(100 * ms).WithPolling(30 * ms).Should(HaveReceived("on"))
		})
		if said != "" && !strings.Contains(said, "after the last poll") {
			t.Errorf("it said %s", said)
		}
	})
}

func TestHaveReceivedOfADeadLink(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		sub := w.sub("/state")
		w.rig.Conn().(*inproc.Conn).Sever(errors.New("cable pulled"))
		synctest.Wait()
		began := time.Now()
		said := gomegaSays(func(g Gomega) { g.Eventually(sub).WithTimeout(time.Hour).Should(HaveReceived("on")) })
		if !strings.Contains(said, "nothing more will arrive") || time.Since(began) > 0 {
			t.Errorf("after %v it said %s", time.Since(began), said)
		}
	})
}

func TestSpecEndsWhileMatchBlocks(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		advertise(t, w.robot, "/state")
		sub := w.sub("/state")
		over := errors.New("spec timed out")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, over)
		defer cancel()
		w.rig.Timeline().Until(ctx)
		for _, m := range []types.GomegaMatcher{ReceiveWithin(time.Hour, "x"), StaySilentFor(time.Hour)} {
			began := time.Now()
			c, text := notTo(sub, m)
			want(t, c, text, inconclusive, "spec timed out")
			if time.Since(began) > 2*time.Second {
				t.Errorf("it waited %v", time.Since(began))
			}
		}
	})
}

func TestReplies(t *testing.T) {
	svc := msgs.JSONService[int, int]("demo/srv/Double")
	play(t, func(t *testing.T, w *world) {
		srv, err := harness.Serve(t.Context(), w.robot, "/double", svc)
		if err != nil {
			t.Fatal(err)
		}
		cli, err := harness.NewClient(t.Context(), w.rig, "/double", svc)
		if err != nil {
			t.Fatal(err)
		}
		first, second, third := cli.Call(t.Context(), 1), cli.Call(t.Context(), 2), cli.Call(t.Context(), 3)
		var asked []*harness.Responder[int, int]
		for range 3 {
			m, err := srv.WaitForNext(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			asked = append(asked, m.Value)
		}
		go func() {
			time.Sleep(50 * ms)
			_, _ = asked[1].Reply(4)
			time.Sleep(100 * ms)
			_, _ = asked[0].Reply(2)
			_, _ = asked[2].Fail("odd")
		}()
		c, text := to(second, ReplyWithin(100*ms, 4))
		want(t, c, text, green)
		c, text = to(first, ReplyWithin(100*ms, 2))
		want(t, c, text, red, "50ms late")
		c, text = notTo(first, ReplyWithin(100*ms, 2))
		want(t, c, text, green)
		c, text = to(first, ReplyWithin(time.Second, 3))
		want(t, c, text, red, "got 2, want 3")
		c, text = to(third, FailWithin(time.Second, "odd"))
		want(t, c, text, green)
		c, text = to(third, ReplyWithin(time.Second))
		want(t, c, text, red, "odd")
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
		nobody := cli.Call(t.Context(), 4)
		for _, ask := range []func(any, types.GomegaMatcher) (color, string){to, notTo} {
			c, text = ask(nobody, ReplyWithin(100*ms, 8))
			want(t, c, text, inconclusive, "nobody serves", "WaitForServer")
		}
		c, text = to(nobody, FailWithin(100*ms, transports.ErrNoResponder))
		want(t, c, text, green)
	})
}

func TestTwoGoroutinesOnOneSubscription(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, cmd, "go")
		w.later(50*ms, state, "A")
		w.later(60*ms, state, "B")
		var wg sync.WaitGroup
		for _, v := range []string{"A", "B"} {
			wg.Go(func() {
				c, text := to(sub, ReceiveWithin(100*ms, v))
				want(t, c, text, green)
			})
		}
		wg.Wait()
	})
}

func TestTenKilohertzForTenSeconds(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		p, err := harness.Advertise[speed](t.Context(), w.robot, "/speed", harness.JSON[speed]())
		if err != nil {
			t.Fatal(err)
		}
		sub, err := harness.Subscribe[speed](t.Context(), w.rig, "/speed", harness.JSON[speed](), harness.Keep(1000, 0))
		if err != nil {
			t.Fatal(err)
		}
		s := p.Every(100*time.Microsecond, func(i int) speed { return speed{1} })
		defer s.Stop()
		// The ring laps a hundred times, and the judge sees every message.
		c, text := to(sub, Over(10*time.Second, And(EveryMessage(Field("X", 1)), HaveRate(BeNumerically("~", 10000, 1)), HaveAverage("X", 1))))
		want(t, c, text, green)
	})
}

func TestStartOverwrittenInTheRing(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state := advertise(t, w.rig, "/cmd"), advertise(t, w.robot, "/state")
		sub := w.sub("/state", harness.Keep(10, 0))
		m, err := cmd.Publish(t.Context(), "go")
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			says(t, state, "x")
		}
		for _, matcher := range []types.GomegaMatcher{Over(10*ms, NoMessage("bad")), Over(10*ms, EveryMessage("x")), Over(10*ms, HaveCount(10)),
			Over(10*ms, HaveRate(1)), ReceiveWithin(10*ms, "bad"), Over(10*ms, FirstMessage("x")), Over(10*ms, Exactly("y"))} {
			c, text := to(sub.After(m), matcher)
			want(t, c, text, inconclusive)
			c, text = notTo(sub.After(m), matcher)
			want(t, c, text, inconclusive)
		}
		c, text := to(sub.After(m), ReceiveWithin(10*ms, "x")) // what was not seen could not change it
		want(t, c, text, green)
		c, text = to(sub.After(m), Over(10*ms, LastMessage("x")))
		want(t, c, text, inconclusive)
	})
}

func TestDAlreadyOver(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		m, err := cmd.Publish(t.Context(), "go")
		if err != nil {
			t.Fatal(err)
		}
		w.later(50*ms, state, "on")
		w.later(150*ms, state, "late")
		time.Sleep(time.Second)
		began := time.Now()
		c, text := to(sub.After(m), ReceiveWithin(100*ms, "on"))
		want(t, c, text, green)
		c, text = to(sub.After(m), ReceiveWithin(100*ms, "late"))
		want(t, c, text, red, "50ms late")
		c, text = to(sub.After(m), Over(100*ms, HaveCount(1)))
		want(t, c, text, green)
		if time.Since(began) > 0 {
			t.Errorf("it waited %v for what was over", time.Since(began))
		}
	})
}

func TestStartBeforeTheSubscription(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state := advertise(t, w.rig, "/cmd"), advertise(t, w.robot, "/state")
		m, err := cmd.Publish(t.Context(), "go")
		if err != nil {
			t.Fatal(err)
		}
		says(t, state, "on")
		sub := w.sub("/state")
		for _, subject := range []any{sub, sub.After(m)} {
			c, text := to(subject, ReceiveWithin(100*ms, "on"))
			want(t, c, text, inconclusive, "began")
		}
		w.later(50*ms, state, "on")
		c, text := to(sub.After(w.rig.Mark("again")), ReceiveWithin(100*ms, "on"))
		want(t, c, text, green)
		c, text = to(sub.After(m), Over(time.Second, NoMessage("x")))
		want(t, c, text, inconclusive, "began")
	})
}

func TestUndecodableMessage(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		raw := advertise(t, w.robot, "/speed")
		sub, err := harness.Subscribe[speed](t.Context(), w.rig, "/speed", harness.JSON[speed]())
		if err != nil {
			t.Fatal(err)
		}
		m := w.rig.Mark("from here")
		says(t, raw, "{nonsense")
		says(t, raw, `{"X": 1}`)
		for _, matcher := range []types.GomegaMatcher{ReceiveWithin(ms, Field("X", 1)), Over(ms, HaveCount(2)), Over(ms, LastMessage(Field("X", 1))),
			Over(ms, HaveMaxGap(BeNumerically("<=", ms)))} {
			c, text := to(sub.After(m), matcher)
			want(t, c, text, green)
		}
		for _, matcher := range []types.GomegaMatcher{Over(ms, NoMessage(Field("X", 2))), Over(ms, EveryMessage(Field("X", 1))), ReceiveWithin(ms, Field("X", 2)),
			Over(ms, HaveAverage("X", 1)), Over(ms, FirstMessage(Field("X", 1)))} {
			c, text := to(sub.After(m), matcher)
			want(t, c, text, inconclusive, "decode")
			c, text = notTo(sub.After(m), matcher)
			want(t, c, text, inconclusive, "decode")
		}
		c, text := to(sub.After(m), Over(ms, NoMessage()))
		want(t, c, text, red, "does not decode")
		c, text = to(sub.After(m), Over(ms, EveryMessage(Field("X", 2))))
		want(t, c, text, red) // violated whatever the other was
	})
}

// edges counts how often an arrival at so late is seen within a second.
func edges(t *testing.T, tries int, at time.Duration) (seen int) {
	for range tries {
		play(t, func(t *testing.T, w *world) {
			cmd, state, sub := w.react("/state")
			says(t, cmd, "go")
			w.later(at, state, "on")
			if c, _ := to(sub, ReceiveWithin(time.Second, "on")); c == green {
				seen++
			}
			time.Sleep(2 * time.Second)
		})
	}
	return seen
}

func TestArrivalAtTheEdge(t *testing.T) {
	const tries = 1000
	for at, want := range map[time.Duration]int{999 * ms: tries, 1000 * ms: tries, 1001 * ms: 0} {
		if got := edges(t, tries, at); got != want {
			t.Errorf("an arrival at %v of 1s was seen %d times of %d, want %d", at, got, tries, want)
		}
	}
}

func TestOneViolationAtAKilohertz(t *testing.T) {
	const tries = 1000
	caught := 0
	for i := range tries {
		play(t, func(t *testing.T, w *world) {
			state, sub := advertise(t, w.robot, "/state"), w.sub("/state")
			s := state.Every(ms, func(k int) string {
				if k == 1+i%100 { // the first may come before the call, where EveryMessage begins
					return "bad"
				}
				return "good"
			})
			m := Over(100*ms, EveryMessage("good"))
			if i%2 == 1 {
				m = Over(100*ms, NoMessage("bad"))
			}
			if c, _ := to(sub, m); c == red {
				caught++
			}
			s.Stop()
		})
	}
	if caught != tries {
		t.Errorf("caught %d of %d", caught, tries)
	}
}

// A hundred waits at a time, live. Verdicts must agree with the receive stamps always; a try
// whose publisher missed its own instant says nothing about the edge, and is made again.
func TestArrivalAtTheEdgeLive(t *testing.T) {
	for _, at := range []time.Duration{999 * ms, 1001 * ms} {
		kept, seen, slipped := 0, 0, 0
		for round := 0; kept < 100 && round < 20; round++ {
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range 100 - kept {
				wg.Go(func() {
					// They wait at a time, but are not due at one instant, which two cores could
					// not keep.
					time.Sleep(time.Duration(i) * 9 * ms)
					inTime, green := edge(t, at)
					mu.Lock()
					defer mu.Unlock()
					if inTime != (at < time.Second) {
						slipped++
						return
					}
					kept++
					if green {
						seen++
					}
				})
			}
			wg.Wait()
		}
		t.Logf("%v of 1 s: seen %d of %d; %d tries whose publisher was late were made again", at, seen, kept, slipped)
		if want := map[bool]int{true: 100, false: 0}[at < time.Second]; kept != 100 || seen != want {
			t.Errorf("%v of 1 s: seen %d of %d, want %d of 100", at, seen, kept, want)
		}
	}
}

// edge publishes a message at after a command whose effect is awaited for 1 s, and reports
// whether the message was received in time and whether the verdict was a pass.
func edge(t *testing.T, at time.Duration) (inTime, passed bool) {
	w := newWorld(t)
	cmd, state, sub := w.react("/state")
	m, err := cmd.Publish(t.Context(), "go")
	if err != nil {
		t.Error(err)
		return false, false
	}
	due := m.Time().Add(at)
	time.AfterFunc(time.Until(due)-3*ms, func() {
		for time.Until(due) > 0 { // a timer of a loaded machine is late by more than the 1 ms at stake
			runtime.Gosched()
		}
		_, _ = state.Publish(context.Background(), "on")
	})
	c, text := to(sub, ReceiveWithin(time.Second, "on"))
	got, err := sub.WaitForValue(t.Context())
	if err != nil {
		t.Error(err)
		return false, false
	}
	inTime = got.Received.Sub(m.Time()) <= time.Second
	if inTime != (c == green) {
		t.Errorf("received after %v, and the verdict was %s\n%s", got.Received.Sub(m.Time()), c, text)
	}
	return inTime, c == green
}

// BecomeWithin must not take the state before a reaction for the one after it.
func TestBecome(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cmd, state, sub := w.react("/state")
		says(t, state, "driving")
		says(t, cmd, "drive on")
		c, text := to(sub, BecomeWithin(100*ms, "driving")) // it is
		want(t, c, text, green)
		says(t, cmd, "stop")
		says(t, state, "stopped")
		c, text = to(sub, BecomeWithin(100*ms, "driving"))
		want(t, c, text, red)
		c, text = to(sub, BecomeWithin(100*ms, "stopped"))
		want(t, c, text, green)
		w.later(50*ms, state, "driving")
		c, text = to(sub, BecomeWithin(100*ms, "driving"))
		want(t, c, text, green)
	})
}

// life is a Living of tests.
type life struct{ started, ended harness.Mark }

func (l *life) Lives() (started, ended harness.Mark) { return l.started, l.ended }
func (l *life) GomegaString() string                 { return "process talker" }

func TestSourceThatEnds(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		l := &life{}
		lines, push, err := harness.Source[string](w.rig, "talker stdout", harness.FedBy(l))
		if err != nil {
			t.Fatal(err)
		}
		errs, _, err := harness.Source[string](w.rig, "talker stderr", harness.FedBy(l))
		if err != nil {
			t.Fatal(err)
		}
		l.started = w.rig.Mark("start of talker")
		time.AfterFunc(50*ms, func() { push("one") })
		c, text := to(errs, StaySilentFor(100*ms)) // it runs, so its silence counts
		want(t, c, text, green)
		time.AfterFunc(50*ms, func() {
			l.ended = w.rig.Timeline().Now()
			lines.End("process talker exited with code 3")
			errs.End("process talker exited with code 3")
		})
		began := time.Now()
		c, text = to(lines, ReceiveWithin(time.Hour, "two"))
		want(t, c, text, red, "exited with code 3", `"one"`)
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("it waited %v for what cannot come any more", waited)
		}
		c, text = to(errs.FromStart(), Over(time.Hour, NoMessage())) // all there was is known
		want(t, c, text, green)
		c, text = to(lines.FromStart(), Over(time.Hour, Exactly("one")))
		want(t, c, text, green)
		w.rig.Mark("afterwards")
		c, text = to(errs, StaySilentFor(100*ms)) // the dead are silent
		want(t, c, text, inconclusive, "nobody was there")
		for m, err := range lines.FromStart().ListenReliable(t.Context()) {
			if m.Value != "one" && !errors.Is(err, harness.ErrEnded) {
				t.Errorf("the loop got %v, %v", m, err)
			}
		}
	})
}
