package dynamic

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/rosidl"
)

func TestCodec(t *testing.T) {
	set := arm(t)
	c := must(Codec(set, "arm/msg/Arm"))
	if c.Encoding() != msgs.CDR || c.TypeName() != "arm/msg/Arm" || c.TypeHash() != must(set.Hash("arm/msg/Arm")) {
		t.Errorf("%q %q %q", c.Encoding(), c.TypeName(), c.TypeHash())
	}
	dst := []byte("before")
	b, err := c.Append(dst, must(New(set, "arm/msg/Arm")))
	if err != nil || !bytes.HasPrefix(b, append(dst, 0, 1, 0, 0)) {
		t.Errorf("%q, %v", b, err)
	}
	other := arm(t)
	if err := other.Add("", "arm/msg/Point", []byte("float32 x")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		codec msgs.Codec[*Message]
		m     *Message
		want  string
	}{
		{c, nil, "encode arm/msg/Arm: nil message"},
		{c, must(New(set, "arm/msg/Point")), "encode arm/msg/Arm: the message is an arm/msg/Point"},
		{c, must(New(other, "arm/msg/Arm")), "encode arm/msg/Arm: the message was made by another definition of it"},
	} {
		if b, err := c.codec.Append(dst, c.m); err == nil || err.Error() != c.want || string(b) != "before" {
			t.Errorf("%q, %v; want %s", b, err, c.want)
		}
	}
	for _, name := range []string{"arm/msg/Broken", "arm/msg/None", "arm/srv/Grip"} {
		if _, err := Codec(set, name); err == nil {
			t.Errorf("%s has a codec", name)
		}
		if _, err := New(set, name); err == nil {
			t.Errorf("%s has a message", name)
		}
	}
}

