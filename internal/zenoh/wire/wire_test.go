package wire

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	raw "github.com/robospec/robospec/internal/wire"
)

func TestVLE(t *testing.T) {
	for _, tt := range []struct {
		v   uint64
		hex string
	}{
		{0, "00"}, {0x7f, "7f"}, {0x80, "8001"}, {600000, "c0cf24"},
		{1<<56 - 1, "ffffffffffffff7f"},
		{1 << 56, "808080808080808001"},
		{math.MaxUint64, "ffffffffffffffffff"}, // the ninth byte carries 8 bits
	} {
		if got := AppendVLE(nil, tt.v); !bytes.Equal(got, unhex(tt.hex)) {
			t.Errorf("AppendVLE(%#x) = %x, want %s", tt.v, got, tt.hex)
		}
		c := NewCursor(append(unhex(tt.hex), 0xaa))
		if got := VLE(&c, "x"); got != tt.v || c.Len() != 1 {
			t.Errorf("VLE(%s) = %#x with %d bytes left", tt.hex, got, c.Len())
		}
	}
}

func TestZenohID(t *testing.T) {
	for _, tt := range []struct{ le, s string }{
		{"01aa", "aa01"},
		{"01020304", "4030201"},
		{"100f0e0d0c0b0a090807060504030205", "5020304" + "05060708090a0b0c0d0e0f10"}, // 31 digits
		{"0100", "1"}, // high zero bytes do not count
	} {
		z, err := NewZenohID(unhex(tt.le))
		if err != nil || z.String() != tt.s {
			t.Errorf("%s = %q, %v, want %q", tt.le, z, err, tt.s)
		}
		if back, err := ParseZenohID(tt.s); back != z || err != nil {
			t.Errorf("ParseZenohID(%q) = %q, %v", tt.s, back, err)
		}
	}
	for _, s := range []string{"", "0", "01", "A1", "g", strings.Repeat("1", 33)} {
		if z, err := ParseZenohID(s); err == nil {
			t.Errorf("ParseZenohID(%q) = %q, want an error", s, z)
		}
	}
	for _, le := range []string{"", "00", "0000", strings.Repeat("01", 17)} {
		if z, err := NewZenohID(unhex(le)); err == nil {
			t.Errorf("NewZenohID(%s) = %q, want an error", le, z)
		}
	}
	a, b := RandomZenohID(), RandomZenohID()
	if a == b || a.Len() != 16 || (ZenohID{}).String() != "" || !(ZenohID{}).IsZero() {
		t.Errorf("random ids %q and %q, zero id %q", a, b, ZenohID{})
	}
}

func TestNTP64(t *testing.T) {
	// From V5: 0x6b0d9e9378de2ed0 = 1796054675.472140s.
	if got := NTP64(0x6b0d9e9378de2ed0).Time().UnixMicro(); got != 1796054675472140 {
		t.Errorf("time of V5 = %d µs", got)
	}
	for _, ns := range []int64{0, 1, 2, 499_999_999, 999_999_999, 1796054675_123_456_789, math.MaxUint32*1e9 + 999_999_999} {
		at := time.Unix(ns/1e9, ns%1e9)
		if got := NTP64FromTime(at).Time(); !got.Equal(at) {
			t.Errorf("%v became %v", at, got)
		}
	}
	if NTP64FromTime(time.Unix(-1, 0)) != 0 || NTP64FromTime(time.Unix(1<<32, 0)) != math.MaxUint64 {
		t.Error("times out of range do not saturate")
	}
}

func TestEncodingString(t *testing.T) {
	for _, tt := range []struct {
		s string
		e Encoding
	}{
		{"zenoh/bytes", Encoding{}},
		{"text/plain;utf-8", Encoding{4, data("utf-8")}},
		{"application/cdr", Encoding{ID: 7}},
		{"application/yang", Encoding{ID: 37}},
		{"video/vp9", Encoding{ID: 52}},
		{"my/type;v=1", Encoding{EncodingCustom, data("my/type;v=1")}},
	} {
		if got := tt.e.String(); got != tt.s {
			t.Errorf("%+v prints %q, want %q", tt.e, got, tt.s)
		}
		got, err := ParseEncoding(tt.s)
		if d := cmp.Diff(tt.e, got); d != "" || err != nil {
			t.Errorf("ParseEncoding(%q): %v\n%s", tt.s, err, d)
		}
	}
	if e, err := ParseEncoding(""); err != nil || !e.IsZero() {
		t.Errorf(`ParseEncoding("") = %v, %v`, e, err)
	}
	if e, err := ParseEncoding("text/plain;" + strings.Repeat("x", 256)); err == nil {
		t.Errorf("schema of 256 bytes accepted: %v", e)
	}
	if got := (Encoding{ID: 99}).String(); got != "unknown(99)" {
		t.Errorf("id 99 prints %q", got)
	}
}

