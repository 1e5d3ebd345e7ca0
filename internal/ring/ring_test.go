package ring

import (
	"math/rand/v2"
	"testing"
)

// Against a plain slice: whatever the bounds and sizes, the ring holds the
// newest entries that fit, and each other one was reported dropped, in order.
func TestRingHoldsTheNewest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		maxCount, maxBytes := 1+rnd.IntN(500), int64(1+rnd.IntN(2000))
		var dropped []int
		r := New(maxCount, maxBytes, func(e *int) int { return *e % 17 }, func(e *int) { dropped = append(dropped, *e) })
		n := rnd.IntN(1500)
		var bytes int64
		first := 0
		for i := range n {
			r.Push(&i)
			bytes += int64(i % 17)
			for i+1-first > 1 && (i+1-first > maxCount || bytes > maxBytes) {
				bytes -= int64(first % 17)
				first++
			}
		}
		if r.First() != uint64(first) || r.Next() != uint64(n) {
			t.Fatalf("holds [%d, %d), want [%d, %d) with bounds %d and %d bytes", r.First(), r.Next(), first, n, maxCount, maxBytes)
		}
		if len(dropped) != first {
			t.Fatalf("%d dropped, want %d", len(dropped), first)
		}
		for i, v := range dropped {
			if v != i {
				t.Fatalf("drop %d was %d", i, v)
			}
		}
		for i := r.First(); i < r.Next(); i++ {
			if *r.At(i) != int(i) {
				t.Fatalf("index %d holds %d", i, *r.At(i))
			}
		}
		want := uint64(rnd.IntN(n + 1))
		if got := r.Search(func(e *int) bool { return uint64(*e) >= want }); got != max(want, r.First()) {
			t.Fatalf("Search for %d found %d of [%d, %d)", want, got, r.First(), r.Next())
		}
	}
}

func TestRingDoesNotGrow(t *testing.T) {
	r := New(1000, 1<<20, func(*int) int { return 1 }, func(*int) {})
	for i := range 5000 {
		r.Push(&i)
	}
	if n := testing.AllocsPerRun(100000, func() { v := 1; r.Push(&v) }); n > 0.01 {
		t.Errorf("%v allocations a push in a full ring", n)
	}
}

func TestSkip(t *testing.T) {
	dropped := 0
	r := New(10, 100, func(*int) int { return 1 }, func(*int) { dropped++ })
	for i := range 7 {
		r.Push(&i)
	}
	r.Skip(1 << 40)
	v := 42
	r.Push(&v)
	if r.First() != 7+1<<40 || r.Next() != r.First()+1 || *r.At(r.First()) != 42 || dropped != 7 {
		t.Errorf("holds [%d, %d), %d dropped", r.First(), r.Next(), dropped)
	}
}
