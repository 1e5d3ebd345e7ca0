package harness_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

var errUnplugged = errors.New("unplugged")

// inconclusive is the reason of an *measure.Inconclusive, "" if err is none.
func inconclusive(err error) string {
	var why *measure.Inconclusive
	if !errors.As(err, &why) {
		return ""
	}
	return why.Reason
}

func TestMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tl := harness.NewTimeline()
		a, b := tl.Now(), tl.Mark("pressed stop")
		if !a.Time().Equal(b.Time()) || a.Order() >= b.Order() {
			t.Errorf("%v and %v of one nanosecond have no order", a, b)
		}
		at := a.Time()
		for _, c := range []struct {
			m    harness.Mark
			n    uint64
			at   time.Time
			want bool
		}{
			{a, a.Order(), at, false}, {a, a.Order() + 1, at, true}, {a, a.Order() + 1, at.Add(-1), false}, {a, a.Order() - 1, at.Add(time.Hour), false},
			{a.Add(ms), a.Order() + 1, at.Add(ms - 1), false}, {a.Add(ms), a.Order() + 1, at.Add(ms), true}, {harness.Mark{}, 1, at, true},
		} {
			if got := c.m.Precedes(c.n, c.at); got != c.want {
				t.Errorf("%v precedes %d at %v: %v", c.m, c.n, tl.Since(c.at), got)
			}
		}
		time.Sleep(1500 * ms)
		for want, got := range map[string]string{
			"now at +0.000000s":                     a.String(),
			"pressed stop at +0.000000s":            b.GomegaString(),
			"2s after pressed stop at +0.000000s":   b.Add(2 * time.Second).String(),
			"signal SIGINT to talker at +1.500000s": tl.Mark("signal SIGINT to talker").String(),
			"no mark":                               harness.Mark{}.String(),
			"ten rounds at +1.500000s":              tl.Stimulus("ten rounds", func() {}).String(),
		} {
			if got != want {
				t.Errorf("printed %q, want %q", got, want)
			}
		}
		if !(harness.Mark{}).IsZero() || a.IsZero() {
			t.Error("IsZero")
		}
	})
}

// counted is where an expectation that begins now counts from.
func counted(t *testing.T, s harness.Observed, mode harness.Mode) (quiet harness.Mark, from time.Time) {
	t.Helper()
	o, err := s.Observe(mode, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	return o.Quiet, o.From
}

func TestStimulusIsOneFromItsStart(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, cmd, tl := w.sub("/x"), w.cmd("/cmd"), w.rig.Timeline()
		var inner, deep harness.Mark
		outer := w.rig.Stimulus("two rounds", func() {
			say(cmd, "1")
			time.Sleep(time.Second)
			inner = w.rig.Stimulus("the second", func() {
				deep = must(cmd.Publish(t.Context(), "2"))
			})
			tl.Mark("and this")
			if q, _ := counted(t, s, harness.Effect); q.Order() != outer0(tl).Order() {
				t.Errorf("counts from %v inside", q)
			}
		})
		if q, _ := counted(t, s, harness.Effect); q != outer {
			t.Errorf("counts from %v, want %v", q, outer)
		}
		if !(outer.Order() < inner.Order() && inner.Order() < deep.Order()) || inner.Time().Sub(outer.Time()) != time.Second {
			t.Errorf("%v, %v, %v", outer, inner, deep)
		}
		after := tl.Mark("next")
		if q, _ := counted(t, s, harness.Effect); q != after {
			t.Errorf("counts from %v after the group, want %v", q, after)
		}
	})
}

// outer0 is the first stimulus noted as one of several.
func outer0(tl *harness.Timeline) harness.Mark {
	for _, e := range tl.Events() {
		if e.Stimulus && e.Cause() == "two rounds" {
			return e.Mark
		}
	}
	return harness.Mark{}
}

