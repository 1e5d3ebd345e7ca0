package wire

import (
	raw "github.com/robospec/robospec/internal/wire"
)

const (
	idScout = 0x01
	idHello = 0x02
)

// Scout asks who is there (zenoh.md §3.7). It is a UDP datagram of its own, not
// part of a batch, and its id means something else there.
//
//	01|80 Z · version · what|08 zid present|(zidLen-1)<<4 · [zid] · [exts]
type Scout struct {
	Version byte    // 0 in a message to send means Version
	What    byte    // bits 0–2: roles wanted, see WhatAmI.Bit
	ZID     ZenohID // of the asker; zero: not given
}

// Append appends the message.
func (m *Scout) Append(dst []byte) []byte {
	b := m.What & 7
	if m.ZID.IsZero() {
		return append(dst, idScout, version(m.Version), b)
	}
	return m.ZID.append(append(dst, idScout, version(m.Version), b|0x08|m.ZID.lenNibble()))
}

// Parse reads the message.
func (m *Scout) Parse(c *raw.Cursor) {
	h := header(c, "SCOUT", idScout)
	*m = Scout{Version: c.U8("version")}
	b := c.U8("what")
	m.What = b & 7
	if b&0x08 != 0 {
		m.ZID = readZID(c, int(b>>4)+1)
	}
	skipExts(c, h)
}

// Hello answers a Scout, in a datagram of its own.
//
//	02|20 locators|80 Z · version · (zidLen-1)<<4|whatami · zid · [vle count · z(locator)…] · [exts]
type Hello struct {
	Version  byte // 0 in a message to send means Version
	WhatAmI  WhatAmI
	ZID      ZenohID
	Locators []string // e.g. "tcp/127.0.0.1:7447"; none: the source address of the datagram
}

// Append appends the message.
func (m *Hello) Append(dst []byte) []byte {
	h := byte(idHello)
	if len(m.Locators) > 0 {
		h |= 0x20
	}
	dst = append(dst, h, version(m.Version), m.ZID.lenNibble()|byte(m.WhatAmI&3))
	dst = m.ZID.append(dst)
	if len(m.Locators) > 0 {
		dst = AppendVLE(dst, uint64(len(m.Locators)))
		for _, l := range m.Locators {
			dst = append(AppendVLE(dst, uint64(len(l))), l...)
		}
	}
	return dst
}

// Parse reads the message.
func (m *Hello) Parse(c *raw.Cursor) {
	h := header(c, "HELLO", idHello)
	*m = Hello{}
	m.Version, m.WhatAmI, m.ZID = identity(c)
	if h&0x20 != 0 {
		n := c.Count("locators", VLE(c, "locator count"), 1)
		for range n {
			m.Locators = append(m.Locators, string(zbytes(c, "locator")))
			if !c.OK() {
				break
			}
		}
	}
	skipExts(c, h)
}
