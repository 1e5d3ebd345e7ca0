// Package wire encodes and decodes the messages of Zenoh protocol version 9,
// as spoken by zenoh 1.x.
//
// A link carries batches. A batch holds transport messages back to back
// ([Init], [Open], [Close], [KeepAlive], [Frame], [Fragment], [OAM], [Join]); a
// frame is followed by network messages ([Push], [Request], [Response],
// [ResponseFinal], [Declare], [Interest], [OAM]). [Reader] walks a batch. Every
// message is a struct with an Append and a Parse method; writing a frame is
// [Frame.Append] and then the Append of each network message.
//
// Parsed byte slices alias the input: copy what outlives the batch. Appending
// and parsing a [Push] does not allocate. Parse methods overwrite their
// receiver, and leave it unspecified if the cursor reports an error.
//
// Unknown extensions are skipped unless they are mandatory; an unknown mandatory
// extension is an error, and a peer that sends one is to be dropped. The
// extensions NodeId (router to router) and Budget are accepted and forgotten,
// as are those that this package never negotiates.
//
// What the package does not do: no links, no stream length prefix, no state. It
// checks no sequence number and resolves no key alias.
package wire

import (
	"fmt"

	raw "github.com/robospec/robospec/internal/wire"
)

// Version is the protocol version in INIT, JOIN, SCOUT and HELLO.
const Version = 9

// MaxBatch is the largest batch in bytes that a length prefix can announce, and
// the batch size assumed when INIT names none.
const MaxBatch = 65535

// Header flags. The meaning of 0x20 and 0x40 depends on the message.
const (
	flagZ = 0x80 // extensions follow; on an extension: more extensions follow
	flagN = 0x20 // key suffix present
	flagM = 0x40 // the key's scope is an id that the sender declared

	idMask = 0x1f
)

// Message ids: transport ids count up from 0, network ids down from 0x1f, so
// the two do not clash inside a batch.
const (
	idOAM       = 0x00
	idInit      = 0x01
	idOpen      = 0x02
	idClose     = 0x03
	idKeepAlive = 0x04
	idFrame     = 0x05
	idFragment  = 0x06
	idJoin      = 0x07

	idInterest      = 0x19
	idResponseFinal = 0x1a
	idResponse      = 0x1b
	idRequest       = 0x1c
	idPush          = 0x1d
	idDeclare       = 0x1e
	idNetworkOAM    = 0x1f

	minNetworkID = idInterest
)

// NewCursor returns a cursor over b for the Parse methods; it names the
// protocol in its errors.
func NewCursor(b []byte) raw.Cursor { return raw.NewCursor("zenoh", b) }

// WhatAmI is the role of a Zenoh process.
type WhatAmI byte

const (
	Router WhatAmI = 0
	Peer   WhatAmI = 1
	Client WhatAmI = 2
)

// Bit is the role as used in the bitmaps of SCOUT and of link states.
func (w WhatAmI) Bit() byte { return 1 << w }

func (w WhatAmI) String() string {
	switch w {
	case Router:
		return "router"
	case Peer:
		return "peer"
	case Client:
		return "client"
	}
	return fmt.Sprintf("whatami(%d)", byte(w))
}

// header consumes a message's first byte and checks its id.
func header(c *raw.Cursor, message string, id byte) byte {
	c.Enter(message)
	off := c.Offset()
	h := c.U8("header")
	if c.OK() && h&idMask != id {
		c.FailAt(off, "header", "message id %#02x, want %#02x", h&idMask, id)
	}
	return h
}
