package measure_test

import (
	"math"
	"testing"
	"testing/quick"

	"github.com/robospec/robospec/measure"
)

var alice, bob = measure.PublisherID{1}, measure.PublisherID{2}

func numbered(id measure.PublisherID, seqs ...uint64) []measure.Arrival {
	arrivals := make([]measure.Arrival, len(seqs))
	for i, s := range seqs {
		arrivals[i] = measure.Arrival{Received: t0, Publisher: id, Seq: s, HasSeq: true}
	}
	return arrivals
}

func to(from, until uint64) []uint64 {
	var seqs []uint64
	for s := from; s <= until; s++ {
		seqs = append(seqs, s)
	}
	return seqs
}

func cat(runs ...[]uint64) []uint64 {
	var all []uint64
	for _, r := range runs {
		all = append(all, r...)
	}
	return all
}

func TestLoss(t *testing.T) {
	const huge = uint64(1) << 63
	for _, c := range []struct {
		name                         string
		seqs                         []uint64
		lost, twice, late, restarted uint64
	}{
		{"none", to(5, 9), 0, 0, 0, 0},
		{"from 0", to(0, 3), 0, 0, 0, 0},
		{"one", []uint64{1, 2, 4}, 1, 0, 0, 0},
		{"a run", []uint64{1, 10}, 8, 0, 0, 0},
		{"a hole filled late", []uint64{1, 3, 2, 4}, 0, 0, 1, 0},
		{"a hole filled in parts", []uint64{1, 10, 5, 2, 9, 3}, 4, 0, 4, 0},
		{"a hole filled twice", []uint64{1, 3, 2, 2, 4}, 0, 1, 1, 0},
		{"a duplicate of the newest", []uint64{1, 2, 2, 2, 3}, 0, 2, 0, 0},
		{"every one twice", []uint64{1, 1, 2, 2, 3, 3}, 0, 3, 0, 0},
		{"a late duplicate", []uint64{1, 2, 3, 2, 4}, 0, 1, 0, 0},
		{"a duplicated run", []uint64{1, 2, 3, 4, 5, 3, 4, 6}, 0, 2, 0, 0},
		{"a duplicate of the first", []uint64{1, 2, 1, 3}, 0, 1, 0, 0},
		{"the start raced", []uint64{7, 5, 6, 8}, 0, 0, 2, 0},
		{"began again at the start", []uint64{1, 2, 3, 4, 1, 2, 3}, 0, 0, 0, 1},
		{"began again at 0", []uint64{40, 41, 42, 0, 1, 2}, 0, 0, 0, 1},
		{"began again, with a loss before", []uint64{1, 2, 4, 1, 2, 3}, 1, 0, 0, 1},
		{"began again twice", cat(to(1, 5), to(1, 5), to(1, 5)), 0, 0, 0, 2},
		{"began again after a long run", cat(to(900, 1400), []uint64{0}), 0, 0, 0, 1},
		{"began again with its first lost", cat(to(900, 1400), []uint64{3, 5}), 1, 0, 0, 1},
		{"began again inside what was seen", cat(to(1, 500), to(3, 10)), 0, 0, 0, 1},
		{"one stray copy from long ago", cat(to(1, 500), []uint64{3}, to(501, 510)), 0, 1, 0, 0},
		{"a forged jump", []uint64{1, huge, huge + 1}, huge - 2, 0, 0, 0},
		{"a forged jump, then on as before", []uint64{1, huge, 2, 3}, huge - 4, 0, 2, 0},
		{"to the end of numbers", []uint64{0, math.MaxUint64}, math.MaxUint64 - 1, 0, 0, 0},
		{"to the end of numbers and back", []uint64{0, math.MaxUint64, math.MaxUint64, math.MaxUint64 - 1}, math.MaxUint64 - 2, 1, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := measure.NewWindow(measure.Stretch{}, numbered(alice, c.seqs...)).Loss()
			want := measure.Loss{Publishers: 1, Messages: len(c.seqs), Lost: c.lost, Duplicates: c.twice, Reordered: c.late, Restarts: c.restarted}
			if err != nil || got != want {
				t.Errorf("%v, %v, want %v", got, err, want)
			}
		})
	}
}

