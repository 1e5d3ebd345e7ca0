package harness

import (
	"sync"
	"time"

	"github.com/robospec/robospec/internal/ring"
	"github.com/robospec/robospec/measure"
)

// log is everything that one subscription received, as far as its bounds
// allow. Transports append to it straight; readers copy out of it.
type log[T any] struct {
	tl      *Timeline
	name    string
	created Mark

	mu         sync.Mutex
	ring       *ring.Ring[Message[T]]
	received   uint64 // since the beginning
	undecoded  uint64
	newestLost uint64 // the order of the newest message dropped
	waiting    []chan struct{}
	done       chan struct{} // closed when nothing more will come
	err        error
	ended      Mark
}

func newLog[T any](tl *Timeline, name string, o options) *log[T] {
	l := &log[T]{tl: tl, name: name, done: make(chan struct{})}
	l.created = tl.act("beginning of", name)
	l.ring = ring.New(o.messages, o.bytes,
		func(m *Message[T]) int { return m.Size },
		func(m *Message[T]) { l.newestLost = m.order })
	return l
}

// add takes a message into the log and wakes who waits for it. A zero
// Received is stamped here.
func (l *log[T]) add(m *Message[T]) {
	m.tl = l.tl
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if m.Received.IsZero() {
		m.Received = time.Now()
	}
	m.order = l.tl.order.Add(1)
	l.ring.Push(m)
	l.received++
	if m.err != nil {
		l.undecoded++
	}
	l.wake()
}

// skip counts n messages that were never held.
func (l *log[T]) skip(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring.Skip(n)
	l.received += n
	l.newestLost = l.tl.order.Add(1)
	l.wake()
}

// wake is called under the lock.
func (l *log[T]) wake() {
	for i, w := range l.waiting {
		select {
		case w <- struct{}{}:
		default:
		}
		l.waiting[i] = nil
	}
	l.waiting = l.waiting[:0]
}

// end ends every wait with the reason; what is in the log stays readable.
func (l *log[T]) end(err error, at Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err, l.ended = err, at
	close(l.done)
}

// indexAfter is the index of the first message held that may be after m.
func (l *log[T]) indexAfter(m Mark) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ring.Search(func(x *Message[T]) bool { return x.order > m.order })
}

// read appends to buf the messages from index i on, at most cap(buf), and
// returns the index to go on from and how many were dropped before i came to
// them. If there are none it makes wake get a token when there are.
func (l *log[T]) read(i uint64, buf []Message[T], wake chan struct{}) (msgs []Message[T], next, lost uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.ring.First(); i < first {
		lost, i = first-i, first
	}
	for ; i < l.ring.Next() && len(buf) < cap(buf); i++ {
		buf = append(buf, *l.ring.At(i))
	}
	if len(buf) == 0 && lost == 0 && wake != nil {
		l.waiting = append(l.waiting, wake)
	}
	return buf, i, lost
}

// arm makes wake get a token at the next message.
func (l *log[T]) arm(wake chan struct{}) {
	l.mu.Lock()
	l.waiting = append(l.waiting, wake)
	l.mu.Unlock()
}

func (l *log[T]) forget(wake chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range l.waiting {
		if w == wake {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return
		}
	}
}

// newest is the newest message from index i on.
func (l *log[T]) newest(i uint64) (m Message[T], next uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next = l.ring.Next()
	if next <= i || next == l.ring.First() {
		return m, i, false
	}
	return *l.ring.At(next - 1), next, true
}

// count is how many messages were received since the beginning.
func (l *log[T]) count() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.received
}

// The rest is what an Observation needs of a log of any type.

type source interface {
	fill(i uint64, buf []measure.Arrival, wake chan struct{}) ([]measure.Arrival, uint64, uint64)
	forget(wake chan struct{})
	indexAfter(m Mark) uint64
	state() logState
}

type logState struct {
	created, ended        Mark
	err                   error
	done                  <-chan struct{}
	first, next, received uint64
	newestLost            uint64
}

func (l *log[T]) state() logState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return logState{created: l.created, ended: l.ended, err: l.err, done: l.done,
		first: l.ring.First(), next: l.ring.Next(), received: l.received, newestLost: l.newestLost}
}

// fill is read for arrivals. Values are boxed outside the lock.
func (l *log[T]) fill(i uint64, buf []measure.Arrival, wake chan struct{}) ([]measure.Arrival, uint64, uint64) {
	var few [32]Message[T]
	msgs, next, lost := l.read(i, few[:0:min(len(few), cap(buf))], wake)
	for k := range msgs {
		buf = append(buf, msgs[k].arrival())
	}
	return buf, next, lost
}
