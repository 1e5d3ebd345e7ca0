// Package ring is the one place of robospec that forgets messages: a queue
// bounded by count and bytes that drops its oldest entries and counts them.
package ring

const chunkLen = 128

// Ring holds the newest entries of a sequence. Entries have indices that start
// at 0 and are never reused. It is not safe for concurrent use.
type Ring[E any] struct {
	maxCount int
	maxBytes int64
	size     func(*E) int
	dropped  func(*E)

	chunks      []*[chunkLen]E // chunks[0] holds index base
	base        uint64
	spare       *[chunkLen]E
	first, next uint64
	bytes       int64
}

// New makes a ring of at most maxCount entries and maxBytes bytes by size; the
// newest entry is always held. dropped is called for each entry that is
// forgotten, before it is.
func New[E any](maxCount int, maxBytes int64, size func(*E) int, dropped func(*E)) *Ring[E] {
	return &Ring[E]{maxCount: max(maxCount, 1), maxBytes: maxBytes, size: size, dropped: dropped}
}

// First is the index of the oldest entry held, Next that of the next to come.
func (r *Ring[E]) First() uint64 { return r.first }

// Next is the index that the next entry will have.
func (r *Ring[E]) Next() uint64 { return r.next }

// At is the entry of index i, First ≤ i < Next. It is valid until the next Push.
func (r *Ring[E]) At(i uint64) *E {
	o := i - r.base
	return &r.chunks[o/chunkLen][o%chunkLen]
}

// Push appends e and drops what the bounds no longer allow.
func (r *Ring[E]) Push(e *E) {
	if o := r.next - r.base; o == uint64(len(r.chunks))*chunkLen {
		c := r.spare
		r.spare = nil
		if c == nil {
			c = new([chunkLen]E)
		}
		r.chunks = append(r.chunks, c)
	}
	slot := r.At(r.next)
	*slot = *e
	r.next++
	r.bytes += int64(r.size(slot)) // the slot, so that e need not escape
	for r.next-r.first > 1 && (r.next-r.first > uint64(r.maxCount) || r.bytes > r.maxBytes) {
		r.drop()
	}
}

func (r *Ring[E]) drop() {
	e := r.At(r.first)
	r.dropped(e)
	r.bytes -= int64(r.size(e))
	*e = *new(E)
	r.first++
	if r.first-r.base == chunkLen {
		r.spare = r.chunks[0]
		r.chunks[0] = nil
		r.chunks = r.chunks[1:]
		r.base += chunkLen
	}
}

// Skip stands for n entries that were never pushed: everything held is dropped
// and n more indices are used up. dropped is not called for those n.
func (r *Ring[E]) Skip(n uint64) {
	for r.first < r.next {
		r.drop()
	}
	r.next += n
	r.base, r.first, r.chunks = r.next, r.next, nil
}

// Search is the lowest index held for which after is true, or Next; after must
// be false up to some index and true from there on.
func (r *Ring[E]) Search(after func(*E) bool) uint64 {
	lo, hi := r.first, r.next
	for lo < hi {
		mid := lo + (hi-lo)/2
		if after(r.At(mid)) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
