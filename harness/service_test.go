package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

var double = msgs.JSONService[int, int]("demo/srv/Double")

func (w *world) serve() *harness.Server[int, int] {
	return must(harness.Serve(w.t.Context(), w.robot, "/double", double))
}

func (w *world) client() *harness.Client[int, int] {
	return must(harness.NewClient(w.t.Context(), w.rig, "/double", double))
}

func TestRepliesLateAndOutOfOrder(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		srv, cli := w.serve(), w.client()
		if err := cli.WaitForServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		var calls []*harness.Call[int]
		for i := range 3 {
			calls = append(calls, cli.Call(t.Context(), i))
		}
		for _, c := range calls {
			if _, ok := c.Outcome(); ok || !c.Done().IsZero() {
				t.Error("ended before it was answered")
			}
		}
		time.Sleep(time.Second)
		var asked []*harness.Responder[int, int]
		for m, err := range srv.ListenReliable(soft(t, ms)) { // a loop started late
			if err != nil {
				t.Fatal(err)
			}
			asked = append(asked, m.Value)
		}
		if len(asked) != 3 {
			t.Fatalf("%d requests", len(asked))
		}
		for k, i := range []int{2, 0} { // the last first, number 1 never
			time.Sleep(time.Second)
			m := must(asked[i].Reply(asked[i].Request * 2))
			if m.Cause() != "reply of /double" || !asked[i].Answered() {
				t.Errorf("answered by %v", m)
			}
			v, err := calls[i].Wait(t.Context())
			if err != nil || v != i*2 {
				t.Errorf("call %d: %d, %v", i, v, err)
			}
			o, ok := calls[i].Outcome()
			want := time.Duration(k+2)*time.Second + ms
			if !ok || o.Err != nil || o.Value != i*2 || o.Ended.Time().Sub(o.Began.Time()) != want || calls[i].Done() != o.Ended || o.Ended.Order() < o.Began.Order() {
				t.Errorf("outcome %+v, %v, want after %v", o, ok, want)
			}
		}
		_, err := calls[1].Wait(soft(t, time.Hour))
		expectWaitError(t, err, "Wait", "/double", errors.Unwrap(err), time.Hour)
		if !isSoft(err) {
			t.Errorf("never answered: %v", err)
		}
	})
}

func TestAnsweringTwice(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		srv, cli := w.serve(), w.client()
		call := cli.Call(t.Context(), 1)
		r := must(srv.WaitForNext(t.Context())).Value
		_ = must(r.Reply(2))
		for _, again := range []func() (harness.Mark, error){
			func() (harness.Mark, error) { return r.Reply(3) },
			func() (harness.Mark, error) { return r.Fail("no") },
		} {
			if m, err := again(); !errors.Is(err, harness.ErrAnswered) || !m.IsZero() {
				t.Errorf("again: %v, %v", m, err)
			}
		}
		if v, err := call.Wait(t.Context()); v != 2 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
		if n := len(w.robot.Timeline().Events()); n != 1 {
			t.Errorf("%d stimuli", n)
		}
		// Of many at once, one answers.
		call = cli.Call(t.Context(), 1)
		r = must(srv.WaitForNext(t.Context())).Value
		var mu sync.Mutex
		good := 0
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				_, err := r.Reply(i)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					good++
				} else if !errors.Is(err, harness.ErrAnswered) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if _, err := call.Wait(t.Context()); err != nil || good != 1 {
			t.Errorf("%d answered, %v", good, err)
		}
	})
}

func TestRefusal(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		srv, cli := w.serve(), w.client()
		call := cli.Call(t.Context(), 1)
		m := must(must(srv.WaitForNext(t.Context())).Value.Fail("out of reach"))
		_, err := call.Wait(t.Context())
		var refused *transports.RemoteError
		if !errors.As(err, &refused) || refused.Reason != "out of reach" || m.Cause() != "refusal of /double" {
			t.Errorf("got %v, %v", err, m)
		}
		if d := call.Done(); !strings.HasPrefix(d.String(), "failure of /double at ") {
			t.Error(d)
		}
	})
}

