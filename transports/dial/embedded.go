package dial

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/ros2zenoh"
	"github.com/robospec/robospec/transports/zenoh"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

// Embedded is the Conn of a URL with router=embedded. Its Close ends the router
// too, and with it the links of everybody else; its error tells of faults that
// changed nothing.
type Embedded interface {
	transports.Conn
	// Router is the router.
	Router() *broker.Broker
	// URL joins the same graph from elsewhere on this machine, as another node with
	// the same settings.
	URL() string
}

var (
	_ Embedded = (*embeddedZenoh)(nil)
	_ Embedded = (*embeddedROS2)(nil)
)

// own is a router with how to reach it.
type own struct {
	broker *broker.Broker
	url    *url.URL
}

func (o *own) Router() *broker.Broker { return o.broker }

func (o *own) URL() string { return o.url.String() }

// set puts a parameter into the URL, or takes it out.
func (o *own) set(name, value string) {
	q := o.url.Query()
	if q.Del(name); value != "" {
		q.Set(name, value)
	}
	o.url.RawQuery = q.Encode()
}

func checkEmbedded(u *url.URL, p parameters) error {
	switch r := p.take("router"); {
	case r != "embedded":
		return bad(p.address, "router=%s is none; write router=embedded, or the host of one", r)
	case u.Opaque != "" || u.Host != "" || u.Path != "" || u.User != nil || u.Fragment != "":
		return bad(p.address, "an embedded router takes a free port: leave out its host, as in %s:?router=embedded", u.Scheme)
	case strings.HasSuffix(u.Scheme, "+tls"):
		return bad(p.address, "the embedded router speaks no TLS")
	}
	return nil
}

// start starts the router if it is one of our own; else there is none to own.
func (r *router) start(ctx context.Context, u *url.URL, p parameters) (*own, error) {
	if !r.embedded {
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	b, err := broker.Listen(ctx, broker.Config{Seed: r.seed})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", p.address, err)
	}
	r.endpoint = b.Endpoint()
	o := &own{
		broker: b,
		url:    &url.URL{Scheme: u.Scheme, Host: strings.TrimPrefix(r.endpoint, "tcp/"), RawQuery: u.RawQuery},
	}
	o.set("router", "")
	o.set("seed", "")
	o.set("node", "")
	return o, nil
}

// fail ends the router, if there is one, of a Conn that was not opened.
func (o *own) fail(err error) error {
	if o == nil {
		return err
	}
	return errors.Join(err, o.broker.Close())
}

type embeddedZenoh struct {
	*zenoh.Conn
	*own
}

func (c *embeddedZenoh) Close() error { return errors.Join(c.Conn.Close(), c.broker.Close()) }

type embeddedROS2 struct {
	*ros2zenoh.Conn
	*own
}

func (c *embeddedROS2) Close() error { return errors.Join(c.Conn.Close(), c.broker.Close()) }
