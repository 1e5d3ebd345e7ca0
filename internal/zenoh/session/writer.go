package session

import (
	"context"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

// full is how many bytes may wait for the socket before senders wait for room.
const full = 256 << 10

// keep is the largest buffer kept for reuse.
const keep = 1 << 20

// lane is one of the two sequences of frames of a link without QoS lanes.
type lane uint8

const (
	reliable lane = iota
	bestEffort
)

type message interface{ Append([]byte) []byte }

// writer turns messages into batches. Whoever finds the socket idle writes from
// his own goroutine, as far as that needs no waiting; what is left, and what was
// appended meanwhile, goes out in one piece from the flusher's.
type writer struct {
	link  *link.Conn
	mask  uint32
	limit int // bytes of a batch without its prefix

	mu      sync.Mutex
	sn      [2]uint32 // of the next frame
	pending []byte    // batches behind their prefixes; the last one may still grow
	batch   int       // where the last one begins, -1 if it may not grow
	frame   bool      // it ends in a frame of lane
	lane    lane
	whole   []byte // a message to be cut into fragments
	push    wire.Push

	busy  bool   // out is with the socket
	out   []byte // its buffer, kept for reuse
	rest  []byte // what of out the flusher has to write
	wrote bool   // since the last keep-alive was due
	last  []byte // the beginning of the batch written last
	lastN int    // its length
	room  chan struct{}
	idle  chan struct{} // closed when all is written, once bye asked
	shut  error         // why nothing may be appended any more
	dead  error         // why nothing is written any more

	wake chan struct{}
	stop chan struct{}
	// neverWaits tells that the calling goroutine is one whose waiting would
	// keep the peer from reading: it goes beyond what is full instead.
	neverWaits func() bool
}

func (w *writer) init(l *link.Conn, batchSize uint16, mask, sn uint32) {
	*w = writer{
		link: l, mask: mask, limit: int(batchSize) - link.Prefix, sn: [2]uint32{sn, sn}, batch: -1,
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
}

// send appends messages, waiting for room as long as ctx allows, and has them
// written.
func (w *writer) send(ctx context.Context, on lane, messages ...message) error {
	if err := w.wait(ctx); err != nil {
		return err
	}
	return w.sendNow(on, messages...)
}

// sendNow is send for the few bytes that may not wait.
func (w *writer) sendNow(on lane, messages ...message) error {
	w.mu.Lock()
	err := w.shut
	if err == nil {
		for _, m := range messages {
			w.append(m, on, 0)
		}
	}
	w.mu.Unlock()
	w.flush()
	return err
}

// wait returns when there is room, nothing may be appended any more, or ctx
// ended.
func (w *writer) wait(ctx context.Context) error {
	for {
		w.mu.Lock()
		if err := w.shut; err != nil || len(w.pending) < full {
			w.mu.Unlock() // a defer in a loop would allocate
			return err
		}
		if w.room == nil {
			w.room = make(chan struct{})
		}
		room := w.room
		w.mu.Unlock()
		if w.neverWaits() {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return fmt.Errorf("send to %s, whose socket takes no more: %w", w.link.Peer(), context.Cause(ctx))
		}
	}
}

// append adds one message of at least hint bytes to the batches. w.mu is held.
func (w *writer) append(m message, on lane, hint int) {
	if w.batch >= 0 && len(w.pending)-w.batch-link.Prefix+hint < w.limit {
		mark := len(w.pending)
		sn := w.sn[on]
		if !w.frame || w.lane != on {
			w.beginFrame(on)
		}
		w.pending = m.Append(w.pending)
		if len(w.pending)-w.batch-link.Prefix <= w.limit {
			w.frame, w.lane = true, on
			return
		}
		w.pending, w.sn[on] = w.pending[:mark], sn
	}
	w.begin()
	start := w.batch
	sn := w.sn[on]
	w.beginFrame(on)
	body := len(w.pending)
	w.pending = m.Append(w.pending)
	if len(w.pending)-start-link.Prefix <= w.limit {
		w.frame, w.lane = true, on
		return
	}
	w.whole = append(w.whole[:0], w.pending[body:]...)
	w.pending, w.sn[on], w.batch = w.pending[:start], sn, -1
	w.fragments(on)
	if cap(w.whole) > keep {
		w.whole = nil
	}
}

// begin closes the last batch and begins another.
func (w *writer) begin() {
	w.seal()
	w.batch, w.frame = len(w.pending), false
	w.pending = link.Begin(w.pending)
}

func (w *writer) seal() {
	if w.batch >= 0 {
		link.End(w.pending, w.batch)
	}
	w.batch = -1
}

func (w *writer) beginFrame(on lane) {
	f := wire.Frame{Reliable: on == reliable, SN: w.nextSN(on)}
	w.pending = f.Append(w.pending)
}

func (w *writer) nextSN(on lane) uint32 {
	sn := w.sn[on]
	w.sn[on] = (sn + 1) & w.mask
	return sn
}

// fragments appends w.whole cut into batches. They keep the lane: nothing of it
// comes between.
func (w *writer) fragments(on lane) {
	for rest := w.whole; len(rest) > 0; {
		at := len(w.pending)
		w.pending = link.Begin(w.pending)
		f := wire.Fragment{Reliable: on == reliable, More: true, SN: w.nextSN(on)}
		w.pending = f.Append(w.pending)
		n := min(w.limit-(len(w.pending)-at-link.Prefix), len(rest))
		if n == len(rest) {
			f.More = false
			w.pending = f.Append(w.pending[:at+link.Prefix])
		}
		w.pending = append(w.pending, rest[:n]...)
		rest = rest[n:]
		link.End(w.pending, at)
	}
}

// keepAlive sends one if nothing else was written since it was called last.
func (w *writer) keepAlive() {
	w.mu.Lock()
	due := !w.wrote && !w.busy && w.shut == nil
	if due {
		w.begin()
		w.pending = new(wire.KeepAlive).Append(w.pending)
		w.seal()
	}
	w.mu.Unlock()
	if due {
		w.flush()
	}
	w.mu.Lock()
	w.wrote = false
	w.mu.Unlock()
}

// flush writes what is pending unless somebody is at it already.
func (w *writer) flush() {
	w.mu.Lock()
	if w.busy || len(w.pending) == 0 || w.dead != nil {
		w.mu.Unlock()
		return
	}
	out := w.take()
	w.mu.Unlock()
	n, err := w.link.TryWrite(out)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && n == len(out) && len(w.pending) == 0 {
		w.busy = false
		w.makeRoom()
		return
	}
	// The rest may have to wait: that is for the flusher. It meets an error again.
	w.rest = out[n:]
	w.wakeFlusher()
}

func (w *writer) wakeFlusher() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take makes what is pending the output. w.mu is held and w.busy false.
func (w *writer) take() []byte {
	begin := w.batch
	w.seal()
	if begin < 0 {
		begin = 0 // of fragments the first tells more than the last
	}
	w.lastN = len(w.pending) - begin
	w.last = append(w.last[:0], w.pending[begin:min(len(w.pending), begin+64)]...)
	w.busy, w.wrote = true, true
	w.pending, w.out = w.out[:0], w.pending
	out := w.out
	if cap(w.out) > keep {
		w.out = nil
	}
	return out
}

// makeRoom follows a completed output.
func (w *writer) makeRoom() {
	if w.room != nil && len(w.pending) < full {
		close(w.room)
		w.room = nil
	}
	if w.idle != nil && len(w.pending) == 0 {
		close(w.idle)
		w.idle = nil
	}
}

// farewell is how long a peer that does not read delays Close.
const farewell = 250 * time.Millisecond

// bye says CLOSE as the last word and waits until it is written, or for the
// time of a farewell.
func (w *writer) bye() {
	w.mu.Lock()
	if w.shut != nil {
		w.mu.Unlock()
		return
	}
	w.begin()
	c := wire.Close{Session: true}
	w.pending = c.Append(w.pending)
	w.seal()
	w.shut = transports.ErrClosed
	idle := make(chan struct{})
	w.idle = idle
	w.mu.Unlock()
	w.flush()
	patience := time.NewTimer(farewell)
	defer patience.Stop()
	select {
	case <-idle:
	case <-w.stop:
	case <-patience.C:
	}
}

// run is the flusher. It ends at the first error, which it returns, or with nil
// when stop is closed.
func (w *writer) run() error {
	for {
		select {
		case <-w.wake:
		case <-w.stop:
			return nil
		}
		w.mu.Lock()
		for w.busy {
			rest := w.rest
			w.rest = nil
			w.mu.Unlock()
			if len(rest) > 0 {
				if err := w.link.Write(rest); err != nil {
					return err
				}
			}
			w.mu.Lock()
			w.busy = false
			w.makeRoom()
			if len(w.pending) > 0 && w.dead == nil {
				w.rest = w.take()
			}
		}
		w.mu.Unlock()
	}
}

// kill makes every send fail with err and frees who waits for room.
func (w *writer) kill(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead == nil {
		w.dead = err
		close(w.stop)
	}
	if w.shut == nil {
		w.shut = err
	}
	w.pending, w.batch = nil, -1
	if w.room != nil {
		close(w.room)
		w.room = nil
	}
}

// lastSent describes the batch written last, for the report of a peer that hung
// up because of it.
func (w *writer) lastSent() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lastN == 0 {
		return "nothing was sent"
	}
	s := fmt.Sprintf("the batch sent last has %d bytes: %s", w.lastN-link.Prefix, hex.EncodeToString(w.last[min(link.Prefix, len(w.last)):]))
	if w.lastN > len(w.last) {
		s += "…"
	}
	return s
}
