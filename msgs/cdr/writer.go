package cdr

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf16"
)

// spare is the room a Writer leaves behind what it grows for, so that the few
// strings of most messages do not make it grow again.
const spare = 64

// Writer appends the fields of a message one after the other. The first failure
// sticks and is returned by Done. A Writer is for one goroutine.
type Writer struct {
	buf    []byte
	origin int // of alignment: the byte after the header
	err    error
	place
}

// NewWriter begins to append a message of at least least bytes to dst. It
// allocates only when these have no room.
func NewWriter(dst []byte, least int) Writer {
	dst = append(grow(dst, headerLen+least), 0, 1, 0, 0)
	return Writer{buf: dst, origin: len(dst)}
}

// Done returns the extended slice, or the slice as it was and the failure.
func (w *Writer) Done(typeName string) ([]byte, error) {
	if w.err != nil {
		return w.buf[:w.origin-headerLen], fmt.Errorf("encode %s: field %s: %w", typeName, w.path, w.err)
	}
	return w.buf, nil
}

// Fail records a failure of field unless there is one already.
func (w *Writer) Fail(field, format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
		w.failed(field)
	}
}

// Enter is called before the fields of a nested message are written, Leave or
// LeaveAt after them.
func (w *Writer) Enter() { w.depth++ }

// Leave is the end of the nested message that field holds.
func (w *Writer) Leave(field string) {
	w.depth--
	if w.err != nil {
		w.left(field)
	}
}

// LeaveAt is the end of the nested message at index i of field.
func (w *Writer) LeaveAt(field string, i int) {
	w.depth--
	if w.err != nil {
		w.left(element(field, i))
	}
}

// zeros is padding.
const zeros = "\x00\x00\x00\x00\x00\x00\x00"

func (w *Writer) align(n int) {
	if pad := (w.origin - len(w.buf)) & (n - 1); pad != 0 {
		w.buf = append(w.buf, zeros[:pad]...)
	}
}

// Uint8 appends a uint8, byte or char.
func (w *Writer) Uint8(v uint8) { w.buf = append(w.buf, v) }

// Bool appends a bool.
func (w *Writer) Bool(v bool) {
	if v {
		w.Uint8(1)
	} else {
		w.Uint8(0)
	}
}

// Int8 appends an int8.
func (w *Writer) Int8(v int8) { w.Uint8(uint8(v)) }

// Uint16 appends a uint16.
func (w *Writer) Uint16(v uint16) {
	w.align(2)
	w.buf = binary.LittleEndian.AppendUint16(w.buf, v)
}

// Int16 appends an int16.
func (w *Writer) Int16(v int16) { w.Uint16(uint16(v)) }

// Uint32 appends a uint32.
func (w *Writer) Uint32(v uint32) {
	w.align(4)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, v)
}

// Int32 appends an int32.
func (w *Writer) Int32(v int32) { w.Uint32(uint32(v)) }

// Uint64 appends a uint64.
func (w *Writer) Uint64(v uint64) {
	w.align(8)
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
}

// Int64 appends an int64.
func (w *Writer) Int64(v int64) { w.Uint64(uint64(v)) }

// Float32 appends a float32.
func (w *Writer) Float32(v float32) { w.Uint32(math.Float32bits(v)) }

// Float64 appends a float64.
func (w *Writer) Float64(v float64) { w.Uint64(math.Float64bits(v)) }

// String appends a string, which may have at most bound bytes, 0 for no bound.
func (w *Writer) String(field, v string, bound int) {
	if bound > 0 && len(v) > bound {
		w.Fail(field, "a string of %d bytes, and string<=%d has a bound of %[2]d", len(v), bound)
		return
	}
	if uint64(len(v)) >= math.MaxUint32 {
		w.Fail(field, "a string of %d bytes, and CDR counts to %d, the NUL included", len(v), uint32(math.MaxUint32))
		return
	}
	w.Uint32(uint32(len(v)) + 1)
	w.buf = append(append(w.buf, v...), 0)
}

// WString appends a wstring, which may have at most bound UTF-16 code units, 0
// for no bound. Bytes of v that are no UTF-8 become U+FFFD.
func (w *Writer) WString(field, v string, bound int) {
	n := 0
	for _, c := range v {
		n += utf16.RuneLen(c)
	}
	if bound > 0 && n > bound {
		w.Fail(field, "a wstring of %d UTF-16 code units, and wstring<=%d has a bound of %[2]d", n, bound)
		return
	}
	w.length(field, n)
	for _, c := range v {
		if hi, lo := utf16.EncodeRune(c); utf16.RuneLen(c) == 2 {
			w.Uint32(uint32(hi))
			w.Uint32(uint32(lo))
		} else {
			w.Uint32(uint32(c))
		}
	}
}

func (w *Writer) length(field string, n int) {
	if uint64(n) > math.MaxUint32 {
		w.Fail(field, "%d elements, and CDR counts to %d", n, uint32(math.MaxUint32))
	}
	w.Uint32(uint32(n))
}

// Len appends the length of a sequence, which may have at most bound elements,
// 0 for no bound.
func (w *Writer) Len(field string, n, bound int) {
	if bound > 0 && n > bound {
		w.Fail(field, "%d elements, and the sequence has a bound of %d", n, bound)
	}
	w.length(field, n)
}

// Grow makes room for n bytes that are going to be written, so that a long
// sequence is not moved again and again.
func (w *Writer) Grow(n int) { w.buf = grow(w.buf, n) }

func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	return append(make([]byte, 0, max(len(b)+n+spare, 2*cap(b))), b...)
}

// Bools appends the elements of an array.
func (w *Writer) Bools(v []bool) { w.buf = append(w.buf, bytesOf(v)...) }

// BoolSequence appends a sequence of bool.
func (w *Writer) BoolSequence(field string, v []bool, bound int) {
	w.Len(field, len(v), bound)
	w.Bools(v)
}

// Strings appends the elements of an array of strings of at most bound bytes, 0
// for no bound.
func (w *Writer) Strings(field string, v []string, bound int) {
	for i := range v {
		w.Enter()
		w.String("", v[i], bound)
		w.LeaveAt(field, i)
	}
}

// StringSequence appends a sequence of strings.
func (w *Writer) StringSequence(field string, v []string, bound, stringBound int) {
	w.Len(field, len(v), bound)
	w.Strings(field, v, stringBound)
}

// WStrings appends the elements of an array of wstrings of at most bound code
// units, 0 for no bound.
func (w *Writer) WStrings(field string, v []string, bound int) {
	for i := range v {
		w.Enter()
		w.WString("", v[i], bound)
		w.LeaveAt(field, i)
	}
}

// WStringSequence appends a sequence of wstrings.
func (w *Writer) WStringSequence(field string, v []string, bound, stringBound int) {
	w.Len(field, len(v), bound)
	w.WStrings(field, v, stringBound)
}

// AppendArray appends the elements of an array of numbers.
func AppendArray[T Fixed](w *Writer, v []T) {
	if len(v) == 0 {
		return
	}
	size := sizeOf[T]()
	w.align(size)
	begin := len(w.buf)
	w.buf = append(w.buf, bytesOf(v)...)
	if bigMachine {
		swap(w.buf[begin:], size)
	}
}

// AppendSequence appends a sequence of numbers of at most bound elements, 0 for
// no bound.
func AppendSequence[T Fixed](w *Writer, field string, v []T, bound int) {
	w.Len(field, len(v), bound)
	AppendArray(w, v)
}