func TestUndecodableRequestsAndReplies(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		srv := w.serve()
		wrong := must(harness.NewClient(t.Context(), w.rig, "/double", msgs.JSONService[string, string]("demo/srv/Double")))
		call := wrong.Call(t.Context(), "three")
		_, err := call.Wait(t.Context())
		if err == nil || !strings.Contains(err.Error(), `/double refused: the request does not decode: not a int at byte 7`) {
			t.Errorf("got %v", err)
		}
		m, err := srv.WaitForNext(t.Context())
		var bad *harness.MessageError
		if !errors.As(err, &bad) || bad.Size != 7 || m.Value != nil || srv.Received() != 1 {
			t.Errorf("served %+v, %v", m, err)
		}
		// A server whose replies are of another type.
		other := must(harness.Serve(t.Context(), w.robot, "/other", msgs.JSONService[int, string]("")))
		cli := must(harness.NewClient(t.Context(), w.rig, "/other", msgs.JSONService[int, int]("")))
		call2 := cli.Call(t.Context(), 1)
		_ = must(must(other.WaitForNext(t.Context())).Value.Reply("two"))
		if _, err = call2.Wait(t.Context()); !errors.As(err, &bad) || bad.Topic != "/other" {
			t.Errorf("got %v", err)
		}
	})
}

func TestEncodeFailuresOfServices(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		svc := msgs.JSONService[float64, float64]("demo/srv/Root")
		srv := must(harness.Serve(t.Context(), w.robot, "/root", svc))
		cli := must(harness.NewClient(t.Context(), w.rig, "/root", svc))
		s := w.sub("/x")
		nan := 0.0
		nan /= nan
		call := cli.Call(t.Context(), nan)
		if _, err := call.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "call of /root: encode float64 as JSON") {
			t.Errorf("called: %v", err)
		}
		if _, err := s.Observe(harness.Effect, ms); inconclusive(err) == "" {
			t.Errorf("a call that was not sent is a failed stimulus: %v", err)
		}
		if _, _, _, err := harness.Await(call, time.Second); inconclusive(err) == "" {
			t.Errorf("awaited: %v", err)
		}
		// A reply that does not encode was none: another may follow.
		call = cli.Call(t.Context(), 4)
		r := must(srv.WaitForNext(t.Context())).Value
		if _, err := r.Reply(nan); err == nil || r.Answered() {
			t.Errorf("replied: %v", err)
		}
		_ = must(r.Reply(2))
		if v, err := call.Wait(t.Context()); v != 2 || err != nil {
			t.Errorf("got %v, %v", v, err)
		}
	})
}

// Each request is handed out once, whoever takes it and however.
func TestRequestsAreHandedOutOnce(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		srv, cli := w.serve(), w.client()
		const n = 200
		var calls []*harness.Call[int]
		for i := range n {
			calls = append(calls, cli.Call(t.Context(), i))
		}
		var wg sync.WaitGroup
		ctx := soft(t, time.Second)
		for range 3 {
			wg.Go(func() {
				for ctx.Err() == nil {
					k := 0
					for m, err := range srv.ListenReliable(ctx) {
						if err != nil {
							t.Error(err)
						}
						_ = must(m.Value.Reply(m.Value.Request * 2)) // twice would fail
						if k++; k == 5 {
							break
						}
					}
				}
			})
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				if m, err := srv.WaitForNext(ctx); err == nil {
					_ = must(m.Value.Reply(m.Value.Request * 2))
				}
			}
		})
		for i, c := range calls {
			if v, err := c.Wait(t.Context()); v != 2*i || err != nil {
				t.Fatalf("call %d: %d, %v", i, v, err)
			}
		}
		wg.Wait()
	})
}

func TestNobodyServes(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		cli := w.client()
		if err := cli.WaitForServer(soft(t, time.Second)); !isSoft(err) || !strings.Contains(err.Error(), "WaitForServer(1) on /double") {
			t.Errorf("waited: %v", err)
		}
		call := cli.Call(t.Context(), 1)
		<-call.Ended()
		if _, err := call.Wait(t.Context()); !errors.Is(err, transports.ErrNoResponder) {
			t.Errorf("got %v", err)
		}
	})
}

