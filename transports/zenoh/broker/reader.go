package broker

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/wire"
)

// reader is what a link's goroutine knows. All but the last fields is its own.
type reader struct {
	batches wire.Reader
	whole   wire.Reader // of what came in fragments
	mask    uint32
	limit   int // bytes of a batch
	lanes   [2]rxLane
	aliases map[uint16]string
	key     []byte // of an alias with its suffix
	head    []byte // of a message to be passed on
	now     time.Time
	routes  map[string]*route
	version uint64 // of the tables that the routes were made of
	dirty   []*Link
	last    *route // all of it is dirty
	flushes int

	heard atomic.Int64 // when the last read returned, since the link came
	busy  atomic.Bool  // with what the last read brought
	beat  *job         // the next tick; under Broker.mu

	mu     sync.Mutex
	gate   sync.Cond // who waits for the end of a stall
	stalls int
	mutes  int
	kept   uint64 // batches that met either
}

func (x *reader) init(mask uint32, limit int) {
	x.mask, x.limit = mask, limit
	x.aliases, x.routes = map[uint16]string{}, map[string]*route{}
}

// idle reports whether silence of the peer is the peer's doing.
func (x *reader) idle() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stalls == 0 && !x.busy.Load()
}

// rxLane is the receiving side of a lane.
type rxLane struct {
	started  bool
	last     uint32
	chain    []byte // of a message in fragments
	chaining bool
	skipping bool // the rest of a chain whose beginning is lost
}

// accept reports whether a frame or fragment is new, and whether it follows the
// last one without a gap.
func (l *rxLane) accept(sn, mask uint32) (fresh, next bool, err error) {
	if sn > mask {
		return false, false, fmt.Errorf("sequence number %d is beyond the agreed %d", sn, mask)
	}
	if l.started && !wire.Newer(l.last, sn, mask) {
		return false, false, nil
	}
	next = !l.started || sn == (l.last+1)&mask
	l.started, l.last = true, sn
	return true, next, nil
}

// drop forgets an unfinished chain.
func (l *rxLane) drop(skip bool) {
	l.chain, l.chaining, l.skipping = l.chain[:0], false, skip
}

// frame takes the number of a frame, which ends any chain of fragments.
func (l *rxLane) frame(sn, mask uint32) (fresh bool, err error) {
	fresh, _, err = l.accept(sn, mask)
	if fresh {
		l.drop(false)
	}
	return fresh, err
}

// fragment adds a piece, and returns the whole message when it was the last. It
// is valid until the next piece.
func (l *rxLane) fragment(f *wire.Fragment, mask uint32, most int) ([]byte, error) {
	fresh, next, err := l.accept(f.SN, mask)
	if err != nil || !fresh {
		return nil, err
	}
	if !l.chaining && !l.skipping {
		l.drop(false)
		if cap(l.chain) > keep {
			l.chain = nil
		}
	}
	if !next && l.chaining {
		l.drop(true)
	}
	if l.skipping {
		l.drop(f.More)
		return nil, nil
	}
	if len(l.chain)+len(f.Payload) > most {
		return nil, fmt.Errorf("a message of more than %d bytes arrives in fragments; a larger Config.MaxMessage takes it", most)
	}
	l.chain = append(l.chain, f.Payload...)
	l.chaining = f.More
	if f.More {
		return nil, nil
	}
	return l.chain, nil
}

// read takes what comes until the link ends, and returns why.
func (l *Link) read() error {
	x := &l.rx
	x.now = time.Now()
	err := l.messages(&x.batches) // behind OPEN
	for {
		for err == nil {
			batch, ok := l.c.Next()
			if !ok {
				break
			}
			if len(batch) > x.limit {
				err = refuse(wire.CloseInvalid, "a batch of %d bytes, agreed were %d", len(batch), x.limit)
				break
			}
			if l.meet() {
				x.batches.Reset(batch)
				err = l.messages(&x.batches)
			}
		}
		l.flush()
		x.busy.Store(false)
		if err != nil {
			return err
		}
		if err := l.c.Fill(); err != nil {
			if cause := l.Err(); cause != nil {
				return cause
			}
			return hungUp(err)
		}
		x.busy.Store(true)
		x.now = time.Now()
		if !l.mutedIn() {
			x.heard.Store(int64(x.now.Sub(l.born)))
		}
	}
}

// meet waits for the end of a stall, and reports false for a batch that is lost.
func (l *Link) meet() bool {
	x := &l.rx
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stalls+x.mutes > 0 {
		x.kept++
	}
	for x.stalls > 0 && l.Err() == nil {
		x.gate.Wait()
	}
	return x.mutes == 0 && l.Err() == nil
}

