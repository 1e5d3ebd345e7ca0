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

func TestWaitForValue(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		r := s.FromNow()
		later(100*ms, p, "a", "b")
		began := time.Now()
		m, err := s.WaitForValue(t.Context())
		expectValue(t, "the first to come", m, err, "a")
		if d := time.Since(began); d != 100*ms {
			t.Errorf("woke after %v", d)
		}
		synctest.Wait()
		for range 2 { // it takes nothing away
			m, err = s.WaitForValue(t.Context())
			expectValue(t, "the newest that ever came", m, err, "b")
			m, err = r.WaitForValue(t.Context())
			expectValue(t, "the reader's newest", m, err, "b")
		}
		if m.Topic != "/x" || m.Size != 1 || m.Seq != 2 || m.Publisher.IsZero() || !m.Received.Equal(time.Now()) || !m.Sent.Equal(time.Now()) {
			t.Errorf("got %+v", m)
		}
		_, err = s.FromNow().WaitForValue(soft(t, time.Second))
		expectWaitError(t, err, "WaitForValue", "/x", errors.Unwrap(err), time.Second)
		if !isSoft(err) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestWaitForNewIsArmedAtTheCall(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		say(p, "a")
		later(100*ms, p, "a") // an equal value counts
		began := time.Now()
		m, err := s.WaitForNew(t.Context())
		expectValue(t, "after the call", m, err, "a")
		if d := time.Since(began); d != 100*ms || m.Seq != 2 {
			t.Errorf("message %d after %v", m.Seq, d)
		}
		r := s.FromNow()
		say(p, "b", "c", "d")
		m, err = r.WaitForNew(t.Context())
		expectValue(t, "the newest since FromNow", m, err, "d")
		if _, err = r.WaitForNew(soft(t, time.Second)); !isSoft(err) {
			t.Errorf("the same arrival twice, or %v", err)
		}
	})
}

func TestWaitForNextIsTheFirstHoweverLate(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		say(p, "old")
		r := s.FromNow() // of the same nanosecond as what follows
		say(p, "a", "b", "c")
		time.Sleep(time.Hour)
		for _, want := range []string{"a", "b", "c"} {
			m, err := r.WaitForNext(t.Context())
			expectValue(t, "late", m, err, want)
		}
		later(100*ms, p, "d", "e")
		m, err := s.WaitForNext(t.Context())
		expectValue(t, "of the subscription", m, err, "d")
		synctest.Wait()
		later(100*ms, p, "f")
		m, err = s.WaitForNext(t.Context())
		expectValue(t, "each call is armed anew", m, err, "f")
	})
}

func TestPositions(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p, cmd := w.sub("/x"), w.pub("/x"), w.cmd("/cmd")
		say(p, "a")
		m1 := must(cmd.Publish(t.Context(), "go"))
		say(p, "b")
		time.Sleep(time.Second)
		m2 := w.rig.Timeline().Now()
		say(p, "c")
		last := must(s.WaitForValue(t.Context()))
		time.Sleep(time.Second)
		say(p, "d")
		for _, c := range []struct {
			name string
			r    *harness.Reader[string]
			want string
		}{
			{"from the start", s.FromStart(), "a b c d"},
			{"after the stimulus", s.After(m1), "b c d"},
			{"after a mark", s.After(m2), "c d"},
			{"after a message", s.After(last.Mark()), "d"},
			{"half a second after the stimulus", s.After(m1.Add(500 * ms)), "c d"},
			{"two seconds after the stimulus", s.After(m1.Add(2 * time.Second)), "d"},
			{"a second and a bit after a message", s.After(last.Mark().Add(time.Second + 1)), ""},
			{"from now", s.FromNow(), ""},
		} {
			if v, err := c.r.WaitForValue(soft(t, ms)); c.want == "" && !isSoft(err) || c.want != "" && v.Value != "d" {
				t.Errorf("%s: newest %q, %v", c.name, v.Value, err)
			}
			if got := strings.Join(drain(t, c.r), " "); got != c.want {
				t.Errorf("%s: read %q, want %q", c.name, got, c.want)
			}
		}
		for _, c := range []struct {
			a, b harness.Mark
			want string
		}{
			{harness.Mark{}, w.rig.Timeline().Now(), "a b c d"},
			{m1, m2, "b"},
			{harness.Mark{}, m1, "a"},
			{m1, last.Mark(), "b c"},
			{last.Mark(), w.rig.Timeline().Now(), "d"},
			{m1.Add(500 * ms), m2.Add(500 * ms), "c"},
			{m2, m1, ""},
		} {
			win := s.Between(c.a, c.b)
			var got []string
			for _, a := range win.All() {
				got = append(got, a.Value.(string))
			}
			if strings.Join(got, " ") != c.want || win.Cut != nil || win.Dropped != 0 {
				t.Errorf("between %v and %v: %q, %v, want %q", c.a, c.b, got, win, c.want)
			}
		}
	})
}

