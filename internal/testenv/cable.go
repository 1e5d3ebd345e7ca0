package testenv

import (
	"io"
	"net"
	"strings"
	"sync"
)

// TB is what a Cable needs of a test.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(f func())
}

// Cable is a TCP connection to a router that can be pulled out.
type Cable struct {
	// Endpoint is where one connection is taken.
	Endpoint string
	// Pull ends it; more than once is well.
	Pull func()
}

// StartCable lays a cable to a router. It is pulled at the end of the test.
func StartCable(t TB, router string) *Cable {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	near := make(chan net.Conn, 1)
	var running sync.WaitGroup
	running.Go(func() {
		a, err := ln.Accept()
		ln.Close()
		if err != nil {
			close(near)
			return
		}
		b, err := net.Dial("tcp", strings.TrimPrefix(router, "tcp/"))
		if err != nil {
			a.Close()
			close(near)
			return
		}
		join := func(to, from net.Conn) {
			_, _ = io.Copy(to, from) // ends when either side does
			to.Close()
			from.Close()
		}
		running.Go(func() { join(a, b) })
		running.Go(func() { join(b, a) })
		near <- a
	})
	c := &Cable{Endpoint: "tcp/" + ln.Addr().String()}
	c.Pull = sync.OnceFunc(func() {
		ln.Close()
		if a, ok := <-near; ok {
			a.Close()
		}
	})
	t.Cleanup(func() {
		c.Pull()
		running.Wait()
	})
	return c
}
