package wire

import (
	raw "github.com/robospec/robospec/internal/wire"
)

// Extension heads: id in bits 0–3, mandatory bit 4, encoding in bits 5–6. The
// three together are the identity.
const (
	extMandatory = 0x10
	extEncMask   = 0x60
	extUnit      = 0x00
	extZ64       = 0x20
	extZBuf      = 0x40

	extQoS       = 0x21 // network messages
	extTimestamp = 0x42 // network messages
	extNodeID    = 0x33 // network messages, mandatory
)

// maxHandshakeExts bounds what INIT, OPEN and JOIN keep; a nibble of ids in
// three encodings leaves no honest use for more.
const maxHandshakeExts = 48

// Ext is one extension as it is on the wire, kept by the messages of the
// handshake.
type Ext struct {
	Head  byte   // id 0–3, mandatory 4, encoding 5–6 (00 unit, 01 number, 10 bytes); bit 7 is ignored
	Value uint64 // if a number
	Body  []byte // if bytes
}

// ext is an Ext with the offset of its body.
type ext struct {
	Ext
	off  int
	more bool
}

// readExt consumes one extension.
func readExt(c *raw.Cursor) (e ext) {
	off := c.Offset()
	h := c.U8("extension")
	e.Head, e.more = h&^flagZ, h&flagZ != 0
	switch h & extEncMask {
	case extUnit:
	case extZ64:
		e.Value = VLE(c, "extension value")
	case extZBuf:
		n := VLE(c, "extension length")
		e.off = c.Offset()
		e.Body = c.Bytes64("extension body", n)
	default:
		c.FailAt(off, "extension", "%#02x has the reserved encoding", h)
	}
	e.more = e.more && c.OK()
	return e
}

// body returns a cursor over the bytes of e.
func (e *ext) body(c *raw.Cursor) raw.Cursor { return c.Over(e.Body, e.off) }

// skip passes over an extension that the message does not know.
func (e *ext) skip(c *raw.Cursor) {
	if e.Head&extMandatory != 0 {
		c.Fail("extension", "%#02x is mandatory and unknown", e.Head)
	}
}

// skipExts passes over an extension list of which nothing is known.
func skipExts(c *raw.Cursor, h byte) {
	for more := h&flagZ != 0 && c.OK(); more; {
		e := readExt(c)
		e.skip(c)
		more = e.more
	}
}

// keepExts reads the extension list of a handshake message. known is the head of
// a mandatory extension to let pass, or 0.
func keepExts(c *raw.Cursor, h, known byte) (list []Ext) {
	for more := h&flagZ != 0 && c.OK(); more; {
		e := readExt(c)
		if e.Head != known {
			e.skip(c)
		}
		if len(list) == maxHandshakeExts {
			c.Fail("extension", "more than %d extensions", maxHandshakeExts)
			return nil
		}
		list = append(list, e.Ext)
		more = e.more
	}
	return list
}

// chain writes an extension list: it is the position of the byte whose top bit
// says that an extension follows, first the message's header, then the head of
// the extension written last.
type chain int

func (ch *chain) head(dst []byte, head byte) []byte {
	dst[*ch] |= flagZ
	*ch = chain(len(dst))
	return append(dst, head&^flagZ)
}

func (ch *chain) unit(dst []byte, head byte) []byte { return ch.head(dst, head) }

func (ch *chain) z64(dst []byte, head byte, v uint64) []byte {
	return AppendVLE(ch.head(dst, head), v)
}

func (ch *chain) zbuf(dst []byte, head byte, b []byte) []byte {
	return appendZ(ch.head(dst, head), b)
}

// zlen begins an extension of n bytes that the caller appends.
func (ch *chain) zlen(dst []byte, head byte, n int) []byte {
	return AppendVLE(ch.head(dst, head), uint64(n))
}

func (ch *chain) all(dst []byte, list []Ext) []byte {
	for _, e := range list {
		switch e.Head & extEncMask {
		case extZ64:
			dst = ch.z64(dst, e.Head, e.Value)
		case extZBuf:
			dst = ch.zbuf(dst, e.Head, e.Body)
		default:
			dst = ch.unit(dst, e.Head)
		}
	}
	return dst
}

// qosTime writes the two extensions that all network messages share.
func (ch *chain) qosTime(dst []byte, q QoS, t Timestamp) []byte {
	if !q.IsZero() {
		dst = ch.z64(dst, extQoS, uint64(q.bits()))
	}
	if !t.IsZero() {
		dst = t.append(ch.zlen(dst, extTimestamp, t.len()))
	}
	return dst
}

// qosTime takes e if it is one of the extensions that all network messages
// share, and otherwise skips it.
func (e *ext) qosTime(c *raw.Cursor, q *QoS, t *Timestamp) {
	switch e.Head {
	case extQoS:
		*q = qosFromBits(e.Value)
	case extTimestamp:
		b := e.body(c)
		t.parse(&b)
		c.Adopt(&b)
	case extNodeID:
	default:
		e.skip(c)
	}
}
