package inproc_test

import (
	"testing"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

func BenchmarkPublishToOneSink(b *testing.B) {
	conn := inproc.NewNetwork().Join("bench")
	defer conn.Close()
	got := 0
	subscribe(b, conn, "bench", transports.QoS{}, func(transports.Sample) { got++ })
	pub := advertise(b, conn, "bench", transports.QoS{})
	ctx, payload, published := b.Context(), make([]byte, 64), 0
	b.ReportAllocs()
	for b.Loop() {
		if err := pub.Publish(ctx, payload); err != nil {
			b.Fatal(err)
		}
		published++
	}
	if got != published {
		b.Fatalf("%d of %d messages arrived", got, published)
	}
	b.ReportMetric(float64(published)/b.Elapsed().Seconds(), "msg/s")
}

// BenchmarkEcho has two pairs echo one message for ever.
func BenchmarkEcho(b *testing.B) {
	conn := inproc.NewNetwork().Join("bench")
	defer conn.Close()
	ping, pong := advertise(b, conn, "ping", transports.QoS{}), advertise(b, conn, "pong", transports.QoS{})
	ctx, rounds := b.Context(), 0
	send := func(p transports.Publisher, payload []byte) {
		if err := p.Publish(ctx, payload); err != nil {
			b.Error(err)
		}
	}
	subscribe(b, conn, "ping", transports.QoS{}, func(s transports.Sample) { send(pong, s.Payload) })
	subscribe(b, conn, "pong", transports.QoS{}, func(s transports.Sample) {
		if rounds++; rounds < b.N {
			send(ping, s.Payload)
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	send(ping, make([]byte, 8))
	if rounds != b.N {
		b.Fatalf("%d of %d rounds", rounds, b.N)
	}
	b.ReportMetric(2*float64(rounds)/b.Elapsed().Seconds(), "msg/s")
}
