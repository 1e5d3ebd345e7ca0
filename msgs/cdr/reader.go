package cdr

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/robospec/robospec/msgs"
)

// Reader reads the fields of a message one after the other. The first failure
// sticks: later reads return zero values, so a decoder checks Err once, at its
// end. A Reader is for one goroutine.
//
// The field that each read is given is its name in the definition; errors say
// the path from the message down to it, which is what Enter and Leave are for.
type Reader struct {
	buf      []byte // what comes after the header; empty after a failure
	off      int
	big      bool
	err      *msgs.DecodeError
	typeName string
	place
}

// NewReader begins to read a message of the named type. Src begins with the
// encapsulation header; one that is none or is not of XCDR1 is the Reader's
// first failure.
func NewReader(typeName string, src []byte) Reader {
	r := Reader{typeName: typeName}
	if len(src) < headerLen {
		r.failHeader("%d bytes, and the encapsulation header alone has 4; the payload is cut short or no CDR", len(src))
		return r
	}
	switch kind := binary.BigEndian.Uint16(src); kind {
	case 0x0000, 0x0001:
		r.big = kind == 0x0000
		r.buf = src[headerLen:]
	case 0x0002, 0x0003:
		r.failHeader("encapsulation %#04x is PL_CDR, a parameter list; ROS 2 messages are plain XCDR1 (0x0000, 0x0001)", kind)
	case 0x0006, 0x0007, 0x0008, 0x0009, 0x000a, 0x000b:
		r.failHeader("encapsulation %#04x is XCDR2; ROS 2 messages are XCDR1 (0x0000, 0x0001): set the writer's data representation to XCDR1", kind)
	default:
		r.failHeader("encapsulation %#04x is unknown; ROS 2 messages are XCDR1 (0x0000, 0x0001), so this payload is no ROS 2 message", kind)
	}
	return r
}

func (r *Reader) failHeader(format string, args ...any) {
	r.err = &msgs.DecodeError{Type: r.typeName, Err: fmt.Errorf(format, args...)}
}

// Err is the first failure, a *msgs.DecodeError, or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	if r.err.Field == "" {
		r.err.Field = r.path
	}
	return r.err
}

// OK reports whether nothing has failed so far.
func (r *Reader) OK() bool { return r.err == nil }

// Fail records a failure of field at the current offset unless there is one
// already.
func (r *Reader) Fail(field, format string, args ...any) {
	if r.err != nil {
		return
	}
	r.err = &msgs.DecodeError{Type: r.typeName, Offset: int64(headerLen + r.off), Err: fmt.Errorf(format, args...)}
	r.failed(field)
	r.buf, r.off = nil, 0
}

// Enter is called before the fields of a nested message are read, Leave or
// LeaveAt after them.
func (r *Reader) Enter() { r.depth++ }

// Leave is the end of the nested message that field holds.
func (r *Reader) Leave(field string) {
	r.depth--
	if r.err != nil {
		r.left(field)
	}
}

// LeaveAt is the end of the nested message at index i of field.
func (r *Reader) LeaveAt(field string, i int) {
	r.depth--
	if r.err != nil {
		r.left(element(field, i))
	}
}

// take consumes n bytes, n > 0, behind what aligns them. It is nil only after a
// failure.
func (r *Reader) take(field string, align, n int) []byte {
	begin := r.off + (-r.off)&(align-1)
	if n > len(r.buf)-begin {
		r.short(field, uint64(n))
		return nil
	}
	r.off = begin + n
	return r.buf[begin:r.off:r.off]
}

func (r *Reader) short(field string, n uint64) {
	r.Fail(field, "%d bytes wanted, %d left; the payload is cut short, or its sender means another type", n, len(r.buf)-r.off)
}

// Uint8 reads a uint8, byte or char.
func (r *Reader) Uint8(field string) uint8 {
	if r.off >= len(r.buf) {
		r.short(field, 1)
		return 0
	}
	v := r.buf[r.off]
	r.off++
	return v
}

