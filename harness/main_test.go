package harness_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

const ms = time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a spec's participant and a robot's on one graph.
type world struct {
	t          *testing.T
	conn       *inproc.Conn // of rig
	rig, robot *harness.Graph
}

func newWorld(t *testing.T) *world {
	net := inproc.NewNetwork()
	w := &world{t: t, conn: net.Join("spec"), robot: harness.New(net.Join("robot"), harness.Config{})}
	w.rig = harness.New(w.conn, harness.Config{})
	t.Cleanup(func() {
		if err := errors.Join(w.rig.Close(), w.robot.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return w
}

// play runs a scene in a bubble.
func play(t *testing.T, scene func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { scene(t, newWorld(t)) })
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func (w *world) sub(topic string, opts ...harness.Option) *harness.Subscription[string] {
	w.t.Helper()
	return must(harness.Subscribe[string](w.t.Context(), w.rig, topic, opts...))
}

// pub is a publisher of the robot's, whose publishes are on another timeline.
func (w *world) pub(topic string, opts ...harness.Option) *harness.Publisher[string] {
	w.t.Helper()
	return must(harness.Advertise[string](w.t.Context(), w.robot, topic, opts...))
}

// cmd is a publisher of the spec's, whose publishes are stimuli.
func (w *world) cmd(topic string) *harness.Publisher[string] {
	w.t.Helper()
	return must(harness.Advertise[string](w.t.Context(), w.rig, topic))
}

func say(p *harness.Publisher[string], values ...string) {
	for _, v := range values {
		must(p.Publish(context.Background(), v))
	}
}

// later says values after d.
func later(d time.Duration, p *harness.Publisher[string], values ...string) {
	go func() {
		time.Sleep(d)
		for _, v := range values {
			_, _ = p.Publish(context.Background(), v)
		}
	}()
}

func expectValue(t *testing.T, what string, m harness.Message[string], err error, want string) {
	t.Helper()
	if err != nil || m.Value != want {
		t.Errorf("%s: got %q, %v, want %q", what, m.Value, err, want)
	}
}

// expectWaitError fails unless err is a *WaitError of that wait with that cause.
func expectWaitError(t *testing.T, err error, op, topic string, cause error, waited time.Duration) {
	t.Helper()
	var e *harness.WaitError
	if !errors.As(err, &e) || e.Op != op || e.Topic != topic || e.Waited != waited || !errors.Is(err, cause) {
		t.Errorf("got %v (%#v), want %s on %s to end after %v with %v", err, e, op, topic, waited, cause)
	}
}

func soft(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := harness.Soft(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func isSoft(err error) bool {
	var s *harness.SoftTimeout
	return errors.As(err, &s)
}

var errPulled = errors.New("pulled")

func lostLink(err error) bool {
	var l *transports.LinkError
	return errors.As(err, &l) && errors.Is(err, errPulled)
}

// drain reads what a reader holds, as values; losses and errors stand between.
func drain(t *testing.T, r *harness.Reader[string]) (got []string) {
	t.Helper()
	ended, cancel := context.WithCancel(context.Background())
	cancel() // a wait with an ended context still gives what is there
	for {
		m, err := r.WaitForNext(ended)
		var lost *harness.LossError
		var end *harness.WaitError
		switch {
		case errors.As(err, &end):
			return got
		case errors.As(err, &lost):
			got = append(got, lost.Error())
		case err != nil:
			got = append(got, err.Error())
		default:
			got = append(got, m.Value)
		}
	}
}

// lastOf is the error a loop over all of them ends with.
func lastOf[T any](loop iter.Seq2[harness.Message[T], error]) (last error) {
	for _, err := range loop {
		last = err
	}
	return last
}