// A window whose end is nowhere, or has not come, does not look complete.
func TestBetweenWhatCannotBe(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, tl := w.sub("/x"), w.rig.Timeline()
		for want, b := range map[string]harness.Mark{
			"the mark is zero":    {},
			"another timeline":    harness.NewTimeline().Now(),
			"has not come yet":    tl.Now().Add(time.Second),
			"on another timeline": w.robot.Timeline().Now(),
		} {
			if win := s.Between(harness.Mark{}, b); win.Cut == nil || !strings.Contains(win.Cut.Error(), want) {
				t.Errorf("until %v: cut is %v, want %s", b, win.Cut, want)
			}
		}
		before := tl.Now()
		time.Sleep(time.Second)
		if win := w.sub("/y").Between(before, tl.Now()); win.Cut == nil || !strings.Contains(win.Cut.Error(), "began 1s after now") {
			t.Errorf("before the subscription: %v", win.Cut)
		}
	})
}

func TestReadsAfterNothing(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		say(p, "stale")
		for want, m := range map[string]harness.Mark{"the mark is zero": {}, "another timeline": w.robot.Timeline().Now()} {
			r := s.After(m)
			_, err := r.WaitForNext(t.Context())
			_, err2 := r.WaitForNew(t.Context())
			_, err3 := r.WaitForValue(t.Context())
			_, err4 := r.Collect(t.Context(), time.Second)
			err5, err6 := lastOf(r.Listen(t.Context())), lastOf(r.ListenReliable(t.Context()))
			_, err7 := r.Observe(harness.Effect, time.Second)
			for i, err := range []error{err, err2, err3, err4, err5, err6, err7} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("read %d: %v, want %s", i, err, want)
				}
			}
		}
	})
}

func TestListenSkipsAndNeverRepeats(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		say(p, "before")
		go func() {
			for i := range 100 {
				time.Sleep(10 * ms)
				say(p, fmt.Sprint(i))
			}
		}()
		var got []string
		for m, err := range s.Listen(soft(t, 2*time.Second)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m.Value)
			time.Sleep(94 * ms)
		}
		// Read at 10, 104, 198 ms …: each time the newest.
		if want := "0 9 18"; !strings.HasPrefix(strings.Join(got, " "), want) || got[len(got)-1] != "99" {
			t.Errorf("listened to %q, want %s … 99", got, want)
		}
		seen := map[string]bool{}
		for _, v := range got {
			if seen[v] {
				t.Errorf("%s came twice", v)
			}
			seen[v] = true
		}
		for m, err := range s.FromStart().Listen(t.Context()) { // begins with what is held
			expectValue(t, "held", m, err, "99")
			break
		}
	})
}

func TestListenReliableGivesEveryMessage(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		r := s.FromNow()
		const n = 1000
		for i := range n {
			say(p, fmt.Sprint(i))
		}
		i := 0
		for m, err := range r.ListenReliable(soft(t, time.Second)) {
			expectValue(t, "in order", m, err, fmt.Sprint(i))
			i++
		}
		if i != n {
			t.Errorf("%d of %d", i, n)
		}
	})
}

