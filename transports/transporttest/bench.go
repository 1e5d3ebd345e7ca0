package transporttest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/robospec/robospec/transports"
)

// absence is how long a case watches that something does not happen where no
// event tells that it will not. In a bubble it is exact: time moves only when
// nothing else can.
const absence = 20 * time.Millisecond

// A bench is one case at work.
type bench struct {
	TB
	w        Wire
	patience time.Duration
	prefix   string
}

func newBench(t TB, w Wire) *bench {
	b := &bench{TB: t, w: w, patience: w.Patience, prefix: "transporttest_" + rand.Text()}
	if b.patience == 0 {
		b.patience = 30 * time.Second
	}
	return b
}

// name is a name that only this case uses.
func (b *bench) name(n string) string { return "/" + b.prefix + "/" + n }

func (b *bench) dial(node string) transports.Conn {
	b.Helper()
	c := b.w.Dial(b, node)
	b.Cleanup(func() { c.Close() })
	return c
}

// settings of an endpoint, the zero value being the defaults.
type settings struct {
	transports.QoS
	transports.Type
}

func (b *bench) advertise(c transports.Conn, topic string, s settings) transports.Publisher {
	b.Helper()
	p, err := c.Advertise(b.Context(), topic, s.Type, s.QoS)
	if err != nil {
		b.Fatalf("Advertise(%s): %v", topic, err)
	}
	return p
}

// subscribe collects what arrives.
func (b *bench) subscribe(c transports.Conn, topic string, s settings) *inbox {
	b.Helper()
	return b.react(c, topic, s, nil)
}

// react collects what arrives, after then was called with it.
func (b *bench) react(c transports.Conn, topic string, s settings, then func(transports.Sample)) *inbox {
	b.Helper()
	in := &inbox{b: b, topic: topic}
	sub, err := c.Subscribe(b.Context(), topic, s.Type, s.QoS, func(s transports.Sample) {
		at := time.Now()
		if string(s.Payload) == probe {
			in.add(&in.probes, arrival{s, at})
			return
		}
		if then != nil {
			then(s)
		}
		in.add(&in.arrivals, arrival{s, at})
	})
	if err != nil {
		b.Fatalf("Subscribe(%s): %v", topic, err)
	}
	in.Closer = sub
	return in
}

func (b *bench) publish(p transports.Publisher, payloads ...string) {
	b.Helper()
	for _, s := range payloads {
		if err := p.Publish(b.Context(), []byte(s)); err != nil {
			b.Fatalf("Publish(%.40q): %v", s, err)
		}
	}
}

// await waits until cond holds. cond returns a channel that is closed when it
// is worth asking again, nil where nothing tells.
func (b *bench) await(what string, cond func() (bool, <-chan struct{})) {
	b.Helper()
	late := time.NewTimer(b.patience)
	defer late.Stop()
	for {
		ok, changed := cond()
		if ok {
			return
		}
		var again <-chan time.Time
		if changed == nil {
			again = time.After(absence)
		}
		select {
		case <-changed:
		case <-again:
		case <-late.C:
			if ok, _ := cond(); !ok {
				b.Fatalf("%s: not within %v", what, b.patience)
			}
			return
		}
	}
}

// closed waits for a channel to be closed.
func (b *bench) closed(what string, ch <-chan struct{}) {
	b.Helper()
	b.await(what, func() (bool, <-chan struct{}) {
		select {
		case <-ch:
			return true, nil
		default:
			return false, ch
		}
	})
}

// notClosed watches that a channel stays open for a moment.
func (b *bench) notClosed(what string, ch <-chan struct{}) {
	b.Helper()
	select {
	case <-ch:
		b.Fatalf("%s", what)
	case <-time.After(absence):
	}
}

// background runs f and returns a channel that is closed when it has returned.
// The case does not end before.
func (b *bench) background(f func()) <-chan struct{} {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		f()
	})
	b.Cleanup(func() {
		// A goroutine that never ends is the failure of the case that waits for it.
		select {
		case <-done:
			wg.Wait()
		case <-time.After(b.patience):
			b.Errorf("a goroutine of the case still runs %v after it", b.patience)
		}
	})
	return done
}

