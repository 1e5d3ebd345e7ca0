package advanced

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

// lateness is how long a publisher that turned up later holds back its own live
// publications while it is asked for what it kept.
const lateness = 2 * time.Second

// Reader puts what publishers kept before what they publish live, each once. It
// calls its sink on the session's goroutines, for one sample at a time.
type Reader struct {
	s     *session.Session
	key   string
	depth int
	sink  func(*session.Sample)

	closed atomic.Bool

	gate    session.Gate             // around sink and all that follows
	holding bool                     // live samples wait for what was kept
	late    map[string]int           // sessions whose live samples wait, by id
	held    []session.Sample         // in the order of arrival
	heldNos map[wire.EntityID]uint32 // the first of each publisher among them
	heldTms map[wire.Timestamp]bool  // of those among them that have no number
	latest  time.Time                // when the last one kept arrived
	numbers map[wire.EntityID]uint32 // the last one that was kept
	times   map[wire.Timestamp]bool  // of those kept that have no number
}

// NewReader makes a reader of key, which asks each publisher for at most depth
// of its last publications. Live is to be the sink of its subscription. Until
// Fetch or Skip it holds back what comes.
func NewReader(s *session.Session, key string, depth int, sink func(*session.Sample)) *Reader {
	return &Reader{s: s, key: key, depth: depth, sink: sink, gate: session.NewGate(), holding: true, late: map[string]int{},
		heldNos: map[wire.EntityID]uint32{}, heldTms: map[wire.Timestamp]bool{},
		numbers: map[wire.EntityID]uint32{}, times: map[wire.Timestamp]bool{}}
}

// TokenKey is the key expression of the tokens of publishers that keep what they
// publish on key.
func TokenKey(key string) (string, error) { return keyexpr.Join(key, "@adv/pub/**") }

// Live takes a sample of the subscription.
func (r *Reader) Live(x *session.Sample) {
	if !r.gate.Enter(r.s.Done()) {
		return
	}
	defer r.gate.Leave()
	if r.waits(x) {
		r.hold(x)
		return
	}
	r.deliver(x)
}

// waits reports whether a live sample may come after one that was kept and is
// yet to come.
func (r *Reader) waits(x *session.Sample) bool {
	return r.holding || len(r.late) > 0 && (r.late[x.Source.ZID.String()] > 0 || r.late[x.Timestamp.ID.String()] > 0)
}

func (r *Reader) hold(x *session.Sample) {
	r.held = append(r.held, *x)
	if x.Source.IsZero() {
		r.heldTms[x.Timestamp] = true
	} else if _, ok := r.heldNos[x.Source.EntityID]; !ok {
		r.heldNos[x.Source.EntityID] = x.Source.SN
	}
}

// deliver passes a live sample on unless it was among those kept.
func (r *Reader) deliver(x *session.Sample) {
	if len(r.numbers) > 0 {
		if last, ok := r.numbers[x.Source.EntityID]; ok && int32(x.Source.SN-last) <= 0 {
			return
		}
	}
	if len(r.times) > 0 && r.times[x.Timestamp] {
		delete(r.times, x.Timestamp)
		return
	}
	r.emit(x)
}

// kept takes one that a publisher kept.
func (r *Reader) kept(x *session.Reply) {
	if x.Err {
		return // it keeps nothing
	}
	if !r.gate.Enter(r.s.Done()) {
		return
	}
	defer r.gate.Leave()
	// One that came live as well is delivered as it came.
	if !x.Source.IsZero() {
		last, known := r.numbers[x.Source.EntityID]
		first, came := r.heldNos[x.Source.EntityID]
		if known && int32(x.Source.SN-last) <= 0 || came && int32(x.Source.SN-first) >= 0 {
			return
		}
		r.numbers[x.Source.EntityID] = x.Source.SN
	} else if !x.Timestamp.IsZero() {
		if r.times[x.Timestamp] || r.heldTms[x.Timestamp] {
			return
		}
		r.times[x.Timestamp] = true
	}
	r.latest = x.Received
	r.emit(&x.Sample)
}

// Skip begins with what is live.
func (r *Reader) Skip() { r.s.Post(r.begin) }

func (r *Reader) begin() {
	if !r.gate.Enter(r.s.Done()) {
		return
	}
	defer r.gate.Leave()
	r.holding = false
	r.release()
}

// Fetch asks everybody for what they kept, waits until it is delivered, and goes
// on with what is live. Nobody keeping anything is no error. When ctx ends first
// it returns the cause, and what is live goes on.
func (r *Reader) Fetch(ctx context.Context) error {
	all, err := keyexpr.Join(r.key, "@adv/**")
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	if err := r.ask(ctx, all, func(err error) {
		r.begin()
		ended <- err
	}); err != nil {
		return err
	}
	if err := <-ended; err != nil && !errors.Is(err, transports.ErrNoResponder) {
		return fmt.Errorf("wait for what publishers of %s kept: %w", r.key, err)
	}
	return nil
}

// Close ends the reader. When it returns, its sink is not running and will not
// be called again; called from a sink it does not wait.
func (r *Reader) Close() {
	r.closed.Store(true)
	if !r.s.Delivering() {
		r.gate.Await()
	}
}

func (r *Reader) emit(x *session.Sample) {
	if !r.closed.Load() {
		r.sink(x)
	}
}

func (r *Reader) ask(ctx context.Context, key string, end func(error)) error {
	return r.s.Get(ctx, session.Query{
		Key:        key,
		Parameters: fmt.Sprintf("_max=%d;_anyke", r.depth),
		Target:     wire.TargetAll,
	}, r.kept, end)
}

// Late asks a publisher whose token turned up after Fetch. It does not block.
func (r *Reader) Late(token string) {
	_, of, ok := strings.Cut(token, "/@adv/pub/")
	if !ok {
		return
	}
	zid, _, _ := strings.Cut(of, "/")
	if !r.gate.Enter(r.s.Done()) {
		return
	}
	r.late[zid]++
	r.gate.Leave()
	ctx, cancel := context.WithTimeout(context.Background(), lateness)
	end := func(error) {
		cancel()
		if !r.gate.Enter(r.s.Done()) {
			return
		}
		defer r.gate.Leave()
		if r.late[zid]--; r.late[zid] == 0 {
			delete(r.late, zid)
		}
		r.release()
	}
	if err := r.ask(ctx, token, end); err != nil {
		end(err)
	}
}

// release delivers what need not wait any longer. None of it is stamped earlier
// than what was kept and delivered before it.
func (r *Reader) release() {
	held := r.held
	r.held = nil
	clear(r.heldNos)
	clear(r.heldTms)
	for i := range held {
		x := &held[i]
		if r.waits(x) {
			r.hold(x)
			continue
		}
		if x.Received.Before(r.latest) {
			x.Received = r.latest
		}
		r.deliver(x)
	}
}
