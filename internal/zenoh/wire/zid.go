package wire

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	raw "github.com/robospec/robospec/internal/wire"
)

// ZenohID identifies a Zenoh process or session: a number of 1 to 16 bytes,
// never 0 on the wire. The zero value is no id. Values are comparable.
type ZenohID struct {
	b [16]byte // little-endian
	n uint8    // bytes up to the most significant one that is not zero
}

// NewZenohID makes an id from its 1 to 16 little-endian bytes, as on the wire.
// High zero bytes are dropped; an id of only zeros is an error.
func NewZenohID(le []byte) (ZenohID, error) {
	var z ZenohID
	if len(le) < 1 || len(le) > len(z.b) {
		return z, fmt.Errorf("zenoh: id of %d bytes, want 1 to 16", len(le))
	}
	copy(z.b[:], le)
	for i, x := range le {
		if x != 0 {
			z.n = uint8(i + 1)
		}
	}
	if z.n == 0 {
		return z, fmt.Errorf("zenoh: id is zero")
	}
	return z, nil
}

// RandomZenohID returns 16 random bytes. Two links with one id are refused by
// routers, so every session takes a new one.
func RandomZenohID() ZenohID {
	z := ZenohID{n: 16}
	rand.Read(z.b[:]) // never fails, see crypto/rand
	if z.b[15] == 0 {
		z.b[15] = 1
	}
	return z
}

// ParseZenohID reads the string form: big-endian lower-case hex without leading
// zeros (zenoh.md §1).
func ParseZenohID(s string) (ZenohID, error) {
	if s == "" || len(s) > 32 || s[0] == '0' || strings.ToLower(s) != s {
		return ZenohID{}, fmt.Errorf("zenoh: id %q: want 1 to 32 lower-case hex digits without a leading zero", s)
	}
	padded := s
	if len(s)%2 == 1 {
		padded = "0" + s
	}
	be, err := hex.DecodeString(padded)
	if err != nil {
		return ZenohID{}, fmt.Errorf("zenoh: id %q: %w", s, err)
	}
	slices.Reverse(be)
	return NewZenohID(be)
}

// String is the form used in keys and logs: the number in lower-case hex
// without leading zero digits, so an id of 16 bytes may print 31 digits. The
// zero value prints as "".
func (z ZenohID) String() string {
	be := z.Bytes()
	slices.Reverse(be)
	s := hex.EncodeToString(be)
	return strings.TrimPrefix(s, "0")
}

// IsZero reports whether z is no id.
func (z ZenohID) IsZero() bool { return z.n == 0 }

// Len is the number of bytes on the wire, 1 to 16; 0 for the zero value.
func (z ZenohID) Len() int { return int(z.n) }

// Bytes returns a new slice with the little-endian bytes.
func (z ZenohID) Bytes() []byte { return slices.Clone(z.b[:z.n]) }

// lenNibble is the length as INIT and others pack it: length-1 in bits 4–7.
// The zero value counts as one byte, which Append then writes as 0.
func (z ZenohID) lenNibble() byte { return (max(z.n, 1) - 1) << 4 }

func (z ZenohID) append(dst []byte) []byte { return append(dst, z.b[:max(z.n, 1)]...) }

// readZID consumes an id of n bytes.
func readZID(c *raw.Cursor, n int) ZenohID {
	off := c.Offset()
	b := c.Bytes("zid", n)
	if b == nil {
		return ZenohID{}
	}
	z, err := NewZenohID(b)
	if err != nil {
		c.FailAt(off, "zid", "%d bytes that are all zero, or none, or more than 16", n)
	}
	return z
}

// EntityID names an entity (publisher, queryable, …) within a session.
type EntityID struct {
	ZID ZenohID
	EID uint32
}

// IsZero reports whether e names no entity.
func (e EntityID) IsZero() bool { return e.ZID.IsZero() }

func (e EntityID) len() int { return 1 + int(max(e.ZID.n, 1)) + VLELen(uint64(e.EID)) }

func (e EntityID) append(dst []byte) []byte {
	dst = e.ZID.append(append(dst, e.ZID.lenNibble()))
	return AppendVLE(dst, uint64(e.EID))
}

func (e *EntityID) parse(c *raw.Cursor) {
	e.ZID = readZID(c, int(c.U8("zid length")>>4)+1)
	e.EID = vle32(c, "entity id")
}

// SourceInfo says which publication a sample is: the publishing entity and its
// running number from 0. The zero value means absent.
type SourceInfo struct {
	EntityID
	SN uint32
}

func (s SourceInfo) len() int { return s.EntityID.len() + VLELen(uint64(s.SN)) }

func (s SourceInfo) append(dst []byte) []byte {
	return AppendVLE(s.EntityID.append(dst), uint64(s.SN))
}

func (s *SourceInfo) parse(c *raw.Cursor) {
	s.EntityID.parse(c)
	s.SN = vle32(c, "source sn")
}
