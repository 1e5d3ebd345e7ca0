package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/transports"
)

// ticks is when each message came, in milliseconds since an instant, with its value.
func ticks(t *testing.T, s *harness.Subscription[string], since time.Time) (out []string) {
	t.Helper()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for r := s.FromStart(); ; {
		m, err := r.WaitForNext(ended)
		if err != nil {
			return out
		}
		out = append(out, fmt.Sprintf("%s@%d", m.Value, m.Received.Sub(since).Milliseconds()))
	}
}

func expectTicks(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("published %q, want %q", got, want)
	}
}

func TestEveryNeverDrifts(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.cmd("/x")
		began := time.Now()
		stream := p.Every(100*ms, func(i int) string {
			time.Sleep(30 * ms) // a slow f shifts nothing that follows
			return fmt.Sprint(i)
		})
		time.Sleep(450 * ms)
		stop := stream.Stop()
		expectTicks(t, ticks(t, s, began), "0@30", "1@130", "2@230", "3@330", "4@430")
		if stream.Skipped() != 0 || stream.Err() != nil {
			t.Errorf("%d skipped, %v", stream.Skipped(), stream.Err())
		}
		// Starting and stopping are stimuli, the ticks are not.
		var stimuli []string
		for _, e := range w.rig.Timeline().Events() {
			stimuli = append(stimuli, e.String())
		}
		if want := []string{"start of a stream on /x at +0.000000s", "stop of the stream on /x at +0.450000s"}; !slices.Equal(stimuli, want) {
			t.Errorf("stimuli %q, want %q", stimuli, want)
		}
		if stop.String() != stimuli[1] || stream.Mark().String() != stimuli[0] {
			t.Errorf("marks %v and %v", stream.Mark(), stop)
		}
		again := stream.Stop()
		time.Sleep(time.Second)
		if n := len(w.rig.Timeline().Events()); n != 2 || again.IsZero() || s.Received() != 5 {
			t.Errorf("stopped twice: %d events, %v, %d messages", n, again, s.Received())
		}
	})
}

func TestEveryAMillionTimes(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x", harness.Keep(10, 0)), w.pub("/x")
		began := time.Now()
		stream := p.Every(time.Second/3, func(i int) string { return fmt.Sprint(i) })
		time.Sleep(100_000 * (time.Second / 3))
		_ = stream.Stop()
		m := must(s.WaitForValue(t.Context()))
		if want := time.Duration(mustAtoi(m.Value)) * (time.Second / 3); m.Received.Sub(began) != want || want < 99_999*(time.Second/3) {
			t.Errorf("tick %s came at %v, want %v", m.Value, m.Received.Sub(began), want)
		}
	})
}

func mustAtoi(s string) (n int) {
	must(fmt.Sscan(s, &n))
	return n
}

func TestEverySkipsAfterAStall(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		began := time.Now()
		stream := p.Every(100*ms, func(i int) string {
			if i == 1 {
				time.Sleep(350 * ms)
			}
			return fmt.Sprint(i)
		})
		time.Sleep(650 * ms)
		_ = stream.Stop()
		// 1 is late by 350 ms: 2 and 3 are skipped, 4 is due at 400 and goes at once.
		expectTicks(t, ticks(t, s, began), "0@0", "1@450", "4@450", "5@500", "6@600")
		if stream.Skipped() != 2 {
			t.Errorf("%d skipped", stream.Skipped())
		}
	})
}

func TestStreamSet(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.cmd("/x")
		began := time.Now()
		stream := p.Every(100*ms, func(int) string { return "a" })
		time.Sleep(150 * ms)
		m := stream.Set(func(i int) string { return fmt.Sprint("b", i) })
		time.Sleep(100 * ms)
		_ = stream.Stop()
		expectTicks(t, ticks(t, s, began), "a@0", "a@100", "b2@200")
		if q := m.String(); q != "change of the stream on /x at +0.150000s" {
			t.Error(q)
		}
	})
}