func TestLossPerPublisher(t *testing.T) {
	var interleaved []measure.Arrival
	a, b := numbered(alice, 1, 2, 3, 5), numbered(bob, 100, 101, 103, 102)
	for i := range a {
		interleaved = append(interleaved, a[i], b[i])
	}
	got, err := measure.NewWindow(measure.Stretch{}, interleaved).Loss()
	want := measure.Loss{Publishers: 2, Messages: 8, Lost: 1, Reordered: 1}
	if err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if s := got.String(); s != "1 lost, 0 duplicate, 1 out of order, 0 restarts in 8 messages of 2 publishers" {
		t.Errorf("says %q", s)
	}
}

func TestLossRefuses(t *testing.T) {
	good := measure.NewWindow(measure.Stretch{Topic: "/odom"}, numbered(alice, 1, 2, 3))
	for word, w := range untrusted(good) {
		_, err := w.Loss()
		wantInconclusive(t, err, word)
	}
	_, err := measure.NewWindow(measure.Stretch{}, nil).Loss()
	wantInconclusive(t, err, "0 messages")
	_, err = measure.NewWindow(measure.Stretch{}, append(numbered(alice, 1), numbered(bob, 1)...)).Loss()
	wantInconclusive(t, err, "2 messages and no two of one publisher")
	_, err = measure.NewWindow(measure.Stretch{}, append(numbered(alice, 1, 2), measure.Arrival{})).Loss()
	wantInconclusive(t, err, "no sequence number on 1 of 3 messages")
}

// Sums over publishers saturate; they never wrap round to a small number.
func TestLossSaturates(t *testing.T) {
	w := measure.NewWindow(measure.Stretch{}, append(numbered(alice, 0, math.MaxUint64), numbered(bob, 0, math.MaxUint64)...))
	if l, err := w.Loss(); err != nil || l.Lost != math.MaxUint64 {
		t.Errorf("%v, %v", l, err)
	}
}

// Every second message of a million lost, then all of them late: what is
// counted stays true although not all holes are kept.
func TestLossForgetsOldHoles(t *testing.T) {
	const n = 1_000_000
	var c measure.LossCounter
	for s := uint64(0); s <= n; s += 2 {
		c.Add(alice, s, true)
	}
	l, err := c.Result(measure.Stretch{})
	if err != nil || l.Lost != n/2 {
		t.Fatalf("%v, %v, want %d lost", l, err, n/2)
	}
	c.Add(alice, n-1, true)
	c.Add(alice, 777, true) // long forgotten
	l, err = c.Result(measure.Stretch{})
	if err != nil || l.Lost != n/2-1 || l.Reordered != 1 || l.Duplicates != 1 {
		t.Errorf("%v, %v, want %d lost, 1 late, 1 duplicate", l, err, n/2-1)
	}
}

// A plain set of numbers counts the same where nothing looks like a restart.
func TestLossAgainstSet(t *testing.T) {
	f := func(steps []int8) bool {
		var c measure.LossCounter
		const start = 1 << 20
		c.Add(alice, start, true)
		c.Add(alice, start+1, true)
		seen := map[uint64]bool{start: true, start + 1: true}
		at, highest := uint64(start+1), uint64(start+1)
		var twice, late uint64
		for _, step := range steps {
			at += uint64(int64(step)) // wraps back for a negative step
			if at <= start || highest > at && highest-at > 100 {
				at = highest
			}
			switch {
			case seen[at]:
				twice++
			case at < highest:
				late++
			}
			seen[at], highest = true, max(highest, at)
			c.Add(alice, at, true)
		}
		want := measure.Loss{
			Publishers: 1, Messages: len(steps) + 2, Duplicates: twice, Reordered: late,
			Lost: highest - start + 1 - uint64(len(seen)),
		}
		got, err := c.Result(measure.Stretch{})
		if err != nil || got != want {
			t.Logf("%v: %v, %v, want %v", steps, got, err, want)
			return false
		}
		return true
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
}
