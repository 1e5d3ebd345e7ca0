// Package wire holds the few helpers that every binary protocol of this module
// needs: a reading [Cursor] with a sticky error and an offset, and little-endian
// appends. It knows no protocol. Encoders append to a caller's slice, so the
// standard library's [encoding/binary] covers most of writing.
package wire

import (
	"encoding/binary"
	"fmt"
)

// Error says what could not be read, where, and why.
type Error struct {
	Proto   string // protocol, e.g. "zenoh"
	Message string // message being read, e.g. "INIT"; may be empty
	Field   string // field being read, e.g. "cookie"
	Offset  int    // byte offset of the field in the outermost buffer
	Reason  string // e.g. "49 bytes wanted, 3 left"
}

func (e *Error) Error() string {
	s := e.Proto + ": "
	if e.Message != "" {
		s += e.Message + " "
	}
	return fmt.Sprintf("%s%s at offset %d: %s", s, e.Field, e.Offset, e.Reason)
}

// Cursor reads a byte slice from front to back. The first failure sticks: later
// reads return zero values and leave the error alone, so a parser checks
// [Cursor.Err] once at its end. Byte slices it returns alias the input.
//
// The zero value is a cursor at the end of nothing. A Cursor is not safe for
// concurrent use.
type Cursor struct {
	buf   []byte
	off   int
	base  int // offset of buf[0] in the outermost buffer
	proto string
	msg   string
	err   *Error
}

// NewCursor returns a cursor over b. proto begins every error text.
func NewCursor(proto string, b []byte) Cursor {
	return Cursor{buf: b, proto: proto}
}

// Enter names the message whose fields are read next, for error texts.
func (c *Cursor) Enter(message string) { c.msg = message }

// Err returns the first failure as an [*Error], or nil.
func (c *Cursor) Err() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// OK reports whether nothing has failed so far.
func (c *Cursor) OK() bool { return c.err == nil }

// Offset is the position of the next byte, counted from the start of the
// outermost buffer.
func (c *Cursor) Offset() int { return c.base + c.off }

// Len is the number of bytes left; 0 after a failure.
func (c *Cursor) Len() int {
	if c.err != nil {
		return 0
	}
	return len(c.buf) - c.off
}

// Tail is the unread rest without consuming it; empty after a failure.
func (c *Cursor) Tail() []byte {
	if c.err != nil {
		return nil
	}
	return c.buf[c.off:]
}

// Fail records a failure of field at the current offset unless one is recorded
// already.
func (c *Cursor) Fail(field, format string, args ...any) {
	c.failAt(c.off, field, format, args...)
}

// FailAt is [Cursor.Fail] for a field that began at offset, a value that
// [Cursor.Offset] returned earlier.
func (c *Cursor) FailAt(offset int, field, format string, args ...any) {
	c.failAt(offset-c.base, field, format, args...)
}

func (c *Cursor) failAt(off int, field, format string, args ...any) {
	if c.err != nil {
		return
	}
	c.err = &Error{Proto: c.proto, Message: c.msg, Field: field, Offset: c.base + off, Reason: fmt.Sprintf(format, args...)}
}

func (c *Cursor) short(field string, want uint64) {
	c.Fail(field, "%d bytes wanted, %d left", want, len(c.buf)-c.off)
}

// Skip consumes n bytes.
func (c *Cursor) Skip(field string, n int) { c.Bytes(field, n) }

// Bytes consumes n bytes. The result aliases the input, has no spare capacity
// and is nil only after a failure.
func (c *Cursor) Bytes(field string, n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > len(c.buf)-c.off {
		c.short(field, uint64(n))
		return nil
	}
	b := c.buf[c.off : c.off+n : c.off+n]
	c.off += n
	return b
}

// Bytes64 is [Cursor.Bytes] for a length that came from the wire and may not
// fit an int.
func (c *Cursor) Bytes64(field string, n uint64) []byte {
	if c.err != nil {
		return nil
	}
	if n > uint64(len(c.buf)-c.off) {
		c.short(field, n)
		return nil
	}
	return c.Bytes(field, int(n))
}

// Rest consumes everything that is left.
func (c *Cursor) Rest() []byte { return c.Bytes("rest", c.Len()) }

// Sub consumes n bytes and returns a cursor over them. Its errors carry offsets
// of the outermost buffer; hand it to [Cursor.Adopt] when done.
func (c *Cursor) Sub(field string, n uint64) Cursor {
	base := c.Offset()
	b := c.Bytes64(field, n)
	return Cursor{buf: b, base: base, proto: c.proto, msg: c.msg, err: c.err}
}

// Over returns a cursor over b, bytes that an earlier read of c returned and
// that began at offset.
func (c *Cursor) Over(b []byte, offset int) Cursor {
	return Cursor{buf: b, base: offset, proto: c.proto, msg: c.msg, err: c.err}
}

// Adopt takes over the failure of a cursor made by [Cursor.Sub] or
// [Cursor.Over].
func (c *Cursor) Adopt(sub *Cursor) {
	if c.err == nil {
		c.err = sub.err
	}
}

// Count checks a number of elements from the wire against the bytes left, each
// element taking at least size bytes, and returns it as an int: safe to
// allocate for. It returns 0 after a failure. A size below 1 counts as 1.
func (c *Cursor) Count(field string, n uint64, size int) int {
	if c.err != nil {
		return 0
	}
	if left := len(c.buf) - c.off; n > uint64(left/max(size, 1)) {
		c.Fail(field, "%d elements of at least %d bytes wanted, %d bytes left", n, max(size, 1), left)
		return 0
	}
	return int(n)
}

// Peek returns the next byte without consuming it, and false at the end or
// after a failure.
func (c *Cursor) Peek() (byte, bool) {
	if c.err != nil || c.off >= len(c.buf) {
		return 0, false
	}
	return c.buf[c.off], true
}

// U8 consumes one byte.
func (c *Cursor) U8(field string) byte {
	if c.err != nil || c.off >= len(c.buf) {
		c.short(field, 1)
		return 0
	}
	v := c.buf[c.off]
	c.off++
	return v
}

// U16 consumes a little-endian 16-bit number.
func (c *Cursor) U16(field string) uint16 {
	if b := c.Bytes(field, 2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// U32 consumes a little-endian 32-bit number.
func (c *Cursor) U32(field string) uint32 {
	if b := c.Bytes(field, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// U64 consumes a little-endian 64-bit number.
func (c *Cursor) U64(field string) uint64 {
	if b := c.Bytes(field, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
