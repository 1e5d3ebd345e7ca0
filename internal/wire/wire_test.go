package wire_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robospec/robospec/internal/wire"
)

func TestCursorReads(t *testing.T) {
	c := wire.NewCursor("test", []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17})
	if got := c.U8("a"); got != 1 {
		t.Errorf("U8 = %#x", got)
	}
	if got := c.U16("b"); got != 0x0302 {
		t.Errorf("U16 = %#x", got)
	}
	if got := c.U32("c"); got != 0x07060504 {
		t.Errorf("U32 = %#x", got)
	}
	if got := c.U64("d"); got != 0x0f0e0d0c0b0a0908 {
		t.Errorf("U64 = %#x", got)
	}
	if b, ok := c.Peek(); b != 16 || !ok || c.Offset() != 15 || c.Len() != 2 {
		t.Errorf("next is %d, %t at %d with %d left", b, ok, c.Offset(), c.Len())
	}
	rest := c.Rest()
	if d := cmp.Diff([]byte{16, 17}, rest); d != "" || cap(rest) != 2 || c.Err() != nil {
		t.Errorf("rest with capacity %d, %v:\n%s", cap(rest), c.Err(), d)
	}
	if b, ok := c.Peek(); ok {
		t.Errorf("Peek at the end = %d", b)
	}
	if b := c.Bytes("none", 0); b == nil || len(b) != 0 {
		t.Errorf("no bytes at the end = %v, want an empty slice that is not nil", b)
	}
}

func TestCursorFirstErrorSticks(t *testing.T) {
	c := wire.NewCursor("test", []byte{1, 2, 3})
	c.Enter("INIT")
	c.U8("header")
	if got := c.U32("cookie"); got != 0 {
		t.Errorf("failed U32 = %#x", got)
	}
	c.Fail("later", "other")
	if b := c.Bytes("more", 1); b != nil || c.U8("x") != 0 || c.Len() != 0 || c.OK() || c.Tail() != nil {
		t.Error("reads go on after a failure")
	}
	want := "test: INIT cookie at offset 1: 4 bytes wanted, 2 left"
	if err := c.Err(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	e, ok := errors.AsType[*wire.Error](c.Err())
	if !ok {
		t.Fatalf("error is a %T", c.Err())
	}
	if d := cmp.Diff(wire.Error{Proto: "test", Message: "INIT", Field: "cookie", Offset: 1, Reason: "4 bytes wanted, 2 left"}, *e); d != "" {
		t.Error(d)
	}
}

func TestCursorSub(t *testing.T) {
	c := wire.NewCursor("test", []byte{9, 1, 2, 3, 4})
	c.U8("header")
	s := c.Sub("body", 3)
	s.U8("one")
	inner := s.Sub("inner", 2)
	inner.U32("number")
	s.Adopt(&inner)
	c.Adopt(&s)
	want := "test: number at offset 2: 4 bytes wanted, 2 left"
	if err := c.Err(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}

	c = wire.NewCursor("test", []byte{1})
	s = c.Sub("body", 1<<63)
	if s.U8("x"); s.Err() == nil || s.Err() != c.Err() {
		t.Errorf("sub-cursor %v, parent %v, want one error", s.Err(), c.Err())
	}
}

func TestCursorLengths(t *testing.T) {
	for _, n := range []uint64{4, 1 << 31, 1 << 63, 1<<64 - 1} {
		c := wire.NewCursor("test", []byte{1, 2, 3})
		if b := c.Bytes64("body", n); b != nil || c.Err() == nil {
			t.Errorf("Bytes64(%d) = %v, %v", n, b, c.Err())
		}
	}
	c := wire.NewCursor("test", []byte{1, 2, 3})
	if b := c.Bytes("body", -1); b != nil || c.Err() == nil {
		t.Errorf("Bytes(-1) = %v, %v", b, c.Err())
	}
	for _, tt := range []struct {
		n    uint64
		size int
		want int
	}{
		{3, 1, 3}, {4, 1, 0}, {1, 2, 1}, {2, 2, 0}, {1<<64 - 1, 8, 0}, {3, 0, 3}, {0, 100, 0},
	} {
		c := wire.NewCursor("test", []byte{1, 2, 3})
		if got := c.Count("elements", tt.n, tt.size); got != tt.want || c.OK() != (uint64(tt.want) == tt.n) {
			t.Errorf("Count(%d, %d) = %d, %v", tt.n, tt.size, got, c.Err())
		}
	}
}

func TestZeroCursor(t *testing.T) {
	var c wire.Cursor
	if c.Len() != 0 || c.Err() != nil || c.U8("x") != 0 || c.Err() == nil {
		t.Errorf("zero cursor: %v", c.Err())
	}
}

// FuzzCursor runs a program of reads: none panics, none passes the end, and the
// offset never runs backwards.
func FuzzCursor(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, []byte("some input, more than enough for the reads"))
	f.Fuzz(func(t *testing.T, program, input []byte) {
		c := wire.NewCursor("fuzz", input)
		for i, op := range program {
			before := c.Offset()
			n := uint64(op >> 3)
			if op >= 0xf8 {
				n = ^uint64(0) - uint64(op)
			}
			switch op & 7 {
			case 0:
				c.U8("u8")
			case 1:
				c.U16("u16")
			case 2:
				c.U32("u32")
			case 3:
				c.U64("u64")
			case 4:
				c.Bytes64("bytes", n)
			case 5:
				s := c.Sub("sub", n)
				s.U32("u32")
				c.Adopt(&s)
			case 6:
				if k := c.Count("count", n, i); k*max(i, 1) > len(input) {
					t.Fatalf("Count allows %d elements of %d bytes in %d", k, i, len(input))
				}
			case 7:
				c.Skip("skip", int(op>>3))
			}
			if c.Offset() < before || c.Offset() > len(input) || c.Len() > len(input)-c.Offset() {
				t.Fatalf("offset went from %d to %d, %d left of %d", before, c.Offset(), c.Len(), len(input))
			}
		}
	})
}
