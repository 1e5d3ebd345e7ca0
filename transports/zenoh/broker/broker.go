// Package broker is a Zenoh router for tests, inside the test's own process: no
// router has to be started, each spec can have its own, and the spec can disturb
// what passes.
//
// It serves clients and peers of zenoh 1.x, among them ROS 2 nodes that use
// rmw_zenoh in its default mode. Peers learn of nobody else through it, so they
// do not connect to each other and all traffic goes through the broker.
//
//   - Publications go to every other link with a subscriber on their key, their
//     bytes unchanged but for the key's spelling; a PUT without a timestamp gets
//     the broker's, as routers do.
//   - Queries go to the queryables that their target asks for, and end when all of
//     those said so, were lost, or the query's timeout has passed.
//   - Interests are answered and followed; liveliness tokens are shown to who
//     asks. A link that ends takes all it declared with it.
//   - A reader too slow for what is sent to it has what may be dropped dropped,
//     and counted, and keeps who asked to block waiting; one that stands still for
//     Config.Patience is cut.
//
// Messages can be dropped, delayed, duplicated and reordered by [Broker.Inject],
// links cut, stalled and made half-open by methods of [Link], and all that passes
// be kept by [Broker.Record]. Without any of these nothing is spent on them.
//
// It is no router for production: no other routers, no multicast, no TLS, no
// authentication, no storages, no administration space; QoS lanes, shared
// memory, compression and patches of the protocol are declined in the handshake.
package broker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robospec/robospec/internal/zenoh/wire"
)

// Config of a Broker. The zero value listens on a free loopback port.
type Config struct {
	// Endpoint is where to listen, such as "tcp/127.0.0.1:7447"; "" is
	// "tcp/127.0.0.1:0", a free port.
	Endpoint string
	// Seed makes the choices of faults repeatable.
	Seed uint64
	// Lease is after how much silence of the broker its clients may take it for
	// dead, and how long a handshake may take; 0 is 10 s.
	Lease time.Duration
	// Patience is how long a message that must not be dropped waits for a reader
	// that takes nothing before that is cut; 0 is 5 s, as with routers.
	Patience time.Duration
	// Queue is how many bytes may wait for a link before it is full; 0 is 4 MiB.
	// Memory is taken only for what waits.
	Queue int
	// MaxMessage is the longest message in bytes; a longer one costs its sender
	// the link. 0 is 256 MiB.
	MaxMessage int
	// QueryTimeout is for queries that name none; 0 is 10 s.
	QueryTimeout time.Duration
}

// maxEnded is how many ended links are remembered.
const maxEnded = 100

// Broker is a router. Its methods may be called from any goroutine.
type Broker struct {
	conf  Config
	ln    net.Listener
	zid   wire.ZenohID
	sched *schedule
	work  sync.WaitGroup

	hooks   atomic.Pointer[hooks] // nil when there are none
	version atomic.Uint64         // changes when routes do; written under mu
	clock   atomic.Uint64         // the last timestamp given

	mu      sync.Mutex
	conns   map[*Link]struct{} // all with a socket, also those that shake hands
	links   map[wire.ZenohID]*Link
	ended   []*Link
	came    uint64 // links so far
	index   [kinds]map[string]entry
	changed chan struct{} // of links and declarations; nil when nobody waits
	dirty   []*Link       // to be flushed at unlock
	scratch []byte
	faults  int // made so far
	closing bool
	err     error
	done    chan struct{}
	closed  chan struct{}
}

// ErrClosed is the end of a broker that was closed, and of its links.
var ErrClosed = errors.New("broker: closed")

// Listen starts a broker. ctx bounds the start only.
func Listen(ctx context.Context, c Config) (*Broker, error) {
	if c.Endpoint == "" {
		c.Endpoint = "tcp/127.0.0.1:0"
	}
	setDefault(&c.Lease, 10*time.Second)
	setDefault(&c.Patience, 5*time.Second)
	setDefault(&c.Queue, 4<<20)
	setDefault(&c.MaxMessage, 256<<20)
	setDefault(&c.QueryTimeout, 10*time.Second)
	address, ok := strings.CutPrefix(c.Endpoint, "tcp/")
	switch {
	case !ok:
		return nil, fmt.Errorf("broker endpoint %q: write it like tcp/127.0.0.1:0; no other protocol is spoken here", c.Endpoint)
	case c.Lease < time.Millisecond, c.Patience < 0, c.Queue < 0, c.MaxMessage < 0, c.QueryTimeout < 0:
		return nil, fmt.Errorf("broker: a lease below a millisecond or something negative in %+v", c)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("broker endpoint %q: %w", c.Endpoint, err)
	}
	b := &Broker{conf: c, ln: ln, zid: wire.RandomZenohID(), sched: newSchedule(),
		conns: map[*Link]struct{}{}, links: map[wire.ZenohID]*Link{},
		done: make(chan struct{}), closed: make(chan struct{})}
	for k := range b.index {
		b.index[k] = map[string]entry{}
	}
	b.work.Go(b.sched.loop)
	b.work.Go(b.accept)
	return b, nil
}