func TestStopFromAnywhere(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		var stream *harness.Stream[string]
		started := make(chan struct{})
		stream = p.Every(10*ms, func(i int) string {
			<-started
			if i == 2 {
				_ = stream.Stop() // from f
			}
			return fmt.Sprint(i)
		})
		close(started)
		time.Sleep(time.Second)
		if s.Received() != 2 {
			t.Errorf("%d messages", s.Received())
		}
		_ = stream.Stop()

		// From a callback that its own publish runs.
		c := must(w.conn.Subscribe(t.Context(), "/y", transports.Type{}, transports.QoS{}, func(x transports.Sample) {
			if string(x.Payload) == "3" {
				_ = stream.Stop()
			}
		}))
		q, seen := w.pub("/y"), w.sub("/y")
		started = make(chan struct{})
		stream = q.Every(10*ms, func(i int) string {
			<-started
			return fmt.Sprint(i)
		})
		close(started)
		time.Sleep(time.Second)
		if seen.Received() != 4 {
			t.Errorf("%d messages", seen.Received())
		}
		_ = c.Close()

		// Streams that stop one another, from their f, at one time.
		var a, b *harness.Stream[string]
		started = make(chan struct{})
		a = p.Every(10*ms, func(int) string { <-started; time.Sleep(ms); _ = b.Stop(); return "" })
		b = p.Every(10*ms, func(int) string { <-started; time.Sleep(ms); _ = a.Stop(); return "" })
		close(started)
		time.Sleep(time.Second)
		_, _ = a.Stop(), b.Stop()
	})
}

// When Stop returns, nothing more is published, whatever f was at.
func TestStopWaitsForF(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		stream := p.Every(10*ms, func(i int) string {
			time.Sleep(5 * ms)
			return fmt.Sprint(i)
		})
		time.Sleep(22 * ms) // f runs
		_ = stream.Stop()
		n := s.Received()
		time.Sleep(time.Second)
		if n != 2 || s.Received() != n {
			t.Errorf("%d messages, then %d", n, s.Received())
		}
	})
}

func TestStopWaitsForAPublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire, published := newFake(), time.Time{}
		wire.publish = func() error {
			time.Sleep(5 * ms)
			published = time.Now()
			return nil
		}
		g := harness.New(wire, harness.Config{})
		defer g.Close()
		stream := must(harness.Advertise[string](t.Context(), g, "/x")).Every(10*ms, func(int) string { return "" })
		time.Sleep(12 * ms) // the second is under way
		_ = stream.Stop()
		if stopped := time.Now(); !stopped.Equal(published) || stream.Err() != nil {
			t.Errorf("stopped %v before the publish was over, %v", published.Sub(stopped), stream.Err())
		}
	})
}

func TestCloseStopsStreams(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.cmd("/x")
		stream := p.Every(10*ms, func(int) string { return "a" })
		time.Sleep(25 * ms)
		if err := errors.Join(p.Close(), p.Close()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if s.Received() != 3 || stream.Err() != nil {
			t.Errorf("%d messages, %v", s.Received(), stream.Err())
		}
		if n := len(w.rig.Timeline().Events()); n != 1 {
			t.Errorf("%d stimuli: closing is none", n)
		}
		late := p.Every(10*ms, func(int) string { return "b" })
		if !errors.Is(late.Err(), harness.ErrClosed) {
			t.Errorf("a stream on a closed publisher: %v", late.Err())
		}
		if _, err := s.After(late.Mark()).Observe(harness.Effect, ms); inconclusive(err) == "" {
			t.Errorf("its start did not fail: %v", err)
		}
		_ = late.Stop()
		if err := p.WaitForSubscribers(t.Context(), 1); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("waited for: %v", err)
		}
	})
}

// A publish that fails in the middle makes the start inconclusive, also where
// it was part of a group that is over.
func TestStreamFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wire, n := newFake(), 0
		wire.publish = func() error {
			if n++; n == 4 {
				return errUnplugged
			}
			return nil
		}
		g := harness.New(wire, harness.Config{})
		defer g.Close()
		s := must(harness.Subscribe[string](t.Context(), g, "/x"))
		p := must(harness.Advertise[string](t.Context(), g, "/cmd"))
		var stream *harness.Stream[string]
		group := g.Stimulus("drive", func() {
			stream = p.Every(10*ms, func(int) string { return "go" })
		})
		time.Sleep(15 * ms)
		if _, err := s.After(group).Observe(harness.Effect, ms); err != nil {
			t.Errorf("before it failed: %v", err)
		}
		time.Sleep(time.Second)
		if !errors.Is(stream.Err(), errUnplugged) || n != 4 {
			t.Errorf("%v after %d", stream.Err(), n)
		}
		for _, m := range []harness.Mark{stream.Mark(), group} {
			if _, err := s.After(m).Observe(harness.Effect, ms); !errors.Is(err, errUnplugged) || inconclusive(err) == "" {
				t.Errorf("after %v: %v", m, err)
			}
		}
		_ = stream.Stop()
	})
}