// Bool reads a bool; every byte but 0 is true.
func (r *Reader) Bool(field string) bool { return r.Uint8(field) != 0 }

// Int8 reads an int8.
func (r *Reader) Int8(field string) int8 { return int8(r.Uint8(field)) }

// Uint16 reads a uint16.
func (r *Reader) Uint16(field string) uint16 {
	b := r.take(field, 2, 2)
	if b == nil {
		return 0
	}
	if r.big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// Int16 reads an int16.
func (r *Reader) Int16(field string) int16 { return int16(r.Uint16(field)) }

// Uint32 reads a uint32.
func (r *Reader) Uint32(field string) uint32 {
	b := r.take(field, 4, 4)
	if b == nil {
		return 0
	}
	if r.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// Int32 reads an int32.
func (r *Reader) Int32(field string) int32 { return int32(r.Uint32(field)) }

// Uint64 reads a uint64.
func (r *Reader) Uint64(field string) uint64 {
	b := r.take(field, 8, 8)
	if b == nil {
		return 0
	}
	if r.big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// Int64 reads an int64.
func (r *Reader) Int64(field string) int64 { return int64(r.Uint64(field)) }

// Float32 reads a float32.
func (r *Reader) Float32(field string) float32 { return math.Float32frombits(r.Uint32(field)) }

// Float64 reads a float64.
func (r *Reader) Float64(field string) float64 { return math.Float64frombits(r.Uint64(field)) }

// String reads a string of at most bound bytes, 0 for no bound.
func (r *Reader) String(field string, bound int) string {
	from, to := r.text(field, bound)
	return string(r.buf[from:to])
}

// text reads a string and says where in the buffer it stands.
func (r *Reader) text(field string, bound int) (from, to int) {
	n := r.Uint32(field)
	if n == 0 {
		return r.off, r.off
	}
	if uint64(n) > uint64(len(r.buf)-r.off) {
		r.short(field, uint64(n))
		return 0, 0
	}
	from, to = r.off, r.off+int(n)
	if r.buf[to-1] == 0 {
		to--
	}
	if bound > 0 && to-from > bound {
		r.Fail(field, "a string of %d bytes, and string<=%d has a bound of %[2]d; its sender means another type", to-from, bound)
		return 0, 0
	}
	r.off += int(n)
	return from, to
}

// WString reads a wstring of at most bound UTF-16 code units, 0 for no bound.
// What is no UTF-16, such as half a surrogate pair, becomes U+FFFD.
func (r *Reader) WString(field string, bound int) string {
	n := r.length(field, 4)
	if n == 0 {
		return ""
	}
	if bound > 0 && n > bound {
		r.Fail(field, "a wstring of %d UTF-16 code units, and wstring<=%d has a bound of %[2]d; its sender means another type", n, bound)
		return ""
	}
	units := r.buf[r.off : r.off+4*n]
	var s strings.Builder
	s.Grow(n)
	unit := func(i int) rune {
		if r.big {
			return rune(binary.BigEndian.Uint32(units[4*i:]))
		}
		return rune(binary.LittleEndian.Uint32(units[4*i:]))
	}
	for i := 0; i < n; i++ {
		u := unit(i)
		if u>>16 != 0 {
			r.off += 4 * i
			r.Fail(field, "%#x is no UTF-16 code unit; the sender writes wide characters in another way than Fast CDR", uint32(u))
			return ""
		}
		if utf16.IsSurrogate(u) && i+1 < n {
			if pair := utf16.DecodeRune(u, unit(i+1)); pair != utf8.RuneError {
				u = pair
				i++
			}
		}
		s.WriteRune(u)
	}
	r.off += 4 * n
	return s.String()
}

// length reads the length of a sequence whose elements have at least least
// bytes each, and checks it against what is left.
func (r *Reader) length(field string, least int) int {
	n := r.Uint32(field)
	least = max(least, 1)
	if left := len(r.buf) - r.off; uint64(n) > uint64(left/least) {
		r.Fail(field, "%d elements of at least %d bytes wanted, %d bytes left; the payload is cut short, or its sender means another type", n, least, left)
		return 0
	}
	return int(n)
}

// Len reads the length of a sequence of at most bound elements, 0 for no bound,
// and checks it against what is left, each element having at least least
// bytes, so that it is safe to allocate for.
func (r *Reader) Len(field string, bound, least int) int {
	n := r.length(field, least)
	if bound > 0 && n > bound {
		r.Fail(field, "%d elements, and the sequence has a bound of %d; its sender means another type", n, bound)
		return 0
	}
	return n
}

// Bytes reads a sequence of uint8. It aliases what the Reader reads, and is nil
// when empty.
func (r *Reader) Bytes(field string, bound int) []byte {
	n := r.Len(field, bound, 1)
	if n == 0 {
		return nil
	}
	return r.take(field, 1, n)
}

// Bools fills dst with the elements of an array.
func (r *Reader) Bools(field string, dst []bool) {
	if len(dst) == 0 {
		return
	}
	for i, b := range r.take(field, 1, len(dst)) {
		dst[i] = b != 0
	}
}

// BoolSequence reads a sequence of bool, nil when empty.
func (r *Reader) BoolSequence(field string, bound int) []bool {
	n := r.Len(field, bound, 1)
	if n == 0 {
		return nil
	}
	s := make([]bool, n)
	r.Bools(field, s)
	return s
}

// Strings fills dst with the elements of an array of strings of at most bound
// bytes, 0 for no bound. They share one allocation.
func (r *Reader) Strings(field string, dst []string, bound int) {
	begin := r.off
	for i := range dst {
		r.Enter()
		r.text("", bound)
		if r.LeaveAt(field, i); !r.OK() {
			return
		}
	}
	all := string(r.buf[begin:r.off]) // and the few bytes between them
	r.off = begin
	for i := range dst {
		from, to := r.text("", bound)
		dst[i] = all[from-begin : to-begin]
	}
}

// StringSequence reads a sequence of strings, nil when empty.
func (r *Reader) StringSequence(field string, bound, stringBound int) []string {
	n := r.Len(field, bound, 4)
	if n == 0 {
		return nil
	}
	s := make([]string, n)
	r.Strings(field, s, stringBound)
	return s
}

// WStrings fills dst with the elements of an array of wstrings of at most bound
// code units, 0 for no bound.
func (r *Reader) WStrings(field string, dst []string, bound int) {
	for i := range dst {
		r.Enter()
		dst[i] = r.WString("", bound)
		if r.LeaveAt(field, i); !r.OK() {
			return
		}
	}
}

// WStringSequence reads a sequence of wstrings, nil when empty.
func (r *Reader) WStringSequence(field string, bound, stringBound int) []string {
	n := r.Len(field, bound, 4)
	if n == 0 {
		return nil
	}
	s := make([]string, n)
	r.WStrings(field, s, stringBound)
	return s
}

// Array fills dst with the elements of an array of numbers.
func Array[T Fixed](r *Reader, field string, dst []T) {
	if len(dst) == 0 {
		return
	}
	raw := bytesOf(dst)
	size := len(raw) / len(dst)
	if copy(raw, r.take(field, size, len(raw))) > 0 && r.big != bigMachine {
		swap(raw, size)
	}
}

// Sequence reads a sequence of numbers of at most bound elements, 0 for no
// bound. It is nil when empty.
func Sequence[T Fixed](r *Reader, field string, bound int) []T {
	n := r.Len(field, bound, sizeOf[T]())
	if n == 0 {
		return nil
	}
	s := make([]T, n)
	Array(r, field, s)
	return s
}
