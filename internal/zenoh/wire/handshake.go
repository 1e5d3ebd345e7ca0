package wire

import (
	"encoding/binary"
	"time"

	raw "github.com/robospec/robospec/internal/wire"
)

// Init is the first message of each side (zenoh.md §3.1).
//
//	01|20 ACK|40 sizes|80 Z · version · (zidLen-1)<<4|whatami · zid
//	[sizes: resolution · u16le batch size] · [ACK: z(cookie)] · [exts]
type Init struct {
	Ack        bool // the answer of the accepting side
	Version    byte // 0 in a message to send means Version
	WhatAmI    WhatAmI
	ZID        ZenohID
	Resolution Resolution
	BatchSize  uint16 // bytes, on streams with the two length bytes; 0 in a message to send means MaxBatch
	Cookie     []byte // ACK only; opaque
	Exts       []Ext  // as sent or received; none is needed, none is interpreted here
}

// Append appends the message. A first message leaves the sizes out if both are
// the defaults; an answer always has them.
func (m *Init) Append(dst []byte) []byte {
	ch := chain(len(dst))
	h := byte(idInit)
	res, size := sizes(m.Resolution, m.BatchSize)
	explicit := m.Ack || res != DefaultResolution.bits() || size != MaxBatch
	if m.Ack {
		h |= 0x20
	}
	if explicit {
		h |= 0x40
	}
	dst = append(dst, h, version(m.Version), m.ZID.lenNibble()|byte(m.WhatAmI&3))
	dst = m.ZID.append(dst)
	if explicit {
		dst = binary.LittleEndian.AppendUint16(append(dst, res), size)
	}
	if m.Ack {
		dst = appendZ(dst, m.Cookie)
	}
	return ch.all(dst, m.Exts)
}

// Parse reads the message; the version is not checked.
func (m *Init) Parse(c *raw.Cursor) {
	*m = Init{}
	h := header(c, "INIT", idInit)
	m.Ack = h&0x20 != 0
	m.Version, m.WhatAmI, m.ZID = identity(c)
	m.Resolution, m.BatchSize = readSizes(c, h&0x40 != 0)
	if m.Ack {
		m.Cookie = zbytes(c, "cookie")
	}
	m.Exts = keepExts(c, h, 0)
}

// Open is the second message of each side.
//
//	02|20 ACK|40 lease in seconds|80 Z · vle lease · vle initial sn · [SYN: z(cookie)] · [exts]
type Open struct {
	Ack       bool
	Lease     time.Duration // after this silence the other side may take the sender for dead; whole milliseconds
	InitialSN uint32        // of the sender's first frame on every lane
	Cookie    []byte        // from INIT ACK, verbatim; not in an ACK
	Exts      []Ext
}

// Append appends the message. Fractions of a millisecond of the lease are
// dropped; a negative lease counts as 0.
func (m *Open) Append(dst []byte) []byte {
	ch := chain(len(dst))
	h := byte(idOpen)
	if m.Ack {
		h |= 0x20
	}
	dst = append(dst, h)
	dst = appendLease(dst, int(ch), m.Lease)
	dst = AppendVLE(dst, uint64(m.InitialSN))
	if !m.Ack {
		dst = appendZ(dst, m.Cookie)
	}
	return ch.all(dst, m.Exts)
}

// Parse reads the message. A lease beyond 292 years is cut to that.
func (m *Open) Parse(c *raw.Cursor) {
	*m = Open{}
	h := header(c, "OPEN", idOpen)
	m.Ack = h&0x20 != 0
	m.Lease = readLease(c, h&0x40 != 0)
	m.InitialSN = vle32(c, "initial sn")
	if !m.Ack {
		m.Cookie = zbytes(c, "cookie")
	}
	m.Exts = keepExts(c, h, 0)
}

