package cdr_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/builtin_interfaces"
	"github.com/robospec/robospec/msgs/cdr"
	"github.com/robospec/robospec/msgs/diagnostic_msgs"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/internal/test_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
	"github.com/robospec/robospec/msgs/std_srvs"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The bytes are what serialize_message of rclpy 7.1 (Jazzy, rmw_fastrtps_cpp)
// makes, its padding set to zero and the bytes behind the message cut off. The
// test in msgs/internal/interop asks rclpy itself, about every type.
func TestBytesOfRclpy(t *testing.T) {
	vector(t, std_msgs.String{Data: "abc"}, "00010000 04000000 61626300")
	vector(t, std_msgs.String{}, "00010000 01000000 00")
	vector(t, test_msgs.Empty{}, "00010000 00")
	vector(t, std_srvs.SetBoolRequest{Data: true}, "00010000 01")
	vector(t, std_srvs.SetBoolResponse{Success: true, Message: "ok"}, "00010000 01000000 03000000 6f6b00")
	// Nothing is aligned for the elements of an empty sequence.
	vector(t, std_msgs.Float64MultiArray{}, "00010000 00000000 00000000 00000000")
	vector(t, std_msgs.Float64MultiArray{Data: []float64{1}}, "00010000 00000000 00000000 01000000 00000000 000000000000f03f")
	vector(t, test_msgs.WStrings{WstringValue: "aé𝄞"},
		"00010000 04000000 61000000 e9000000 34d80000 1edd0000 00000000 00000000 00000000"+
			"00000000 00000000 00000000 00000000 00000000")
	vector(t, sensor_msgs.JointState{
		Header: std_msgs.Header{Stamp: builtin_interfaces.Time{Sec: -1, Nanosec: 999999999}, FrameID: "base"},
		Name:   []string{"a", "bc"}, Position: []float64{1, -2.5}, Effort: []float64{0.5},
	}, "00010000 ffffffff ffc99a3b 05000000 6261736500 000000 02000000 02000000 6100 0000 03000000 626300 00"+
		"02000000 00000000 000000000000f03f 00000000000004c0 00000000 01000000 000000000000e03f")
	vector(t, diagnostic_msgs.DiagnosticArray{Status: []diagnostic_msgs.DiagnosticStatus{{
		Level: diagnostic_msgs.DiagnosticStatusError, Name: "cpu", Message: "hot", HardwareID: "é",
		Values: []diagnostic_msgs.KeyValue{{Key: "t", Value: "99"}},
	}}}, "00010000 00000000 00000000 01000000 00000000 01000000 02000000 04000000 63707500 04000000 686f7400"+
		"03000000 c3a900 00 01000000 02000000 7400 0000 03000000 393900")
}

func vector[T any](t *testing.T, v T, want string) {
	t.Helper()
	c, err := msgs.CodecFor[T](msgs.CDR)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Append([]byte("odd"), v) // alignment counts from the message's own start
	if err != nil {
		t.Fatalf("%s: %v", c.TypeName(), err)
	}
	if diff := cmp.Diff(hex.EncodeToString(unhex(t, want)), hex.EncodeToString(got[3:])); diff != "" || string(got[:3]) != "odd" {
		t.Errorf("%s: -rclpy +ours\n%s", c.TypeName(), diff)
	}
	back, err := c.Decode(unhex(t, want))
	if diff := cmp.Diff(v, back); diff != "" || err != nil {
		t.Errorf("%s: decoded, error %v: -want +got\n%s", c.TypeName(), err, diff)
	}
}

func TestToleratesWhatSendersDo(t *testing.T) {
	for name, payload := range map[string]string{
		"no NUL":            "00010000 03000000 616263",
		"NUL":               "00010000 04000000 61626300",
		"bytes behind it":   "00010000 04000000 61626300 dead",
		"options":           "00010003 04000000 61626300",
		"big-endian":        "00000000 00000004 61626300",
		"big-endian no NUL": "00000000 00000003 616263",
	} {
		got, err := (*std_msgs.String)(nil).CDRCodec().Decode(unhex(t, payload))
		if err != nil || got.Data != "abc" {
			t.Errorf("%s: %q, %v", name, got.Data, err)
		}
	}
	if got, err := (*std_msgs.String)(nil).CDRCodec().Decode(unhex(t, "00010000 00000000")); err != nil || got.Data != "" {
		t.Errorf("a string of length 0: %q, %v", got.Data, err)
	}
	if got, err := (*std_msgs.Bool)(nil).CDRCodec().Decode(unhex(t, "00010000 7f")); err != nil || !got.Data {
		t.Errorf("a bool of 127: %t, %v", got.Data, err)
	}
	if got, err := (*test_msgs.Arrays)(nil).CDRCodec().Decode(append(unhex(t, "00010000 020001"), make([]byte, 2000)...)); err != nil || got.BoolValues != [3]bool{true, false, true} {
		t.Errorf("bools of 2, 0, 1: %v, %v", got.BoolValues, err)
	}
}

