package session

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/wire"
)

// Kind is what an interest is in.
type Kind = wire.InterestOptions

// Kinds of declarations.
const (
	Subscribers = wire.InterestSubscribers
	Queryables  = wire.InterestQueryables
	Tokens      = wire.InterestTokens
)

// Event is a change of what a Watch sees: something is declared on a key, or the
// last of those on it is gone. Several on one key count once, since routers show
// them so.
type Event struct {
	Key  string
	Gone bool
}

// Watch follows the declarations of others on a key expression; of tokens, the
// session's own are among them.
type Watch struct {
	s     *Session
	id    uint32
	kind  Kind
	mode  wire.InterestMode
	key   string
	on    func(Event)
	ready chan struct{}

	mu     sync.Mutex // held while on runs
	closed atomic.Bool
	full   bool              // ready is closed
	alive  map[uint32]string // the keys by id
	count  map[string]int    // of ids
}

// Watch declares an interest. on runs on the reading goroutine and must not
// block; it may be nil.
func (s *Session) Watch(ctx context.Context, kind Kind, mode wire.InterestMode, key string, on func(Event)) (*Watch, error) {
	key, err := keyexpr.Canon(key)
	if err != nil {
		return nil, err
	}
	w := &Watch{s: s, id: s.NewID(), kind: kind, mode: mode, key: key, on: on, ready: make(chan struct{}),
		alive: map[uint32]string{}, count: map[string]int{}}
	s.mu.Lock()
	s.watches[w.id] = w
	s.mu.Unlock()
	m := &wire.Interest{ID: w.id, Mode: mode, Options: kind, Restricted: true,
		Key: wire.WireExpr{Suffix: []byte(key)}, QoS: wire.QoSDeclare}
	if err := s.w.send(ctx, reliable, m); err != nil {
		w.Close()
		return nil, fmt.Errorf("declare an interest in %s: %w", key, err)
	}
	return w, nil
}

// Wait returns when the router has told all that exists.
func (w *Watch) Wait(ctx context.Context) error {
	select {
	case <-w.ready:
		return nil
	case <-w.s.done:
		return w.s.Err()
	case <-ctx.Done():
		return fmt.Errorf("wait for the answer of %s: %w", w.s.Peer(), context.Cause(ctx))
	}
}

// Close ends the watch. When it returns, on is not running and will not be
// called again; called from a sink it does not wait.
func (w *Watch) Close() {
	if w.closed.Swap(true) {
		return
	}
	s := w.s
	s.mu.Lock()
	delete(s.watches, w.id)
	s.mu.Unlock()
	if w.mode != wire.InterestCurrent {
		s.retract(&wire.Interest{ID: w.id, Mode: wire.InterestFinal, QoS: wire.QoSDeclare})
	}
	if !s.Delivering() {
		await(&w.mu)
	}
}

func (w *Watch) tell(e Event) {
	if w.on != nil && !w.closed.Load() {
		w.on(e)
	}
}

// declared takes a declaration. Routers may repeat one.
func (w *Watch) declared(id uint32, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mode != wire.InterestCurrent {
		if _, known := w.alive[id]; known {
			return
		}
		w.alive[id] = key
	}
	w.count[key]++
	if w.count[key] == 1 {
		w.tell(Event{Key: key})
	}
}

func (w *Watch) undeclared(id uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key, known := w.alive[id]
	if !known {
		return
	}
	delete(w.alive, id)
	w.count[key]--
	if w.count[key] == 0 {
		delete(w.count, key)
		w.tell(Event{Key: key, Gone: true})
	}
}

func (w *Watch) finished() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.full {
		w.full = true
		close(w.ready)
	}
}

func kindOf(k wire.DeclareKind) Kind {
	switch k {
	case wire.DeclareSubscriber, wire.UndeclareSubscriber:
		return Subscribers
	case wire.DeclareQueryable, wire.UndeclareQueryable:
		return Queryables
	case wire.DeclareToken, wire.UndeclareToken:
		return Tokens
	}
	return 0
}

func (s *Session) onDeclare(m *wire.Declare) error {
	x := &s.rx
	switch m.Kind {
	case wire.DeclareKeyExpr:
		m.Key.SenderMapping = true // of what else could it be made
		key, err := x.resolve(&m.Key)
		if err != nil {
			return err
		}
		x.aliases[uint16(m.ID)] = string(key)
	case wire.UndeclareKeyExpr:
		delete(x.aliases, uint16(m.ID))
	case wire.DeclareFinal:
		if w := s.watch(m.InterestID); m.Answer && w != nil {
			w.finished()
			if w.mode == wire.InterestCurrent {
				w.Close()
			}
		}
	case wire.DeclareSubscriber, wire.DeclareQueryable, wire.DeclareToken:
		b, err := x.resolve(&m.Key)
		if err != nil {
			return err
		}
		key := string(b)
		for _, w := range s.toldOf(m, key) {
			w.declared(m.ID, key)
		}
	case wire.UndeclareSubscriber, wire.UndeclareQueryable, wire.UndeclareToken:
		for _, w := range s.watching(kindOf(m.Kind)) {
			w.undeclared(m.ID)
		}
	}
	return nil
}

// toldOf picks who is told of a declaration: who asked, or everybody whom it
// concerns. What is no key expression concerns nobody, as with publications.
func (s *Session) toldOf(m *wire.Declare, key string) (all []*Watch) {
	if keyexpr.Validate(key) != nil {
		return nil
	}
	if m.Answer {
		if w := s.watch(m.InterestID); w != nil && w.kind == kindOf(m.Kind) {
			all = append(all, w)
		}
		return all
	}
	for _, w := range s.watching(kindOf(m.Kind)) {
		if w.mode != wire.InterestCurrent && keyexpr.Intersects(w.key, key) {
			all = append(all, w)
		}
	}
	return all
}

func (s *Session) watch(id uint32) *Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches[id]
}

func (s *Session) watching(k Kind) (all []*Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		if w.kind == k {
			all = append(all, w)
		}
	}
	return all
}

// barrierKey is a key on which nobody declares a token.
const barrierKey = "@robospec/barrier"

// Barrier returns when the router has handled everything that the session
// declared before: it takes a link's messages in order, and its answer to a
// question shows how far it is (zenoh.md §4.6).
func (s *Session) Barrier(ctx context.Context) error {
	w, err := s.Watch(ctx, Tokens, wire.InterestCurrent, barrierKey, nil)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.Wait(ctx)
}

// Tokens are the keys of the liveliness tokens of this instant that match a key
// expression, in no order, each once.
func (s *Session) Tokens(ctx context.Context, key string) ([]string, error) {
	var keys []string
	w, err := s.Watch(ctx, Tokens, wire.InterestCurrent, key, func(e Event) { keys = append(keys, e.Key) })
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if err := w.Wait(ctx); err != nil {
		return nil, err
	}
	return keys, nil
}

// Token is a liveliness token, which tells others that the session lives.
type Token struct {
	s      *Session
	id     uint32
	closed atomic.Bool
}

// Token declares a token.
func (s *Session) Token(ctx context.Context, key string) (*Token, error) {
	key, err := keyexpr.Canon(key)
	if err != nil {
		return nil, err
	}
	t := &Token{s: s, id: s.NewID()}
	if err := s.w.send(ctx, reliable, declaration(wire.DeclareToken, t.id, key)); err != nil {
		return nil, fmt.Errorf("declare a token on %s: %w", key, err)
	}
	return t, nil
}

// Close withdraws the token.
func (t *Token) Close() {
	if !t.closed.Swap(true) {
		t.s.retract(undeclaration(wire.UndeclareToken, t.id))
	}
}
