package harness_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/transports/inproc"
)

// The tests of this file run on the wall clock, at full speed.

func loadedGraph(tb testing.TB, opts ...harness.Option) (*harness.Publisher[[]byte], *harness.Subscription[[]byte]) {
	net := inproc.NewNetwork()
	rig, robot := harness.New(net.Join("spec"), harness.Config{}), harness.New(net.Join("robot"), harness.Config{})
	tb.Cleanup(func() {
		if err := errors.Join(rig.Close(), robot.Close()); err != nil {
			tb.Error(err)
		}
	})
	s := must(harness.Subscribe[[]byte](tb.Context(), rig, "/load", opts...))
	return must(harness.Advertise[[]byte](tb.Context(), robot, "/load")), s
}

// flood publishes the numbers from first to before n.
func flood(tb testing.TB, p *harness.Publisher[[]byte], first, n int) {
	var payload [64]byte
	for i := first; i < n; i++ {
		binary.LittleEndian.PutUint64(payload[:], uint64(i))
		if _, err := p.Publish(tb.Context(), payload[:]); err != nil {
			tb.Error(err)
			return
		}
	}
}

// readAll reads until n are seen or counted as lost, and checks the order.
func readAll(tb testing.TB, r *harness.Reader[[]byte], n int, each func()) (seen, lost int) {
	tb.Helper()
	ctx, cancel := harness.Soft(tb.Context(), 5*time.Minute)
	defer cancel()
	next := uint64(0)
	for m, err := range r.ListenReliable(ctx) {
		var loss *harness.LossError
		switch {
		case errors.As(err, &loss):
			lost += int(loss.Lost)
			next += loss.Lost
		case err != nil:
			tb.Fatal(err)
		default:
			if got := binary.LittleEndian.Uint64(m.Value); got != next {
				tb.Fatalf("message %d came where %d was due", got, next)
			}
			next++
			seen++
			each()
		}
		if seen+lost >= n {
			break
		}
	}
	if seen+lost != n {
		tb.Fatalf("%d seen and %d lost of %d", seen, lost, n)
	}
	return seen, lost
}

func TestMillionMessages(t *testing.T) {
	n := 1_000_000
	if raceEnabled {
		n = 100_000 // the race detector slows each message twentyfold
	}
	t.Run("large ring", func(t *testing.T) {
		p, s := loadedGraph(t, harness.Keep(n, 1<<40))
		r := s.FromNow()
		go flood(t, p, 0, n)
		if seen, lost := readAll(t, r, n, func() {}); seen != n || lost != 0 {
			t.Errorf("%d seen, %d lost", seen, lost)
		}
	})
	t.Run("small ring, slow reader", func(t *testing.T) {
		p, s := loadedGraph(t, harness.Keep(1000, 0))
		r := s.FromNow()
		const laps = 5000
		lapped := make(chan struct{})
		go func() {
			flood(t, p, 0, laps)
			close(lapped)
			flood(t, p, laps, n)
		}()
		seen, lost := readAll(t, r, n, func() { <-lapped }) // to be too slow at first is what is played
		t.Logf("%d seen, %d lost of %d", seen, lost, n)
		if lost == 0 || seen < 1000 {
			t.Errorf("%d seen, %d lost: nothing was tested", seen, lost)
		}
	})
	t.Run("small ring, late reader", func(t *testing.T) {
		p, s := loadedGraph(t, harness.Keep(1000, 0))
		r := s.FromNow()
		flood(t, p, 0, n)
		if seen, lost := readAll(t, r, n, func() {}); seen != 1000 || lost != n-1000 {
			t.Errorf("%d seen, %d lost", seen, lost)
		}
	})
}

// A full log is full: millions of messages later it holds no more memory.
func TestMemoryStaysFlat(t *testing.T) {
	n := 10_000_000
	if raceEnabled || testing.Short() {
		n = 300_000
	}
	p, s := loadedGraph(t, harness.Keep(10_000, 0))
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // twice: pools are emptied by the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	r := s.FromNow()
	flood(t, p, 0, 100_000)
	before := heap()
	began := time.Now()
	flood(t, p, 0, n)
	took := time.Since(began)
	after := heap()
	t.Logf("heap %d kB before, %d kB after %d messages in %v", before>>10, after>>10, n, took.Round(time.Millisecond))
	if after > before+1<<20 {
		t.Errorf("the heap grew from %d kB to %d kB", before>>10, after>>10)
	}
	if got := s.Received(); got != uint64(100_000+n) {
		t.Errorf("received %d", got)
	}
	_, err := r.WaitForNext(t.Context())
	var lost *harness.LossError
	if !errors.As(err, &lost) || lost.Lost != uint64(100_000+n-10_000) {
		t.Errorf("the reader says %v", err)
	}
}

// BenchmarkPublishToReader is one message from Publish to a reader that waits
// for it in another goroutine. Every one must have arrived, none lapped.
func BenchmarkPublishToReader(b *testing.B) {
	p, s := loadedGraph(b, harness.Keep(1<<17, 1<<40))
	r := s.FromNow()
	type result struct{ seen, lost int }
	done := make(chan result, 1)
	go func() {
		var res result
		for m, err := range r.ListenReliable(b.Context()) {
			if err != nil {
				var loss *harness.LossError
				if !errors.As(err, &loss) {
					break
				}
				res.lost += int(loss.Lost)
				continue
			}
			if len(m.Value) == 8 { // the last
				break
			}
			if binary.LittleEndian.Uint64(m.Value) != uint64(res.seen+res.lost) {
				break
			}
			res.seen++
		}
		done <- res
	}()
	var payload [64]byte
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		binary.LittleEndian.PutUint64(payload[:], uint64(n))
		if _, err := p.Publish(b.Context(), payload[:]); err != nil {
			b.Fatal(err)
		}
		n++
	}
	published := b.Elapsed()
	binary.LittleEndian.PutUint64(payload[:], uint64(n))
	if _, err := p.Publish(b.Context(), payload[:8]); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	res := <-done
	if res.seen != n || res.lost != 0 {
		b.Fatalf("%d seen in order and %d lost of %d", res.seen, res.lost, n)
	}
	b.ReportMetric(float64(n)/(published+time.Since(began)).Seconds(), "msg/s")
}

// BenchmarkWake is the time from a message's receive stamp to the return of the
// WaitForNext that waited for it.
func BenchmarkWake(b *testing.B) {
	p, s := loadedGraph(b)
	woken := make(chan time.Duration)
	armed := make(chan *harness.Reader[[]byte])
	go func() {
		for r := range armed {
			m, err := r.WaitForNext(b.Context())
			if err != nil {
				b.Error(err)
			}
			woken <- time.Since(m.Received)
		}
		close(woken)
	}()
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		armed <- s.FromNow()
		time.Sleep(100 * time.Microsecond) // let it come to wait
		if _, err := p.Publish(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		took = append(took, <-woken)
	}
	close(armed)
	<-woken
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "ns-median")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "ns-p99")
}

// BenchmarkPublish is a stimulus to one subscription, with nobody waiting.
func BenchmarkPublish(b *testing.B) {
	p, s := loadedGraph(b)
	payload := make([]byte, 64)
	b.ReportAllocs()
	n := uint64(0)
	for b.Loop() {
		if _, err := p.Publish(b.Context(), payload); err != nil {
			b.Fatal(err)
		}
		n++
	}
	if s.Received() != n {
		b.Fatalf("received %d of %d", s.Received(), n)
	}
}
