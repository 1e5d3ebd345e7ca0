package inproc_test

import (
	"testing"
	"time"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

var types = []struct {
	name           string
	asked, offered transports.Type
	meet           bool
}{
	{"no types", transports.Type{}, transports.Type{}, true},
	{"one has none", transports.Type{}, transports.Type{Name: "nav_msgs/msg/Odometry", Hash: "RIHS01_a"}, true},
	{"the other has none", transports.Type{Name: "nav_msgs/msg/Odometry", Hash: "RIHS01_a"}, transports.Type{}, true},
	{"the same", transports.Type{Name: "nav_msgs/msg/Odometry", Hash: "RIHS01_a"}, transports.Type{Name: "nav_msgs/msg/Odometry", Hash: "RIHS01_a"}, true},
	{"one without a hash", transports.Type{Name: "nav_msgs/msg/Odometry"}, transports.Type{Name: "nav_msgs/msg/Odometry", Hash: "RIHS01_a"}, true},
	{"another name", transports.Type{Name: "nav_msgs/msg/Path"}, transports.Type{Name: "nav_msgs/msg/Odometry"}, false},
	{"another hash", transports.Type{Name: "nav_msgs/msg/Odometry", Hash: "RIHS01_b"}, transports.Type{Name: "nav_msgs/msg/Odometry", Hash: "RIHS01_a"}, false},
	{"another name with the same hash", transports.Type{Name: "a/msg/A", Hash: "RIHS01_a"}, transports.Type{Name: "b/msg/B", Hash: "RIHS01_a"}, false},
}

// Ends of another type or hash do not meet, whoever came first.
func TestTypesThatDoNotMeet(t *testing.T) {
	for _, tt := range types {
		want := 0
		if tt.meet {
			want = 1
		}
		for _, subscribedFirst := range []bool{true, false} {
			c := inproc.NewNetwork().Join("n")
			heard := 0
			var s transports.Closer
			var p transports.Publisher
			var err error
			latched := transports.QoS{Durability: transports.TransientLocal}
			sub := func() {
				if s, err = c.Subscribe(t.Context(), "/t", tt.asked, latched, func(transports.Sample) { heard++ }); err != nil {
					t.Fatal(err)
				}
			}
			if subscribedFirst {
				sub()
			}
			if p, err = c.Advertise(t.Context(), "/t", tt.offered, latched); err != nil {
				t.Fatal(err)
			}
			publish(t, p, "x")
			if !subscribedFirst {
				sub()
			}
			if heard != want || matched(t, p) != want || matched(t, s) != want {
				t.Errorf("%s, subscribed first %v: %d heard, %d and %d matched, want %d", tt.name, subscribedFirst, heard, matched(t, p), matched(t, s), want)
			}
			c.Close()
		}

		c := inproc.NewNetwork().Join("n")
		served := 0
		srv, err := c.Serve(t.Context(), "/s", tt.offered, func(r transports.Request) {
			served++
			_ = r.Reply(nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		cl, err := c.Client(t.Context(), "/s", tt.asked)
		if err != nil {
			t.Fatal(err)
		}
		var answer error
		if err := cl.Call(t.Context(), nil, func(_ transports.Sample, err error) { answer = err }); err != nil {
			t.Fatal(err)
		}
		if served != want || matched(t, srv) != want || matched(t, cl) != want || (answer == nil) != tt.meet {
			t.Errorf("%s: %d served, %d and %d matched, answer %v", tt.name, served, matched(t, srv), matched(t, cl), answer)
		}
		c.Close()
	}
}

// Each policy keeps apart what QoS.Incompatible says it does, with the graph
// showing both sides of it.
func TestPoliciesThatDoNotMeet(t *testing.T) {
	for _, tt := range []struct{ asked, offered transports.QoS }{
		{transports.QoS{Reliability: transports.Reliable}, transports.QoS{Reliability: transports.BestEffort}},
		{transports.QoS{Durability: transports.TransientLocal}, transports.QoS{}},
		{transports.QoS{Deadline: time.Second}, transports.QoS{}},
		{transports.QoS{Deadline: time.Second}, transports.QoS{Deadline: 2 * time.Second}},
		{transports.QoS{Deadline: time.Second}, transports.QoS{Deadline: time.Second}},
		{transports.QoS{Liveliness: transports.ManualByTopic}, transports.QoS{}},
		{transports.QoS{Liveliness: transports.ManualByTopic}, transports.QoS{Liveliness: transports.ManualByTopic}},
		{transports.QoS{Lease: time.Second}, transports.QoS{}},
		{transports.QoS{Lease: time.Second}, transports.QoS{Lease: time.Minute}},
		{transports.QoS{Lease: time.Second}, transports.QoS{Lease: time.Millisecond}},
	} {
		c := inproc.NewNetwork().Join("n")
		got := collect(t, c, "t", tt.asked)
		publish(t, advertise(t, c, "t", tt.offered), "x")
		why := tt.asked.Incompatible(tt.offered)
		if (len(*got) == 1) != (why == "") {
			t.Errorf("asked (%v), offered (%v): heard %q, and incompatible is %q", tt.asked, tt.offered, *got, why)
		}
		g, _ := c.Graph()
		if len(g.Endpoints) != 2 || g.Endpoints[1].QoS.Incompatible(g.Endpoints[0].QoS) != why {
			t.Errorf("the graph shows %+v, want %q of it", g.Endpoints, why)
		}
		c.Close()
	}
}
