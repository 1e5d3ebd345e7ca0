package wire

import (
	raw "github.com/robospec/robospec/internal/wire"
)

// Target says which queryables a request goes to.
type Target byte

const (
	TargetBestMatching Target = iota
	TargetAll
	TargetAllComplete // all that declared themselves complete
)

const (
	extTarget  = 0x34 // mandatory
	extBudget  = 0x25
	extTimeout = 0x26

	extValue           = 0x43
	extQueryAttachment = 0x45
	extResponder       = 0x43
)

// Value is the payload of a query. It is absent if Payload is nil and Encoding
// is the default.
type Value struct {
	Encoding Encoding
	Payload  []byte
}

// Request is a query (zenoh.md §4.3).
//
//	REQUEST 1c|20 N|40 M|80 Z · vle id · key · [exts 21 QoS, 42 timestamp, 34 target, 26 timeout] · QUERY
//	QUERY   03|20 C|40 P|80 Z · [vle consolidation] · [z(parameters)] · [exts 41 source, 43 value, 45 attachment]
type Request struct {
	ID            uint32 // chosen by the sender, unique on the link
	Key           WireExpr
	QoS           QoS
	NetTime       Timestamp
	Target        Target
	TimeoutMillis uint64 // 0: the router's default; rmw_zenoh uses the largest value for "never"
	Consolidation Consolidation
	Parameters    []byte // text after "?" of a selector; nil if empty
	SourceInfo    SourceInfo
	Value         Value
	Attachment    []byte // nil: absent
}

// Append appends the message.
func (m *Request) Append(dst []byte) []byte {
	ch := chain(len(dst))
	dst = AppendVLE(append(dst, idRequest), uint64(m.ID))
	dst = m.Key.append(dst, int(ch))
	dst = ch.qosTime(dst, m.QoS, m.NetTime)
	if m.Target != TargetBestMatching {
		dst = ch.z64(dst, extTarget, uint64(m.Target))
	}
	if m.TimeoutMillis != 0 {
		dst = ch.z64(dst, extTimeout, m.TimeoutMillis)
	}

	ch = chain(len(dst))
	dst = append(dst, idQuery)
	if m.Consolidation != ConsolidationAuto {
		dst[ch] |= 0x20
		dst = AppendVLE(dst, uint64(m.Consolidation))
	}
	if len(m.Parameters) > 0 {
		dst[int(ch)] |= 0x40
		dst = appendZ(dst, m.Parameters)
	}
	dst = ch.sourceInfo(dst, m.SourceInfo)
	if v := &m.Value; v.Payload != nil || !v.Encoding.IsZero() {
		dst = ch.zlen(dst, extValue, v.Encoding.len()+len(v.Payload))
		dst = append(v.Encoding.append(dst), v.Payload...)
	}
	if m.Attachment != nil {
		dst = ch.zbuf(dst, extQueryAttachment, m.Attachment)
	}
	return dst
}

// Parse reads the message.
func (m *Request) Parse(c *raw.Cursor) {
	h := header(c, "REQUEST", idRequest)
	*m = Request{ID: vle32(c, "id")}
	m.Key.parse(c, h)
	for more := h&flagZ != 0; more; {
		off := c.Offset()
		e := readExt(c)
		switch e.Head {
		case extTarget:
			if e.Value > uint64(TargetAllComplete) {
				c.FailAt(off, "target", "%d is no target", e.Value)
			}
			m.Target = Target(e.Value)
		case extTimeout:
			m.TimeoutMillis = e.Value
		case extBudget:
		default:
			e.qosTime(c, &m.QoS, &m.NetTime)
		}
		more = e.more
	}

	h = header(c, "QUERY", idQuery)
	if h&0x20 != 0 {
		m.Consolidation = readConsolidation(c)
	}
	if h&0x40 != 0 {
		if b := zbytes(c, "parameters"); len(b) > 0 {
			m.Parameters = b
		}
	}
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		switch e.Head {
		case extValue:
			b := e.body(c)
			m.Value.Encoding.parse(&b)
			m.Value.Payload = b.Rest()
			c.Adopt(&b)
		case extQueryAttachment:
			m.Attachment = e.Body
		default:
			e.sourceInfo(c, &m.SourceInfo)
		}
		more = e.more
	}
}