// Join replaces the handshake on multicast links (zenoh.md §3.6).
//
//	07|20 lease in seconds|40 sizes|80 Z · version · (zidLen-1)<<4|whatami · zid
//	[sizes] · vle lease · vle next reliable sn · vle next best-effort sn · [exts]
type Join struct {
	Version        byte // 0 in a message to send means Version
	WhatAmI        WhatAmI
	ZID            ZenohID
	Resolution     Resolution
	BatchSize      uint16
	Lease          time.Duration
	NextReliable   uint32
	NextBestEffort uint32
	Exts           []Ext // may hold the mandatory 0x51, the sequence numbers of all lanes
}

const extJoinLanes = 0x51

// Append appends the message.
func (m *Join) Append(dst []byte) []byte {
	ch := chain(len(dst))
	h := byte(idJoin)
	res, size := sizes(m.Resolution, m.BatchSize)
	explicit := res != DefaultResolution.bits() || size != MaxBatch
	if explicit {
		h |= 0x40
	}
	dst = append(dst, h, version(m.Version), m.ZID.lenNibble()|byte(m.WhatAmI&3))
	dst = m.ZID.append(dst)
	if explicit {
		dst = binary.LittleEndian.AppendUint16(append(dst, res), size)
	}
	dst = appendLease(dst, int(ch), m.Lease)
	dst = AppendVLE(dst, uint64(m.NextReliable))
	dst = AppendVLE(dst, uint64(m.NextBestEffort))
	return ch.all(dst, m.Exts)
}

// Parse reads the message. The sizes default as in INIT.
func (m *Join) Parse(c *raw.Cursor) {
	*m = Join{}
	h := header(c, "JOIN", idJoin)
	m.Version, m.WhatAmI, m.ZID = identity(c)
	m.Resolution, m.BatchSize = readSizes(c, h&0x40 != 0)
	m.Lease = readLease(c, h&0x20 != 0)
	m.NextReliable = vle32(c, "next reliable sn")
	m.NextBestEffort = vle32(c, "next best-effort sn")
	m.Exts = keepExts(c, h, extJoinLanes)
}

// version is the version byte to send for v.
func version(v byte) byte {
	if v == 0 {
		return Version
	}
	return v
}

func identity(c *raw.Cursor) (v byte, w WhatAmI, z ZenohID) {
	v = c.U8("version")
	off := c.Offset()
	b := c.U8("whatami")
	if b&3 > byte(Client) {
		c.FailAt(off, "whatami", "%d is no role", b&3)
	}
	return v, WhatAmI(b & 3), readZID(c, int(b>>4)+1)
}

// sizes are the sizes to send for r and size.
func sizes(r Resolution, size uint16) (byte, uint16) {
	if size == 0 {
		size = MaxBatch
	}
	return r.bits(), size
}

func readSizes(c *raw.Cursor, explicit bool) (Resolution, uint16) {
	if !explicit {
		return DefaultResolution, MaxBatch
	}
	res := ResolutionOf(c.U8("resolution"))
	off := c.Offset()
	size := c.U16("batch size")
	if size == 0 {
		c.FailAt(off, "batch size", "0 bytes")
	}
	return res, size
}

// maxLease is the longest lease in seconds that a Duration holds.
const maxLease = uint64((1<<63 - 1) / time.Second)

// appendLease appends the lease, and marks the header at dst[hdr] if it is in
// whole seconds.
func appendLease(dst []byte, hdr int, lease time.Duration) []byte {
	ms := uint64(max(lease, 0).Milliseconds())
	if ms%1000 != 0 {
		return AppendVLE(dst, ms)
	}
	if dst[hdr]&idMask == idJoin {
		dst[hdr] |= 0x20
	} else {
		dst[hdr] |= 0x40
	}
	return AppendVLE(dst, ms/1000)
}

func readLease(c *raw.Cursor, seconds bool) time.Duration {
	v := VLE(c, "lease")
	if seconds {
		return time.Duration(min(v, maxLease)) * time.Second
	}
	return time.Duration(min(v, maxLease*1000)) * time.Millisecond
}