// Breaking out gives back what the loop has not seen, wherever it breaks.
func TestBreakOutAndGoOn(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x", harness.Keep(200, 0)), w.pub("/x")
		r := s.FromStart()
		for i := range 300 {
			say(p, fmt.Sprint(i))
		}
		for _, err := range r.ListenReliable(t.Context()) {
			var lost *harness.LossError
			if !errors.As(err, &lost) || lost.Lost != 100 || !strings.HasPrefix(lost.Error(), "100 messages on /x were dropped") {
				t.Errorf("first came %v", err)
			}
			break
		}
		next := 100
		for next < 300 {
			n := 0
			for m, err := range r.ListenReliable(t.Context()) {
				expectValue(t, "after a break", m, err, fmt.Sprint(next))
				next++
				if n++; n == 7 || next == 300 {
					break
				}
			}
			if next < 300 {
				m, err := r.WaitForNext(t.Context())
				expectValue(t, "between loops", m, err, fmt.Sprint(next))
				next++
			}
		}
	})
}

// A loop owns only the message it is at: other reads of the reader go on behind
// it, also from inside.
func TestReadInsideALoop(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		r := s.FromNow()
		say(p, "a", "b", "c", "d", "e")
		var got []string
		for m, err := range r.ListenReliable(soft(t, ms)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, m.Value)
			if m.Value == "b" {
				m, err := r.WaitForNext(t.Context())
				expectValue(t, "inside", m, err, "c")
			}
		}
		if !slices.Equal(got, []string{"a", "b", "d", "e"}) {
			t.Errorf("looped over %q", got)
		}
	})
}

func TestSeveralLoopsShareAReader(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		r := s.FromNow()
		const n = 2000
		for i := range n {
			say(p, fmt.Sprint(i))
		}
		var mu sync.Mutex
		seen := map[string]int{}
		var wg sync.WaitGroup
		for k := range 8 {
			wg.Go(func() {
				ctx := soft(t, time.Second)
				for ctx.Err() == nil {
					in := 0
					for m, err := range r.ListenReliable(ctx) {
						if err != nil {
							t.Error(err)
						}
						mu.Lock()
						seen[m.Value]++
						mu.Unlock()
						if in++; in == 3+k {
							break
						}
					}
				}
			})
		}
		wg.Wait()
		for i := range n {
			if seen[fmt.Sprint(i)] != 1 {
				t.Fatalf("message %d was read %d times", i, seen[fmt.Sprint(i)])
			}
		}
	})
}

func TestLossIsCountedExactly(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p, cmd := w.sub("/x", harness.Keep(10, 0)), w.pub("/x"), w.cmd("/cmd")
		r := s.FromNow()
		mark := must(cmd.Publish(t.Context(), "go"))
		for i := range 25 {
			say(p, fmt.Sprint(i))
		}
		rest := "15 16 17 18 19 20 21 22 23 24"
		want := "15 messages on /x were dropped by the log before they were read; read faster or subscribe with a larger harness.Keep " + rest
		if got := strings.Join(drain(t, r), " "); got != want {
			t.Errorf("read %q", got)
		}
		if got := strings.Join(drain(t, s.FromStart()), " "); got != want {
			t.Errorf("from the start read %q", got)
		}
		// How many of those dropped came after the mark is not known any more.
		if got := strings.Join(drain(t, s.After(mark)), " "); got != "up to "+want {
			t.Errorf("after the mark read %q", got)
		}
		// What was dropped was stamped before this mark.
		time.Sleep(2 * time.Second)
		say(p, "x")
		if got := strings.Join(drain(t, s.After(mark.Add(time.Second))), " "); got != "x" {
			t.Errorf("after a later mark read %q", got)
		}
		if s.Received() != 26 {
			t.Errorf("received %d", s.Received())
		}
	})
}

