package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/transports"
)

// Config is how a Graph keeps what it sees. The zero value is good.
type Config struct {
	// Timeline joins this participant to others; nil begins a timeline of its own.
	Timeline *Timeline
	// MaxMessages and MaxBytes bound the log of each subscription. 0 means 65,536
	// messages and 64 MiB.
	MaxMessages int
	MaxBytes    int64
}

// Graph is one participant on a robot graph and the log of all it saw and did.
// Its methods may be called from any goroutine.
type Graph struct {
	conn transports.Conn
	cfg  Config
	tl   *Timeline
	view *View

	mu    sync.Mutex
	owned map[closer]struct{}

	done chan struct{}         // closed when the graph was closed or its link lost, and every wait has ended
	err  atomic.Pointer[error] // set before, so that who wakes can ask Err
	wg   sync.WaitGroup
}

type closer interface{ Close() error }

// New makes a participant of an open connection, which it owns from now on.
func New(conn transports.Conn, cfg Config) *Graph {
	if cfg.Timeline == nil {
		cfg.Timeline = NewTimeline()
	}
	if cfg.MaxMessages <= 0 {
		cfg.MaxMessages = 65536
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = 64 << 20
	}
	g := &Graph{conn: conn, cfg: cfg, tl: cfg.Timeline, owned: map[closer]struct{}{}, done: make(chan struct{})}
	g.view = newView(g)
	g.wg.Go(func() {
		g.view.watch()
		g.end(closed(conn.Err()))
	})
	return g
}

// end ends every wait with the reason.
func (g *Graph) end(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.err.CompareAndSwap(nil, &err) {
		return
	}
	at := g.tl.act("close of", "the graph")
	if !errors.Is(err, ErrClosed) {
		at = g.tl.Note("end of the link:", err.Error(), "")
	}
	for c := range g.owned {
		if e, ok := c.(ender); ok {
			e.graphEnded(err, at)
		}
	}
	if g.view.log != nil {
		g.view.log.end(err, at)
	}
	close(g.done)
}

// ender is what has waits that end with the graph.
type ender interface{ graphEnded(err error, at Mark) }

// Timeline is the timeline this participant is on.
func (g *Graph) Timeline() *Timeline { return g.tl }

// Conn is the connection below, for what the harness has no word for.
func (g *Graph) Conn() transports.Conn { return g.conn }

// View is the graph as its wire shows it.
func (g *Graph) View() *View { return g.view }

// Mark is Timeline.Mark.
func (g *Graph) Mark(label string) Mark { return g.tl.Mark(label) }

// Stimulus is Timeline.Stimulus.
func (g *Graph) Stimulus(label string, act func()) Mark { return g.tl.Stimulus(label, act) }

// Done is closed when the graph was closed or its link was lost and what was
// made from it has ended.
func (g *Graph) Done() <-chan struct{} { return g.done }

// Err is nil while the graph lives, ErrClosed after Close, and else why its
// link was lost.
func (g *Graph) Err() error {
	if err := g.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Close ends every wait at once, closes what was made from the graph and its
// connection. It is idempotent and may be called from anywhere.
func (g *Graph) Close() error {
	g.end(ErrClosed)
	g.mu.Lock()
	owned := g.owned
	g.owned = map[closer]struct{}{}
	g.mu.Unlock()
	var errs []error
	for c := range owned {
		errs = append(errs, c.Close())
	}
	errs = append(errs, g.conn.Close())
	g.wg.Wait()
	return errors.Join(errs...)
}

// own makes Close close c too.
func (g *Graph) own(c closer) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.Err(); err != nil {
		return err
	}
	g.owned[c] = struct{}{}
	return nil
}

func (g *Graph) disown(c closer) {
	g.mu.Lock()
	delete(g.owned, c)
	g.mu.Unlock()
}

// Settle returns once each message that was stamped before the call is in its
// log.
func (g *Graph) Settle() {
	if s, ok := g.conn.(transports.Settler); ok {
		s.Settle()
	}
}

// GomegaString prints the graph in one line.
func (g *Graph) GomegaString() string {
	state := "alive"
	if err := g.Err(); err != nil {
		state = err.Error()
	}
	return fmt.Sprintf("graph (%s)", state)
}

// waitMatched waits until at least n counterparts of x, which is over when closed
// is, are there. x is what the transport returned for own.
func (g *Graph) waitMatched(ctx context.Context, x any, own transports.Endpoint, closed <-chan struct{}, op string, n int) error {
	began := time.Now()
	fail := func(have int, err error) *WaitError {
		return &WaitError{Op: fmt.Sprintf("%s(%d)", op, n), Topic: own.Name, Waited: time.Since(began),
			Err: fmt.Errorf("%d there: %w", have, err)}
	}
	timeout := func(have int, ctx context.Context) error {
		e, p := fail(have, context.Cause(ctx)), g.view.peersOf(own, x)
		e.Cause = cmp.Or(p.why, p.besides)
		return e
	}
	m, ok := x.(transports.Matched)
	if !ok {
		return fail(0, errors.New("this wire cannot tell who is matched"))
	}
	until := g.tl.Context()
	for {
		have, changed := m.Matched()
		if have >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return timeout(have, ctx)
		case <-until.Done():
			return timeout(have, until)
		case <-g.done:
			return fail(have, g.Err())
		case <-closed:
			if err := g.Err(); err != nil {
				return fail(have, err)
			}
			return fail(have, ErrClosed)
		}
	}
}