func TestFailingActs(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, cmd, tl := w.sub("/x"), w.cmd("/cmd"), w.rig.Timeline()
		fails := must(harness.Advertise[string](t.Context(), w.rig, "/gone"))
		_ = fails.Close()
		expect := func(what string, o harness.Observed, want string) {
			t.Helper()
			_, err := o.Observe(harness.Effect, time.Second)
			if got := inconclusive(err); want == "" && err != nil || !strings.Contains(got, want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
		m, err := fails.Publish(t.Context(), "x")
		if !errors.Is(err, harness.ErrClosed) || !strings.HasPrefix(err.Error(), "publish on /gone: ") {
			t.Errorf("published: %v", err)
		}
		expect("failed publish", s, "the stimulus did not happen: publish on /gone at +0.000000s: publish on /gone: harness: closed")
		expect("after it", s.After(m), "did not happen")
		expect("some time after it", s.After(m.Add(time.Second)), "did not happen")
		say(cmd, "works")
		expect("the next stimulus", s, "")
		var inner, beside harness.Mark
		outer := tl.Stimulus("outer", func() {
			beside = must(cmd.Publish(t.Context(), "1"))
			inner = tl.Stimulus("inner", func() {
				_, _ = fails.Publish(t.Context(), "x")
			})
		})
		expect("the group", s, "the stimulus did not happen: outer")
		expect("after the group", s.After(outer), "did not happen")
		expect("after the inner group", s.After(inner), "did not happen")
		expect("after what did not fail", s.After(beside), "")

		// Failing later, it spoils the group it was part of and no other.
		var act harness.Mark
		outer = tl.Stimulus("starts something", func() { act = tl.Mark("start of a node") })
		other := tl.Stimulus("innocent", func() { tl.Failed(act, errUnplugged) })
		expect("the group of what failed later", s.After(outer), "unplugged")
		expect("the group it failed in", s.After(other), "")

		// What is no stimulus is no part of one.
		other = tl.Stimulus("innocent", func() { _, _ = fails.Background().Publish(t.Context(), "x") })
		expect("a failing heartbeat", s.After(other), "")
		// A group is closed also when the act panics.
		func() {
			defer func() { _ = recover() }()
			tl.Stimulus("panics", func() { panic("ouch") })
		}()
		m = tl.Mark("after the panic")
		if q, _ := counted(t, s, harness.Effect); q != m {
			t.Errorf("counts from %v", q)
		}
	})
}

func TestEncodeFailureIsAFailedStimulus(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s := w.sub("/x")
		p := must(harness.Advertise[func()](t.Context(), w.rig, "/x", harness.JSON[func()]()))
		_, err := p.Publish(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "publish on /x: encode func() as JSON") {
			t.Errorf("published: %v", err)
		}
		if _, err := s.Observe(harness.Effect, time.Second); inconclusive(err) == "" {
			t.Errorf("observed: %v", err)
		}
		if s.Received() != 0 {
			t.Error("something was sent")
		}
	})
}

func TestSeveralGraphsOnOneTimeline(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		tl := w.rig.Timeline()
		board := harness.New(newFake(), harness.Config{Timeline: tl})
		defer board.Close()
		s := w.sub("/x")
		say(w.pub("/x"), "stale")
		m := board.Mark("reset")
		if q, _ := counted(t, s, harness.Effect); q != m {
			t.Errorf("counts from %v, want %v", q, m)
		}
		if got := drain(t, s.After(m)); len(got) != 0 {
			t.Errorf("read %q", got)
		}
		if board.Timeline() != tl || board.Conn() == nil {
			t.Error("not joined")
		}
	})
}

func TestEventsKeepTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tl := harness.NewTimeline()
		if e := tl.Events(); len(e) != 0 {
			t.Errorf("%d events in the beginning", len(e))
		}
		for i := range 512 + 100 {
			tl.Note("note", fmt.Sprint(i), "")
		}
		e := tl.Events()
		if len(e) != 512 || e[0].Cause() != "note 100" || e[511].Cause() != "note 611" {
			t.Errorf("%d events, %v … %v", len(e), e[0], e[len(e)-1])
		}
		for i := 1; i < len(e); i++ {
			if e[i].Order() <= e[i-1].Order() {
				t.Fatalf("event %d is out of order", i)
			}
		}
	})
}

// Whoever acts, the last stimulus and the events are in order.
func TestTimelineFromManyGoroutines(t *testing.T) {
	tl := harness.NewTimeline()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				tl.Stimulus("group", func() { tl.Failed(tl.Mark("act x"), errUnplugged) })
				tl.Now()
				tl.Note("note", "x", "y")
			}
		})
	}
	wg.Wait()
	e := tl.Events()
	for i := 1; i < len(e); i++ {
		if e[i].Order() <= e[i-1].Order() || e[i].Time().Before(e[i-1].Time()) {
			t.Fatalf("event %d is out of order", i)
		}
	}
}