func TestKeepByBytes(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x", harness.Keep(0, 10)), w.pub("/x")
		say(p, "aaaa", "bbbb", "cc", "ddd")
		if got := drain(t, s.FromStart()); len(got) != 4 || got[1] != "bbbb" {
			t.Errorf("held %q", got)
		}
		say(p, strings.Repeat("e", 100)) // the newest is held, whatever its size
		if got := drain(t, s.FromStart()); len(got) != 2 || len(got[1]) != 100 || !strings.HasPrefix(got[0], "4 messages") {
			t.Errorf("held %q", got)
		}
	})
	play(t, func(t *testing.T, w *world) {
		g := harness.New(w.conn, harness.Config{MaxMessages: 3})
		s := must(harness.Subscribe[string](t.Context(), g, "/x", harness.Keep(0, 0)))
		say(w.pub("/x"), "a", "b", "c", "d")
		if got := drain(t, s.FromStart()); len(got) != 4 {
			t.Errorf("held %q by Config", got)
		}
		_ = g.Close()
	})
}

type point struct{ X int }

func TestUndecodableMessages(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s := must(harness.Subscribe[point](t.Context(), w.rig, "x", harness.JSON[point]()))
		p := w.pub("/x")
		r, listen := s.FromNow(), s.FromNow()
		say(p, `{"X":1}`, `{"X":`, `{"X":3}`)
		var got []string
		for m, err := range r.ListenReliable(soft(t, ms)) {
			got = append(got, fmt.Sprint(m.Value.X, err, m.Err()))
		}
		const bad = `message of 5 bytes on /x does not decode: not a harness_test.point at byte 5: unexpected end of JSON input`
		if want := []string{"1 <nil> <nil>", "0 " + bad + " " + bad, "3 <nil> <nil>"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		say(p, "?")
		_, err := r.WaitForNext(t.Context())
		_, err2 := s.WaitForValue(t.Context())
		_, err3 := listen.WaitForNew(t.Context())
		for i, err := range []error{err, err2, err3} {
			var e *harness.MessageError
			if !errors.As(err, &e) || e.Topic != "/x" || e.Size != 1 {
				t.Errorf("read %d: %v", i, err)
			}
		}
		win, err := s.FromStart().Collect(t.Context(), ms)
		if err != nil || win.Len() != 4 || win.Undecoded() != 2 {
			t.Errorf("collected %v, %v", win, err)
		}
	})
}

func TestLostLinkEndsEveryRead(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		say(p, "a")
		r := s.FromStart()
		time.AfterFunc(time.Second, func() { w.conn.Sever(errPulled) })
		var wg sync.WaitGroup
		check := func(op string, f func() error) {
			wg.Go(func() {
				err := f()
				expectWaitError(t, err, op, "/x", errPulled, time.Second)
				if !lostLink(err) {
					t.Errorf("%s: %v", op, err)
				}
			})
		}
		now := s.FromNow()
		check("WaitForValue", func() error { _, err := s.FromNow().WaitForValue(t.Context()); return err })
		check("WaitForNew", func() error { _, err := s.WaitForNew(t.Context()); return err })
		check("WaitForNext", func() error { _, err := now.WaitForNext(t.Context()); return err })
		check("Collect", func() error { _, err := s.Collect(t.Context(), time.Hour); return err })
		check("Listen", func() error { return lastOf(s.Listen(t.Context())) })
		check("ListenReliable", func() (last error) {
			n := 0
			for _, last = range r.ListenReliable(t.Context()) {
				n++
			}
			if n != 2 {
				t.Errorf("%d turns, want the message and the end", n)
			}
			return last
		})
		wg.Wait()
		if !lostLink(s.Err()) || !lostLink(w.rig.Err()) {
			t.Errorf("ended with %v and %v", s.Err(), w.rig.Err())
		}
		<-s.Done()
		<-w.rig.Done()
		// What is in the log stays readable.
		m, err := s.WaitForValue(t.Context())
		expectValue(t, "after the end", m, err, "a")
		if _, err := harness.Subscribe[string](t.Context(), w.rig, "/y"); !lostLink(err) || !strings.HasPrefix(err.Error(), "subscribe to /y: ") {
			t.Errorf("subscribed on a lost link: %v", err)
		}
	})
}

