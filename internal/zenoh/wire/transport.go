package wire

import (
	"fmt"

	raw "github.com/robospec/robospec/internal/wire"
)

// CloseReason says why a link or session ends.
type CloseReason byte

const (
	CloseGeneric CloseReason = iota
	CloseUnsupported
	CloseInvalid // also a wrong version, and an id that is connected already
	CloseMaxSessions
	CloseMaxLinks
	CloseExpired
	CloseUnresponsive
	CloseConnectionToSelf
)

func (r CloseReason) String() string {
	names := [...]string{"generic", "unsupported", "invalid", "max sessions", "max links", "expired", "unresponsive", "connection to self"}
	if int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("reason %d", byte(r))
}

// Close ends a link or a session.
//
//	03|20 session|80 Z · reason · [exts]
type Close struct {
	Session bool // the whole session, not the link only
	Reason  CloseReason
}

// Append appends the message.
func (m *Close) Append(dst []byte) []byte {
	h := byte(idClose)
	if m.Session {
		h |= 0x20
	}
	return append(dst, h, byte(m.Reason))
}

// Parse reads the message.
func (m *Close) Parse(c *raw.Cursor) {
	h := header(c, "CLOSE", idClose)
	*m = Close{Session: h&0x20 != 0, Reason: CloseReason(c.U8("reason"))}
	skipExts(c, h)
}

// KeepAlive proves that the sender lives.
//
//	04|80 Z · [exts]
type KeepAlive struct{}

// Append appends the message, one byte.
func (*KeepAlive) Append(dst []byte) []byte { return append(dst, idKeepAlive) }

// Parse reads the message.
func (*KeepAlive) Parse(c *raw.Cursor) {
	skipExts(c, header(c, "KEEP_ALIVE", idKeepAlive))
}

const extLane = 0x31 // FRAME and FRAGMENT: priority, mandatory

// Frame is the header of a frame; network messages follow it up to the next
// transport message or the end of the batch (zenoh.md §3.3).
//
//	05|20 reliable|80 Z · vle sn · [ext 31 priority] · network messages…
type Frame struct {
	Reliable bool
	SN       uint32
	QoS      QoS // only the priority counts: the lane; absent unless QoS was negotiated
}

// Append appends the header. Append the network messages after it.
func (m *Frame) Append(dst []byte) []byte {
	ch := chain(len(dst))
	h := byte(idFrame)
	if m.Reliable {
		h |= 0x20
	}
	dst = AppendVLE(append(dst, h), uint64(m.SN))
	if !m.QoS.IsZero() {
		dst = ch.z64(dst, extLane, uint64(m.QoS.bits()))
	}
	return dst
}

// Parse reads the header and leaves c at the first network message.
func (m *Frame) Parse(c *raw.Cursor) {
	h := header(c, "FRAME", idFrame)
	*m = Frame{Reliable: h&0x20 != 0, SN: vle32(c, "sn")}
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		if e.Head == extLane {
			m.QoS = qosFromBits(e.Value)
		} else {
			e.skip(c)
		}
		more = e.more
	}
}

const (
	extFirst = 0x02
	extDrop  = 0x03
)

// Fragment is a part of one serialized network message (zenoh.md §3.4). It is
// always the last message of its batch.
//
//	06|20 reliable|40 more|80 Z · vle sn · [ext 31 priority] · [ext 02 first] · [ext 03 drop] · bytes
type Fragment struct {
	Reliable bool
	More     bool // further fragments follow
	SN       uint32
	QoS      QoS    // as in Frame
	First    bool   // first of its chain; used only if both sides negotiated patch 1
	Drop     bool   // the sender gave the chain up; likewise
	Payload  []byte // to the end of the batch
}