// ctx bounds the sending of a call, not the call.
func TestContextOfACall(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		srv, cli := w.serve(), w.client()
		ctx, cancel := context.WithCancel(t.Context())
		call := cli.Call(ctx, 1)
		cancel()
		time.Sleep(time.Second)
		if o, ok := call.Outcome(); ok {
			t.Fatalf("ended with its context: %+v", o)
		}
		_ = must(must(srv.WaitForNext(t.Context())).Value.Reply(2))
		if v, err := call.Wait(t.Context()); v != 2 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
		if v, err := call.Wait(ctx); v != 2 || err != nil { // what is there needs no time
			t.Errorf("with an ended context: %d, %v", v, err)
		}
		// An ended context sends nothing.
		call = cli.Call(ctx, 1)
		if _, err := call.Wait(t.Context()); !errors.Is(err, context.Canceled) || srv.Received() != 1 {
			t.Errorf("sent %d: %v", srv.Received(), err)
		}
	})
}

func TestClosingEndsCalls(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *world, srv *harness.Server[int, int], cli *harness.Client[int, int])
		want func(error) bool
	}{
		"client":         {func(_ *world, _ *harness.Server[int, int], cli *harness.Client[int, int]) { _ = cli.Close() }, func(err error) bool { return errors.Is(err, harness.ErrClosed) }},
		"graph":          {func(w *world, _ *harness.Server[int, int], _ *harness.Client[int, int]) { _ = w.rig.Close() }, func(err error) bool { return errors.Is(err, harness.ErrClosed) }},
		"link":           {func(w *world, _ *harness.Server[int, int], _ *harness.Client[int, int]) { w.conn.Sever(errPulled) }, lostLink},
		"server's close": {func(_ *world, srv *harness.Server[int, int], _ *harness.Client[int, int]) { _ = srv.Close() }, func(err error) bool { return errors.Is(err, transports.ErrNoResponder) }},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *world) {
				srv, cli := w.serve(), w.client()
				call := cli.Call(t.Context(), 1)
				time.AfterFunc(time.Second, func() { c.end(w, srv, cli) })
				_, err := call.Wait(t.Context())
				var e *harness.WaitError
				if !c.want(err) || !errors.As(err, &e) || e.Waited != time.Second {
					t.Errorf("ended with %v", err)
				}
				if name != "client" && name != "server's close" {
					return
				}
				r := must(srv.FromStart().WaitForNext(t.Context())).Value
				if _, err := r.Reply(2); name == "client" && err != nil || name != "client" && err == nil {
					t.Errorf("reply after it: %v", err)
				}
				if name == "client" {
					if err := errors.Join(cli.Close(), cli.Close()); err != nil {
						t.Error(err)
					}
					if _, err := cli.Call(t.Context(), 1).Wait(t.Context()); !errors.Is(err, harness.ErrClosed) {
						t.Errorf("called a closed client: %v", err)
					}
					if err := cli.WaitForServer(t.Context()); err != nil && !errors.Is(err, harness.ErrClosed) {
						t.Errorf("waited: %v", err)
					}
				}
			})
		})
	}
	play(t, func(t *testing.T, w *world) {
		cli := w.client()
		time.AfterFunc(time.Second, func() { _ = cli.Close() })
		if err := cli.WaitForServer(t.Context()); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("waited: %v", err)
		}
	})
}

