// Package link carries Zenoh batches over a stream: TCP or TLS, each batch
// behind its length in two bytes, little-endian (zenoh.md §2). It knows nothing
// of what is in a batch.
package link

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// Prefix is the number of bytes before each batch.
const Prefix = 2

// bufferSize holds the longest batch and, since one read takes what there is,
// many short ones.
const bufferSize = 128 << 10

// Conn is a link. One goroutine may read (Fill, Next) while another writes
// (TryWrite, Write); Close may be called from any.
type Conn struct {
	c    net.Conn
	peer string
	try  tryWriter

	buf        []byte
	start, end int // the bytes read and not yet taken
}

// Dial opens a link, trying every address that the host resolves to. conf is
// for TLS and may be nil: then the system's authorities are trusted. Nagle's
// algorithm is off, as it is for every TCP connection that Go dials.
func Dial(ctx context.Context, l Locator, conf *tls.Config) (*Conn, error) {
	var c net.Conn
	var err error
	if l.Proto == "tls" {
		c, err = (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", l.address())
	} else {
		c, err = (&net.Dialer{}).DialContext(ctx, "tcp", l.address())
	}
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
		return nil, fmt.Errorf("dial %s: %w", l, err)
	}
	return New(c, l.String()), nil
}

// New makes a link of a stream, which it owns from now on. peer names the other
// end in errors.
func New(c net.Conn, peer string) *Conn {
	l := &Conn{c: c, peer: peer, buf: make([]byte, bufferSize)}
	l.try.init(c)
	return l
}

// Peer is the locator of the other end.
func (l *Conn) Peer() string { return l.peer }

// Close ends the link; reads and writes in progress return an error.
func (l *Conn) Close() error { return l.c.Close() }

// Fill waits until a whole batch is there, reading as much as one read gives.
// Batches that Next returned before are no longer valid. At the end of the
// stream the error is io.EOF between batches and io.ErrUnexpectedEOF within one.
func (l *Conn) Fill() error {
	if l.whole() {
		return nil
	}
	if len(l.buf)-l.start < Prefix+0xffff {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	for !l.whole() {
		n, err := l.c.Read(l.buf[l.end:])
		l.end += n
		if err != nil && !l.whole() {
			if errors.Is(err, io.EOF) && l.end > l.start {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

func (l *Conn) whole() bool {
	have := l.buf[l.start:l.end]
	return len(have) >= Prefix && len(have)-Prefix >= int(binary.LittleEndian.Uint16(have))
}

// Next takes the next whole batch that was read, and false when there is none.
// It is valid until the next Fill.
func (l *Conn) Next() ([]byte, bool) {
	if !l.whole() {
		return nil, false
	}
	from := l.start + Prefix
	to := from + int(binary.LittleEndian.Uint16(l.buf[l.start:]))
	l.start = to
	if l.start == l.end {
		l.start, l.end = 0, 0
	}
	return l.buf[from:to:to], true
}

// TryWrite writes what the socket takes without waiting, which may be nothing,
// and returns how many bytes that was.
func (l *Conn) TryWrite(b []byte) (int, error) { return l.try.write(b) }

// Write writes all of b, batches with their prefixes, waiting as needed.
func (l *Conn) Write(b []byte) error {
	_, err := l.c.Write(b)
	return err
}

// Begin appends the prefix of a batch to dst; End fills it in once the batch is
// appended.
func Begin(dst []byte) []byte { return append(dst, 0, 0) }

// End fills in the prefix at dst[at:] of the batch that reaches to the end of
// dst and has at most 65,535 bytes.
func End(dst []byte, at int) {
	binary.LittleEndian.PutUint16(dst[at:], uint16(len(dst)-at-Prefix))
}
