package broker_test

import (
	"context"
	"testing"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

// stream is b.N messages of a size from one session to others. The broker, the
// sender and the readers share the process.
func stream(b *testing.B, size, readers int, also func(*broker.Broker)) {
	br := start(b, broker.Config{})
	from := dial(b, br)
	done := make(chan struct{}, readers)
	for range readers {
		to, n := dial(b, br), 0
		_, err := to.Subscribe(testenv.Soon(b), "stream", func(*session.Sample) {
			if n++; n == b.N {
				done <- struct{}{}
			}
		})
		testenv.Must(b, err)
		testenv.Must(b, to.Barrier(testenv.Soon(b)))
	}
	also(br)
	p := publisher(b, from, "stream", session.PublisherConfig{})
	payload := make([]byte, size)
	b.SetBytes(int64(size * readers))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		testenv.Must(b, p.Put(context.Background(), session.Put{Payload: payload}))
	}
	for range readers {
		<-done
	}
	b.ReportMetric(float64(b.N*readers)/b.Elapsed().Seconds(), "messages/s")
}

func BenchmarkStream(b *testing.B) {
	plain := func(*broker.Broker) {}
	b.Run("100B", func(b *testing.B) { stream(b, 100, 1, plain) })
	b.Run("100B to 10", func(b *testing.B) { stream(b, 100, 10, plain) })
	b.Run("1MB", func(b *testing.B) { stream(b, 1<<20, 1, plain) })
	b.Run("100B recorded", func(b *testing.B) {
		stream(b, 100, 1, func(br *broker.Broker) {
			r, err := br.Record(broker.Recorder{})
			testenv.Must(b, err)
			b.Cleanup(func() { testenv.Must(b, r.Close()) })
		})
	})
}
