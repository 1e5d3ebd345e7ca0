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
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

// told are the changes of a view, as text with their instants.
func told(v *harness.View) (out []string) {
	for _, c := range v.Changes() {
		out = append(out, fmt.Sprintf("%v %s", time.Until(c.At.Time()), c))
	}
	return out
}

func TestViewRecordsChanges(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		v := w.rig.View()
		if got := told(v); len(got) != 0 { // robot was there before
			t.Errorf("changes before any: %q", got)
		}
		p := w.pub("/odom")
		synctest.Wait()
		time.Sleep(time.Second)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		if err := w.robot.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.sub("/scan")
		synctest.Wait()
		want := []string{"-2s publisher /odom by robot came", "-1s publisher /odom by robot left",
			"0s node robot left", "0s subscription /scan by spec came"}
		if got := told(v); !equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		orders := map[uint64]bool{}
		for _, c := range v.Changes() {
			orders[c.At.Order()] = true
		}
		if len(orders) < 3 {
			t.Errorf("the places of the changes on the timeline: %v", orders)
		}
	})
}

func equal(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// Changes are on the timeline between what happened before and after.
func TestViewIsOnTheTimeline(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		before := w.rig.Mark("before")
		w.pub("/odom")
		synctest.Wait()
		after := w.rig.Mark("after")
		c := w.rig.View().Changes()
		if len(c) != 1 || c[0].At.Order() <= before.Order() || c[0].At.Order() >= after.Order() {
			t.Errorf("%v is not between %v and %v", c, before, after)
		}
	})
}

// A Now that has been returned is in the log before the next: a look and the
// watcher never log in another order than they saw.
func TestViewUnderManyLooks(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		v := w.rig.View()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 200 {
					if _, err := v.Now(); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Microsecond)
				}
			})
		}
		for range 200 {
			p := w.pub("/odom")
			time.Sleep(time.Microsecond)
			_ = p.Close()
		}
		wg.Wait()
		synctest.Wait()
		there := 0
		for i, c := range v.Changes() {
			if c.Came {
				there++
			} else {
				there--
			}
			if there < 0 || there > 2 {
				t.Fatalf("%d publishers after change %d", there, i)
			}
		}
		if there != 0 {
			t.Errorf("%d publishers at the end", there)
		}
	})
}

func TestViewIsBounded(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		for range 1000 {
			p := w.pub("/odom")
			synctest.Wait()
			_ = p.Close()
			synctest.Wait()
		}
		last := w.pub("/last")
		synctest.Wait()
		c := w.rig.View().Changes()
		if len(c) != 1024 || c[1023].Endpoint.Name != last.Topic() || c[1022].Came {
			t.Errorf("%d changes, the last %v", len(c), c[len(c)-1])
		}
	})
}

// blindConn is a wire that does not show its graph.
type blindConn struct{ transports.Conn }

func TestViewThatIsNotShown(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		rig := harness.New(blindConn{inproc.NewNetwork().Join("blind")}, harness.Config{})
		unseen := func(v *harness.View, reason string) {
			t.Helper()
			var why *measure.Inconclusive
			if _, err := v.Now(); !errors.As(err, &why) || !strings.Contains(why.Reason, reason) {
				t.Errorf("Now: %v, want %s", err, reason)
			}
			if _, err := v.Observe(harness.Watch, time.Second); !errors.As(err, &why) || !strings.Contains(why.Reason, reason) {
				t.Errorf("Observe: %v, want %s", err, reason)
			}
			if got := v.Missing(transports.PublisherEndpoint, "/x") + v.MissingNode("x"); got != "" {
				t.Errorf("says %q of what it cannot see", got)
			}
		}
		unseen(rig.View(), "this wire does not show its graph")
		if err := rig.Close(); err != nil {
			t.Error(err)
		}
		unseen(rig.View(), "does not show")

		before := len(w.rig.View().Changes())
		w.conn.Sever(errPulled)
		synctest.Wait()
		unseen(w.rig.View(), "pulled")
		if n := len(w.rig.View().Changes()); n != before {
			t.Errorf("the loss of the link made %d changes of the graph", n-before)
		}
		if err := w.rig.Close(); err != nil {
			t.Error(err)
		}
		unseen(w.rig.View(), "not to be seen any more")
	})
}

