package measure

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

const (
	// maxMisorder is how far behind the newest number a message is still taken
	// for late or doubled, as MAX_MISORDER in RFC 3550, appendix A.1.
	maxMisorder = 100
	// maxHoles bounds the memory for holes in one publisher's numbers.
	maxHoles = 4096
)

// Loss is what sequence numbers tell about a stretch. What was lost before a
// publisher's first and after its last message of the stretch, or around a
// restart, leaves no hole and is not in it.
type Loss struct {
	// Publishers is how many sent, Messages how many of theirs were received,
	// doubles included.
	Publishers int
	Messages   int
	// Lost is how many numbers were never seen between ones that were.
	Lost uint64
	// Duplicates is how many messages came again, one for each further copy.
	Duplicates uint64
	// Reordered is how many came after one with a higher number.
	Reordered uint64
	// Restarts is how often a publisher's numbers began again.
	Restarts uint64
}

func (l Loss) String() string {
	return fmt.Sprintf("%d lost, %d duplicate, %d out of order, %d restarts in %s of %d publishers",
		l.Lost, l.Duplicates, l.Reordered, l.Restarts, messages(l.Messages), l.Publishers)
}

// LossCounter adds up loss, duplicates and reordering by the sequence numbers
// of each publisher, one message at a time. The zero value is ready. It is not
// for concurrent use.
//
// The first number seen of a publisher is its start. A number below the
// highest is late when it fills a hole or lies before the start, and else a
// duplicate. Numbers that begin again (at 0, at 1, at the start, or over 100
// behind the highest and counting on from there) are a restart. A wire that
// names no publishers makes all of them one, so their numbers look doubled.
//
// Memory is bounded per publisher: of over 4,096 holes the oldest count as
// lost, and what comes for them after all as duplicate.
type LossCounter struct {
	n, unnumbered int
	publishers    map[PublisherID]*sequence
	recent        *sequence // of the last message, saves the look-up
	recentID      PublisherID
}

// Add takes the next message as it was numbered by its publisher.
func (c *LossCounter) Add(publisher PublisherID, seq uint64, hasSeq bool) {
	c.n++
	if !hasSeq {
		c.unnumbered++
		return
	}
	if c.recent == nil || c.recentID != publisher {
		s := c.publishers[publisher]
		if s == nil {
			if c.publishers == nil {
				c.publishers = make(map[PublisherID]*sequence)
			}
			s = &sequence{}
			c.publishers[publisher] = s
		}
		c.recent, c.recentID = s, publisher
	}
	c.recent.add(seq)
}

// Result is the loss over the stretch that the added messages are of. It is an
// *Inconclusive when a message had no sequence number, when no publisher sent
// two messages, and over a stretch that is lossy (our loss is not the wire's)
// or cut.
func (c *LossCounter) Result(s Stretch) (Loss, error) {
	if err := s.Untrusted(); err != nil {
		return Loss{}, err
	}
	if c.unnumbered > 0 {
		return Loss{}, &Inconclusive{Reason: fmt.Sprintf("the wire carries no sequence number on %d of %s", c.unnumbered, messages(c.n)),
			Remedy: "let the publisher number its messages on the wire, or count in the payload"}
	}
	l := Loss{Publishers: len(c.publishers), Messages: c.n}
	pairs := false
	for _, q := range c.publishers {
		pairs = pairs || q.n > 1
		l.Lost = plus(l.Lost, q.missing())
		l.Duplicates += q.duplicates
		l.Reordered += q.reordered
		l.Restarts += q.restarts
	}
	if !pairs {
		return Loss{}, &Inconclusive{Reason: fmt.Sprintf("%sholds %s and no two of one publisher, between which a loss would show", s.on(), messages(c.n))}
	}
	return l, nil
}

// Loss is LossCounter over the window.
func (w *Window) Loss() (Loss, error) {
	var c LossCounter
	for i := range w.arrivals {
		a := &w.arrivals[i]
		c.Add(a.Publisher, a.Seq, a.HasSeq)
	}
	return c.Result(w.Stretch)
}

// sequence is the numbers of one publisher.
type sequence struct {
	n              uint64
	start, highest uint64
	holes          []hole // ascending, between start and highest
	lost           uint64 // in holes no longer kept
	duplicates     uint64
	reordered      uint64
	restarts       uint64

	// suspect, where set, is the last message's number, which looks like a
	// restart; it is one when the next number follows it.
	suspect   uint64
	suspected bool
}

// hole is numbers not seen, both ends included.
type hole struct{ from, to uint64 }

func (q *sequence) add(seq uint64) {
	q.n++
	suspected := q.suspected
	q.suspected = false
	if q.n == 1 {
		q.start, q.highest = seq, seq
		return
	}
	if seq > q.highest {
		if seq-q.highest > 1 {
			q.open(hole{q.highest + 1, seq - 1})
		}
		q.highest = seq
		return
	}
	if suspected && seq == q.suspect+1 {
		if q.suspect < q.start {
			q.reordered--
		} else {
			q.duplicates--
		}
		q.restart(q.suspect, seq)
		return
	}
	if q.fill(seq) {
		q.reordered++
		return
	}
	home := seq <= 1 || seq == q.start
	far := q.highest-seq > maxMisorder
	if far && (home || seq < q.start) {
		q.restart(seq, seq)
		return
	}
	if (home || far) && seq < q.highest {
		q.suspect, q.suspected = seq, true
	}
	if seq < q.start {
		q.reordered++
	} else {
		q.duplicates++
	}
}

func (q *sequence) restart(start, highest uint64) {
	q.lost = q.missing()
	q.holes = q.holes[:0]
	q.restarts++
	q.start, q.highest = start, highest
}

func (q *sequence) open(h hole) {
	if len(q.holes) == maxHoles {
		old := q.holes[:maxHoles/2] // half of them, so that it happens seldom
		q.lost = plus(q.lost, size(old))
		q.holes = slices.Delete(q.holes, 0, len(old))
	}
	q.holes = append(q.holes, h)
}

// fill takes seq out of the hole it lies in, if any.
func (q *sequence) fill(seq uint64) bool {
	i := sort.Search(len(q.holes), func(i int) bool { return q.holes[i].to >= seq })
	if i == len(q.holes) || q.holes[i].from > seq {
		return false
	}
	h := &q.holes[i]
	switch {
	case h.from == h.to:
		q.holes = slices.Delete(q.holes, i, i+1)
	case h.from == seq:
		h.from++
	case h.to == seq:
		h.to--
	default:
		rest := hole{seq + 1, h.to}
		h.to = seq - 1
		q.holes = slices.Insert(q.holes, i+1, rest)
	}
	return true
}

func (q *sequence) missing() uint64 { return plus(q.lost, size(q.holes)) }

func size(holes []hole) uint64 {
	var n uint64
	for _, h := range holes {
		n = plus(n, h.to-h.from+1)
	}
	return n
}

// plus saturates: numbers on a wire may be forged.
func plus(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