// A soft deadline just ends a loop, the caller's own end comes through.
func TestEndsOfLoops(t *testing.T) {
	errMine := errors.New("mine")
	play(t, func(t *testing.T, w *world) {
		s := w.sub("/x")
		cancelled, cancel := context.WithCancelCause(t.Context())
		cancel(errMine)
		deadline, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		for _, c := range []struct {
			ctx    context.Context
			cause  error
			waited time.Duration
		}{{soft(t, time.Second), nil, 0}, {cancelled, errMine, 0}, {deadline, context.DeadlineExceeded, time.Second}} {
			for op, loop := range map[string]func(func(harness.Message[string], error) bool){
				"Listen": s.FromNow().Listen(c.ctx), "ListenReliable": s.FromNow().ListenReliable(c.ctx)} {
				turns := 0
				for _, err := range loop {
					turns++
					waited := c.waited
					if op != "" && turns == 1 && c.ctx == deadline {
						var e *harness.WaitError
						if errors.As(err, &e) {
							waited = e.Waited // the second of the two finds it ended
						}
					}
					expectWaitError(t, err, op, "/x", c.cause, waited)
				}
				if c.cause == nil && turns != 0 || c.cause != nil && turns != 1 {
					t.Errorf("%s: %d turns until %v", op, turns, c.cause)
				}
			}
		}
	})
}

// A context that has ended ends a loop though there are messages, and does not
// keep a single wait from what is there.
func TestEndedContexts(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		r := s.FromNow()
		say(p, "a", "b", "c")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range r.ListenReliable(ended) {
			expectWaitError(t, err, "ListenReliable", "/x", context.Canceled, 0)
		}
		m, err := r.WaitForNext(ended)
		expectValue(t, "there already", m, err, "a")
		_, err = s.WaitForNext(ended)
		expectWaitError(t, err, "WaitForNext", "/x", context.Canceled, 0)
		win, err := s.FromStart().Collect(ended, time.Second)
		if !errors.Is(err, context.Canceled) || win.Len() != 3 || !errors.Is(win.Cut, context.Canceled) {
			t.Errorf("collected %v, %v", win, err)
		}
		// Ended in the middle of a batch: the rest stays unread.
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		turns := 0
		for m, err := range r.ListenReliable(ctx) {
			if turns++; turns == 1 {
				expectValue(t, "before the end", m, err, "b")
				stop()
			} else {
				expectWaitError(t, err, "ListenReliable", "/x", context.Canceled, 0)
			}
		}
		if got := drain(t, r); turns != 2 || len(got) != 1 || got[0] != "c" {
			t.Errorf("%d turns, %q left", turns, got)
		}
	})
}

func TestUntilEndsWaitsAndLoops(t *testing.T) {
	errOver := errors.New("the spec is over")
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		until, end := context.WithCancelCause(t.Context())
		w.rig.Timeline().Until(until)
		time.AfterFunc(time.Second, func() { end(errOver) })
		_, err := s.WaitForNext(t.Context())
		expectWaitError(t, err, "WaitForNext", "/x", errOver, time.Second)
		// A loop that always finds a message ends too.
		r := s.FromNow()
		for i := range 1000 {
			say(p, fmt.Sprint(i))
		}
		turns := 0
		for _, err = range r.ListenReliable(t.Context()) {
			turns++
		}
		if !errors.Is(err, errOver) || turns != 1 {
			t.Errorf("%d turns, %v", turns, err)
		}
		_, err = s.Collect(t.Context(), time.Hour)
		expectWaitError(t, err, "Collect", "/x", errOver, 0)
		if err := s.WaitForPublishers(t.Context(), 2); !errors.Is(err, errOver) {
			t.Errorf("waited for publishers: %v", err)
		}
		if err := p.WaitForSubscribers(t.Context(), 1); err != nil {
			t.Errorf("other timeline: %v", err)
		}
	})
}

