package wire

import (
	"fmt"

	raw "github.com/robospec/robospec/internal/wire"
)

// DeclareKind is the kind of a declaration; the values are those of the wire.
type DeclareKind byte

const (
	DeclareKeyExpr      DeclareKind = 0x00
	UndeclareKeyExpr    DeclareKind = 0x01
	DeclareSubscriber   DeclareKind = 0x02
	UndeclareSubscriber DeclareKind = 0x03
	DeclareQueryable    DeclareKind = 0x04
	UndeclareQueryable  DeclareKind = 0x05
	DeclareToken        DeclareKind = 0x06
	UndeclareToken      DeclareKind = 0x07
	DeclareFinal        DeclareKind = 0x1a
)

func (k DeclareKind) String() string {
	switch k {
	case DeclareKeyExpr:
		return "D_KEYEXPR"
	case UndeclareKeyExpr:
		return "U_KEYEXPR"
	case DeclareSubscriber:
		return "D_SUBSCRIBER"
	case UndeclareSubscriber:
		return "U_SUBSCRIBER"
	case DeclareQueryable:
		return "D_QUERYABLE"
	case UndeclareQueryable:
		return "U_QUERYABLE"
	case DeclareToken:
		return "D_TOKEN"
	case UndeclareToken:
		return "U_TOKEN"
	case DeclareFinal:
		return "D_FINAL"
	}
	return fmt.Sprintf("declaration %#02x", byte(k))
}

const (
	extQueryableInfo = 0x21
	extWireExpr      = 0x5f // undeclares, mandatory
)

// QueryableInfo describes a queryable.
type QueryableInfo struct {
	Complete bool // it has everything its key covers
	Distance uint16
}

// Declare announces or withdraws a key alias, a subscriber, a queryable or a
// liveliness token, or ends the answers to an interest (zenoh.md §4.5).
//
//	DECLARE 1e|20 I|80 Z · [vle interest id] · [exts 21 QoS, 42 timestamp] · declaration
//	D_KEYEXPR 00|20 N|80 Z · vle id · key         U_KEYEXPR 01 · vle id
//	D_SUBSCRIBER 02 · D_QUERYABLE 04 · D_TOKEN 06, each |20 N|40 M|80 Z · vle id · key · [exts]
//	U_SUBSCRIBER 03 · U_QUERYABLE 05 · U_TOKEN 07, each |80 Z · vle id · [ext 5f key]
//	D_FINAL 1a
type Declare struct {
	Answer     bool   // answers the interest InterestID
	InterestID uint32 // 0 unless Answer
	QoS        QoS
	NetTime    Timestamp

	Kind DeclareKind
	ID   uint32 // not in D_FINAL; of an alias at most 65535
	// Key is that of a declaration. Of an undeclaration it is there only if
	// HasKey; Rust peers send an empty one, and the id alone is enough.
	Key       WireExpr
	HasKey    bool          // undeclarations only
	Queryable QueryableInfo // D_QUERYABLE only
}

// Append appends the message.
func (m *Declare) Append(dst []byte) []byte {
	ch := chain(len(dst))
	dst = append(dst, idDeclare)
	if m.Answer {
		dst[ch] |= 0x20
		dst = AppendVLE(dst, uint64(m.InterestID))
	}
	dst = ch.qosTime(dst, m.QoS, m.NetTime)

	ch = chain(len(dst))
	dst = append(dst, byte(m.Kind)&idMask)
	switch m.Kind {
	case DeclareKeyExpr:
		key := WireExpr{Scope: m.Key.Scope, Suffix: m.Key.Suffix} // no flag M
		dst = key.append(AppendVLE(dst, uint64(uint16(m.ID))), int(ch))
	case UndeclareKeyExpr:
		dst = AppendVLE(dst, uint64(uint16(m.ID)))
	case DeclareSubscriber, DeclareQueryable, DeclareToken:
		dst = m.Key.append(AppendVLE(dst, uint64(m.ID)), int(ch))
		if q := m.Queryable; m.Kind == DeclareQueryable && q != (QueryableInfo{}) {
			v := uint64(q.Distance) << 8
			if q.Complete {
				v |= 1
			}
			dst = ch.z64(dst, extQueryableInfo, v)
		}
	case UndeclareSubscriber, UndeclareQueryable, UndeclareToken:
		dst = AppendVLE(dst, uint64(m.ID))
		if m.HasKey {
			var flags byte
			if len(m.Key.Suffix) > 0 {
				flags |= 1
			}
			if m.Key.SenderMapping {
				flags |= 2
			}
			dst = ch.zlen(dst, extWireExpr, 1+VLELen(uint64(m.Key.Scope))+len(m.Key.Suffix))
			dst = AppendVLE(append(dst, flags), uint64(m.Key.Scope))
			dst = append(dst, m.Key.Suffix...)
		}
	}
	return dst
}

