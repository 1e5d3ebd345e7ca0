package harness

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/ring"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/transports"
)

// log is everything that one subscription received, as far as its bounds
// allow. Transports append to it straight; readers copy out of it.
type log[T any] struct {
	tl      *Timeline
	name    string
	created Mark
	// lives says whether somebody is there to publish, now.
	lives func() measure.Life
	// self is the endpoint that receives, without node and identifier; peers is what
	// the graph says of those it receives from.
	self  transports.Endpoint
	peers func() peers
	// feeder is what feeds a source, nil where that is not known.
	feeder Living

	mu   sync.Mutex
	ring *ring.Ring[Message[T]]
	// received counts since the beginning, and is the index of the next message; it
	// is changed under the lock, and read without it where nothing is to be had.
	received   atomic.Uint64
	newestLost uint64    // the order of the newest message dropped
	lostUntil  time.Time // the latest receive stamp of those dropped
	waiting    []chan struct{}
	done       chan struct{} // closed when nothing more will come
	err        error
	ended      Mark
}

func newLog[T any](tl *Timeline, name string, o options) *log[T] {
	l := &log[T]{tl: tl, name: name, done: make(chan struct{}), self: transports.Endpoint{Kind: transports.SubscriptionEndpoint, Name: name},
		peers: func() peers { return peers{} }}
	l.created = tl.act("beginning of", name)
	l.ring = ring.New(o.messages, o.bytes,
		func(m *Message[T]) int { return m.Size },
		func(m *Message[T]) {
			l.newestLost = m.order
			if m.Received.After(l.lostUntil) {
				l.lostUntil = m.Received
			}
		})
	return l
}

// add takes a message into the log and wakes who waits for it. A zero
// Received is stamped here. What was stamped before the end is taken in after it.
func (l *log[T]) add(m *Message[T]) {
	m.tl = l.tl
	l.mu.Lock()
	if m.Received.IsZero() {
		m.Received = time.Now()
	}
	if l.err == nil || m.Received.Before(l.ended.at) {
		m.order = l.tl.order.Add(1)
		l.ring.Push(m)
		l.received.Store(l.ring.Next())
		l.wake()
	}
	l.mu.Unlock()
}

// skip counts n messages that were never held.
func (l *log[T]) skip(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.ring.Skip(n)
	l.received.Store(l.ring.Next())
	l.newestLost, l.lostUntil = l.tl.order.Add(1), time.Now()
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

// now is the mark of this instant and the index of the next message.
func (l *log[T]) now() (Mark, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tl.Now(), l.ring.Next()
}

// indexAfter is the index of the first message held that may be after m.
func (l *log[T]) indexAfter(m Mark) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ring.Search(func(x *Message[T]) bool { return x.order > m.order })
}

// position is indexAfter, less those that may have been dropped since m: at most
// so many, for how many it were is forgotten with them. atMost tells whether
// there are any.
func (l *log[T]) position(m Mark) (i uint64, atMost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i = l.ring.Search(func(x *Message[T]) bool { return x.order > m.order })
	if l.newestLost <= m.order || l.lostUntil.Before(m.at) {
		return i, false
	}
	return i - min(i, l.newestLost-m.order), true
}

// read appends to buf messages from index i on that were received at since or
// later, at most cap(buf). Those it returns have adjacent indices, the last
// next − 1. lost is how many were dropped before i came to them. If there are
// none it makes wake get a token when there are.
func (l *log[T]) read(i uint64, since time.Time, buf []Message[T], wake chan struct{}) (msgs []Message[T], next, lost uint64) {
	if wake == nil && l.received.Load() <= i {
		return buf, i, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.ring.First(); i < first {
		lost, i = first-i, first
	}
	for ; i < l.ring.Next() && len(buf) < cap(buf); i++ {
		m := l.ring.At(i)
		if m.Received.Before(since) {
			if len(buf) > 0 {
				break
			}
			continue
		}
		buf = append(buf, *m)
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
	l.waiting = slices.DeleteFunc(l.waiting, func(w chan struct{}) bool { return w == wake })
}

// newest is the newest message from index i on that was received at since or
// later, and the index of the next to come.
func (l *log[T]) newest(i uint64, since time.Time) (m Message[T], next uint64, ok bool) {
	if next = l.received.Load(); next <= i {
		return m, next, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	next = l.ring.Next()
	for k := next; k > max(i, l.ring.First()); k-- {
		if m := l.ring.At(k - 1); !m.Received.Before(since) {
			return *m, next, true
		}
	}
	return m, next, false
}

// count is how many messages were received since the beginning.
func (l *log[T]) count() uint64 { return l.received.Load() }

// The rest is what an Observation needs of a log of any type.

type source interface {
	fill(i uint64, buf []measure.Arrival, wake chan struct{}) ([]measure.Arrival, uint64, uint64)
	forget(wake chan struct{})
	life() measure.Life
	fedBy() Living
	endpoint() transports.Endpoint
	peersNow() peers
	indexAfter(m Mark) uint64
	state() logState
}

type logState struct {
	created, ended        Mark
	err                   error
	done                  <-chan struct{}
	first, next, received uint64
	newestLost            uint64
	lostUntil             time.Time
}

func (l *log[T]) state() logState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return logState{created: l.created, ended: l.ended, err: l.err, done: l.done,
		first: l.ring.First(), next: l.ring.Next(), received: l.received.Load(),
		newestLost: l.newestLost, lostUntil: l.lostUntil}
}

func (l *log[T]) life() measure.Life { return l.lives() }
func (l *log[T]) fedBy() Living      { return l.feeder }

func (l *log[T]) endpoint() transports.Endpoint { return l.self }
func (l *log[T]) peersNow() peers               { return l.peers() }

// fill is read for arrivals. Values are boxed outside the lock.
func (l *log[T]) fill(i uint64, buf []measure.Arrival, wake chan struct{}) ([]measure.Arrival, uint64, uint64) {
	var few [32]Message[T]
	msgs, next, lost := l.read(i, time.Time{}, few[:0:min(len(few), cap(buf))], wake)
	for k := range msgs {
		buf = append(buf, msgs[k].arrival())
	}
	return buf, next, lost
}
