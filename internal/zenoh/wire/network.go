package wire

import (
	raw "github.com/robospec/robospec/internal/wire"
)

// WireExpr is a key expression on the wire: what the alias Scope stands for,
// followed by Suffix without anything between (zenoh.md §4.1).
type WireExpr struct {
	Scope         uint16 // alias id; 0 is the empty prefix
	Suffix        []byte // nil if empty
	SenderMapping bool   // Scope was declared by the sender of this message, not by its receiver; without meaning if Scope is 0
}

// append appends scope and suffix and sets the flags N and M in dst[flags].
func (w *WireExpr) append(dst []byte, flags int) []byte {
	if w.SenderMapping {
		dst[flags] |= flagM
	}
	dst = AppendVLE(dst, uint64(w.Scope))
	if len(w.Suffix) > 0 {
		dst[flags] |= flagN
		dst = appendZ(dst, w.Suffix)
	}
	return dst
}

func (w *WireExpr) parse(c *raw.Cursor, flags byte) {
	*w = WireExpr{Scope: vle16(c, "key scope"), SenderMapping: flags&flagM != 0}
	if flags&flagN != 0 {
		if b := zbytes(c, "key suffix"); len(b) > 0 {
			w.Suffix = b
		}
	}
}

// Consolidation says which of several replies for one key a getter keeps.
type Consolidation byte

const (
	ConsolidationAuto Consolidation = iota
	ConsolidationNone
	ConsolidationMonotonic
	ConsolidationLatest
)

// readConsolidation takes an unknown mode for auto, as the reference
// implementation does.
func readConsolidation(c *raw.Cursor) Consolidation {
	if v := VLE(c, "consolidation"); v <= uint64(ConsolidationLatest) {
		return Consolidation(v)
	}
	return ConsolidationAuto
}

const (
	idPut   = 0x01
	idDel   = 0x02
	idQuery = 0x03
	idReply = 0x04
	idErr   = 0x05

	extSourceInfo    = 0x41
	extPutAttachment = 0x43
	extDelAttachment = 0x42
)

// Data is the body PUT or DEL of a PUSH or a REPLY (zenoh.md §4.2).
//
//	PUT 01|20 T|40 E|80 Z · [timestamp] · [encoding] · [exts 41 source, 43 attachment] · z(payload)
//	DEL 02|20 T|80 Z · [timestamp] · [exts 41 source, 42 attachment]
type Data struct {
	Delete     bool
	Timestamp  Timestamp // of the publication; routers add one to PUTs that lack it
	Encoding   Encoding  // PUT only
	SourceInfo SourceInfo
	Attachment []byte // nil: absent
	Payload    []byte // PUT only
}

func (m *Data) append(dst []byte) []byte {
	ch := chain(len(dst))
	if m.Delete {
		dst = append(dst, idDel)
	} else {
		dst = append(dst, idPut)
	}
	if !m.Timestamp.IsZero() {
		dst[ch] |= 0x20
		dst = m.Timestamp.append(dst)
	}
	if !m.Delete && !m.Encoding.IsZero() {
		dst[ch] |= 0x40
		dst = m.Encoding.append(dst)
	}
	dst = ch.sourceInfo(dst, m.SourceInfo)
	if m.Attachment != nil {
		head := byte(extPutAttachment)
		if m.Delete {
			head = extDelAttachment
		}
		dst = ch.zbuf(dst, head, m.Attachment)
	}
	if !m.Delete {
		dst = appendZ(dst, m.Payload)
	}
	return dst
}

func (ch *chain) sourceInfo(dst []byte, s SourceInfo) []byte {
	if s.IsZero() {
		return dst
	}
	return s.append(ch.zlen(dst, extSourceInfo, s.len()))
}

// sourceInfo takes e if it is the source info, and otherwise skips it.
func (e *ext) sourceInfo(c *raw.Cursor, s *SourceInfo) {
	if e.Head != extSourceInfo {
		e.skip(c)
		return
	}
	b := e.body(c)
	s.parse(&b)
	c.Adopt(&b)
}

func (m *Data) parse(c *raw.Cursor) {
	*m = Data{}
	off := c.Offset()
	h := c.U8("body header")
	attachment := byte(extPutAttachment)
	switch h & idMask {
	case idPut:
		c.Enter("PUT")
	case idDel:
		c.Enter("DEL")
		m.Delete = true
		attachment = extDelAttachment
	default:
		c.FailAt(off, "body header", "message id %#02x, want %#02x (PUT) or %#02x (DEL)", h&idMask, idPut, idDel)
		return
	}
	if h&0x20 != 0 {
		m.Timestamp.parse(c)
	}
	if !m.Delete && h&0x40 != 0 {
		m.Encoding.parse(c)
	}
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		if e.Head == attachment {
			m.Attachment = e.Body
		} else {
			e.sourceInfo(c, &m.SourceInfo)
		}
		more = e.more
	}
	if !m.Delete {
		m.Payload = zbytes(c, "payload")
	}
}

// Push is a publication. Whether it is reliable is said by its frame.
//
//	1d|20 N|40 M|80 Z · key · [exts 21 QoS, 42 timestamp] · PUT or DEL
type Push struct {
	Key     WireExpr
	QoS     QoS
	NetTime Timestamp // of the routing message, hardly used; the publication's is Data.Timestamp
	Data
}

// Append appends the message.
func (m *Push) Append(dst []byte) []byte {
	ch := chain(len(dst))
	dst = m.Key.append(append(dst, idPush), int(ch))
	dst = ch.qosTime(dst, m.QoS, m.NetTime)
	return m.Data.append(dst)
}

// Parse reads the message.
func (m *Push) Parse(c *raw.Cursor) {
	h := header(c, "PUSH", idPush)
	m.QoS, m.NetTime = 0, Timestamp{}
	m.Key.parse(c, h)
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		e.qosTime(c, &m.QoS, &m.NetTime)
		more = e.more
	}
	m.Data.parse(c)
}
