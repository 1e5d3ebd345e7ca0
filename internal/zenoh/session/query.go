package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

// Query is what to ask. The zero value of all but Key is Zenoh's own default;
// replies are never consolidated here.
type Query struct {
	Key        string
	Parameters string // "a=1;b=2"
	Target     wire.Target
	Payload    []byte
	Encoding   wire.Encoding
	Attachment []byte
	// Patience is how long the router waits for replies; 0 is a second longer than
	// the context, or without a deadline for ever.
	Patience time.Duration
}

// Reply is one answer.
type Reply struct {
	Sample
	// Err makes it a refusal, whose reason is the payload.
	Err bool
}

// query is a question on its way.
type query struct {
	s  *Session
	id uint32
	on func(*Reply)

	mu      sync.Mutex // never held while on or end runs
	end     func(error)
	parts   int // the router and the session's own queryables: who owes a FINAL
	replies int
	gaveUp  bool // the router did
	stop    func() bool
}

// Get asks. on is called for each reply, end once when no more will come: with
// nil, with transports.ErrNoResponder when nobody answered, with
// transports.ErrTimeout when the router gave up waiting, with ctx's cause when
// ctx ended, or with why the session ended. Both run on the session's goroutines,
// on may run on two at a time, and neither may block. When Get fails, neither is
// called.
func (s *Session) Get(ctx context.Context, q Query, on func(*Reply), end func(error)) error {
	key, err := keyexpr.Canon(q.Key)
	if err != nil {
		return err
	}
	if len(q.Payload)+len(q.Attachment) > maxPayload {
		return fmt.Errorf("ask %s: %d bytes are more than the %d that Zenoh peers take", key, len(q.Payload), maxPayload)
	}
	if err := s.w.wait(ctx); err != nil {
		return fmt.Errorf("ask %s: %w", key, err)
	}
	m := &wire.Request{
		Key: wire.WireExpr{Suffix: []byte(key)}, QoS: wire.QoSRequest, Target: q.Target,
		TimeoutMillis: math.MaxUint64, Consolidation: wire.ConsolidationNone, Parameters: []byte(q.Parameters),
		Value: wire.Value{Encoding: q.Encoding, Payload: q.Payload}, Attachment: q.Attachment,
	}
	if q.Patience > 0 {
		m.TimeoutMillis = uint64(q.Patience.Milliseconds())
	} else if t, ok := ctx.Deadline(); ok {
		m.TimeoutMillis = uint64((max(time.Until(t), 0) + time.Second).Milliseconds())
	}
	p := &query{s: s, on: on, end: end, parts: 1}
	own := s.choose(key, q.Target)
	if len(own) > 0 {
		p.parts++
	}
	s.mu.Lock()
	if len(s.queries) > int(s.idMask/2) {
		s.mu.Unlock()
		return fmt.Errorf("ask %s: %d questions wait for answers already, and the peer numbers them up to %d", key, len(s.queries), s.idMask)
	}
	for {
		s.lastQuery = (s.lastQuery + 1) & s.idMask
		if s.queries[s.lastQuery] == nil {
			break
		}
	}
	p.id = s.lastQuery
	s.queries[p.id] = p
	s.mu.Unlock()

	m.ID = p.id
	if err := s.w.sendNow(reliable, m); err != nil {
		p.mu.Lock()
		told := p.end == nil // by the end of the session
		p.end = nil
		p.mu.Unlock()
		p.forget()
		if told {
			return nil
		}
		return fmt.Errorf("ask %s: %w", key, err)
	}
	if len(own) > 0 {
		var in Sample
		d := wire.Data{Payload: q.Payload, Encoding: q.Encoding, Attachment: q.Attachment}
		in.take(&d, false)
		in.Key = key
		s.local.add(item{run: func() {
			in.Received = time.Now()
			final := &finals{left: int32(len(own)), send: p.final}
			for _, qb := range own {
				qb.ask(&Request{Sample: in, Parameters: q.Parameters, qb: qb, finals: final, local: p})
			}
		}})
	}
	stop := context.AfterFunc(ctx, func() {
		s.local.add(item{run: func() { p.finish(context.Cause(ctx)) }})
	})
	p.mu.Lock()
	p.stop = stop
	over := p.end == nil
	p.mu.Unlock()
	if over {
		stop()
	}
	return nil
}

