package wire

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	raw "github.com/robospec/robospec/internal/wire"
)

// message is what all messages have in common.
type message interface {
	Append(dst []byte) []byte
	Parse(c *raw.Cursor)
}

var newMessage = []func() message{
	func() message { return &Init{} },
	func() message { return &Open{} },
	func() message { return &Close{} },
	func() message { return &KeepAlive{} },
	func() message { return &Frame{} },
	func() message { return &Fragment{} },
	func() message { return &Join{} },
	func() message { return &Push{} },
	func() message { return &Request{} },
	func() message { return &Response{} },
	func() message { return &ResponseFinal{} },
	func() message { return &Declare{} },
	func() message { return &Interest{} },
	func() message { return &OAM{} },
	func() message { return &Scout{} },
	func() message { return &Hello{} },
}

// version0 says whether m names protocol version 0, which Append writes as 9:
// the one field that does not survive a round trip.
func version0(m message) bool {
	switch m := m.(type) {
	case *Init:
		return m.Version == 0
	case *Join:
		return m.Version == 0
	case *Scout:
		return m.Version == 0
	case *Hello:
		return m.Version == 0
	}
	return false
}

// bounded fails if m holds more than n bytes of input can be asked for.
func bounded(t *testing.T, m message, n int) {
	t.Helper()
	exts := 0
	switch m := m.(type) {
	case *Init:
		exts = len(m.Exts)
	case *Open:
		exts = len(m.Exts)
	case *Join:
		exts = len(m.Exts)
	case *Hello:
		if len(m.Locators) > n {
			t.Fatalf("%d locators from %d bytes", len(m.Locators), n)
		}
	}
	if exts > maxHandshakeExts {
		t.Fatalf("%d extensions kept", exts)
	}
}

// FuzzBatch: a batch that parses is, appended again, a batch with the same
// messages.
func FuzzBatch(f *testing.F) {
	for _, b := range vectors(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		msgs, err := readAll(b)
		var again []byte
		for _, m := range msgs {
			bounded(t, m, len(b))
			if version0(m) {
				return
			}
			again = m.Append(again)
		}
		if err != nil {
			return
		}
		got, err := readAll(again)
		if err != nil {
			t.Fatalf("%x appended as %x: %v", b, again, err)
		}
		if d := cmp.Diff(msgs, got, cmpOpts); d != "" {
			t.Fatalf("%x appended as %x (-first +second):\n%s", b, again, d)
		}
	})
}

// FuzzFrame: the same for network messages alone, with one reader reused for
// both passes, whose leftovers must not show.
func FuzzFrame(f *testing.F) {
	for name, b := range vectors(f) {
		if datagram(name) {
			continue
		}
		var r Reader
		r.Reset(b)
		if r.Next() && r.Kind() == KindFrame {
			f.Add(b[len(r.Raw()):])
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Reader
		read := func(b []byte) (msgs []message) {
			r.ResetNetwork(b)
			n := 0
			for r.Next() {
				msgs = append(msgs, current(&r))
				n += len(r.Raw())
			}
			if r.Err() == nil && n != len(b) {
				t.Fatalf("%x: raw messages of %d bytes in %d", b, n, len(b))
			}
			return msgs
		}
		msgs := read(b)
		if r.Err() != nil {
			return
		}
		var again []byte
		for _, m := range msgs {
			again = m.Append(again)
		}
		got := read(again)
		if d := cmp.Diff(msgs, got, cmpOpts); d != "" || r.Err() != nil {
			t.Fatalf("%x appended as %x: %v (-first +second):\n%s", b, again, r.Err(), d)
		}
	})
}

// FuzzMessage: the same for each message alone; kind picks it.
func FuzzMessage(f *testing.F) {
	for name, b := range vectors(f) {
		if msgs, err := readVector(name, b); err == nil {
			for _, m := range msgs {
				for i, newM := range newMessage {
					c := NewCursor(m.Append(nil))
					if newM().Parse(&c); c.OK() {
						f.Add(byte(i), m.Append(nil))
					}
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		newM := newMessage[int(kind)%len(newMessage)]
		first, second := newM(), newM()
		c := NewCursor(b)
		first.Parse(&c)
		bounded(t, first, len(b))
		again := first.Append(nil) // of anything: no panic
		if !c.OK() || version0(first) {
			return
		}
		c = NewCursor(again)
		second.Parse(&c)
		if d := cmp.Diff(first, second, cmpOpts); d != "" || c.Err() != nil || c.Len() != 0 {
			t.Fatalf("%x appended as %x: %v, %d bytes left (-first +second):\n%s", b, again, c.Err(), c.Len(), d)
		}
	})
}

func FuzzVLE(f *testing.F) {
	for _, v := range []uint64{0, 127, 128, 1<<56 - 1, 1 << 56, math.MaxUint64} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v uint64) {
		b := AppendVLE(nil, v)
		if len(b) != VLELen(v) || len(b) > maxVLE {
			t.Fatalf("%d takes %d bytes, VLELen says %d", v, len(b), VLELen(v))
		}
		c := NewCursor(b)
		if got := VLE(&c, "number"); got != v || c.Len() != 0 || c.Err() != nil {
			t.Fatalf("%d reads back as %d, %d bytes left, %v", v, got, c.Len(), c.Err())
		}
		for i := range b {
			c := NewCursor(b[:i])
			if VLE(&c, "number"); c.Err() == nil {
				t.Fatalf("%x cut to %d bytes: no error", b, i)
			}
		}
	})
}
