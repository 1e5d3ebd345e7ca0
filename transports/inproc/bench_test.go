package inproc_test

import (
	"testing"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

func BenchmarkPublishToOneSink(b *testing.B) {
	n := inproc.NewNetwork()
	conn := n.Join("bench")
	defer conn.Close()
	got := 0
	if _, err := conn.Subscribe(b.Context(), "/bench", transports.Type{}, transports.QoS{}, func(transports.Sample) { got++ }); err != nil {
		b.Fatal(err)
	}
	pub, err := conn.Advertise(b.Context(), "/bench", transports.Type{}, transports.QoS{})
	if err != nil {
		b.Fatal(err)
	}
	payload := make([]byte, 64)
	b.ReportAllocs()
	published := 0
	for b.Loop() {
		if err := pub.Publish(b.Context(), payload); err != nil {
			b.Fatal(err)
		}
		published++
	}
	if got != published {
		b.Fatalf("%d of %d messages arrived", got, published)
	}
	b.ReportMetric(float64(published)/b.Elapsed().Seconds(), "msg/s")
}

func BenchmarkEcho(b *testing.B) {
	n := inproc.NewNetwork()
	conn := n.Join("bench")
	defer conn.Close()
	ping, err := conn.Advertise(b.Context(), "/ping", transports.Type{}, transports.QoS{})
	if err != nil {
		b.Fatal(err)
	}
	pong, err := conn.Advertise(b.Context(), "/pong", transports.Type{}, transports.QoS{})
	if err != nil {
		b.Fatal(err)
	}
	rounds := 0
	conn.Subscribe(b.Context(), "/ping", transports.Type{}, transports.QoS{}, func(s transports.Sample) { pong.Publish(b.Context(), s.Payload) })
	conn.Subscribe(b.Context(), "/pong", transports.Type{}, transports.QoS{}, func(s transports.Sample) {
		if rounds++; rounds < b.N {
			ping.Publish(b.Context(), s.Payload)
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	ping.Publish(b.Context(), make([]byte, 8))
	if rounds != b.N {
		b.Fatalf("%d of %d rounds", rounds, b.N)
	}
	b.ReportMetric(2*float64(rounds)/b.Elapsed().Seconds(), "msg/s")
}
