// Package ros2zenoh is the transport for ROS 2 over Zenoh: it speaks with nodes
// that use rmw_zenoh as one of them, through a router that it is a client of. No
// ROS installation is needed.
//
//   - The topic or service "/odom" of domain 0 is the key
//     "0/odom/<type>/<type hash>". Who has another type or hash does not hear us,
//     and nothing says so on the wire; the graph shows both.
//   - A subscription without a type hears every type, one with a type name and no
//     hash every hash; it shows itself to the publishers it hears as one of their
//     type. Everything else needs both. ROS 2 Humble has no hashes: see Config.
//   - Every node and endpoint is a liveliness token, which vanishes with its
//     process. Counterparts are counted by tokens, so who declares none (a plain
//     Zenoh program) is heard but not counted.
//   - rmw_zenoh lets QoS settings that do not match meet. Here they mean what
//     they mean to ROS 2 everywhere: a publisher that does not suit what a
//     subscription asks for is not counted, and not heard as far as its messages
//     carry the GID of its token, as those of rmw_zenoh do, or the time stamp of a
//     session that has no other publisher of the topic. Deadline, lifespan, lease
//     and liveliness are shown to others, and neither asserted nor enforced, as in
//     rmw_zenoh.
//   - A reliable publisher has routers wait under congestion, whatever its
//     history, where rmw_zenoh drops messages of all that do not keep all: a test
//     must not lose its own stimuli. A best-effort one lets routers drop.
//   - A transient-local publisher answers late joiners from its cache. A
//     subscription that asks for transient local, or leaves durability open while
//     every publisher it knows of is transient local, gets what they kept first.
//   - A service call goes to every server of the name, and the first answer
//     counts. A refusal reaches our clients as such; rmw_zenoh's clients wait on.
//   - What no subscription is known to hear stays off the wire: to be heard from
//     the first message on, wait for Matched.
//
// Messages without the attachment that nodes put on each, which those drop or
// die of, are delivered without its stamps; Conn.Diagnostics tells of them.
// Publishing to a node that was heard to use the old form of attachments is
// refused, since it would abort that node. Protocol: zenoh.md §7.
package ros2zenoh

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/robospec/robospec/internal/zenoh/link"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/transports"
)

// MaxDomain is the highest ROS domain id. Zenoh would take more, DDS does not.
const MaxDomain = 232

// Config says how to reach a router and who we are there. All but Endpoint may
// be left zero.
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
	// Domain is the ROS domain id, 0 to MaxDomain.
	Domain int
	// Node is the node's name without its namespace; "" is "robospec".
	Node string
	// Namespace of the node, "" is "/". It does not change names of topics.
	Namespace string
	// Enclave of the node, "" is "/".
	Enclave string
	// Humble is for nodes of ROS 2 Humble, which have no type hashes: NoTypeHash
	// stands in for each.
	Humble bool
}

// Conn is one node. It implements transports.Conn, transports.Grapher,
// transports.Lifer and transports.Settler; its publishers, subscriptions and
// clients implement transports.Matched.
type Conn struct {
	s      *session.Session
	conf   Config
	zid    string
	lastID atomic.Uint64 // of an endpoint

	mu    sync.Mutex // never held while a callback runs
	graph graph
}

var (
	_ transports.Conn    = (*Conn)(nil)
	_ transports.Grapher = (*Conn)(nil)
	_ transports.Lifer   = (*Conn)(nil)
	_ transports.Settler = (*Conn)(nil)
	_ transports.Matched = (*publisher)(nil)
	_ transports.Matched = (*subscription)(nil)
	_ transports.Matched = (*client)(nil)
)

// check fills in what was left out.
func (c *Config) check() error {
	if c.Domain < 0 || c.Domain > MaxDomain {
		return fmt.Errorf("the ROS domain id %d is not among 0 to %d", c.Domain, MaxDomain)
	}
	if c.Node == "" {
		c.Node = "robospec"
	}
	if strings.Contains(c.Node, "/") {
		return &transports.NameError{Name: c.Node, Reason: "the name of a node holds no slash; its namespace is a setting of its own"}
	}
	if err := transports.CheckROSName("/" + c.Node); err != nil {
		return err
	}
	for _, n := range []*string{&c.Namespace, &c.Enclave} {
		if *n == "" || *n == "/" {
			*n = "/"
			continue
		}
		var err error
		if *n, err = transports.Resolve(*n); err != nil {
			return err
		}
		if err := transports.CheckROSName(*n); err != nil {
			return err
		}
	}
	return nil
}