func TestService(t *testing.T) {
	set := arm(t)
	if _, err := Service(set, "arm/srv/Grip"); !errors.Is(err, rosidl.ErrUnknown) || !strings.Contains(err.Error(), "service_msgs") {
		t.Errorf("without service_msgs: %v", err)
	}
	for name, text := range map[string]string{
		"service_msgs/msg/ServiceEventInfo": "uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\nint64 sequence_number",
		"builtin_interfaces/msg/Time":       "int32 sec\nuint32 nanosec",
	} {
		if err := set.Add("", name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Service(set, "arm/srv/Grip")
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "arm/srv/Grip" || s.Hash != must(set.Hash("arm/srv/Grip")) ||
		s.Request.TypeName() != "arm/srv/Grip_Request" || s.Response.TypeName() != "arm/srv/Grip_Response" {
		t.Errorf("%+v", s)
	}
}

// TestBigEndian has bytes written by hand, from the table of sizes and
// alignments in DDS-XTypes 1.3, 7.4.3.
func TestBigEndian(t *testing.T) {
	set := new(rosidl.Set)
	if err := set.Add("", "p/msg/A", []byte("uint8 a\nuint16 b\nfloat64 c\nstring d\nint32[] e\nwstring f\nB[<=2] g")); err != nil {
		t.Fatal(err)
	}
	if err := set.Add("", "p/msg/B", []byte("bool x\nint64 y")); err != nil {
		t.Fatal(err)
	}
	src := must(hex.DecodeString(strings.ReplaceAll("00000000"+
		"07 ff 0102 ffffffff 3ff8000000000000"+ // a, padding, b, padding, c
		"00000003 686900 ff"+ // d, padding
		"00000002 fffffffe 00000003"+ // e
		"00000001 000000e9"+ // f
		"00000002 01 ffffffffffffff fffffffffffffffb 00 ffffffffffffff 7fffffffffffffff", " ", ""))) // g
	m, err := must(Codec(set, "p/msg/A")).Decode(src)
	if err != nil {
		t.Fatal(err)
	}
	const want = "{a: 7, b: 258, c: 1.5, d: hi, e: [-2, 3], f: 'é', g: [{x: true, y: -5}, {x: false, y: 9223372036854775807}]}"
	if got := m.GomegaString(); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

func TestWrongEncapsulation(t *testing.T) {
	c := must(Codec(arm(t), "arm/msg/Empty"))
	for _, src := range []string{"", "\x00\x01\x00", "\x00\x03\x00\x00\x00", "\x00\x07\x00\x00\x00", "\xff\xff\x00\x00\x00", "\x00\x01\x00\x00"} {
		var bad *msgs.DecodeError
		if m, err := c.Decode([]byte(src)); !errors.As(err, &bad) || bad.Type != "arm/msg/Empty" {
			t.Errorf("%q: %v, %v", src, m, err)
		}
	}
}

// TestTruncation cuts messages of every type of the wheels at every byte.
func TestTruncation(t *testing.T) {
	for _, s := range structures(t) {
		r := rand.New(rand.NewPCG(2, 3))
		c := codec{t: s}
		src := must(c.Append(nil, s.random(r)))
		src = src[:min(len(src), 2000)] // MultiNested has megabytes of the same kinds
		for n := range src {
			var bad *msgs.DecodeError
			if m, err := c.Decode(src[:n]); !errors.As(err, &bad) {
				t.Fatalf("%s: %d of %d bytes decode: %v, %v\n%x", s.name, n, len(src), m, err, src)
			}
		}
	}
}

// TestHugeLengths writes a length of 4 GiB at every place of messages of every
// type: none makes the decoder allocate for it.
func TestHugeLengths(t *testing.T) {
	for _, s := range structures(t) {
		if s.name == "test_msgs/msg/MultiNested" {
			continue // megabytes of the same kinds
		}
		r := rand.New(rand.NewPCG(4, 5))
		c := codec{t: s}
		src := must(c.Append(nil, s.random(r)))
		for at := 4; at+4 <= len(src); at += 4 {
			changed := bytes.Clone(src)
			copy(changed[at:], "\xff\xff\xff\xff")
			if n := allocated(func() { _, _ = c.Decode(changed) }); n > 100*uint64(len(src))+10_000 {
				t.Fatalf("%s: %d bytes allocated for %d", s.name, n, len(src))
			}
		}
	}
	set := new(rosidl.Set)
	for name, text := range map[string]string{
		"p/msg/Array":    "int8 x\nfloat64[2147483647] y",
		"p/msg/Nested":   "Array[2147483647] a",
		"p/msg/Deeper":   "Nested[2147483647] n",
		"p/msg/Sequence": "Deeper[] d",
	} {
		if err := set.Add("", name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"p/msg/Array", "p/msg/Nested", "p/msg/Deeper", "p/msg/Sequence"} {
		s := must(compile(set, name))
		for _, src := range [][]byte{nil, append([]byte("\x00\x01\x00\x00"), make([]byte, 100)...), []byte("\x00\x01\x00\x00\xff\xff\xff\xff")} {
			if name == "p/msg/Sequence" && len(src) > 10 {
				continue // an empty sequence, and fine
			}
			n := allocated(func() {
				if m, err := (codec{t: s}).Decode(src); err == nil {
					t.Errorf("%s: %v", name, m)
				}
			})
			if n > 100_000 {
				t.Errorf("%s: %d bytes allocated for %d", name, n, len(src))
			}
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestRoundTrip(t *testing.T) {
	s := must(compile(arm(t), "arm/msg/Arm"))
	c := codec{t: s}
	r := rand.New(rand.NewPCG(6, 7))
	for range 500 {
		m := s.random(r)
		src := must(c.Append(nil, m))
		back := must(c.Decode(src))
		if back.YAML() != m.YAML() || !bytes.Equal(must(c.Append(nil, back)), src) {
			t.Fatalf("%s\nis back as\n%s", m.YAML(), back.YAML())
		}
	}
}

func FuzzDecode(f *testing.F) {
	set := arm(f)
	var all []codec
	r := rand.New(rand.NewPCG(8, 9))
	for i, name := range []string{"arm/msg/Arm", "arm/msg/Joint", "arm/msg/Empty", "arm/srv/Grip_Request"} {
		c := codec{t: must(compile(set, name))}
		all = append(all, c)
		for range 3 {
			f.Add(uint8(i), must(c.Append(nil, c.t.random(r))))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, src []byte) {
		c := all[int(which)%len(all)]
		m, err := c.Decode(src)
		if err != nil {
			var bad *msgs.DecodeError
			if !errors.As(err, &bad) || bad.Offset > int64(len(src)) {
				t.Errorf("%T %v", err, err)
			}
			return
		}
		again, err := c.Append(nil, m)
		if err != nil {
			t.Fatalf("decoded, and not encoded: %v", err)
		}
		if back := must(c.Decode(again)); back.YAML() != m.YAML() {
			t.Errorf("%s\nis back as\n%s", m.YAML(), back.YAML())
		}
		_ = must(m.MarshalJSON())
		if utf8OK(m) {
			copied := c.t.fresh()
			if err := copied.SetYAML(m.YAML()); err != nil || copied.YAML() != m.YAML() {
				t.Errorf("%v\n%s\nis back as\n%s", err, m.YAML(), copied.YAML())
			}
		}
	})
}

// utf8OK reports whether the strings of m are UTF-8: what is not does not come
// back from a text.
func utf8OK(m *Message) bool {
	return !strings.Contains(m.YAML(), "\uFFFD") && !strings.Contains(m.YAML(), `\ufffd`)
}

func FuzzSet(f *testing.F) {
	for _, seed := range []struct{ path, text string }{
		{"joints[0].points[1].x", everything}, {"", "big: 1"}, {"flags[2]", "joints: [{}]"}, {"corners[1].", "words: [a, 'b']"}, {"label", `{"label": "\ud83e\udd16"}`},
	} {
		f.Add(seed.path, seed.text)
	}
	s := must(compile(arm(f), "arm/msg/Arm"))
	f.Fuzz(func(t *testing.T, path, text string) {
		m := s.fresh()
		if err := m.SetYAML(text); err != nil {
			if m.YAML() != s.fresh().YAML() {
				t.Errorf("changed, though %v", err)
			}
			return
		}
		if _, err := (codec{t: s}).Append(nil, m); err != nil {
			t.Errorf("set, and not encoded: %v", err)
		}
		if utf8OK(m) {
			back := s.fresh()
			if err := back.SetYAML(m.YAML()); err != nil || back.YAML() != m.YAML() {
				t.Errorf("%v\n%s\nis back as\n%s", err, m.YAML(), back.YAML())
			}
		}
		v, err := m.Get(path)
		if err != nil {
			return
		}
		before := m.YAML()
		if err := m.Set(path, v); err != nil || m.YAML() != before {
			t.Errorf("%s set to itself: %v\n%s\nwas\n%s", path, err, m.YAML(), before)
		}
	})
}

func BenchmarkDecodeOdometry(b *testing.B) {
	for _, s := range structures(b) {
		if s.name != "nav_msgs/msg/Odometry" {
			continue
		}
		c := codec{t: s}
		src := must(c.Append(nil, s.fresh()))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Decode(src); err != nil {
				b.Fatal(err)
			}
		}
	}
}
