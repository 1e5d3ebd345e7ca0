// Package zenoh is the transport for plain Zenoh: bytes on key expressions,
// through a router (or a peer with a known port) that it is a client of.
//
// The topic or service "/odom" is the key "odom". A subscription may be a key
// expression with wildcards; each of its samples names the key it came under.
//
//   - A reliable publisher (the default) has routers wait under congestion, a
//     best-effort one lets them drop.
//   - A transient-local publisher is one of zenoh-ext's advanced publishers: it
//     answers late joiners from its cache. A subscription that asks for transient
//     local, or leaves durability open while every publisher it knows of is
//     transient local, gets what they kept first.
//   - A service is a queryable on its key; every server of a name gets a request,
//     and the first answer counts.
//   - What no subscription is known to hear stays off the wire: to be heard from
//     the first message on, wait for Matched.
//   - A DELETE is no message and is not delivered.
//   - Each publication carries its publisher's id and running number (SourceInfo),
//     and no time of its sending.
//
// Zenoh shows subscribers and queryables, merged by key, and no publishers. So
// every endpoint of this package declares a liveliness token besides:
//
//	@robospec/pub/<id>/<id>[:<letters>]/<key>   b: best effort, l: transient local
//	@robospec/sub/<id>/<id>[:<letters>]/<key>   r: asks for reliable, l: for transient local
//	@robospec/srv/<id>/<id>/<key>
//
// The two ids are those of session and endpoint. With them counterparts are
// counted one by one, a publisher that does not suit what a subscription asks
// for is not heard, and life is shown. A foreign program is heard without; it may
// declare a token to be counted and to show life, in Python
//
//	session.liveliness().declare_token("@robospec/pub/talker/1/odom")
//
// Subscribers and servers of other programs count as one per key.
package zenoh

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

// Config says how to reach a router. All but Endpoint may be left zero.
type Config struct {
	// Endpoint is the router's locator, such as "tcp/127.0.0.1:7447" or
	// "tls/robot:7447".
	Endpoint string
	// TLS is for tls endpoints; nil trusts the authorities of the system.
	TLS *tls.Config
	// Lease is how long the router takes this process for alive in silence; 0 is
	// 60 s, so that a debugger does not cost the link.
	Lease time.Duration
	// MaxMessage is the longest message to receive in bytes, 0 is 64 MiB. A longer
	// one costs the link.
	MaxMessage int
}

// Conn is a client session. It implements transports.Conn, transports.Lifer and
// transports.Settler; its publishers, subscriptions and clients implement
// transports.Matched.
type Conn struct {
	s *session.Session

	mu      sync.Mutex // never held while a callback runs
	pubs    map[*publisher]struct{}
	subs    map[*subscription]struct{}
	servers map[*server]struct{}
	clients map[*client]struct{}
}

var (
	_ transports.Conn    = (*Conn)(nil)
	_ transports.Lifer   = (*Conn)(nil)
	_ transports.Settler = (*Conn)(nil)
	_ transports.Matched = (*publisher)(nil)
	_ transports.Matched = (*subscription)(nil)
	_ transports.Matched = (*client)(nil)
)

// Dial joins the graph of a router. ctx bounds the dialling.
func Dial(ctx context.Context, c Config) (*Conn, error) {
	at, err := link.ParseLocator(c.Endpoint)
	if err != nil {
		return nil, err
	}
	l, err := link.Dial(ctx, at, c.TLS)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("%w: start a router there, or correct the address", err)
	}
	if err != nil {
		return nil, err
	}
	s, err := session.Open(ctx, l, session.Config{Lease: c.Lease, MaxMessage: c.MaxMessage})
	if err != nil {
		return nil, err
	}
	return &Conn{s: s, pubs: map[*publisher]struct{}{}, subs: map[*subscription]struct{}{},
		servers: map[*server]struct{}{}, clients: map[*client]struct{}{}}, nil
}

// Encoding is msgs.Raw.
func (c *Conn) Encoding() string { return msgs.Raw }

// Close implements transports.Conn.
func (c *Conn) Close() error {
	c.s.Close()
	return nil
}

// Done implements transports.Conn.
func (c *Conn) Done() <-chan struct{} { return c.s.Done() }

// Err implements transports.Conn.
func (c *Conn) Err() error { return c.s.Err() }

// Settle implements transports.Settler.
func (c *Conn) Settle() { c.s.Settle() }

// Life implements transports.Lifer. Life is shown by a publisher of this Conn or
// by the token of another that a subscription to the topic sees. Zenoh cannot
// show that nobody is there.
func (c *Conn) Life(topic string) measure.Life {
	key, err := subscriptionKey(topic)
	if err == nil {
		err = c.s.Err()
	}
	if err != nil {
		return measure.Life{Sign: err.Error()}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	own, others := 0, 0
	for p := range c.pubs {
		if meet(p.key, key) {
			own++
		}
	}
	for s := range c.subs {
		if s.key == key {
			others = max(others, s.others())
		}
	}
	if own+others == 0 {
		return measure.Life{Sign: "Zenoh does not show publishers, and no @robospec/pub token for the topic was seen"}
	}
	var signs []string
	if own > 0 {
		signs = append(signs, fmt.Sprintf("%d of our own publishers", own))
	}
	if others > 0 {
		signs = append(signs, fmt.Sprintf("liveliness tokens of publishers: %d", others))
	}
	return measure.Life{State: measure.LifeShown, At: time.Now(), Sign: strings.Join(signs, ", ")}
}

// begin is what every declaration begins with.
func (c *Conn) begin(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.s.Err()
}

// closer ends several things, the last one first.
type closer []func()

func (c *closer) add(f func()) { *c = append(*c, f) }

func (c *closer) close() {
	for _, f := range slices.Backward(*c) {
		f()
	}
	*c = nil
}