func TestResolution(t *testing.T) {
	for _, tt := range []struct {
		r       Resolution
		sn, rid uint32
	}{
		{0, 0x0fffffff, 0x0fffffff},
		{DefaultResolution, 0x0fffffff, 0x0fffffff},
		{ResolutionOf(0), 0x7f, 0x7f},
		{ResolutionOf(0x0d), 0x3fff, 0xffffffff},
		{DefaultResolution.Min(ResolutionOf(0x0d)), 0x3fff, 0x0fffffff},
		{ResolutionOf(0).Min(0), 0x7f, 0x7f},
	} {
		if tt.r.SNMask() != tt.sn || tt.r.RequestIDMask() != tt.rid {
			t.Errorf("%#x: masks %#x and %#x, want %#x and %#x", tt.r, tt.r.SNMask(), tt.r.RequestIDMask(), tt.sn, tt.rid)
		}
	}
}

func TestNewer(t *testing.T) {
	const mask = 0x0fffffff
	for _, tt := range []struct {
		last, sn, mask uint32
		want           bool
	}{
		{5, 6, mask, true},
		{5, 5, mask, false},
		{5, 4, mask, false},
		{5, 1000, mask, true}, // a gap
		{mask, 0, mask, true}, // the wrap
		{mask - 1, 3, mask, true},
		{0, mask, mask, false},
		{0, mask >> 1, mask, true},
		{0, mask>>1 + 1, mask, false}, // half the range
		{0x7f, 0, 0x7f, true},
		{0, 0x3f, 0x7f, true},
		{0, 0x40, 0x7f, false},
		{math.MaxUint32, 0, math.MaxUint32, true},
		{1, 0, math.MaxUint32, false},
	} {
		if got := Newer(tt.last, tt.sn, tt.mask); got != tt.want {
			t.Errorf("Newer(%#x, %#x, %#x) = %t", tt.last, tt.sn, tt.mask, got)
		}
	}
}

func TestQoS(t *testing.T) {
	var none QoS
	if none.Priority() != PriorityData || none.Block() || none.Express() || none.BlockFirst() {
		t.Errorf("absent QoS is %v", none)
	}
	q := NewQoS(PriorityControl, false, true)
	if q.IsZero() || q.Priority() != PriorityControl || q.Block() || !q.Express() {
		t.Errorf("control, express is %v", q)
	}
	// Priority control, drop, is 0 on the wire, and yet not absent.
	b := (&ResponseFinal{RequestID: 1, QoS: NewQoS(PriorityControl, false, false)}).Append(nil)
	if !bytes.Equal(b, unhex("9a01 2100")) {
		t.Errorf("appended %x", b)
	}
}

