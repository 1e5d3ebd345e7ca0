package transports_test

import (
	"testing"
	"time"

	"github.com/robospec/robospec/transports"
)

func TestZeroQoS(t *testing.T) {
	var q transports.QoS
	if got := q.HistoryDepth(); got != 10 {
		t.Errorf("HistoryDepth of the zero QoS is %d, want 10", got)
	}
	if got, want := q.String(), "default reliability, default durability, depth 10"; got != want {
		t.Errorf("the zero QoS reads %q, want %q", got, want)
	}
	q = transports.QoS{Reliability: transports.BestEffort, Durability: transports.TransientLocal, Depth: 1}
	if got, want := q.String(), "best effort, transient local, depth 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	q = transports.QoS{History: transports.KeepAll, Deadline: time.Second, Lifespan: time.Minute, Lease: time.Hour, Liveliness: transports.ManualByTopic}
	if got, want := q.String(), "default reliability, default durability, keep all, deadline 1s, lifespan 1m0s, lease 1h0m0s, manual by topic"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (transports.QoS{Depth: -1}).HistoryDepth(); got != 10 {
		t.Errorf("HistoryDepth of depth -1 is %d, want 10", got)
	}
}

// TestIncompatible is the table of the ROS 2 documentation, "About Quality of
// Service settings", QoS compatibilities; a default asks for nothing and offers
// reliable and volatile.
func TestIncompatible(t *testing.T) {
	const (
		reliability = "reliability: asked reliable, offered best effort"
		durability  = "durability: asked transient local, offered volatile"
	)
	for _, tt := range []struct {
		asked, offered transports.Reliability
		want           string
	}{
		{transports.BestEffort, transports.BestEffort, ""},
		{transports.BestEffort, transports.Reliable, ""},
		{transports.Reliable, transports.BestEffort, reliability},
		{transports.Reliable, transports.Reliable, ""},
		{transports.ReliabilityDefault, transports.BestEffort, ""},
		{transports.ReliabilityDefault, transports.Reliable, ""},
		{transports.Reliable, transports.ReliabilityDefault, ""},
		{transports.ReliabilityDefault, transports.ReliabilityDefault, ""},
	} {
		got := transports.QoS{Reliability: tt.asked}.Incompatible(transports.QoS{Reliability: tt.offered})
		if got != tt.want {
			t.Errorf("asked %v, offered %v: %q, want %q", tt.asked, tt.offered, got, tt.want)
		}
	}
	for _, tt := range []struct {
		asked, offered transports.Durability
		want           string
	}{
		{transports.Volatile, transports.Volatile, ""},
		{transports.Volatile, transports.TransientLocal, ""},
		{transports.TransientLocal, transports.Volatile, durability},
		{transports.TransientLocal, transports.TransientLocal, ""},
		{transports.DurabilityDefault, transports.Volatile, ""},
		{transports.DurabilityDefault, transports.TransientLocal, ""},
		{transports.TransientLocal, transports.DurabilityDefault, durability},
		{transports.DurabilityDefault, transports.DurabilityDefault, ""},
	} {
		got := transports.QoS{Durability: tt.asked}.Incompatible(transports.QoS{Durability: tt.offered})
		if got != tt.want {
			t.Errorf("asked %v, offered %v: %q, want %q", tt.asked, tt.offered, got, tt.want)
		}
	}
	for _, tt := range []struct {
		asked, offered transports.QoS
		want           string
	}{
		{transports.QoS{Deadline: time.Second}, transports.QoS{}, "deadline: asked 1s, offered none"},
		{transports.QoS{Deadline: time.Second}, transports.QoS{Deadline: 2 * time.Second}, "deadline: asked 1s, offered 2s"},
		{transports.QoS{Deadline: time.Second}, transports.QoS{Deadline: time.Second}, ""},
		{transports.QoS{}, transports.QoS{Deadline: time.Second}, ""},
		{transports.QoS{Liveliness: transports.ManualByTopic}, transports.QoS{}, "liveliness: asked manual by topic, offered automatic"},
		{transports.QoS{Liveliness: transports.Automatic}, transports.QoS{Liveliness: transports.ManualByTopic}, ""},
		{transports.QoS{Lease: time.Second}, transports.QoS{}, "lease: asked 1s, offered none"},
		{transports.QoS{Lease: time.Second}, transports.QoS{Lease: time.Millisecond}, ""},
		{transports.QoS{Lifespan: time.Second, History: transports.KeepAll}, transports.QoS{}, ""}, // no matter of compatibility
	} {
		if got := tt.asked.Incompatible(tt.offered); got != tt.want {
			t.Errorf("asked %v, offered %v: %q, want %q", tt.asked, tt.offered, got, tt.want)
		}
	}
	// Depth is no matter of compatibility.
	if got := (transports.QoS{Depth: 100}).Incompatible(transports.QoS{Depth: 1}); got != "" {
		t.Errorf("depth 100 of 1: %q", got)
	}
}

func TestEndpointKindString(t *testing.T) {
	for kind, want := range map[transports.EndpointKind]string{
		transports.PublisherEndpoint:    "publisher",
		transports.SubscriptionEndpoint: "subscription",
		transports.ServerEndpoint:       "server",
		transports.ClientEndpoint:       "client",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d reads %q, want %q", kind, got, want)
		}
	}
}