func TestMissing(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		v := w.rig.View()
		for _, topic := range []string{"/robot1/odom", "/robot1/odometry", "/rosout", "/_hidden", "/robot1/tf"} {
			w.pub(topic)
		}
		synctest.Wait()
		for _, x := range []struct{ got, want string }{
			{v.Missing(transports.PublisherEndpoint, "/robot1/odom"), ""},
			{v.Missing(transports.PublisherEndpoint, "/odom"), "nobody publishes /odom; there is /robot1/odom, the same name in another namespace; there is /robot1/tf, /robot1/odometry"},
			{v.Missing(transports.PublisherEndpoint, "/robot1/odometri"), "nobody publishes /robot1/odometri; there is /robot1/odometry, /robot1/odom, /robot1/tf"},
			{v.Missing(transports.SubscriptionEndpoint, "/odom"), "nobody subscribes to /odom"},
			{v.Missing(transports.ServerEndpoint, "/arm"), "nobody serves /arm"},
			{v.Missing(transports.ClientEndpoint, "/arm"), "nobody has a client of /arm"},
			{v.MissingNode("/robot"), ""},
			{v.MissingNode("/cell/robot"), "there is no node /cell/robot; there is robot, the same name in another namespace; there is spec"},
		} {
			if x.got != x.want {
				t.Errorf("got %q\nwant %q", x.got, x.want)
			}
		}
		time.Sleep(time.Second)
		if err := w.robot.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, x := range []struct{ got, want string }{
			{v.Missing(transports.PublisherEndpoint, "/robot1/tf"), "nobody publishes /robot1/tf any more: robot, which published it, is gone from the graph since +1.000000s"},
			{v.MissingNode("/robot"), "node /robot is gone from the graph since +1.000000s"},
		} {
			if x.got != x.want {
				t.Errorf("got %q\nwant %q", x.got, x.want)
			}
		}
	})
}

// One who left and came again has not left.
func TestOneWhoCameAgainHasNotLeft(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s := w.sub("/odom")
		p := w.pub("/odom")
		synctest.Wait()
		_ = p.Close()
		synctest.Wait()
		w.pub("/odom")
		err := s.WaitForPublishers(within(t, time.Second), 2)
		if err == nil || strings.Contains(err.Error(), "left") || strings.Contains(err.Error(), "closed") {
			t.Errorf("got %v", err)
		}
	})
}

func TestInfrastructure(t *testing.T) {
	for _, x := range []struct {
		e    transports.Endpoint
		want bool
	}{
		{transports.Endpoint{Name: "/rosout"}, true},
		{transports.Endpoint{Name: "/parameter_events"}, true},
		{transports.Endpoint{Name: "/odom"}, false},
		{transports.Endpoint{Name: "/odom", Node: "/_ros2cli_daemon_0"}, true},
		{transports.Endpoint{Name: "/fibonacci/_action/status"}, true},
		{transports.Endpoint{Name: "/clock"}, false},
		{transports.Endpoint{Name: "/robot/describe_parameters", Kind: transports.ServerEndpoint}, true},
		{transports.Endpoint{Name: "/robot/get_type_description", Kind: transports.ClientEndpoint}, true},
		{transports.Endpoint{Name: "/robot/get_parameters"}, false}, // a topic of that name is somebody's own
		{transports.Endpoint{Name: "/reset", Kind: transports.ServerEndpoint}, false},
	} {
		if got := harness.Infrastructure(x.e); got != x.want {
			t.Errorf("Infrastructure(%s %s of %q) is %v", x.e.Kind, x.e.Name, x.e.Node, got)
		}
	}
}

// within is a context that ends after d.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, errors.New("over"))
	t.Cleanup(cancel)
	return ctx
}

// BenchmarkGraphChange is what a change costs a participant that sees 1,000
// endpoints, besides what it costs the wire.
func BenchmarkGraphChange(b *testing.B) {
	net := inproc.NewNetwork()
	robot := net.Join("robot")
	defer robot.Close()
	for i := range 1000 {
		must(robot.Advertise(b.Context(), fmt.Sprintf("/topic%d", i), transports.Type{Name: "std_msgs/msg/String"}, transports.QoS{}))
	}
	conn := net.Join("spec")
	rig := harness.New(conn, harness.Config{})
	defer rig.Close()
	b.Run("harness", func(b *testing.B) {
		for b.Loop() {
			p := must(robot.Advertise(b.Context(), "/odom", transports.Type{}, transports.QoS{}))
			must(rig.View().Now())
			_ = p.Close()
			must(rig.View().Now())
		}
	})
	b.Run("wire", func(b *testing.B) {
		for b.Loop() {
			p := must(robot.Advertise(b.Context(), "/odom", transports.Type{}, transports.QoS{}))
			conn.Graph()
			_ = p.Close()
			conn.Graph()
		}
	})
}