func TestEveryWantsAPeriod(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		defer func() {
			if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "positive period") {
				t.Errorf("panicked with %v", r)
			}
		}()
		w.pub("/x").Every(0, func(int) string { return "" })
	})
}

func TestBackgroundIsNoStimulus(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.cmd("/x")
		b := p.Background()
		m := must(p.Publish(t.Context(), "go"))
		heart := must(b.Publish(t.Context(), "beat"))
		if q, _ := counted(t, s, harness.Effect); q != m {
			t.Errorf("counts from %v, want %v", q, m)
		}
		if heart.Order() <= m.Order() || len(w.rig.Timeline().Events()) != 1 || s.Received() != 2 {
			t.Errorf("%v, %d events", heart, len(w.rig.Timeline().Events()))
		}
		if got := drain(t, s.After(heart)); !slices.Equal(got, []string{"beat"}) {
			t.Errorf("after the heartbeat: %q", got)
		}
		// A stream of it is a stimulus, and one publisher is one to close.
		stream := b.Every(time.Second, func(int) string { return "x" })
		if q, _ := counted(t, s, harness.Effect); q != stream.Mark() {
			t.Errorf("counts from %v", q)
		}
		_ = p.Close()
		if _, err := b.Publish(t.Context(), "beat"); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestPublishOnALostLink(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		p := w.cmd("/x")
		stream := p.Every(10*ms, func(int) string { return "x" })
		time.Sleep(25 * ms)
		w.conn.Sever(errPulled)
		if _, err := p.Publish(t.Context(), "x"); !lostLink(err) {
			t.Errorf("published: %v", err)
		}
		if err := p.WaitForSubscribers(t.Context(), 1); !lostLink(err) {
			t.Errorf("waited: %v", err)
		}
		time.Sleep(time.Second)
		if !lostLink(stream.Err()) {
			t.Errorf("stream: %v", stream.Err())
		}
	})
}

func TestPublishFromManyGoroutines(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.cmd("/x")
		var wg sync.WaitGroup
		for k := range 8 {
			wg.Go(func() {
				for i := range 100 {
					say(p, fmt.Sprintf("%d %d", k, i))
				}
			})
		}
		wg.Wait()
		w.rig.Settle()
		next := map[string]int{}
		for _, v := range drain(t, s.FromStart()) {
			var k string
			var i int
			must(fmt.Sscan(v, &k, &i))
			if next[k] != i {
				t.Fatalf("goroutine %s: %d after %d", k, i, next[k]-1)
			}
			next[k]++
		}
		if s.Received() != 800 {
			t.Errorf("%d messages", s.Received())
		}
	})
}

func TestLatched(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		p := w.pub("/map", harness.Latched(2))
		say(p, "a", "b", "c")
		m, err := w.sub("/map", harness.Latched(1)).WaitForValue(t.Context())
		expectValue(t, "latched", m, err, "c")
		if got := drain(t, w.sub("/map", harness.Latched(5)).FromStart()); !slices.Equal(got, []string{"b", "c"}) {
			t.Errorf("replayed %q", got)
		}
		if s := w.sub("/map", harness.SensorData()); s.Received() != 0 {
			t.Error("a volatile subscription got what was latched")
		}
		if got := drain(t, w.sub("/map").FromStart()); !slices.Equal(got, []string{"b", "c"}) {
			t.Errorf("a default subscription hears as much as is offered: %q", got)
		}
		q := w.pub("/fast", harness.SensorData())
		reliable := w.sub("/fast", harness.Reliable(5))
		say(q, "x")
		if reliable.Received() != 0 {
			t.Error("best effort met reliable")
		}
	})
}
