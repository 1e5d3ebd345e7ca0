package broker

import (
	"slices"
	"sync"

	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// keep is the largest buffer kept for reuse.
const keep = 4 << 20

// lane is one of the two sequences of frames of a link without QoS lanes.
type lane uint8

const (
	reliable lane = iota
	bestEffort
)

// outbox turns messages for one link into batches. Whoever finds the socket idle
// writes from his own goroutine, as far as that needs no waiting; only when the
// socket is full does a goroutine of the outbox write the rest.
type outbox struct {
	c     *link.Conn
	mask  uint32
	limit int // bytes of a batch without its prefix
	bound int // bytes that may wait before messages are held back

	spawn func(func())      // starts a goroutine of the broker
	lost  func(cause error) // a write failed

	mu      sync.Mutex
	sn      [2]uint32 // of the next frame
	pending []byte    // batches behind their prefixes; the last one may still grow
	batch   int       // where the last one begins, -1 if it may not grow
	frame   bool      // it ends in a frame of lane
	lane    lane
	spare   []byte        // a buffer to reuse
	busy    bool          // somebody is at the socket
	wrote   bool          // since the last keep-alive was due
	jam     bool          // a message was dropped since there was room last
	room    chan struct{} // closed when there is room, or nothing is written any more
	dead    bool
	stalls  int    // nothing is written while it is not 0
	mutes   int    // likewise, and what would be is lost
	kept    uint64 // messages that met either
}

func (o *outbox) init(c *link.Conn, batchSize uint16, mask, sn uint32, bound int) {
	o.c, o.mask, o.limit, o.bound = c, mask, int(batchSize)-link.Prefix, bound
	o.sn, o.batch = [2]uint32{sn, sn}, -1
}

// put appends a network message, given in two parts. o.mu is held.
func (o *outbox) put(on lane, head, tail []byte) {
	if o.stalls+o.mutes > 0 {
		o.kept++
	}
	if o.dead || o.mutes > 0 {
		return
	}
	n := len(head) + len(tail)
	header := 1 + wire.VLELen(uint64(o.sn[on]))
	if o.batch >= 0 {
		need := n
		same := o.frame && o.lane == on
		if !same {
			need += header
		}
		if len(o.pending)-o.batch-link.Prefix+need <= o.limit {
			if !same {
				o.beginFrame(on)
			}
			o.pending = append(append(o.pending, head...), tail...)
			return
		}
	}
	if header+n > o.limit {
		o.fragments(on, head, tail)
		return
	}
	o.begin()
	o.beginFrame(on)
	o.pending = append(append(o.pending, head...), tail...)
}

// transport appends a transport message as a batch of its own. o.mu is held.
func (o *outbox) transport(m message) {
	if o.dead || o.mutes > 0 {
		return
	}
	o.begin()
	o.pending = m.Append(o.pending)
	o.seal()
}

// begin closes the last batch and begins another.
func (o *outbox) begin() {
	o.seal()
	o.batch, o.frame = len(o.pending), false
	o.pending = link.Begin(o.pending)
}

func (o *outbox) seal() {
	if o.batch >= 0 {
		link.End(o.pending, o.batch)
	}
	o.batch = -1
}

func (o *outbox) beginFrame(on lane) {
	f := wire.Frame{Reliable: on == reliable, SN: o.nextSN(on)}
	o.pending = f.Append(o.pending)
	o.frame, o.lane = true, on
}

func (o *outbox) nextSN(on lane) uint32 {
	sn := o.sn[on]
	o.sn[on] = (sn + 1) & o.mask
	return sn
}

// fragments appends a message that is longer than a batch. Its pieces keep the
// lane: nothing of it comes between.
func (o *outbox) fragments(on lane, head, tail []byte) {
	o.seal()
	left := len(head) + len(tail)
	const overhead = link.Prefix + 16 // of a fragment, at most
	o.pending = slices.Grow(o.pending, left+(left/(o.limit-overhead)+1)*overhead)
	for left > 0 {
		at := len(o.pending)
		o.pending = link.Begin(o.pending)
		f := wire.Fragment{Reliable: on == reliable, More: true, SN: o.nextSN(on)}
		o.pending = f.Append(o.pending)
		n := min(o.limit-(len(o.pending)-at-link.Prefix), left)
		if n == left {
			f.More = false
			o.pending = f.Append(o.pending[:at+link.Prefix])
		}
		left -= n
		h := min(n, len(head))
		o.pending = append(o.pending, head[:h]...)
		o.pending = append(o.pending, tail[:n-h]...)
		head, tail = head[h:], tail[n-h:]
		link.End(o.pending, at)
	}
}

// full reports whether a message has to wait. o.mu is held.
func (o *outbox) full() bool { return len(o.pending) >= o.bound && !o.dead && o.mutes == 0 }

// flush writes what is pending unless somebody is at it already.
func (o *outbox) flush() {
	o.mu.Lock()
	if o.busy {
		o.mu.Unlock()
		return
	}
	for {
		out := o.take()
		if out == nil {
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
		n, err := o.c.TryWrite(out)
		if err != nil {
			o.lost(err)
			return // busy for good: nobody writes any more
		}
		if n < len(out) {
			o.spawn(func() { o.drain(out, n) })
			return
		}
		o.mu.Lock()
		o.give(out)
	}
}

// drain writes out[n:] and then whatever is pending, waiting as needed.
func (o *outbox) drain(out []byte, n int) {
	for {
		if err := o.c.Write(out[n:]); err != nil {
			o.lost(err)
			return
		}
		o.mu.Lock()
		o.give(out)
		if out = o.take(); out == nil {
			o.mu.Unlock()
			return
		}
		n = 0
		o.mu.Unlock()
	}
}

// take makes what is pending the output, nil when there is nothing to write now.
// o.mu is held.
func (o *outbox) take() []byte {
	if len(o.pending) == 0 || o.dead || o.stalls > 0 {
		o.busy = false
		return nil
	}
	o.seal()
	out := o.pending
	o.pending, o.spare = o.spare[:0], nil
	o.busy, o.wrote = true, true
	o.makeRoom()
	return out
}

// give takes a written buffer back. o.mu is held.
func (o *outbox) give(out []byte) {
	if cap(out) <= keep {
		o.spare = out
	}
}

// makeRoom tells those who wait that there is room. o.mu is held.
func (o *outbox) makeRoom() {
	o.jam = false
	if o.room != nil {
		close(o.room)
		o.room = nil
	}
}

// clear forgets what was not written.
func (o *outbox) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pending, o.batch = nil, -1
}

// kill drops what was not written and frees who waits for room.
func (o *outbox) kill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dead, o.pending, o.spare, o.batch = true, nil, nil, -1
	o.makeRoom()
}

// change stalls or mutes the outbox, or ends that, by adding to its counters.
func (o *outbox) change(stalls, mutes int) {
	o.mu.Lock()
	o.stalls += stalls
	o.mutes += mutes
	if o.mutes > 0 {
		o.makeRoom()
	}
	o.mu.Unlock()
	o.flush()
}

type message interface{ Append([]byte) []byte }