func setDefault[T comparable](v *T, d T) {
	if *v == *new(T) {
		*v = d
	}
}

// Endpoint is the locator it listens on, such as "tcp/127.0.0.1:43305".
func (b *Broker) Endpoint() string { return "tcp/" + b.ln.Addr().String() }

// ZID is the broker's id, as Zenoh prints it.
func (b *Broker) ZID() string { return b.zid.String() }

// Done is closed when the broker was closed or cannot listen any more.
func (b *Broker) Done() <-chan struct{} { return b.done }

// Err is nil while the broker listens, ErrClosed after Close, and else why it
// stopped.
func (b *Broker) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Close undoes all faults, ends all links and joins the broker's goroutines. It
// is idempotent. Its error names every fault that was still active and had
// changed nothing, each as an *UnchangedError; a second call returns nil.
func (b *Broker) Close() error {
	b.mu.Lock()
	if b.closing {
		b.mu.Unlock()
		<-b.closed
		return nil
	}
	b.closing = true
	b.mu.Unlock()
	var errs []error
	if h := b.hooks.Load(); h != nil {
		for _, f := range h.all {
			errs = append(errs, f.Undo())
		}
	}
	b.fail(ErrClosed)
	b.mu.Lock()
	var conns []*Link
	for l := range b.conns {
		conns = append(conns, l)
	}
	b.mu.Unlock()
	for _, l := range conns {
		l.say(wire.CloseGeneric)
		l.end(ErrClosed)
	}
	close(b.sched.stop)
	b.work.Wait()
	close(b.closed)
	return errors.Join(errs...)
}

func (b *Broker) fail(err error) {
	b.mu.Lock()
	if b.err == nil {
		b.err = err
		close(b.done)
	}
	b.mu.Unlock()
	b.ln.Close()
}

func (b *Broker) accept() {
	for {
		c, err := b.ln.Accept()
		if err != nil {
			b.fail(fmt.Errorf("broker: accept: %w", err))
			return
		}
		l := newLink(b, c)
		b.mu.Lock()
		if b.closing {
			b.mu.Unlock()
			c.Close()
			continue
		}
		b.came++
		l.n = b.came
		b.conns[l] = struct{}{}
		b.work.Go(l.serve)
		b.mu.Unlock()
	}
}

// unlock ends a change of the tables and sends what it told the links.
func (b *Broker) unlock() {
	dirty := b.dirty
	b.dirty = nil
	b.mu.Unlock()
	for _, l := range dirty {
		l.out.flush()
	}
}

// tell appends messages for a link. b.mu is held.
func (b *Broker) tell(l *Link, messages ...message) {
	l.out.mu.Lock()
	for _, m := range messages {
		b.scratch = m.Append(b.scratch[:0])
		l.out.put(reliable, b.scratch, nil)
	}
	l.out.mu.Unlock()
	for _, d := range b.dirty {
		if d == l {
			return
		}
	}
	b.dirty = append(b.dirty, l)
}

// Links are the links of this instant in the order of their coming, and a
// channel that is closed when links come or go or what they declare changes.
func (b *Broker) Links() (all []*Link, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.links {
		all = append(all, l)
	}
	sortLinks(all)
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return all, b.changed
}

// Ended are the links that ended most recently, at most 100, the last one last;
// their Err says why. Connections that never became links are among them.
func (b *Broker) Ended() []*Link {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*Link(nil), b.ended...)
}

// change tells those who watch Links. b.mu is held.
func (b *Broker) change() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// now is the broker's clock, which never gives the same time twice.
func (b *Broker) now(t time.Time) wire.Timestamp {
	for {
		last := b.clock.Load()
		now := max(last+1, uint64(wire.NTP64FromTime(t)))
		if b.clock.CompareAndSwap(last, now) {
			return wire.Timestamp{Time: wire.NTP64(now), ID: b.zid}
		}
	}
}

// queryTimeout is when a query gives up, false for never.
func (b *Broker) queryTimeout(millis uint64) (time.Duration, bool) {
	switch {
	case millis == 0:
		return b.conf.QueryTimeout, true
	case millis > math.MaxInt64/uint64(time.Millisecond):
		return 0, false
	}
	return time.Duration(millis) * time.Millisecond, true
}