func TestEvidence(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		tl, s, silent := w.rig.Timeline(), w.sub("/x"), w.sub("/silent")
		bad := must(harness.Subscribe[point](t.Context(), w.rig, "/bad", harness.JSON[point]()))
		closed := w.sub("/closed")
		_ = closed.Close()
		for i := range 45 {
			time.Sleep(ms)
			tl.Mark(fmt.Sprint("step ", i))
		}
		cmd := w.cmd("/cmd")
		p, q := w.pub("/x"), w.pub("/bad")
		time.Sleep(100 * ms)
		tl.Stimulus("a round", func() {
			say(cmd, "go")
			_ = cmd.Close()
			_, _ = cmd.Publish(t.Context(), "again")
		})
		for i := range 7 {
			time.Sleep(10 * ms)
			say(p, strings.Repeat(fmt.Sprint(i), 1+120*(i%2)))
		}
		say(q, `{"X":1}`, `{"X":"one"}`)
		tl.Note("failed:", "ReceiveWithin(1s, \"on\")", "first line\nsecond line\n")
		w.conn.Sever(errPulled)
		<-w.rig.Done()
		got := tl.Evidence()
		_ = silent.Close()
		_ = bad.Close()

		golden := filepath.Join("testdata", "evidence.txt")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s differs; if the change is meant, run go test ./harness -update\n%s", golden, d)
		}
		if again := tl.Evidence(); strings.Contains(again, "/silent:") || !strings.Contains(again, "/x: 7 messages") {
			t.Errorf("a closed subscription is still watched, or an open one not:\n%s", again)
		}
		_ = s
	})
}

// Each thing prints in one line.
func TestGomegaStrings(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p, svc := w.sub("/x", harness.Keep(2, 0)), w.cmd("/x"), msgs.JSONService[string, int]("demo/srv/Len")
		srv := must(harness.Serve(t.Context(), w.robot, "/len", svc))
		cli := must(harness.NewClient(t.Context(), w.rig, "/len", svc))
		empty := s.GomegaString()
		m := must(p.Publish(t.Context(), "a"))
		say(p, "b\nc", "d")
		call := cli.Call(t.Context(), "abc")
		open := call.GomegaString()
		req := must(srv.WaitForNext(t.Context()))
		asked := req.Value.GomegaString()
		time.Sleep(20 * ms)
		_ = must(req.Value.Reply(3))
		failed := cli.Call(t.Context(), "x")
		req2 := must(srv.WaitForNext(t.Context()))
		_ = must(req2.Value.Fail("too short"))
		stream := p.Every(time.Second, func(int) string { return "z" })
		_ = stream.Stop()
		strange := must(s.WaitForValue(t.Context()))
		for want, got := range map[string]string{
			"subscription to /x: 0 messages":                empty,
			`after publish on /x at +0.000000s`:             s.After(m).GomegaString(),
			"publisher of /x: 1 subscriptions matched":      p.GomegaString(),
			"call of /len, not answered yet":                open,
			"call of /len, replied 20ms later: 3":           call.GomegaString(),
			"call of /len, failed: /len refused: too short": failed.GomegaString(),
			`request "abc" (not answered)`:                  asked,
			`request "abc"`:                                 req.Value.GomegaString(),
			"client of /len":                                cli.GomegaString(),
			"graph (alive)":                                 w.rig.GomegaString(),
			"stream on /x, started at +0.020000s":           stream.GomegaString(),
			"on /x at +0.0":                                 strange.GomegaString(),
		} {
			if !strings.Contains(got, want) || strings.Contains(got, "\n") {
				t.Errorf("printed %q, want %q", got, want)
			}
		}
		_ = w.rig.Close()
		if got := w.rig.GomegaString() + s.GomegaString(); !strings.Contains(got, "graph (harness: closed)subscription to /x: ") || !strings.Contains(got, "(the newest 2 held), newest ") || !strings.HasSuffix(got, ", ended: harness: closed") {
			t.Errorf("printed %q", got)
		}
	})
}

func TestUntilReplacesTheEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tl := harness.NewTimeline()
		if tl.Context().Done() != nil {
			t.Error("ends by itself")
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		tl.Until(ended)
		tl.Until(t.Context())
		if tl.Context().Err() != nil {
			t.Error("the earlier context still counts")
		}
	})
}
