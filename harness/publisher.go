package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

// Publisher publishes messages of one type on one topic. It is safe for use by
// several goroutines.
type Publisher[T any] struct {
	g          *Graph
	name       string
	self       transports.Endpoint // without node and identifier
	codec      msgs.Codec[T]
	remote     transports.Publisher
	matched    transports.Matched // nil where nobody can tell, or where those who come later hear it, too
	background bool
	shared     *publisherState
}

type publisherState struct {
	buffers sync.Pool     // of *[]byte
	done    chan struct{} // closed when closed is set

	mu       sync.Mutex
	streams  map[interface{ end() }]struct{}
	closed   bool
	closeErr error
}

// Advertise declares a publisher. ctx bounds the call. Errors are as of
// Subscribe.
func Advertise[T any](ctx context.Context, g *Graph, topic string, opts ...Option) (*Publisher[T], error) {
	fail := func(err error) (*Publisher[T], error) { return nil, fmt.Errorf("advertise %s: %w", topic, closed(err)) }
	name, err := transports.Resolve(topic)
	if err != nil {
		return fail(err)
	}
	o := g.options(opts)
	codec, err := codecOf[T](o, g.conn.Encoding())
	if err != nil {
		return fail(err)
	}
	self := transports.Endpoint{Kind: transports.PublisherEndpoint, Name: name, QoS: o.qos,
		Type: transports.Type{Name: codec.TypeName(), Hash: codec.TypeHash()}}
	remote, err := g.conn.Advertise(ctx, name, self.Type, o.qos)
	if err != nil {
		return fail(err)
	}
	p := &Publisher[T]{g: g, name: name, self: self, codec: codec, remote: remote,
		shared: &publisherState{done: make(chan struct{}), streams: map[interface{ end() }]struct{}{}}}
	if o.qos.Durability != transports.TransientLocal {
		p.matched, _ = remote.(transports.Matched)
	}
	if err := g.own(p); err != nil {
		_ = remote.Close() // the graph's end is the error to tell
		return fail(err)
	}
	return p, nil
}

// Topic is the name published on, with a leading slash.
func (p *Publisher[T]) Topic() string { return p.name }

// Publish sends one message. It is a stimulus, whose mark it returns, unless
// the publisher is a Background one. ctx bounds the wait for room on the wire.
func (p *Publisher[T]) Publish(ctx context.Context, v T) (Mark, error) {
	var m Mark
	if p.background {
		m = p.g.tl.act("publish on", p.name)
	} else {
		m = p.g.tl.stimulus("publish on", p.name)
		if p.matched != nil {
			if n, _ := p.matched.Matched(); n == 0 {
				p.g.tl.notHeard(m, p.alone)
			}
		}
	}
	return m, p.send(ctx, v, m)
}

// alone says why nobody hears the publisher, or since when somebody can.
func (p *Publisher[T]) alone() string {
	switch now := p.g.view.peersOf(p.self, p.remote); {
	case now.why != "":
		return now.why
	case len(now.met) > 0:
		return fmt.Sprintf("%s %s %s, but was not there yet; wait with WaitForSubscribers", strings.Join(now.met, ", "), now.of.does, p.name)
	default:
		return "no subscription was matched"
	}
}

// send sends v; the stimulus m failed if that fails.
func (p *Publisher[T]) send(ctx context.Context, v T, m Mark) error {
	buf, _ := p.shared.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	b, err := p.codec.Append((*buf)[:0], v)
	if err == nil {
		err = p.remote.Publish(ctx, b)
	}
	if cap(b) <= 1<<20 {
		*buf = b
		p.shared.buffers.Put(buf)
	}
	if err != nil {
		err = fmt.Errorf("publish on %s: %w", p.name, closed(err))
		p.g.tl.Failed(m, err)
	}
	return err
}

// Background is the same publisher with publishes that are no stimuli: a
// heartbeat, a simulated sensor. Streams of it are, as of any publisher.
func (p *Publisher[T]) Background() *Publisher[T] {
	b := *p
	b.background = true
	return &b
}

// WaitForSubscribers waits until at least n subscriptions are matched.
func (p *Publisher[T]) WaitForSubscribers(ctx context.Context, n int) error {
	return p.g.waitMatched(ctx, p.remote, p.self, p.shared.done, "WaitForSubscribers", n)
}

// Close stops the publisher's streams, as their Close does, and undeclares it.
// It is idempotent and may be called from anywhere.
func (p *Publisher[T]) Close() error {
	s := p.shared
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	streams := slices.Collect(maps.Keys(s.streams))
	s.mu.Unlock()
	if first {
		close(s.done)
	}
	for _, stream := range streams {
		stream.end()
	}
	if first {
		p.g.disown(p)
		err := p.remote.Close()
		s.mu.Lock()
		s.closeErr = err
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeErr
}

// GomegaString prints the publisher in one line.
func (p *Publisher[T]) GomegaString() string {
	if m, ok := p.remote.(transports.Matched); ok {
		n, _ := m.Matched()
		return fmt.Sprintf("publisher of %s: %d subscriptions matched", p.name, n)
	}
	return "publisher of " + p.name
}