// TestFields round-trips what no vector has.
func TestFields(t *testing.T) {
	stamp := Timestamp{1 << 63, zid("b0b0")}
	source := SourceInfo{EntityID{zid("aa01"), 300}, 1 << 20}
	for _, m := range []message{
		&Init{Ack: true, Version: 8, WhatAmI: Peer, ZID: zid("1"), Resolution: ResolutionOf(0), BatchSize: 1, Cookie: []byte{}},
		&Open{Lease: 1500 * time.Millisecond, InitialSN: math.MaxUint32, Cookie: data("c"), Exts: []Ext{{Head: 0x0f}}},
		&Join{Version: 9, WhatAmI: Peer, ZID: zid(zidA), Resolution: DefaultResolution, BatchSize: 8192, Lease: 10 * time.Second,
			NextReliable: 1, NextBestEffort: 2, Exts: []Ext{{Head: 0x51, Body: make([]byte, 16)}}},
		&Fragment{SN: 1, QoS: NewQoS(PriorityBackground, true, true), Drop: true, Payload: []byte{}},
		&Push{Key: key(7, "x"), QoS: NewQoS(PriorityDataLow, true, false), NetTime: stamp, Data: Data{Delete: true, Timestamp: stamp, SourceInfo: source, Attachment: []byte{}}},
		&Request{ID: math.MaxUint32, Key: rkey(math.MaxUint16, ""), NetTime: stamp, SourceInfo: source, Value: Value{Payload: []byte{}}, Attachment: []byte{}},
		&Response{RequestID: 1, Consolidation: ConsolidationMonotonic, Data: Data{Delete: true, Timestamp: stamp}},
		&Response{RequestID: 1, Err: true, Data: Data{Encoding: Encoding{ID: 1}, SourceInfo: source, Payload: data("Timeout")}},
		&Declare{Kind: DeclareQueryable, ID: math.MaxUint32, Key: key(1, "y"), Queryable: QueryableInfo{true, 513}},
		&Declare{Kind: UndeclareToken, ID: 3, HasKey: true, Key: key(9, "a/b")},
		&Declare{Kind: UndeclareKeyExpr, ID: math.MaxUint16},
		&Interest{ID: 1, Mode: InterestFuture, Options: InterestAggregate | InterestQueryables},
		&OAM{ID: 2, Content: OAMNumber, Value: 77, QoS: QoSDeclare, Timestamp: stamp},
	} {
		b := m.Append(nil)
		var r Reader
		r.Reset(b)
		if b[0]&idMask >= minNetworkID {
			r.ResetNetwork(b)
		}
		if !r.Next() {
			t.Errorf("%+v: %v", m, r.Err())
			continue
		}
		if d := cmp.Diff(m, current(&r), cmpOpts); d != "" {
			t.Errorf("%T as %x (-want +got):\n%s", m, b, d)
		}
		if !bytes.Equal(r.Raw(), b) || r.Next() || r.Err() != nil {
			t.Errorf("%T: raw %x, then %v, %v", m, r.Raw(), r.Kind(), r.Err())
		}
		for i := 1; i < len(b); i++ {
			c := NewCursor(b[:i])
			if m.Parse(&c); c.OK() {
				if _, ok := m.(*Fragment); !ok {
					t.Errorf("%T %x cut to %d bytes: no error", m, b, i)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, hex, want string
	}{
		{"cookie", "61091001aa0a00c0 31 010203", "zenoh: INIT cookie at offset 9: 49 bytes wanted, 3 left"},
		{"role", "010913 01aa", "zenoh: INIT whatami at offset 2: 3 is no role"},
		{"zero zid", "010912 0000", "zenoh: INIT zid at offset 3: 2 bytes that are all zero, or none, or more than 16"},
		{"batch size", "410912 01aa 0a0000", "zenoh: INIT batch size at offset 6: 0 bytes"},
		{"unknown id", "08", "zenoh: message at offset 0: unknown id 0x08"},
		{"no frame", "041d0001", "zenoh: message at offset 1: network message 0x1d outside a frame"},
		{"mandatory extension", "2501 9d00 3100 01 00", "zenoh: PUSH extension at offset 6: 0x31 is mandatory and unknown"},
		{"shm", "2501 1d00 81 12 00", "zenoh: PUT extension at offset 6: 0x12 is mandatory and unknown"},
		{"reserved extension", "2501 9d00 60 01 00", "zenoh: PUSH extension at offset 4: 0x60 has the reserved encoding"},
		{"scope", "2501 1d 808004 0100", "zenoh: PUSH key scope at offset 3: 65536 exceeds 65535"},
		{"body", "2501 1d 00 03", "zenoh: PUSH body header at offset 4: message id 0x03, want 0x01 (PUT) or 0x02 (DEL)"},
		{"declaration", "2501 1e 0b", "zenoh: declaration 0x0b declaration header at offset 3: unknown id 0x0b"},
		{"target", "2501 9c01 00 3403 03", "zenoh: REQUEST target at offset 5: 3 is no target"},
		{"nested", "2501 1d 00 81 41 02 f001 00", "zenoh: PUT zid at offset 8: 16 bytes wanted, 1 left"},
		{"schema", "2501 1d 00 41 01 8002", "zenoh: PUT encoding schema length at offset 6: 256 exceeds 255"},
	} {
		_, err := readAll(unhex(tt.hex))
		if _, ok := errors.AsType[*raw.Error](err); !ok || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", tt.name, err, tt.want)
		}
	}
	var r Reader
	r.ResetNetwork([]byte{idKeepAlive})
	if r.Next() || r.Err() == nil {
		t.Error("a transport message in a reassembled message is accepted")
	}
}

// TestUnknownExtensionsSkipped: unknown and not mandatory, of every encoding,
// in every place that has a list.
func TestUnknownExtensionsSkipped(t *testing.T) {
	const list = "8d ad8001 4d02ffff" // unit, number, bytes
	for _, s := range []string{
		"83 00" + list,
		"84" + list,
		"a5 01" + list,
		"a5 01" + list + "1a01", // the list does not swallow what follows
		"25 01 9d 00" + list + "0100",
		"25 01 1d 00 81" + list + "00",
		"25 01 1d 00 82" + list,
		"25 01 9c 01 00" + list + "83" + list,
		"25 01 9b 01 00" + list + "84" + list + "0100",
		"25 01 1b 01 00 85" + list + "00",
		"25 01 9a 01" + list,
		"25 01 9e" + list + "82 01 00" + list,
		"25 01 1e 83 01" + list,
		"25 01 1e 9a" + list,
		"25 01 99 01" + list,
		"25 01 9f 01" + list,
		"86 01" + list,
		"25 01 9d 00 3305 0100", // NodeId: mandatory, known, without use
	} {
		if _, err := readAll(unhex(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// TestHostileLengths: what the input claims is not allocated.
func TestHostileLengths(t *testing.T) {
	const huge = "ffffffffffffffffff"
	inputs := [][]byte{
		unhex("61091001aa0a00c0" + huge),
		unhex("2501 1d 00 01" + huge),
		unhex("2501 3d 00" + huge),
		unhex("2501 5f01" + huge),
		unhex("c10912 01aa 0a00c0" + strings.Repeat("8f", 60000)), // extensions without end
	}
	hello := unhex("22091001aa" + huge)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, b := range inputs {
		var r Reader
		r.Reset(b)
		for r.Next() {
		}
		if r.Err() == nil {
			t.Errorf("%.20x: no error", b)
		}
	}
	var h Hello
	c := NewCursor(hello)
	if h.Parse(&c); c.Err() == nil {
		t.Error("hello: no error")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
		t.Errorf("%d bytes allocated", n)
	}
}

// rosPut is a publication as rmw_zenoh sends it.
func rosPut(payload int) *Push {
	return &Push{
		Key: rkey(0, "0/chatter/std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"),
		QoS: QoSRequest,
		Data: Data{
			Timestamp:  Timestamp{0x6b0da2821e500110, zid(zidB)},
			SourceInfo: SourceInfo{EntityID{zid(zidB), 22}, 7},
			Attachment: make([]byte, 33),
			Payload:    make([]byte, payload),
		},
	}
}

func TestNoAllocations(t *testing.T) {
	m := rosPut(256)
	buf := make([]byte, 0, 4096)
	var r Reader
	n := testing.AllocsPerRun(100, func() {
		f := Frame{Reliable: true, SN: 77}
		buf = f.Append(buf[:0])
		buf = m.Append(buf)
		buf = m.Append(buf)
		r.Reset(buf)
		k := 0
		for r.Next() {
			k++
		}
		if k != 3 || len(r.Push.Payload) != 256 {
			t.Error("not read back")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for a frame of two puts", n)
	}
}

func BenchmarkPush(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"64B", 64}, {"1KiB", 1 << 10}, {"32KiB", 32 << 10}} {
		m := rosPut(size.n)
		f := Frame{Reliable: true, SN: 77}
		buf := make([]byte, 0, MaxBatch)
		batch := m.Append(f.Append(nil))
		b.Run("append/"+size.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(batch)))
			for b.Loop() {
				buf = m.Append(f.Append(buf[:0]))
			}
		})
		b.Run("parse/"+size.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(batch)))
			var r Reader
			for b.Loop() {
				r.Reset(batch)
				for r.Next() {
				}
			}
			if r.Err() != nil {
				b.Fatal(r.Err())
			}
		})
	}
}

func TestStrings(t *testing.T) {
	for _, tt := range []struct {
		got  interface{ String() string }
		want string
	}{
		{Router, "router"}, {Peer, "peer"}, {Client, "client"}, {WhatAmI(7), "whatami(7)"},
		{KindNone, "none"}, {KindOAM, "OAM"}, {Kind(99), "kind 99"},
		{CloseInvalid, "invalid"}, {CloseConnectionToSelf, "connection to self"}, {CloseReason(8), "reason 8"},
		{QoS(0), "default"}, {QoSRequest, "priority=5 block=true express=false"},
		{DeclareFinal, "D_FINAL"}, {DeclareKind(9), "declaration 0x09"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%#v prints %q, want %q", tt.got, got, tt.want)
		}
	}
}