func TestAwait(t *testing.T) {
	for at, want := range map[time.Duration]bool{999 * ms: true, time.Second: true, time.Second + 1: false, 1100 * ms: false} {
		play(t, func(t *testing.T, w *world) {
			srv, cli := w.serve(), w.client()
			call := cli.Call(t.Context(), 1)
			time.AfterFunc(at, func() { _, _ = must(srv.WaitForNext(context.Background())).Value.Reply(2) })
			began := time.Now()
			o, from, ok, err := harness.Await(call, time.Second)
			if ok != want || err != nil || from != call.Began() || want && o.Value != 2 {
				t.Errorf("at %v: %+v, %v, %v", at, o, ok, err)
			}
			if d := time.Since(began); d != min(at, 1001*ms) {
				t.Errorf("at %v: waited %v", at, d)
			}
			time.Sleep(time.Second)
			// Asked again, it is judged by its stamp, not by when it is asked.
			if _, _, ok, _ := harness.Await(call, time.Second); ok != want {
				t.Errorf("at %v: asked again: %v", at, ok)
			}
			errOver := errors.New("over")
			until, end := context.WithCancelCause(t.Context())
			w.rig.Timeline().Until(until)
			end(errOver)
			if _, _, ok, err := harness.Await(call, time.Second); ok != want || err != nil {
				t.Errorf("at %v: what has ended needs no time: %v, %v", at, ok, err)
			}
			if _, _, _, err := harness.Await(cli.Call(t.Context(), 2), time.Second); !errors.Is(err, errOver) {
				t.Errorf("at the end of the spec: %v", err)
			}
			if _, err := call.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// exit is a harness.Awaited that began nowhere.
type exit struct {
	tl    *harness.Timeline
	ended chan struct{}
	at    harness.Mark
}

func (e *exit) Began() harness.Mark         { return harness.Mark{} }
func (e *exit) Ended() <-chan struct{}      { return e.ended }
func (e *exit) Timeline() *harness.Timeline { return e.tl }
func (e *exit) GomegaString() string        { return "exit" }
func (e *exit) Outcome() (harness.Outcome, bool) {
	select {
	case <-e.ended:
		return harness.Outcome{Ended: e.at, Value: 0}, true
	default:
		return harness.Outcome{}, false
	}
}

func TestAwaitCountsFromTheLastStimulus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tl := harness.NewTimeline()
		e := &exit{tl: tl, ended: make(chan struct{})}
		sig := tl.Mark("signal SIGINT")
		time.Sleep(500 * ms)
		time.AfterFunc(400*ms, func() { e.at = tl.Now(); close(e.ended) })
		_, from, ok, err := harness.Await(e, time.Second)
		if from != sig || !ok || err != nil {
			t.Errorf("first: from %v, %v, %v", from, ok, err)
		}
		_, from, ok, _ = harness.Await(e, time.Second)
		if !from.Time().Equal(time.Now()) || !ok {
			t.Errorf("second: from %v, %v", from, ok)
		}
		tl.Failed(tl.Mark("signal SIGTERM"), errUnplugged)
		if _, _, _, err = harness.Await(e, time.Second); !errors.Is(err, errUnplugged) || inconclusive(err) == "" {
			t.Errorf("failed signal: %v", err)
		}
	})
}

func TestServeRefuses(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		plain := msgs.Service[point, string]{Name: "demo/srv/P"}
		_, err := harness.Serve(t.Context(), w.rig, "/p", plain)
		_, err2 := harness.NewClient(t.Context(), w.rig, "/p", plain)
		_, err3 := harness.Serve(t.Context(), w.rig, "p q", double)
		_, err4 := harness.NewClient(t.Context(), w.rig, "/p", msgs.Service[string, point]{})
		for i, c := range []struct {
			err  error
			want string
		}{{err, "serve /p: request: msgs: harness_test.point has no codec"}, {err2, "client of /p: request: msgs: "}, {err3, "serve p q: name"}, {err4, "client of /p: response: msgs: "}} {
			if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
				t.Errorf("%d: %v, want %s", i, c.err, c.want)
			}
		}
		_ = w.rig.Close()
		if _, err := harness.Serve(t.Context(), w.rig, "/p", double); !errors.Is(err, harness.ErrClosed) {
			t.Error(err)
		}
		if _, err := harness.NewClient(t.Context(), w.rig, "/p", double); !errors.Is(err, harness.ErrClosed) {
			t.Error(err)
		}
	})
}

// The other reads of a Server are those of any subscription.
func TestServerIsASubscription(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		srv, cli := w.serve(), w.client()
		for i := range 3 {
			_ = cli.Call(t.Context(), i)
		}
		m := must(srv.WaitForValue(t.Context()))
		win, err := srv.FromStart().Collect(t.Context(), ms)
		if m.Value.Request != 2 || err != nil || win.Len() != 3 || fmt.Sprint(win.At(0).Value.(*harness.Responder[int, int]).Request) != "0" {
			t.Errorf("got %v, %v, %v", m.Value, win, err)
		}
		if n := must(srv.WaitForNext(t.Context())).Value.Request; n != 0 {
			t.Errorf("reading moved what is handed out: %d", n)
		}
	})
}