// Collect takes what came from where the reader stands until d after the call,
// and the next one goes on there.
func TestCollect(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		mark := w.rig.Timeline().Now()
		r := s.FromNow()
		go func() {
			for i := range 5 {
				say(p, fmt.Sprint(i)) // at 0, 100, … 400 ms
				time.Sleep(100 * ms)
			}
		}()
		synctest.Wait()
		m, err := r.WaitForNext(t.Context())
		expectValue(t, "first", m, err, "0")
		for i, want := range []string{"1 2", "3 4", ""} {
			began := time.Now()
			win, err := r.Collect(t.Context(), 200*ms) // an arrival exactly at the end is in
			var got []string
			for _, a := range win.All() {
				got = append(got, a.Value.(string))
			}
			if d := time.Since(began); err != nil || strings.Join(got, " ") != want || d != 201*ms {
				t.Errorf("window %d: %q, %v after %v, want %q", i, got, err, d, want)
			}
			if win.Cut != nil || win.Dropped != 0 || win.Topic != "/x" || win.To.Sub(began) != 200*ms {
				t.Errorf("window %d: %+v", i, win.Stretch)
			}
			time.Sleep(-time.Since(began) + 200*ms)
		}
		win, err := s.After(mark).Collect(t.Context(), 250*ms) // over already
		if err != nil || win.Len() != 3 || !win.From.Equal(mark.Time()) || win.Duration() != 250*ms {
			t.Errorf("after the mark: %v, %v", win, err)
		}
		if win, err := s.Collect(t.Context(), 100*ms); err != nil || win.Len() != 0 {
			t.Errorf("of the subscription: %v, %v", win, err)
		}
	})
}

func TestCollectOverALoss(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x", harness.Keep(3, 0)), w.pub("/x")
		r := s.FromNow()
		say(p, "a", "b", "c", "d", "e")
		win, err := r.Collect(t.Context(), 100*ms)
		if err != nil || win.Len() != 3 || win.Dropped != 2 || !errors.Is(win.Cut, harness.ErrNotHeld) {
			t.Errorf("collected %v, %v", win, err)
		}
		// What was lost before does not spoil the next window.
		say(p, "f")
		win, err = r.Collect(t.Context(), 100*ms)
		if err != nil || win.Len() != 1 || win.Dropped != 0 || win.Cut != nil {
			t.Errorf("then collected %v, %v", win, err)
		}
	})
}

func TestCloseEndsAllWaitsAtOnce(t *testing.T) {
	for name, closeIt := range map[string]func(w *world, s *harness.Subscription[string]) error{
		"subscription": func(_ *world, s *harness.Subscription[string]) error { return s.Close() },
		"graph":        func(w *world, _ *harness.Subscription[string]) error { return w.rig.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				s := w.sub("/x")
				r := s.FromNow()
				var wg sync.WaitGroup
				for i, wait := range []func() error{
					func() error { _, err := s.WaitForValue(t.Context()); return err },
					func() error { _, err := r.WaitForNew(t.Context()); return err },
					func() error { _, err := s.WaitForNext(t.Context()); return err },
					func() error { _, err := r.Collect(t.Context(), time.Hour); return err },
					func() error { return s.WaitForPublishers(t.Context(), 1) },
					func() error { return lastOf(r.ListenReliable(t.Context())) },
					func() error { return lastOf(s.Listen(t.Context())) },
				} {
					wg.Go(func() {
						began := time.Now()
						var e *harness.WaitError
						if err := wait(); !errors.Is(err, harness.ErrClosed) || !errors.As(err, &e) || time.Since(began) != time.Second {
							t.Errorf("wait %d ended after %v with %v", i, time.Since(began), err)
						}
					})
				}
				time.Sleep(time.Second)
				if err := closeIt(w, s); err != nil {
					t.Error(err)
				}
				wg.Wait()
				if !errors.Is(s.Err(), harness.ErrClosed) {
					t.Errorf("ended with %v", s.Err())
				}
				if err := closeIt(w, s); err != nil { // again
					t.Error(err)
				}
				say(w.pub("/x"), "late")
				if s.Received() != 0 {
					t.Error("received after Close")
				}
			})
		})
	}
}

func TestCloseFromAnywhere(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		closing := func() { _, _, _ = s.Close(), w.rig.Close(), w.robot.Close() }
		// From a callback of the wire, of the publisher that is closed.
		_, err := w.conn.Subscribe(t.Context(), "/x", transports.Type{}, transports.QoS{}, func(transports.Sample) { closing() })
		if err != nil {
			t.Fatal(err)
		}
		stream := p.Every(10*ms, func(i int) string {
			if i == 3 {
				closing() // from f
			}
			return "x"
		})
		var wg sync.WaitGroup
		for range 4 { // and from everywhere at once
			wg.Go(func() {
				time.Sleep(30 * ms)
				closing()
			})
		}
		wg.Wait()
		stream.Stop()
	})
}