// counted waits until x has n counterparts.
func (b *bench) counted(x any, n int) {
	b.Helper()
	m, ok := x.(transports.Matched)
	if !ok {
		b.Fatalf("%T does not tell its counterparts", x)
	}
	b.await(fmt.Sprintf("%d counterparts of %T", n, x), func() (bool, <-chan struct{}) {
		got, changed := m.Matched()
		return got == n, changed
	})
}

// probe is what the suite sends on wires that do not tell who is matched. No
// inbox shows it.
const probe = "transporttest: probe"

// meets waits until each of the inboxes is matched with p, p being the only
// publisher of its topic and the inboxes all its subscriptions.
func (b *bench) meets(p transports.Publisher, inboxes ...*inbox) {
	b.Helper()
	if !b.w.Lacks.Matched {
		b.counted(p, len(inboxes))
		return
	}
	for _, in := range inboxes {
		b.await("a probe on "+in.topic, func() (bool, <-chan struct{}) {
			if n, _ := in.seen(&in.probes); n > 0 {
				return true, nil
			}
			if err := p.Publish(b.Context(), []byte(probe)); err != nil {
				b.Fatalf("Publish(probe): %v", err)
			}
			return false, nil
		})
	}
}

// fence sends one message on a topic of its own from one Conn to another and
// waits for it: what the wire would have delivered between them before, it has
// delivered by then, as far as the wire keeps an order at all.
func (b *bench) fence(from, to transports.Conn) {
	b.Helper()
	topic := b.name("fence_" + rand.Text())
	in := b.subscribe(to, topic, settings{QoS: transports.QoS{Reliability: transports.Reliable}})
	p := b.advertise(from, topic, settings{})
	b.meets(p, in)
	b.publish(p, "fence")
	in.wait(1)
	in.Close()
	p.Close()
}

// An inbox is a subscription with all that it received.
type inbox struct {
	transports.Closer
	b     *bench
	topic string

	mu       sync.Mutex
	arrivals []arrival
	probes   []arrival
	changed  chan struct{}
}

type arrival struct {
	transports.Sample
	at time.Time
}

func (in *inbox) add(to *[]arrival, a arrival) {
	in.mu.Lock()
	defer in.mu.Unlock()
	*to = append(*to, a)
	if in.changed != nil {
		close(in.changed)
		in.changed = nil
	}
}

func (in *inbox) seen(what *[]arrival) (int, <-chan struct{}) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.changed == nil {
		in.changed = make(chan struct{})
	}
	return len(*what), in.changed
}

// wait waits for n messages in all and returns what is there then.
func (in *inbox) wait(n int) []arrival {
	in.b.Helper()
	late := time.NewTimer(in.b.patience)
	defer late.Stop()
	for {
		got, changed := in.seen(&in.arrivals)
		if got >= n {
			return in.all()
		}
		select {
		case <-changed:
		case <-late.C:
			got := in.all()
			last := "none"
			if len(got) > 0 {
				last = fmt.Sprintf("the last being %.40q", got[len(got)-1].Payload)
			}
			in.b.Fatalf("%s: %d of %d messages within %v, %s", in.topic, len(got), n, in.b.patience, last)
		}
	}
}

func (in *inbox) all() []arrival {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.arrivals[:len(in.arrivals):len(in.arrivals)]
}

// exactly waits for the given payloads, and fails unless they are all that has
// come.
func (in *inbox) exactly(payloads ...string) {
	in.b.Helper()
	got := in.wait(len(payloads))
	for i, a := range got {
		switch {
		case i >= len(payloads):
			in.b.Fatalf("%s: %d messages, want %d; the next is %.40q", in.topic, len(got), len(payloads), a.Payload)
		case string(a.Payload) != payloads[i]:
			in.b.Fatalf("%s: message %d is %.40q, want %.40q", in.topic, i, a.Payload, payloads[i])
		}
	}
}

// fails reports an error that is none of those wanted.
func (b *bench) fails(what string, err error, want ...error) {
	b.Helper()
	for _, w := range want {
		if errors.Is(err, w) {
			return
		}
	}
	b.Errorf("%s: %v, want %v", what, err, want)
}

// lost reports an error that is no LinkError.
func (b *bench) lost(what string, err error) {
	b.Helper()
	if lost := (*transports.LinkError)(nil); !errors.As(err, &lost) {
		b.Errorf("%s: %v, want a LinkError", what, err)
	} else if lost.Err == nil || lost.Peer == "" {
		b.Errorf("%s: %v names no peer or no reason", what, err)
	}
}