// Parse reads the message.
func (m *Declare) Parse(c *raw.Cursor) {
	*m = Declare{}
	h := header(c, "DECLARE", idDeclare)
	if h&0x20 != 0 {
		m.Answer = true
		m.InterestID = vle32(c, "interest id")
	}
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		e.qosTime(c, &m.QoS, &m.NetTime)
		more = e.more
	}

	off := c.Offset()
	h = c.U8("declaration header")
	m.Kind = DeclareKind(h & idMask)
	if c.OK() {
		c.Enter(m.Kind.String())
	}
	switch m.Kind {
	case DeclareKeyExpr:
		m.ID = uint32(vle16(c, "id"))
		m.Key.parse(c, h&^flagM)
	case UndeclareKeyExpr:
		m.ID = uint32(vle16(c, "id"))
	case DeclareSubscriber, DeclareQueryable, DeclareToken:
		m.ID = vle32(c, "id")
		m.Key.parse(c, h)
	case UndeclareSubscriber, UndeclareQueryable, UndeclareToken:
		m.ID = vle32(c, "id")
	case DeclareFinal:
	default:
		c.FailAt(off, "declaration header", "unknown id %#02x", h&idMask)
		return
	}
	for more := h&flagZ != 0 && c.OK(); more; {
		e := readExt(c)
		switch {
		case e.Head == extQueryableInfo && m.Kind == DeclareQueryable:
			m.Queryable = QueryableInfo{Complete: e.Value&1 != 0, Distance: uint16(e.Value >> 8)}
		case e.Head == extWireExpr && (m.Kind == UndeclareSubscriber || m.Kind == UndeclareQueryable || m.Kind == UndeclareToken):
			m.undeclaredKey(c, &e)
		default:
			e.skip(c)
		}
		more = e.more
	}
}

// undeclaredKey reads the key extension of an undeclaration, whose suffix has
// no length of its own.
func (m *Declare) undeclaredKey(c *raw.Cursor, e *ext) {
	b := e.body(c)
	flags := b.U8("key flags")
	m.HasKey = true
	m.Key = WireExpr{Scope: vle16(&b, "key scope"), SenderMapping: flags&2 != 0}
	if suffix := b.Rest(); flags&1 != 0 && len(suffix) > 0 {
		m.Key.Suffix = suffix
	}
	c.Adopt(&b)
}

// InterestMode says which declarations an interest asks for.
type InterestMode byte

const (
	InterestFinal         InterestMode = iota // no more: withdraws the interest
	InterestCurrent                           // those that exist, ended by D_FINAL
	InterestFuture                            // later changes
	InterestCurrentFuture                     // both
)

// InterestOptions is the set of kinds that an interest asks for.
type InterestOptions byte

const (
	InterestKeyExprs    InterestOptions = 0x01 // may answer with aliases
	InterestSubscribers InterestOptions = 0x02
	InterestQueryables  InterestOptions = 0x04
	InterestTokens      InterestOptions = 0x08
	InterestAggregate   InterestOptions = 0x80 // one declaration for all matches

	interestRestricted = 0x10
	interestKinds      = InterestKeyExprs | InterestSubscribers | InterestQueryables | InterestTokens | InterestAggregate
)

// Interest asks the other side for declarations (zenoh.md §4.6).
//
//	19|mode<<5|80 Z · vle id · [mode≠0: options · (restricted: key)] · [exts 21 QoS, 42 timestamp]
type Interest struct {
	ID         uint32
	Mode       InterestMode
	Options    InterestOptions // not in InterestFinal, as the two below
	Restricted bool            // only what intersects Key
	Key        WireExpr
	QoS        QoS
	NetTime    Timestamp
}

// Append appends the message.
func (m *Interest) Append(dst []byte) []byte {
	ch := chain(len(dst))
	dst = AppendVLE(append(dst, idInterest|byte(m.Mode&3)<<5), uint64(m.ID))
	if m.Mode&3 != InterestFinal {
		opts := len(dst)
		dst = append(dst, byte(m.Options&interestKinds))
		if m.Restricted {
			dst[opts] |= interestRestricted
			dst = m.Key.append(dst, opts) // N and M have the same bits here as in headers
		}
	}
	return ch.qosTime(dst, m.QoS, m.NetTime)
}

// Parse reads the message.
func (m *Interest) Parse(c *raw.Cursor) {
	h := header(c, "INTEREST", idInterest)
	*m = Interest{Mode: InterestMode(h >> 5 & 3), ID: vle32(c, "id")}
	if m.Mode != InterestFinal {
		opts := c.U8("options")
		m.Options = InterestOptions(opts) & interestKinds
		if opts&interestRestricted != 0 {
			m.Restricted = true
			m.Key.parse(c, opts)
		}
	}
	for more := h&flagZ != 0; more; {
		e := readExt(c)
		e.qosTime(c, &m.QoS, &m.NetTime)
		more = e.more
	}
}
