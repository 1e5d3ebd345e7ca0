//go:build unix

package link

import (
	"errors"
	"net"
	"syscall"
)

// tryWriter writes to a socket without waiting. A stream that is no plain TCP
// socket takes nothing that way. Its one closure is made once, so that a write
// allocates nothing.
type tryWriter struct {
	raw syscall.RawConn
	do  func(fd uintptr) bool
	b   []byte
	n   int
	err error
}

func (t *tryWriter) init(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	t.raw = raw
	t.do = func(fd uintptr) bool {
		for {
			t.n, t.err = syscall.Write(int(fd), t.b)
			if !errors.Is(t.err, syscall.EINTR) {
				return true // done, whatever came of it: never wait
			}
		}
	}
}

func (t *tryWriter) write(b []byte) (int, error) {
	if t.raw == nil {
		return 0, nil
	}
	t.b = b
	err := t.raw.Write(t.do)
	t.b = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(t.err, syscall.EAGAIN):
		return 0, nil
	case t.err != nil:
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: t.err}
	}
	return t.n, nil
}
