// Package cdr reads and writes CDR as ROS 2 uses it: XCDR1 (OMG DDS-XTypes 1.3,
// section 7.4.3, encoding version 1) behind the 4-byte encapsulation header of
// RTPS. Generated message types are made of its calls; it knows no type and
// uses no reflection.
//
// A value of n bytes is aligned to n, counted from the byte after the header.
// What the standard leaves open is as Fast CDR in rmw_fastrtps does it, since
// rmw_zenoh and rmw_fastrtps speak it:
//
//   - a string is its length with the NUL at its end, its bytes and the NUL; a
//     length of 0 and a missing NUL are read, too;
//   - a wstring is the number of its UTF-16 code units and 4 bytes for each,
//     without a NUL;
//   - an empty sequence is its length alone: nothing is aligned for elements
//     that are not there;
//   - a message without fields is one zero byte;
//   - padding is zero when written and anything when read, and bytes behind the
//     message are ignored: senders pad it to 4 bytes and more.
//
// Both byte orders are read, little-endian is written.
package cdr

import (
	"encoding/binary"
	"strconv"
	"unsafe"
)

// headerLen is the size of the encapsulation header.
const headerLen = 4

// Fixed is what CDR holds as Go does, byte order aside.
type Fixed interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// bigMachine is the byte order of this machine.
var bigMachine = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// bytesOf is the memory of v. Fixed has no pointers and no padding.
func bytesOf[T Fixed | ~bool](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// swap turns the byte order of each of the values of size bytes in b.
func swap(b []byte, size int) {
	switch size {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			binary.BigEndian.PutUint16(b, binary.LittleEndian.Uint16(b))
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			binary.BigEndian.PutUint32(b, binary.LittleEndian.Uint32(b))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			binary.BigEndian.PutUint64(b, binary.LittleEndian.Uint64(b))
		}
	}
}

// place is where in a message a Reader or a Writer is: how many nested messages
// deep, and once it failed the path of the field and the depth to which the
// path is known.
type place struct {
	path              string
	depth, knownDepth int
}

func (p *place) failed(field string) { p.path, p.knownDepth = field, p.depth }

// left prepends the field that was left when the failure was inside it.
func (p *place) left(field string) {
	if p.knownDepth <= p.depth {
		return
	}
	p.knownDepth = p.depth
	if p.path == "" {
		p.path = field
	} else {
		p.path = field + "." + p.path
	}
}

func element(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

func sizeOf[T Fixed]() int { return int(unsafe.Sizeof(*new(T))) }