// Append appends the message with its payload.
func (m *Fragment) Append(dst []byte) []byte {
	ch := chain(len(dst))
	h := byte(idFragment)
	if m.Reliable {
		h |= 0x20
	}
	if m.More {
		h |= 0x40
	}
	dst = AppendVLE(append(dst, h), uint64(m.SN))
	if !m.QoS.IsZero() {
		dst = ch.z64(dst, extLane, uint64(m.QoS.bits()))
	}
	if m.First {
		dst = ch.unit(dst, extFirst)
	}
	if m.Drop {
		dst = ch.unit(dst, extDrop)
	}
	return append(dst, m.Payload...)
}

// Parse reads the message and everything that is left as its payload.
func (m *Fragment) Parse(c *raw.Cursor) {
	h := header(c, "FRAGMENT", idFragment)
	*m = Fragment{Reliable: h&0x20 != 0, More: h&0x40 != 0, SN: vle32(c, "sn")}
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		switch e.Head {
		case extLane:
			m.QoS = qosFromBits(e.Value)
		case extFirst:
			m.First = true
		case extDrop:
			m.Drop = true
		default:
			e.skip(c)
		}
		more = e.more
	}
	m.Payload = c.Rest()
}

// OAM carries housekeeping between routers and peers, either as a transport or
// as a network message (zenoh.md §3.5). Receivers may ignore it.
//
//	00 or 1f|encoding in bits 5–6|80 Z · vle id · [exts] · nothing, vle or zbuf
type OAM struct {
	Network   bool // a network message inside a frame
	ID        uint16
	QoS       QoS
	Timestamp Timestamp
	Content   OAMContent
	Value     uint64 // if Content is OAMNumber
	Body      []byte // if Content is OAMBytes
}

// OAMContent is the kind of body of an OAM.
type OAMContent byte

const (
	OAMEmpty  OAMContent = extUnit
	OAMNumber OAMContent = extZ64
	OAMBytes  OAMContent = extZBuf
)

// OAMLinkState is the OAM id of a list of link states.
const OAMLinkState = 1

// LinkStateOf returns the OAM that names only its sender and no links. Peers of
// zenoh 1.10 that get it first on a link skip a wait of 0.5 s while opening
// (vector V14).
func LinkStateOf(z ZenohID, w WhatAmI) OAM {
	// One entry: options zid|whatami, psid 0, sn 1, zid, role bitmap, no links.
	body := []byte{1, 3, 0, 1, z.n}
	body = append(body, z.b[:z.n]...)
	body = append(body, w.Bit(), 0)
	return OAM{Network: true, ID: OAMLinkState, Content: OAMBytes, Body: body}
}

// Append appends the message.
func (m *OAM) Append(dst []byte) []byte {
	ch := chain(len(dst))
	h := byte(idOAM)
	if m.Network {
		h = idNetworkOAM
	}
	dst = AppendVLE(append(dst, h|byte(m.Content)&extEncMask), uint64(m.ID))
	dst = ch.qosTime(dst, m.QoS, m.Timestamp)
	switch m.Content {
	case OAMNumber:
		dst = AppendVLE(dst, m.Value)
	case OAMBytes:
		dst = appendZ(dst, m.Body)
	}
	return dst
}

// Parse reads the message of either layer.
func (m *OAM) Parse(c *raw.Cursor) {
	*m = OAM{}
	c.Enter("OAM")
	off := c.Offset()
	h := c.U8("header")
	switch h & idMask {
	case idOAM:
	case idNetworkOAM:
		m.Network = true
	default:
		c.FailAt(off, "header", "message id %#02x, want %#02x or %#02x", h&idMask, idOAM, idNetworkOAM)
	}
	m.ID = vle16(c, "id")
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		e.qosTime(c, &m.QoS, &m.Timestamp)
		more = e.more
	}
	m.Content = OAMContent(h & extEncMask)
	switch m.Content {
	case OAMEmpty:
	case OAMNumber:
		m.Value = VLE(c, "value")
	case OAMBytes:
		m.Body = zbytes(c, "body")
	default:
		c.FailAt(off, "header", "reserved body encoding in %#02x", h)
	}
}
