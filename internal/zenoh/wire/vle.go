package wire

import (
	"math/bits"

	raw "github.com/robospec/robospec/internal/wire"
)

// maxVLE is the longest variable-length integer in bytes: eight of 7 bits and a
// ninth of 8 bits, unlike protobuf's ten.
const maxVLE = 9

// AppendVLE appends v as a variable-length integer of 1 to 9 bytes
// (zenoh.md §1).
func AppendVLE(dst []byte, v uint64) []byte {
	for i := 0; v > 0x7f && i < maxVLE-1; i++ {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// VLELen is the number of bytes that AppendVLE(dst, v) appends.
func VLELen(v uint64) int {
	return min((bits.Len64(v|1)+6)/7, maxVLE)
}

// VLE consumes a variable-length integer. Encodings longer than needed are
// accepted, as the reference implementation does.
func VLE(c *raw.Cursor, field string) uint64 {
	b := c.Tail()
	if len(b) > 0 && b[0] < 0x80 {
		c.Skip(field, 1)
		return uint64(b[0])
	}
	var v uint64
	for i, x := range b {
		if i == maxVLE-1 {
			c.Skip(field, maxVLE)
			return v | uint64(x)<<56
		}
		v |= uint64(x&0x7f) << (7 * i)
		if x < 0x80 {
			c.Skip(field, i+1)
			return v
		}
	}
	c.Fail(field, "number ends after %d bytes", len(b))
	return 0
}

// vleMax consumes a number that must not exceed limit.
func vleMax(c *raw.Cursor, field string, limit uint64) uint64 {
	off := c.Offset()
	v := VLE(c, field)
	if v > limit {
		c.FailAt(off, field, "%d exceeds %d", v, limit)
		return 0
	}
	return v
}

func vle16(c *raw.Cursor, field string) uint16 { return uint16(vleMax(c, field, 1<<16-1)) }
func vle32(c *raw.Cursor, field string) uint32 { return uint32(vleMax(c, field, 1<<32-1)) }

// zbytes consumes a length and that many bytes.
func zbytes(c *raw.Cursor, field string) []byte {
	return c.Bytes64(field, VLE(c, field))
}

func appendZ(dst, b []byte) []byte {
	return append(AppendVLE(dst, uint64(len(b))), b...)
}
