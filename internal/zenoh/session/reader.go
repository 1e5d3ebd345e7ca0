package session

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// manyRoutes bounds the keys whose subscriptions are remembered.
const manyRoutes = 4096

// receiver is what the reading goroutine knows. All but the last four fields is
// its own.
type receiver struct {
	r       wire.Reader // of batches
	net     wire.Reader // of what came in fragments
	mask    uint32
	max     int
	lanes   [2]rxLane
	aliases map[uint16]string
	key     []byte // of an alias with its suffix
	routes  map[string]*route
	table   *[]*Subscription // what the routes were made of
	sample  Sample
	now     time.Time // when the last read returned

	heard atomic.Int64 // the same, since the session was opened
	work  work
	goid  atomic.Uint64
	done  chan struct{}
}

// route is where the publications on one key go.
type route struct {
	key  string
	subs []*Subscription
}

func (x *receiver) init(mask uint32, maxMessage int) {
	x.mask, x.max = mask, maxMessage
	x.aliases, x.routes = map[uint16]string{}, map[string]*route{}
	x.work.init()
	x.done = make(chan struct{})
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

// frame takes the number of a frame, which ends any chain of fragments.
func (l *rxLane) frame(sn, mask uint32) (fresh bool, err error) {
	fresh, _, err = l.accept(sn, mask)
	if fresh {
		l.chain, l.chaining, l.skipping = nil, false, false
	}
	return fresh, err
}

// fragment adds a piece, and returns the whole message when it was the last. The
// message is the caller's.
func (l *rxLane) fragment(f *wire.Fragment, mask uint32, most int) ([]byte, error) {
	fresh, next, err := l.accept(f.SN, mask)
	if err != nil || !fresh {
		return nil, err
	}
	// Routers leave out a number before a chain, so a gap counts only within one.
	if f.First {
		l.chain, l.chaining, l.skipping = nil, false, false
	} else if !next && l.chaining {
		l.chain, l.chaining, l.skipping = nil, false, true
	}
	if l.skipping || f.Drop {
		l.chain, l.chaining, l.skipping = nil, false, f.More
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
	whole := l.chain
	l.chain = nil
	return whole, nil
}

// read is the reading goroutine.
func (s *Session) read() {
	x := &s.rx
	defer close(x.done)
	x.goid.Store(goid())
	s.lose(s.readAll())
	s.finish()
}

func (s *Session) readAll() error {
	x := &s.rx
	x.work.begin()
	x.now = time.Now()
	x.heard.Store(int64(x.now.Sub(s.opened)))
	err := s.messages(&x.r, false) // behind the answer to OPEN
	for {
		for err == nil {
			batch, ok := s.link.Next()
			if !ok {
				break
			}
			x.r.Reset(batch)
			err = s.messages(&x.r, false)
		}
		x.work.end()
		if err != nil {
			return err
		}
		if err := s.link.Fill(); err != nil {
			return s.hungUp(err)
		}
		x.work.begin()
		x.now = time.Now()
		x.heard.Store(int64(x.now.Sub(s.opened)))
	}
}

func (s *Session) hungUp(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return fmt.Errorf("the peer hung up without CLOSE; %s", s.w.lastSent())
	}
	return fmt.Errorf("read: %w; %s", err, s.w.lastSent())
}

// messages takes the messages of a batch, or of one that came in fragments, in
// which case its bytes need no copy.
func (s *Session) messages(r *wire.Reader, owned bool) error {
	x := &s.rx
	skip := false // the messages of a frame that is a repetition
	for r.Next() {
		switch r.Kind() {
		case wire.KindFrame:
			fresh, err := x.lane(r.Frame.Reliable).frame(r.Frame.SN, x.mask)
			if err != nil {
				return err
			}
			skip = !fresh
			continue
		case wire.KindFragment:
			whole, err := x.lane(r.Fragment.Reliable).fragment(&r.Fragment, x.mask, x.max)
			if err != nil {
				return err
			}
			if whole != nil {
				x.net.ResetNetwork(whole)
				if err := s.messages(&x.net, true); err != nil {
					return fmt.Errorf("in a message of %d bytes that came in fragments: %w", len(whole), err)
				}
			}
			continue
		case wire.KindClose:
			return &CloseError{Reason: r.Close.Reason}
		case wire.KindInit, wire.KindOpen, wire.KindJoin:
			return fmt.Errorf("the peer sent %v on an open link", r.Kind())
		}
		if skip {
			continue
		}
		var err error
		switch r.Kind() {
		case wire.KindPush:
			err = s.onPush(&r.Push, owned)
		case wire.KindRequest:
			err = s.onRequest(&r.Request, owned)
		case wire.KindResponse:
			err = s.onResponse(&r.Response, owned)
		case wire.KindResponseFinal:
			s.onFinal(r.ResponseFinal.RequestID)
		case wire.KindDeclare:
			err = s.onDeclare(&r.Declare)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", r.Kind(), err)
		}
	}
	return r.Err()
}

func (x *receiver) lane(r bool) *rxLane {
	if r {
		return &x.lanes[reliable]
	}
	return &x.lanes[bestEffort]
}

// resolve is the whole key. The result may alias the batch or x.key.
func (x *receiver) resolve(e *wire.WireExpr) ([]byte, error) {
	if e.Scope == 0 {
		return e.Suffix, nil
	}
	prefix, ok := x.aliases[e.Scope]
	if !ok || !e.SenderMapping {
		return nil, fmt.Errorf("key alias %d was never declared", e.Scope)
	}
	x.key = append(append(x.key[:0], prefix...), e.Suffix...)
	return x.key, nil
}

func (s *Session) onPush(m *wire.Push, owned bool) error {
	x := &s.rx
	key, err := x.resolve(&m.Key)
	if err != nil {
		return err
	}
	to := x.route(key, s.subs.Load())
	if len(to.subs) == 0 {
		return nil
	}
	x.sample.take(&m.Data, owned)
	x.sample.Key, x.sample.Received = to.key, x.now
	for _, sub := range to.subs {
		sub.deliver(&x.sample)
	}
	x.sample = Sample{}
	return nil
}

// route finds the subscriptions of a key. What is no key expression goes
// nowhere, as in the reference implementation.
func (x *receiver) route(key []byte, table *[]*Subscription) *route {
	if table != x.table || len(x.routes) >= manyRoutes {
		clear(x.routes)
		x.table = table
	}
	if to, ok := x.routes[string(key)]; ok {
		return to
	}
	to := &route{key: string(key)}
	if keyexpr.Validate(to.key) == nil {
		to.subs = matching(*table, to.key)
	}
	x.routes[to.key] = to
	return to
}

// take fills in what the peer sent. The bytes are copied once, unless they are
// the session's own already.
func (x *Sample) take(d *wire.Data, owned bool) {
	*x = Sample{Delete: d.Delete, Timestamp: d.Timestamp, Source: d.SourceInfo, Encoding: d.Encoding,
		Attachment: d.Attachment, Payload: d.Payload}
	if owned {
		return
	}
	x.Encoding.Schema = slices.Clone(d.Encoding.Schema)
	n := len(d.Payload)
	if d.Attachment == nil {
		x.Payload = append(make([]byte, 0, n), d.Payload...)
		return
	}
	both := make([]byte, n+len(d.Attachment))
	copy(both, d.Payload)
	copy(both[n:], d.Attachment)
	x.Payload, x.Attachment = both[:n:n], both[n:]
}
