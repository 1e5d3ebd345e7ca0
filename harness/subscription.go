package harness

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// Subscription is a stream of messages of one type and the log of all of them,
// bounded by count and bytes. It is safe for use by several goroutines.
//
// Reads on it are armed by the call: they see what arrives after it. A Reader
// is armed when it is made.
type Subscription[T any] struct {
	g      *Graph
	log    *log[T]
	root   *Reader[T]
	remote any // what the transport returned, nil for a source

	closeOnce sync.Once
	closeErr  error
	release   func() error
}

// Subscribe subscribes to a topic. ctx bounds the call. An error names the
// topic: a T without a codec for this wire, a name or QoS the wire does not
// take, a lost link.
func Subscribe[T any](ctx context.Context, g *Graph, topic string, opts ...Option) (*Subscription[T], error) {
	fail := func(err error) (*Subscription[T], error) {
		return nil, fmt.Errorf("subscribe to %s: %w", topic, closed(err))
	}
	name, err := transports.Resolve(topic)
	if err != nil {
		return fail(err)
	}
	o := g.options(opts)
	codec, err := codecOf[T](o, g.conn.Encoding())
	if err != nil {
		return fail(err)
	}
	s := newSubscription[T](g, name, o)
	s.log.lives = func() measure.Life {
		l, ok := g.conn.(transports.Lifer)
		if !ok {
			return measure.Life{Sign: "this wire does not show publishers"}
		}
		life := l.Life(name)
		if m, ok := s.remote.(transports.Matched); ok && life.State == measure.LifeShown {
			if n, _ := m.Matched(); n == 0 { // the silence of one we cannot hear proves nothing
				life.State, life.Sign = measure.LifeNone, life.Sign+", none of which the subscription can hear"
			}
		}
		return life
	}
	s.log.self.Type, s.log.self.QoS = transports.Type{Name: codec.TypeName(), Hash: codec.TypeHash()}, o.qos
	s.log.peers = func() peers { return g.view.peersOf(s.log.self, s.remote) }
	sink := func(p transports.Sample) {
		m := Message[T]{Topic: p.Topic, Received: p.Received, Sent: p.Sent, Seq: p.Seq, hasSeq: p.HasSeq,
			Publisher: p.Publisher, Size: len(p.Payload)}
		v, err := codec.Decode(p.Payload)
		if err != nil {
			m.err = &MessageError{Topic: p.Topic, Size: len(p.Payload), Err: err}
		} else {
			m.Value = v
		}
		s.log.add(&m)
	}
	c, err := g.conn.Subscribe(ctx, name, s.log.self.Type, o.qos, sink)
	if err != nil {
		return fail(err)
	}
	s.remote, s.release = c, c.Close
	if err := s.begin(); err != nil {
		_ = c.Close() // the graph's end is the error to tell
		return fail(err)
	}
	return s, nil
}

func newSubscription[T any](g *Graph, name string, o options) *Subscription[T] {
	s := &Subscription[T]{g: g, log: newLog[T](g.tl, name, o), release: func() error { return nil }}
	s.log.lives = func() measure.Life { return measure.Life{Sign: "nothing shows whether " + name + " is fed"} }
	s.root = &Reader[T]{sub: s, point: s.log.created, read: s.log.created}
	return s
}

// begin makes the subscription live until it is closed or its graph ends.
func (s *Subscription[T]) begin() error {
	if err := s.g.own(s); err != nil {
		return err
	}
	s.g.tl.watch(s)
	return nil
}

func (s *Subscription[T]) graphEnded(err error, at Mark) { s.log.end(err, at) }

// Source is a subscription fed by a callback instead of a wire: a GPIO, a
// WebSocket, the lines of a process. push stamps and appends a value; it never
// blocks and may be called from any goroutine, also after Close, when it does
// nothing.
func Source[T any](g *Graph, name string, opts ...Option) (s *Subscription[T], push func(T), err error) {
	o := g.options(opts)
	s = newSubscription[T](g, name, o)
	s.log.feeder = o.feeder
	if err := s.begin(); err != nil {
		return nil, nil, fmt.Errorf("source %s: %w", name, err)
	}
	return s, func(v T) { s.log.add(&Message[T]{Topic: name, Value: v, Size: sizeOf(v)}) }, nil
}

// End ends a source that has given all it had, such as the output of a process
// that exited: waits end at once, with ErrEnded and the reason, and a stretch
// that reaches beyond the end is known as a whole.
func (s *Subscription[T]) End(reason string) {
	s.log.end(fmt.Errorf("%w: %s", ErrEnded, reason), s.g.tl.act("end of", s.log.name))
}

// sizeOf is what a value of a source counts for against the bytes of its log.
func sizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	default:
		return 0
	}
}

// Topic is the name subscribed to, with a leading slash.
func (s *Subscription[T]) Topic() string { return s.log.name }

// Done is closed when nothing more will come: the subscription or its graph
// was closed, or the link was lost.
func (s *Subscription[T]) Done() <-chan struct{} { return s.log.done }