func TestErrorsOfDecode(t *testing.T) {
	tests := []struct {
		name, payload, want string
		decode              func([]byte) error
	}{
		{"nothing", "", "not a std_msgs/msg/String at byte 0: 0 bytes, and the encapsulation header alone has 4; the payload is cut short or no CDR", decode[std_msgs.String]},
		{"half a header", "000100", "not a std_msgs/msg/String at byte 0: 3 bytes, and the encapsulation header alone has 4; the payload is cut short or no CDR", decode[std_msgs.String]},
		{"XCDR2", "0007 0000 04000000 61626300", "not a std_msgs/msg/String at byte 0: encapsulation 0x0007 is XCDR2; ROS 2 messages are XCDR1 (0x0000, 0x0001): set the writer's data representation to XCDR1", decode[std_msgs.String]},
		{"PL_CDR", "0003 0000 04000000 61626300", "not a std_msgs/msg/String at byte 0: encapsulation 0x0003 is PL_CDR, a parameter list; ROS 2 messages are plain XCDR1 (0x0000, 0x0001)", decode[std_msgs.String]},
		{"text", hex.EncodeToString([]byte(`{"data": "abc"}`)), "not a std_msgs/msg/String at byte 0: encapsulation 0x7b22 is unknown; ROS 2 messages are XCDR1 (0x0000, 0x0001), so this payload is no ROS 2 message", decode[std_msgs.String]},
		{"4 GiB", "00010000 ffffffff 61", "not a std_msgs/msg/String at byte 8, field data: 4294967295 bytes wanted, 1 left; the payload is cut short, or its sender means another type", decode[std_msgs.String]},
		{"4 Gi strings", "00010000 00000000 00000000 01000000 00 000000 ffffffff 00000000", "not a sensor_msgs/msg/JointState at byte 24, field name: 4294967295 elements of at least 4 bytes wanted, 4 bytes left; the payload is cut short, or its sender means another type", decode[sensor_msgs.JointState]},
		{"4 Gi doubles", "00010000 00000000 00000000 01000000 00 000000 00000000 ffffffff 00000000", "not a sensor_msgs/msg/JointState at byte 28, field position: 4294967295 elements of at least 8 bytes wanted, 4 bytes left; the payload is cut short, or its sender means another type", decode[sensor_msgs.JointState]},
		{"nested", "00010000 00000000 00000000 01000000 00 000000 01000000 00 00000000 000000", "not a nav_msgs/msg/Odometry at byte 25, field pose.pose.position.x: 8 bytes wanted, 7 left; the payload is cut short, or its sender means another type", decode[nav_msgs.Odometry]},
		{"an element", "00010000 00000000 00000000 01000000 00 000000 02000000 01000000 00 000000 03000000 6162", "not a sensor_msgs/msg/JointState at byte 36, field name[1]: 3 bytes wanted, 2 left; the payload is cut short, or its sender means another type", decode[sensor_msgs.JointState]},
		{"within an element", "00010000 00000000 00000000 01000000 00 000000 01000000 02000000 0a000000 6162636465666768696a", "not a diagnostic_msgs/msg/DiagnosticArray at byte 42, field status[0].message: 4 bytes wanted, 0 left; the payload is cut short, or its sender means another type", decode[diagnostic_msgs.DiagnosticArray]},
		{"bound of a sequence", "00010000 04000000 01010101" + strings.Repeat("00", 900), "not a test_msgs/msg/BoundedPlainSequences at byte 8, field bool_values: 4 elements, and the sequence has a bound of 3; its sender means another type", decode[test_msgs.BoundedPlainSequences]},
		{"bound of a string", "00010000" + strings.Repeat("01000000 00 000000", 6) + "18000000" + strings.Repeat("61", 23) + "00" + strings.Repeat("01000000 00 000000", 9), "not a test_msgs/msg/Strings at byte 56, field bounded_string_value: a string of 23 bytes, and string<=22 has a bound of 22; its sender means another type", decode[test_msgs.Strings]},
		{"wide character", "00010000 02000000 61000000 62000100" + strings.Repeat("00", 99), "not a test_msgs/msg/WStrings at byte 12, field wstring_value: 0x10062 is no UTF-16 code unit; the sender writes wide characters in another way than Fast CDR", decode[test_msgs.WStrings]},
		{"no byte of an empty message", "00010000", "not a test_msgs/msg/Empty at byte 4, field structure_needs_at_least_one_member: 1 bytes wanted, 0 left; the payload is cut short, or its sender means another type", decode[test_msgs.Empty]},
	}
	for _, tt := range tests {
		err := tt.decode(unhex(t, tt.payload))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s:\n%v\nwant\n%s", tt.name, err, tt.want)
		}
		if _, ok := errors.AsType[*msgs.DecodeError](err); !ok {
			t.Errorf("%s: error is a %T", tt.name, err)
		}
	}
}

