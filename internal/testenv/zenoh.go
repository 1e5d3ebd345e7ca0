package testenv

import (
	_ "embed"
	"strconv"
	"testing"
	"time"
)

//go:embed zenoh_router.py
var routerScript string

// Router is a real Zenoh router in a process of its own, on a free loopback
// port, without multicast.
type Router struct {
	*Process
	// Endpoint is its locator, such as "tcp/127.0.0.1:43305".
	Endpoint string
	// CAFile is the PEM file of the authority that signed its certificate; ""
	// without TLS.
	CAFile string
}

// RouterConfig of a Router. The zero value is TCP and Zenoh's own lease.
type RouterConfig struct {
	// TLS makes the router listen with TLS, under a certificate for 127.0.0.1
	// that a fresh authority signed.
	TLS bool
	// Lease is how long a silent peer lives; 0 is Zenoh's 10 s.
	Lease time.Duration
}

// ZenohRouter starts a router for this test and returns its endpoint, such as
// "tcp/127.0.0.1:43305".
func ZenohRouter(tb testing.TB) string {
	tb.Helper()
	return StartZenohRouter(tb, RouterConfig{}).Endpoint
}

// StartZenohRouter starts a router for this test.
func StartZenohRouter(tb testing.TB, c RouterConfig) *Router {
	tb.Helper()
	if c.Lease == 0 {
		c.Lease = 10 * time.Second
	}
	r := &Router{}
	args := []string{strconv.FormatInt(c.Lease.Milliseconds(), 10)}
	if c.TLS {
		cert := newCertificate(tb)
		r.CAFile = cert.caFile
		args = append(args, cert.certFile, cert.keyFile)
	}
	r.Process = StartPython(tb, routerScript, args...)
	r.Endpoint = r.Line()
	return r
}