func (p *query) forget() {
	p.s.mu.Lock()
	delete(p.s.queries, p.id)
	p.s.mu.Unlock()
}

func (p *query) reply(x *Reply) {
	p.mu.Lock()
	open := p.end != nil
	if open {
		p.replies++
	}
	p.mu.Unlock()
	if open {
		p.on(x)
	}
}

// final takes one part's FINAL.
func (p *query) final() {
	p.mu.Lock()
	p.parts--
	parts, replies, gaveUp := p.parts, p.replies, p.gaveUp
	p.mu.Unlock()
	switch {
	case parts > 0:
	case replies > 0:
		p.finish(nil)
	case gaveUp:
		p.finish(transports.ErrTimeout)
	default:
		p.finish(transports.ErrNoResponder)
	}
}

func (p *query) finish(err error) {
	p.mu.Lock()
	end, stop := p.end, p.stop
	p.end = nil
	p.mu.Unlock()
	if end == nil {
		return
	}
	p.forget()
	if stop != nil {
		stop()
	}
	end(err)
}

// finish ends all questions of a session that ended.
func (s *Session) finish() {
	s.mu.Lock()
	var all []*query
	for _, p := range s.queries {
		all = append(all, p)
	}
	s.mu.Unlock()
	for _, p := range all {
		p.finish(s.Err())
	}
}

func (s *Session) onResponse(m *wire.Response, owned bool) error {
	key, err := s.rx.resolve(&m.Key)
	if err != nil {
		return err
	}
	s.mu.Lock()
	p := s.queries[m.RequestID]
	s.mu.Unlock()
	if p == nil {
		return nil // late
	}
	if m.Err && len(key) == 0 && string(m.Payload) == "Timeout" {
		p.mu.Lock()
		p.gaveUp = true
		p.mu.Unlock()
		return nil
	}
	x := Reply{Err: m.Err}
	x.take(&m.Data, owned)
	x.Key, x.Received = string(key), s.rx.now
	p.reply(&x)
	return nil
}

func (s *Session) onFinal(id uint32) {
	s.mu.Lock()
	p := s.queries[id]
	s.mu.Unlock()
	if p != nil {
		p.final()
	}
}

// Queryable answers questions on a key expression.
type Queryable struct {
	s        *Session
	id       uint32
	key      string
	complete bool
	handle   func(*Request)

	gate   Gate // around handle
	closed atomic.Bool
	mu     sync.Mutex
	open   map[*Request]struct{} // not finished
}

// Request is a question as its queryable gets it. Reply and Refuse may be called
// any number of times, until Finish. They may be called from any goroutine.
type Request struct {
	Sample
	Parameters string

	qb     *Queryable
	finals *finals
	id     uint32 // on the link
	local  *query // or in this session
	done   atomic.Bool
}

// finals counts the queryables that one request went to: the last to finish
// sends the one FINAL.
type finals struct {
	left int32
	send func()
}

func (f *finals) one() {
	if atomic.AddInt32(&f.left, -1) == 0 {
		f.send()
	}
}

// Queryable declares a queryable. complete says that it has everything its key
// covers. handle runs on the session's goroutines, one at a time, and must not
// block; each request has to be finished, be it later.
func (s *Session) Queryable(ctx context.Context, key string, complete bool, handle func(*Request)) (*Queryable, error) {
	key, err := keyexpr.Canon(key)
	if err != nil {
		return nil, err
	}
	qb := &Queryable{s: s, id: s.NewID(), key: key, complete: complete, handle: handle, gate: NewGate(), open: map[*Request]struct{}{}}
	s.mu.Lock()
	s.queryables = append(slices.Clone(s.queryables), qb)
	s.mu.Unlock()
	m := declaration(wire.DeclareQueryable, qb.id, key)
	m.Queryable.Complete = complete
	if err := s.w.send(ctx, reliable, m); err != nil {
		qb.Close()
		return nil, fmt.Errorf("declare a queryable on %s: %w", key, err)
	}
	return qb, nil
}