// Err is nil while the subscription lives, ErrClosed after Close, and else why
// the link was lost.
func (s *Subscription[T]) Err() error { return s.log.state().err }

// Close ends every wait on the subscription at once. What is in the log stays
// readable. It is idempotent and may be called from anywhere.
func (s *Subscription[T]) Close() error {
	s.closeOnce.Do(func() {
		s.log.end(ErrClosed, s.g.tl.act("close of", s.log.name))
		s.g.disown(s)
		s.g.tl.unwatch(s)
		s.closeErr = s.release()
	})
	return s.closeErr
}

// Received is how many messages arrived since the beginning.
func (s *Subscription[T]) Received() uint64 { return s.log.count() }

// WaitForPublishers waits until at least n publishers are matched.
func (s *Subscription[T]) WaitForPublishers(ctx context.Context, n int) error {
	return s.g.waitMatched(ctx, s.remote, s.log.self, s.log.done, "WaitForPublishers", n)
}

// WaitForValue returns the newest message if one ever arrived, else the first
// to come. The message stays in the log.
func (s *Subscription[T]) WaitForValue(ctx context.Context) (Message[T], error) {
	return s.FromStart().WaitForValue(ctx)
}

// WaitForNew returns, of the messages that arrive after the call, the newest
// at the moment it is read. An equal value counts.
func (s *Subscription[T]) WaitForNew(ctx context.Context) (Message[T], error) {
	return s.FromNow().WaitForNew(ctx)
}

// WaitForNext returns the first message that arrives after the call.
func (s *Subscription[T]) WaitForNext(ctx context.Context) (Message[T], error) {
	return s.FromNow().WaitForNext(ctx)
}

// Listen ranges over the newest message not seen yet of those that arrive
// after the call, skipping what the loop had no time for. Errors are as of
// ListenReliable, but for the loss, which is the skipping.
func (s *Subscription[T]) Listen(ctx context.Context) iter.Seq2[Message[T], error] {
	return s.FromNow().Listen(ctx)
}

// ListenReliable ranges over every message that arrives after the call, in
// order. A *LossError stands where the log dropped messages before they were
// read, a *MessageError beside a message that did not decode; the loop goes on
// after both. A lost link, a closed subscription and the end of ctx come as a
// *WaitError and end the loop; a soft deadline just ends it.
func (s *Subscription[T]) ListenReliable(ctx context.Context) iter.Seq2[Message[T], error] {
	return s.FromNow().ListenReliable(ctx)
}

// Collect waits for d and returns what arrived meanwhile. It ends early, with
// an error beside what there is, when ctx ends or the link is lost.
func (s *Subscription[T]) Collect(ctx context.Context, d time.Duration) (*measure.Window, error) {
	return s.FromNow().Collect(ctx, d)
}

// FromNow is a reader armed now: "arm, stimulate, wait".
func (s *Subscription[T]) FromNow() *Reader[T] {
	now, next := s.log.now()
	return &Reader[T]{sub: s, from: now, point: now, next: next, read: now}
}

// After is a reader of what arrives after a mark. Expectations on it count and
// measure time from the mark, whatever happened since.
func (s *Subscription[T]) After(m Mark) *Reader[T] {
	r := &Reader[T]{sub: s, anchor: anchorMark, from: m, point: m, read: m}
	r.next, r.atMost = s.log.position(m)
	return r
}

// FromStart is a reader of everything the log holds. Expectations on it count
// from the beginning, whatever happened since, and measure time from the call.
func (s *Subscription[T]) FromStart() *Reader[T] {
	return &Reader[T]{sub: s, anchor: anchorStart, from: s.log.created, point: s.log.created, read: s.log.created}
}

// Decided is the message that decided the last expectation that held on the
// subscription itself, false when none has.
func (s *Subscription[T]) Decided() (Message[T], bool) { return s.root.Decided() }

// Mark is the reading point: what expectations on the subscription have
// already used up.
func (s *Subscription[T]) Mark() Mark { return s.root.Mark() }

// GomegaString prints the subscription in one line.
func (s *Subscription[T]) GomegaString() string { return s.print("") }

// print prints it, what is looked at beside its name.
func (s *Subscription[T]) print(part string) string {
	st := s.log.state()
	out := fmt.Sprintf("subscription to %s%s: %d messages", s.log.name, part, st.received)
	if s.log.self.Kind == transports.ServerEndpoint {
		out = fmt.Sprintf("server of %s%s: %d requests", s.log.name, part, st.received)
	}
	if lost := st.received - (st.next - st.first); lost > 0 {
		out += fmt.Sprintf(" (the newest %d held)", st.next-st.first)
	}
	if m, _, ok := s.log.newest(0, time.Time{}); ok {
		out += ", newest " + m.GomegaString()
	}
	if st.err != nil {
		out += ", ended: " + st.err.Error()
	}
	return out
}