func (l *Link) mutedIn() bool {
	l.rx.mu.Lock()
	defer l.rx.mu.Unlock()
	return l.rx.mutes > 0
}

// flush writes what was passed on.
func (l *Link) flush() {
	x := &l.rx
	for i, d := range x.dirty {
		d.out.flush()
		x.dirty[i] = nil
	}
	x.dirty, x.last = x.dirty[:0], nil
	x.flushes++
}

// touch notes that a link has to be flushed.
func (x *reader) touch(l *Link) {
	for _, d := range x.dirty {
		if d == l {
			return
		}
	}
	x.dirty = append(x.dirty, l)
}

// errPassOver is of a message that is no use, but no reason to end the link.
var errPassOver = errors.New("broker: pass over")

// messages takes the messages of a batch, or of one that came in fragments.
func (l *Link) messages(r *wire.Reader) error {
	x := &l.rx
	on, skip := reliable, false // skip the messages of a frame that is a repetition
	for r.Next() {
		var err error
		switch r.Kind() {
		case wire.KindFrame:
			on = laneOf(r.Frame.Reliable)
			fresh, err := x.lanes[on].frame(r.Frame.SN, x.mask)
			if err != nil {
				return refuse(wire.CloseInvalid, "%w", err)
			}
			skip = !fresh
			continue
		case wire.KindFragment:
			on := laneOf(r.Fragment.Reliable)
			whole, err := x.lanes[on].fragment(&r.Fragment, x.mask, l.b.conf.MaxMessage)
			if err != nil {
				return refuse(wire.CloseInvalid, "%w", err)
			}
			if whole != nil {
				if err := l.fragmented(whole, on); err != nil {
					return err
				}
			}
			continue
		case wire.KindClose:
			return &ClosedError{Reason: r.Close.Reason.String()}
		case wire.KindInit, wire.KindOpen, wire.KindJoin:
			return refuse(wire.CloseInvalid, "the peer sent %v on an open link", r.Kind())
		}
		if skip {
			continue
		}
		if err = l.network(r, on); errors.Is(err, errPassOver) {
			l.stats.invalid.Add(1)
		} else if err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return refuse(wire.CloseInvalid, "read what the peer sent: %w", err)
	}
	return nil
}

// fragmented takes a message that came in fragments.
func (l *Link) fragmented(whole []byte, on lane) error {
	r := &l.rx.whole
	r.ResetNetwork(whole)
	for r.Next() {
		if err := l.network(r, on); errors.Is(err, errPassOver) {
			l.stats.invalid.Add(1)
		} else if err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return refuse(wire.CloseInvalid, "read a message of %d bytes that came in fragments: %w", len(whole), err)
	}
	return nil
}

// network takes one network message.
func (l *Link) network(r *wire.Reader, on lane) error {
	switch r.Kind() {
	case wire.KindPush:
		l.stats.in.Add(1)
		return l.onPush(&r.Push, r.Raw(), on)
	case wire.KindRequest:
		l.stats.in.Add(1)
		return l.onRequest(&r.Request, r.Raw(), on)
	case wire.KindResponse:
		l.stats.in.Add(1)
		return l.onResponse(&r.Response, r.Raw(), on)
	case wire.KindResponseFinal:
		l.stats.in.Add(1)
		l.onFinal(r.ResponseFinal.RequestID)
	case wire.KindDeclare:
		l.stats.in.Add(1)
		return l.onDeclare(&r.Declare)
	case wire.KindInterest:
		l.stats.in.Add(1)
		return l.onInterest(&r.Interest)
	}
	return nil // KEEP_ALIVE and OAM say nothing
}

func laneOf(r bool) lane {
	if r {
		return reliable
	}
	return bestEffort
}

// resolve is the whole key. The result may alias the batch or x.key.
func (x *reader) resolve(e *wire.WireExpr) ([]byte, error) {
	if e.Scope == 0 {
		return e.Suffix, nil
	}
	// The broker declares no aliases, so M=0, the receiver's table, means none.
	prefix, ok := x.aliases[e.Scope]
	if !ok || !e.SenderMapping {
		return nil, errPassOver
	}
	if len(e.Suffix) == 0 {
		x.key = append(x.key[:0], prefix...)
		return x.key, nil
	}
	x.key = append(append(x.key[:0], prefix...), e.Suffix...)
	return x.key, nil
}
