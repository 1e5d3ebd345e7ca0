package wire

import (
	"fmt"

	raw "github.com/robospec/robospec/internal/wire"
)

// Kind is the kind of message that a [Reader] stands on.
type Kind byte

const (
	KindNone Kind = iota // before the first message and after the last
	KindInit
	KindOpen
	KindClose
	KindKeepAlive
	KindFrame
	KindFragment
	KindJoin
	KindPush
	KindRequest
	KindResponse
	KindResponseFinal
	KindDeclare
	KindInterest
	KindOAM // of either layer
)

func (k Kind) String() string {
	names := [...]string{"none", "INIT", "OPEN", "CLOSE", "KEEP_ALIVE", "FRAME", "FRAGMENT", "JOIN",
		"PUSH", "REQUEST", "RESPONSE", "RESPONSE_FINAL", "DECLARE", "INTEREST", "OAM"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// Reader walks the messages of one batch. It holds one struct of each kind and
// parses into it, so that a reader reused from batch to batch does not allocate:
//
//	r.Reset(batch)
//	for r.Next() {
//		switch r.Kind() {
//		case wire.KindFrame: // r.Frame; the network messages that follow are in it
//		case wire.KindPush: // r.Push
//		}
//	}
//	if err := r.Err(); err != nil { … }
//
// The two layers come in one sequence: after KindFrame, network messages belong
// to that frame until the next transport message. To ignore a frame, pass over
// its messages; they have to be parsed to find their end.
//
// The struct of the current kind is valid until the next Next, the slices in it
// as long as the batch. Structs of other kinds hold leftovers. The zero value is
// a reader of nothing.
type Reader struct {
	Init          Init
	Open          Open
	Close         Close
	Frame         Frame
	Fragment      Fragment
	Join          Join
	Push          Push
	Request       Request
	Response      Response
	ResponseFinal ResponseFinal
	Declare       Declare
	Interest      Interest
	OAM           OAM

	c       raw.Cursor
	batch   []byte
	start   int // of the current message
	kind    Kind
	inFrame bool // network messages may follow
	netOnly bool // transport messages may not
}

// Reset begins a batch: the bytes after the length prefix, or a datagram.
func (r *Reader) Reset(batch []byte) {
	r.c, r.batch, r.start = NewCursor(batch), batch, 0
	r.kind, r.inFrame, r.netOnly = KindNone, false, false
}

// ResetNetwork begins bytes that hold network messages only: a message
// reassembled from fragments.
func (r *Reader) ResetNetwork(msg []byte) {
	r.Reset(msg)
	r.inFrame, r.netOnly = true, true
}

// Kind is the kind of the current message.
func (r *Reader) Kind() Kind { return r.kind }

// Err is nil, also at the end of the batch, unless a message could not be read.
// It is a *wire.Error of the internal/wire package. The rest of the batch is
// then lost, and the link is to be dropped.
func (r *Reader) Err() error { return r.c.Err() }

// Raw is the current message as it was read; of a frame only its header. It
// aliases the batch.
func (r *Reader) Raw() []byte {
	if r.kind == KindNone {
		return nil
	}
	return r.batch[r.start:r.c.Offset():r.c.Offset()]
}

// Next reads the next message. It returns false at the end of the batch and
// after an error.
func (r *Reader) Next() bool {
	r.kind = KindNone
	c := &r.c
	h, ok := c.Peek()
	if !ok {
		return false
	}
	r.start = c.Offset()
	id := h & idMask
	switch {
	case id >= minNetworkID && !r.inFrame:
		c.Enter("")
		c.Fail("message", "network message %#02x outside a frame", id)
		return false
	case id < minNetworkID && r.netOnly:
		c.Enter("")
		c.Fail("message", "transport message %#02x among network messages", id)
		return false
	case id < minNetworkID:
		r.inFrame = false
	}

	var kind Kind
	switch id {
	case idPush:
		kind = KindPush
		r.Push.Parse(c)
	case idRequest:
		kind = KindRequest
		r.Request.Parse(c)
	case idResponse:
		kind = KindResponse
		r.Response.Parse(c)
	case idResponseFinal:
		kind = KindResponseFinal
		r.ResponseFinal.Parse(c)
	case idDeclare:
		kind = KindDeclare
		r.Declare.Parse(c)
	case idInterest:
		kind = KindInterest
		r.Interest.Parse(c)
	case idNetworkOAM, idOAM:
		kind = KindOAM
		r.OAM.Parse(c)
	case idFrame:
		kind = KindFrame
		r.inFrame = true
		r.Frame.Parse(c)
	case idFragment:
		kind = KindFragment
		r.Fragment.Parse(c)
	case idKeepAlive:
		kind = KindKeepAlive
		new(KeepAlive).Parse(c)
	case idInit:
		kind = KindInit
		r.Init.Parse(c)
	case idOpen:
		kind = KindOpen
		r.Open.Parse(c)
	case idClose:
		kind = KindClose
		r.Close.Parse(c)
	case idJoin:
		kind = KindJoin
		r.Join.Parse(c)
	default:
		c.Enter("")
		c.Fail("message", "unknown id %#02x", id)
	}
	if !c.OK() {
		return false
	}
	r.kind = kind
	return true
}