// Dial joins the domain as a node. ctx bounds the dialling. When it returns, the
// graph is known.
func Dial(ctx context.Context, c Config) (*Conn, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
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
	conn := &Conn{s: s, conf: c, zid: s.ZID().String(), graph: newGraph()}
	if err := conn.enter(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("join ROS domain %d: %w", c.Domain, err)
	}
	return conn, nil
}

// enter shows the node and learns the graph.
func (c *Conn) enter(ctx context.Context) error {
	n := c.entity(nodes, 0)
	if _, err := c.s.Token(ctx, n.token()); err != nil {
		return err
	}
	w, err := c.s.Watch(ctx, session.Tokens, wire.InterestCurrentFuture, fmt.Sprintf("%s/%d/**", tokenSpace, c.conf.Domain), c.told)
	if err != nil {
		return err
	}
	return w.Wait(ctx)
}

func (c *Conn) entity(k kind, id uint64) *entity {
	return &entity{domain: c.conf.Domain, zid: c.zid, eid: id, kind: k,
		enclave: c.conf.Enclave, namespace: c.conf.Namespace, node: c.conf.Node}
}

// endpoint is an endpoint of this node, with the GID of its token.
func (c *Conn) endpoint(k kind, name string, t transports.Type, q transports.QoS) (e *entity, token string) {
	e = c.entity(k, c.lastID.Add(1))
	e.name, e.typ, e.qos = name, t, q
	token = e.token()
	e.gid = gidOf(token)
	return e, token
}

// Encoding is msgs.CDR.
func (c *Conn) Encoding() string { return msgs.CDR }

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

// Life implements transports.Lifer. Life is shown by the liveliness token of a
// publisher, which the router withdraws when the process ends or its link is
// cut, or when it stands still for longer than its lease. There is none when the
// graph shows no publisher.
func (c *Conn) Life(topic string) measure.Life {
	name, err := transports.Resolve(topic)
	if err == nil {
		err = c.s.Err()
	}
	if err != nil {
		return measure.Life{Sign: err.Error()}
	}
	c.mu.Lock()
	var names []string
	for _, e := range c.publishersOn(name) {
		names = append(names, e.fullName())
	}
	c.mu.Unlock()
	if len(names) == 0 {
		return measure.Life{State: measure.LifeNone, At: time.Now(),
			Sign: fmt.Sprintf("no liveliness token of a publisher of %s in domain %d", name, c.conf.Domain)}
	}
	slices.Sort(names)
	return measure.Life{State: measure.LifeShown, At: time.Now(),
		Sign: fmt.Sprintf("liveliness tokens of publishers, held on a live link: %s", strings.Join(slices.Compact(names), ", "))}
}

// begin is what every declaration begins with. It returns the name's one
// spelling.
func (c *Conn) begin(ctx context.Context, name string) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err := c.s.Err(); err != nil {
		return "", err
	}
	resolved, err := transports.Resolve(name)
	if err != nil {
		return "", err
	}
	return resolved, transports.CheckROSName(resolved)
}

// hashed is a type with the hash that this Conn uses.
func (c *Conn) hashed(t transports.Type) transports.Type {
	if c.conf.Humble && t.Name != "" {
		t.Hash = NoTypeHash
	}
	return t
}

// wholeKey is the key of an endpoint that needs a whole type.
func (c *Conn) wholeKey(name string, t transports.Type) (string, error) {
	if t.Name == "" {
		return "", errors.New("ROS 2 has nothing without a type: name one, such as std_msgs/msg/String")
	}
	if t.Hash == "" {
		return "", fmt.Errorf("the type hash of %s is part of its key, and none is given: take it from the codec of a generated package, or from the graph", t.Name)
	}
	return dataKey(c.conf.Domain, name, t)
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
