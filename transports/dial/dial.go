// Package dial opens any transport from a URL:
//
//	inproc:                     a graph in memory of its own
//	inproc:NAME                 the graph in memory that everyone in this process shares under NAME
//	zenoh://HOST[:PORT]         plain Zenoh through a router, by default at port 7447
//	zenoh+tls://HOST[:PORT]     the same over TLS; ?ca=FILE trusts the authorities of a PEM file
//	ros2+zenoh://HOST[:PORT]    ROS 2 nodes that use rmw_zenoh, through a router; ros2+zenoh+tls:// over TLS
//	zenoh:?router=embedded      either of these through a router of our own, on a free loopback port; see Embedded
//	ros2+zenoh:?router=embedded
//
// Parameters follow a question mark: node=NAME names the participant where a
// wire shows names, lease=DURATION is Zenoh's lease, seed=N that of an embedded
// router's faults. ROS 2 has domain=N (by default what ROS_DOMAIN_ID says, else
// 0), namespace=/NS for that of the node, and distro=humble for nodes of Humble,
// which have no type hashes.
package dial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
	"github.com/robospec/robospec/transports/zenoh"
)

// ErrURL is a URL that no graph can have, as errors.Is tells: to correct it is to
// write another. Other errors of Open are of the graph it names.
var ErrURL = errors.New("dial: wrong graph URL")

// Open joins the graph that the URL names. ctx bounds the dialling.
func Open(ctx context.Context, address string) (transports.Conn, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, bad(address, "it is no URL (%v)", err)
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, bad(address, "its parameters %q cannot be read (%v)", u.RawQuery, err)
	}
	p := parameters{address: address, query: query}
	switch u.Scheme {
	case "inproc":
		return openInproc(ctx, u, p)
	case "zenoh", "zenoh+tls":
		return openZenoh(ctx, u, p)
	case "ros2+zenoh", "ros2+zenoh+tls":
		return openROS2Zenoh(ctx, u, p)
	case "":
		return nil, bad(address, "it has no scheme")
	}
	return nil, bad(address, "no transport has the scheme %q", u.Scheme)
}

func bad(address, format string, args ...any) error {
	return urlError(fmt.Sprintf("graph URL %q: %s; write inproc:, inproc:NAME, zenoh://HOST:7447, zenoh+tls://HOST:7447?ca=FILE, ros2+zenoh://HOST:7447?domain=N or ros2+zenoh:?router=embedded",
		address, fmt.Sprintf(format, args...)))
}

// urlError is an ErrURL that says which and why.
type urlError string

func (e urlError) Error() string { return string(e) }

func (e urlError) Is(target error) bool { return target == ErrURL }

// parameters are those of a URL that nobody has read yet.
type parameters struct {
	address string
	query   url.Values
}

func (p parameters) take(name string) string {
	v := p.query.Get(name)
	delete(p.query, name)
	return v
}

// done refuses what nobody has read.
func (p parameters) done() error {
	for name := range p.query {
		return bad(p.address, "the parameter %q means nothing there", name)
	}
	return nil
}

func openInproc(ctx context.Context, u *url.URL, p parameters) (transports.Conn, error) {
	node := p.take("node")
	if err := p.done(); err != nil {
		return nil, err
	}
	if u.Host != "" || u.Path != "" {
		return nil, bad(p.address, "the graph in memory has a name and no host")
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	name := u.Opaque
	if node == "" {
		node = "robospec"
	}
	if name == "" {
		return inproc.NewNetwork().Join(node), nil
	}
	return inproc.JoinNamed(name, node), nil
}

func openZenoh(ctx context.Context, u *url.URL, p parameters) (transports.Conn, error) {
	p.take("node") // plain Zenoh shows no names
	r, err := routerOf(u, p)
	if err != nil {
		return nil, err
	}
	if err := p.done(); err != nil {
		return nil, err
	}
	o, err := r.start(ctx, u, p)
	if err != nil {
		return nil, err
	}
	conn, err := zenoh.Dial(ctx, zenoh.Config{Endpoint: r.endpoint, TLS: r.tls, Lease: r.lease})
	if err != nil {
		return nil, o.fail(fmt.Errorf("open %s: %w", p.address, err))
	}
	if o != nil {
		return &embeddedZenoh{conn, o}, nil
	}
	return conn, nil
}

// router is how a URL says to reach a Zenoh router.
type router struct {
	embedded bool // one of our own, which start starts
	seed     uint64
	endpoint string
	tls      *tls.Config
	lease    time.Duration
}

func routerOf(u *url.URL, p parameters) (r router, err error) {
	if s := p.take("lease"); s != "" {
		if r.lease, err = time.ParseDuration(s); err != nil || r.lease < time.Millisecond {
			return r, bad(p.address, "lease=%s is no duration of at least 1ms, such as 10s", s)
		}
	}
	if p.query.Has("router") {
		r.embedded = true
		if s := p.take("seed"); s != "" {
			if r.seed, err = strconv.ParseUint(s, 10, 64); err != nil {
				return r, bad(p.address, "seed=%s is no number", s)
			}
		}
		return r, checkEmbedded(u, p)
	}
	host, port := u.Hostname(), u.Port()
	switch {
	case u.Opaque != "" || host == "":
		return r, bad(p.address, "it names no host behind %s://", u.Scheme)
	case u.User != nil:
		return r, bad(p.address, "robospec has no user names for Zenoh")
	case strings.Trim(u.Path, "/") != "" || u.Fragment != "":
		return r, bad(p.address, "a router has no path (%q)", u.Path)
	case port == "":
		port = "7447"
	}
	r.endpoint = "tcp/" + net.JoinHostPort(host, port)
	if strings.HasSuffix(u.Scheme, "+tls") {
		r.endpoint = "tls/" + net.JoinHostPort(host, port)
		if file := p.take("ca"); file != "" {
			roots, err := authorities(file)
			if err != nil {
				return r, bad(p.address, "ca=%s: %v", file, err)
			}
			r.tls = &tls.Config{RootCAs: roots}
		}
	}
	return r, nil
}

func authorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in it")
	}
	return roots, nil
}