func decode[T any](payload []byte) error {
	c, err := msgs.CodecFor[T](msgs.CDR)
	if err != nil {
		return err
	}
	_, err = c.Decode(payload)
	return err
}

func TestErrorsOfAppend(t *testing.T) {
	tests := []struct {
		name, want string
		append     func(dst []byte) ([]byte, error)
	}{
		{"bound of a sequence", "encode test_msgs/msg/BoundedPlainSequences: field int16_values: 4 elements, and the sequence has a bound of 3",
			appendOf(test_msgs.BoundedPlainSequences{Int16Values: make([]int16, 4)})},
		{"bound of messages", "encode test_msgs/msg/BoundedSequences: field basic_types_values: 4 elements, and the sequence has a bound of 3",
			appendOf(test_msgs.BoundedSequences{BasicTypesValues: make([]test_msgs.BasicTypes, 4)})},
		{"bound of a string", "encode test_msgs/msg/Strings: field bounded_string_value: a string of 23 bytes, and string<=22 has a bound of 22",
			appendOf(test_msgs.Strings{BoundedStringValue: strings.Repeat("x", 23)})},
		{"nested", "encode test_msgs/msg/MultiNested: field bounded_sequence_of_bounded_sequences[1].bool_values: 5 elements, and the sequence has a bound of 3",
			appendOf(test_msgs.MultiNested{BoundedSequenceOfBoundedSequences: []test_msgs.BoundedSequences{{}, {BoolValues: make([]bool, 5)}}})},
	}
	for _, tt := range tests {
		got, err := tt.append([]byte("before"))
		if err == nil || err.Error() != tt.want || string(got) != "before" {
			t.Errorf("%s: %q,\n%v\nwant\n%s", tt.name, got, err, tt.want)
		}
	}
}

func appendOf[T any](v T) func([]byte) ([]byte, error) {
	return func(dst []byte) ([]byte, error) {
		c, err := msgs.CodecFor[T](msgs.CDR)
		if err != nil {
			return nil, err
		}
		return c.Append(dst, v)
	}
}

// The definitions at hand bound no wstring and hold no array of bounded strings.
func TestBoundsOfWStrings(t *testing.T) {
	w := cdr.NewWriter(nil, 0)
	w.WString("a", "x𝄞", 3)
	w.WStringSequence("b", []string{"", "𝄞"}, 2, 2)
	b, err := w.Done("t/msg/T")
	if err != nil {
		t.Fatal(err)
	}
	r := cdr.NewReader("t/msg/T", b)
	if a, b := r.WString("a", 3), r.WStringSequence("b", 2, 2); r.Err() != nil || a != "x𝄞" || len(b) != 2 || b[1] != "𝄞" {
		t.Errorf("%q, %q, %v", a, b, r.Err())
	}
	r = cdr.NewReader("t/msg/T", b)
	r.WString("a", 0)
	r.WStringSequence("b", 2, 1)
	if want := "not a t/msg/T at byte 32, field b[1]: a wstring of 2 UTF-16 code units, and wstring<=1 has a bound of 1; its sender means another type"; r.Err() == nil || r.Err().Error() != want {
		t.Errorf("%v\nwant\n%s", r.Err(), want)
	}
	w = cdr.NewWriter(nil, 0)
	w.Enter()
	w.WStringSequence("b", []string{"", "𝄞"}, 2, 1)
	w.Leave("in")
	if _, err := w.Done("t/msg/T"); err == nil || err.Error() != "encode t/msg/T: field in.b[1]: a wstring of 2 UTF-16 code units, and wstring<=1 has a bound of 1" {
		t.Error(err)
	}
}