// Close withdraws the queryable and finishes what it did not answer. When it
// returns, handle is not running and will not be called again; called from a
// sink it does not wait.
func (qb *Queryable) Close() {
	if qb.closed.Swap(true) {
		return
	}
	s := qb.s
	s.mu.Lock()
	s.queryables = slices.DeleteFunc(slices.Clone(s.queryables), func(x *Queryable) bool { return x == qb })
	s.mu.Unlock()
	s.retract(undeclaration(wire.UndeclareQueryable, qb.id))
	if !s.Delivering() {
		qb.gate.Await()
	}
	qb.mu.Lock()
	open := qb.open
	qb.open = nil
	qb.mu.Unlock()
	for r := range open {
		r.Finish()
	}
}

// choose picks the session's own queryables for a question, as a router picks
// others': all that match, or only the complete ones.
func (s *Session) choose(key string, t wire.Target) (chosen []*Queryable) {
	s.mu.Lock()
	all := s.queryables
	s.mu.Unlock()
	for _, qb := range all {
		if (qb.complete || t != wire.TargetAllComplete) && keyexpr.Intersects(qb.key, key) {
			chosen = append(chosen, qb)
		}
	}
	return chosen
}

func (qb *Queryable) ask(r *Request) {
	qb.mu.Lock()
	if qb.open != nil {
		qb.open[r] = struct{}{}
	}
	qb.mu.Unlock()
	if !qb.gate.Enter(qb.s.done) {
		return
	}
	defer qb.gate.Leave()
	if qb.closed.Load() {
		r.Finish()
		return
	}
	qb.handle(r)
}

func (s *Session) onRequest(m *wire.Request, owned bool) error {
	b, err := s.rx.resolve(&m.Key)
	if err != nil {
		return err
	}
	id := m.ID
	final := func() {
		s.retract(&wire.ResponseFinal{RequestID: id, QoS: wire.QoSRequest})
	}
	key := string(b)
	var to []*Queryable
	if keyexpr.Validate(key) == nil {
		to = s.choose(key, m.Target)
	}
	if len(to) == 0 {
		final()
		return nil
	}
	var in Sample
	d := wire.Data{Payload: m.Value.Payload, Encoding: m.Value.Encoding, Attachment: m.Attachment, SourceInfo: m.SourceInfo}
	in.take(&d, owned)
	in.Key, in.Received = key, s.rx.now
	finals := &finals{left: int32(len(to)), send: final}
	params := string(m.Parameters)
	for _, qb := range to {
		qb.ask(&Request{Sample: in, Parameters: params, qb: qb, finals: finals, id: id})
	}
	return nil
}

// ErrFinished is an answer to a request that is finished.
var ErrFinished = errors.New("session: the request is finished already")

// Reply answers with a publication on key; its bytes are not kept. source may be
// zero.
func (r *Request) Reply(key string, m Put, source wire.SourceInfo) error {
	d := wire.Data{Delete: m.Delete, Payload: m.Payload, Encoding: m.Encoding, Attachment: m.Attachment,
		Timestamp: m.Timestamp, SourceInfo: source}
	return r.answer(key, &d, false)
}

// Refuse answers with an error.
func (r *Request) Refuse(reason []byte) error {
	return r.answer(r.Key, &wire.Data{Payload: reason}, true)
}

func (r *Request) answer(key string, d *wire.Data, refuse bool) error {
	s := r.qb.s
	if r.done.Load() {
		return ErrFinished
	}
	if r.local == nil {
		return s.w.sendNow(reliable, &wire.Response{RequestID: r.id, Key: wire.WireExpr{Suffix: []byte(key)},
			QoS: wire.QoSRequest, Err: refuse, Data: *d})
	}
	if err := s.Err(); err != nil {
		return err
	}
	x := &Reply{Err: refuse}
	x.take(d, false)
	x.Key = key
	p := r.local
	s.local.add(item{run: func() {
		x.Received = time.Now()
		p.reply(x)
	}})
	return nil
}

// Finish says that no more answers will come. It is idempotent.
func (r *Request) Finish() {
	if r.done.Swap(true) {
		return
	}
	qb := r.qb
	qb.mu.Lock()
	delete(qb.open, r)
	qb.mu.Unlock()
	if r.local == nil {
		r.finals.one()
		return
	}
	qb.s.local.add(item{run: r.finals.one})
}