func TestSource(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, push, err := harness.Source[string](w.rig, "gpio 4", harness.Keep(3, 0))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { push("high") })
		m, err := s.WaitForNext(t.Context())
		expectValue(t, "pushed", m, err, "high")
		if !m.Received.Equal(time.Now()) || s.Topic() != "gpio 4" || m.Size != 4 {
			t.Errorf("got %+v", m)
		}
		if err := s.WaitForPublishers(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "cannot tell") {
			t.Errorf("waited for publishers: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		push("after Close")
		if s.Received() != 1 {
			t.Errorf("%d received", s.Received())
		}
		_ = w.rig.Close()
		if _, _, err := harness.Source[string](w.rig, "x"); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("made a source of a closed graph: %v", err)
		}
	})
}

func TestSubscribeRefuses(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for want, f := range map[string]func() error{
			"subscribe to /x: msgs: harness_test.point has no codec for the encoding \"raw\"; pass one, such as harness.JSON[harness_test.point]()": func() error {
				_, err := harness.Subscribe[point](t.Context(), w.rig, "/x")
				return err
			},
			"advertise /x: msgs: harness_test.point has no codec": func() error {
				_, err := harness.Advertise[point](t.Context(), w.rig, "/x")
				return err
			},
			"the codec given is a": func() error {
				_, err := harness.Subscribe[point](t.Context(), w.rig, "/x", harness.JSON[string]())
				return err
			},
			"subscribe to a b: name \"/a b\"": func() error {
				_, err := harness.Subscribe[string](t.Context(), w.rig, "a b")
				return err
			},
			"advertise 9: ": func() error {
				_, err := harness.Advertise[string](t.Context(), w.rig, "9")
				return err
			},
			"subscribe to /x: context canceled": func() error {
				_, err := harness.Subscribe[string](ended, w.rig, "/x")
				return err
			},
		} {
			if err := f(); err == nil || !strings.HasPrefix(err.Error(), want) && !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		// One name, written either way.
		s := w.sub("x/y")
		say(w.pub("/x/y"), "hello")
		if s.Topic() != "/x/y" || s.Received() != 1 {
			t.Errorf("%s received %d", s.Topic(), s.Received())
		}
		_ = w.rig.Close()
		if _, err := harness.Subscribe[string](t.Context(), w.rig, "/x"); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("on a closed graph: %v", err)
		}
		if _, err := harness.Advertise[string](t.Context(), w.rig, "/x"); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("on a closed graph: %v", err)
		}
	})
}

func TestWaitForCounterparts(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.cmd("/y")
		if err := s.WaitForPublishers(soft(t, time.Second), 1); !isSoft(err) || !strings.Contains(err.Error(), "WaitForPublishers(1) on /x: 0 there") {
			t.Errorf("got %v", err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := s.WaitForPublishers(t.Context(), 2); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		w.pub("/x")
		time.Sleep(time.Second)
		w.pub("/x")
		wg.Wait()
		for _, c := range []struct {
			wait  func() error
			close func() error
		}{
			{func() error { return p.WaitForSubscribers(t.Context(), 1) }, p.Close},
			{func() error { return s.WaitForPublishers(t.Context(), 3) }, s.Close},
		} {
			wg.Go(func() {
				if err := c.wait(); !errors.Is(err, harness.ErrClosed) {
					t.Errorf("ended with %v", err)
				}
			})
			synctest.Wait()
			_ = c.close()
			wg.Wait()
		}
	})
}

// A message that came before the context ended counts, though both are seen at
// once.
func TestArrivalJustBeforeTheEnd(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		for range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			got := make(chan error)
			go func() {
				_, err := s.WaitForNext(ctx)
				got <- err
			}()
			synctest.Wait() // it waits
			say(p, "in time")
			cancel()
			if err := <-got; err != nil {
				t.Fatal(err)
			}
		}
	})
}