func TestWhatIsNoUTF16IsReplaced(t *testing.T) {
	r := cdr.NewReader("t/msg/T", unhex(t, "00010000 03000000 1edd0000 61000000 34d80000"))
	if got := r.WString("a", 0); got != "\ufffda\ufffd" || r.Err() != nil {
		t.Errorf("%q, %v", got, r.Err())
	}
	w := cdr.NewWriter(nil, 0)
	w.WString("a", "\xff", 0)
	if b, err := w.Done("t/msg/T"); err != nil || hex.EncodeToString(b) != "0001000001000000fdff0000" {
		t.Errorf("%x, %v", b, err)
	}
}

func TestFirstFailureSticks(t *testing.T) {
	r := cdr.NewReader("t/msg/T", unhex(t, "00010000 00000000"))
	r.Uint64("first")
	r.Enter()
	r.Uint8("second")
	r.Fail("third", "never said")
	r.Leave("nested")
	r.Enter()
	if r.LeaveAt("more", 3); r.OK() || r.Len("n", 0, 1) != 0 || r.String("s", 0) != "" || r.Bytes("b", 0) != nil || r.BoolSequence("b", 0) != nil ||
		r.StringSequence("s", 0, 0) != nil || cdr.Sequence[int32](&r, "i", 0) != nil || r.WString("w", 0) != "" || r.Float64("f") != 0 {
		t.Error("reads go on after a failure")
	}
	cdr.Array(&r, "a", make([]int64, 2))
	r.Bools("a", make([]bool, 2))
	r.Strings("a", make([]string, 2), 0)
	if want := "not a t/msg/T at byte 4, field first: 8 bytes wanted, 4 left; the payload is cut short, or its sender means another type"; r.Err() == nil || r.Err().Error() != want {
		t.Errorf("%v\nwant\n%s", r.Err(), want)
	}
}

func TestBytesAliasThePayload(t *testing.T) {
	c := (*sensor_msgs.Image)(nil).CDRCodec()
	payload, err := c.Append(nil, sensor_msgs.Image{Data: []uint8{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	if unsafe.SliceData(got.Data) != &payload[len(payload)-3] || cap(got.Data) != 3 {
		t.Errorf("the data of the image is a copy, or an append to it (capacity %d) would write into the payload", cap(got.Data))
	}
}

func TestAllocations(t *testing.T) {
	odometry := nav_msgs.Odometry{Header: std_msgs.Header{FrameID: "odom"}, ChildFrameID: "base_link"}
	joints := sensor_msgs.JointState{Name: []string{"left", "right", "lift"}, Position: make([]float64, 3), Velocity: make([]float64, 3)}
	image := sensor_msgs.Image{Header: std_msgs.Header{FrameID: "camera"}, Encoding: "rgb8", Data: make([]byte, 1<<20)}
	path := nav_msgs.Path{Poses: make([]geometry_msgs.PoseStamped, 10)}
	allocates(t, odometry, 1, 2)                               // decoded: two strings
	allocates(t, joints, 3, 4)                                 // decoded: names, their bytes, positions, velocities
	allocates(t, image, 2, 2)                                  // decoded: two strings, for the data is the payload's
	allocates(t, path, 2, 1)                                   // decoded: poses
	allocates(t, test_msgs.WStrings{WstringValue: "日本"}, 1, 1) // decoded: a string
	allocates(t, std_msgs.UInt64MultiArray{Data: []uint64{1}}, 1, 1)
}

// allocates checks how often v is allocated for when it is appended to nothing
// (at most), to a buffer with just the room for it (never), and decoded.
func allocates[T any](t *testing.T, v T, appending, decoding float64) {
	t.Helper()
	c, err := msgs.CodecFor[T](msgs.CDR)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := c.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	room := make([]byte, 0, len(payload))
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Append(room, v) }); n != 0 {
		t.Errorf("%s appended to a buffer with room allocates %v times", c.TypeName(), n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Append(nil, v) }); n > appending {
		t.Errorf("%s appended to nothing allocates %v times, want at most %v", c.TypeName(), n, appending)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Decode(payload) }); n != decoding {
		t.Errorf("%s decoded allocates %v times, want %v", c.TypeName(), n, decoding)
	}
}