// Response is one reply to a request, or an error (zenoh.md §4.4).
//
//	RESPONSE 1b|20 N|40 M|80 Z · vle request id · key · [exts 21 QoS, 42 timestamp, 43 responder] · REPLY or ERR
//	REPLY    04|20 C|80 Z · [vle consolidation] · [exts] · PUT or DEL
//	ERR      05|40 E|80 Z · [encoding] · [exts 41 source] · z(payload)
type Response struct {
	RequestID uint32
	Key       WireExpr // empty in a router's error "Timeout"
	QoS       QoS
	NetTime   Timestamp
	Responder EntityID

	Err           bool          // an error: of Data only Encoding, Payload and SourceInfo count
	Consolidation Consolidation // not in an error
	Data
}

// Append appends the message.
func (m *Response) Append(dst []byte) []byte {
	ch := chain(len(dst))
	dst = AppendVLE(append(dst, idResponse), uint64(m.RequestID))
	dst = m.Key.append(dst, int(ch))
	dst = ch.qosTime(dst, m.QoS, m.NetTime)
	if !m.Responder.IsZero() {
		dst = m.Responder.append(ch.zlen(dst, extResponder, m.Responder.len()))
	}

	ch = chain(len(dst))
	if m.Err {
		dst = append(dst, idErr)
		if !m.Encoding.IsZero() {
			dst[ch] |= 0x40
			dst = m.Encoding.append(dst)
		}
		dst = ch.sourceInfo(dst, m.SourceInfo)
		return appendZ(dst, m.Payload)
	}
	dst = append(dst, idReply)
	if m.Consolidation != ConsolidationAuto {
		dst[ch] |= 0x20
		dst = AppendVLE(dst, uint64(m.Consolidation))
	}
	return m.Data.append(dst)
}

// Parse reads the message.
func (m *Response) Parse(c *raw.Cursor) {
	h := header(c, "RESPONSE", idResponse)
	*m = Response{RequestID: vle32(c, "request id")}
	m.Key.parse(c, h)
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		if e.Head == extResponder {
			b := e.body(c)
			m.Responder.parse(&b)
			c.Adopt(&b)
		} else {
			e.qosTime(c, &m.QoS, &m.NetTime)
		}
		more = e.more
	}

	off := c.Offset()
	h = c.U8("body header")
	switch h & idMask {
	case idReply:
		c.Enter("REPLY")
		if h&0x20 != 0 {
			m.Consolidation = readConsolidation(c)
		}
		skipExts(c, h)
		m.Data.parse(c)
	case idErr:
		c.Enter("ERR")
		m.Err = true
		if h&0x40 != 0 {
			m.Encoding.parse(c)
		}
		for more := h&flagZ != 0; more; {
			e := readExt(c)
			e.sourceInfo(c, &m.SourceInfo)
			more = e.more
		}
		m.Payload = zbytes(c, "payload")
	default:
		c.FailAt(off, "body header", "message id %#02x, want %#02x (REPLY) or %#02x (ERR)", h&idMask, idReply, idErr)
	}
}

// ResponseFinal ends the responses to a request; a queryable sends exactly one.
//
//	1a|80 Z · vle request id · [exts 21 QoS, 42 timestamp]
type ResponseFinal struct {
	RequestID uint32
	QoS       QoS
	NetTime   Timestamp
}

// Append appends the message.
func (m *ResponseFinal) Append(dst []byte) []byte {
	ch := chain(len(dst))
	dst = AppendVLE(append(dst, idResponseFinal), uint64(m.RequestID))
	return ch.qosTime(dst, m.QoS, m.NetTime)
}

// Parse reads the message.
func (m *ResponseFinal) Parse(c *raw.Cursor) {
	h := header(c, "RESPONSE_FINAL", idResponseFinal)
	*m = ResponseFinal{RequestID: vle32(c, "request id")}
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		e.qosTime(c, &m.QoS, &m.NetTime)
		more = e.more
	}
}
