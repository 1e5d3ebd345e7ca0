package dynamic

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robospec/robospec/msgs/rosidl"
)

// arm is a small package of its own.
func arm(tb testing.TB) *rosidl.Set {
	tb.Helper()
	set := new(rosidl.Set)
	for name, text := range map[string]string{
		"arm/msg/Point":  "float64 x 1.5\nfloat32 y\nfloat64 z",
		"arm/msg/Empty":  "",
		"arm/msg/Joint":  "string<=5 name\nint8 id -1\nuint16[2] limits [10, 20]\nPoint[<=2] points\nfloat32[] samples\nbyte[] raw",
		"arm/msg/Arm":    "string frame_id base\nJoint[] joints\nPoint[2] corners\nEmpty nothing\nbool on\nwstring<=3 label 'été'\nuint64 big\nint64 deep\nstring[<=2] words\nbool[3] flags",
		"arm/msg/Broken": "Missing m",
		"arm/srv/Grip":   "float64 force\n---\nbool ok",
	} {
		if err := set.Add("", name, []byte(text)); err != nil {
			tb.Fatal(err)
		}
	}
	return set
}

const everything = `{
  frame_id: 'a: b', on: yes, big: 18446744073709551615, deep: -0x10, label: null_, nothing: {}, words: [12, 'x'], flags: [true, false, on],
  joints: [{name: one, limits: [1, 65535], points: [{x: 1}, {}], samples: [.nan, -.inf, 1e3, 0.1], raw: !!binary aGk=}, {id: -128}],
  corners: [{z: 3}, {y: 4}]}`

func TestDefaultsAndYAML(t *testing.T) {
	m := must(New(arm(t), "arm/msg/Arm"))
	const defaults = `frame_id: base
joints: []
corners:
- x: 1.5
  y: 0.0
  z: 0.0
- x: 1.5
  y: 0.0
  z: 0.0
nothing: {}
on: false
label: 'été'
big: 0
deep: 0
words: []
flags:
- false
- false
- false
`
	if diff := cmp.Diff(defaults, m.String()); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	if err := m.SetYAML(strings.ReplaceAll(everything, "null_", "abc")); err != nil {
		t.Fatal(err)
	}
	const want = `frame_id: 'a: b'
joints:
- name: one
  id: -1
  limits:
  - 1
  - 65535
  points:
  - x: 1.0
    y: 0.0
    z: 0.0
  - x: 1.5
    y: 0.0
    z: 0.0
  samples:
  - .nan
  - -.inf
  - 1000.0
  - 0.1
  raw:
  - 104
  - 105
- name: ''
  id: -128
  limits:
  - 10
  - 20
  points: []
  samples: []
  raw: []
corners:
- x: 1.5
  y: 0.0
  z: 3.0
- x: 1.5
  y: 4.0
  z: 0.0
nothing: {}
on: true
label: abc
big: 18446744073709551615
deep: -16
words:
- '12'
- x
flags:
- true
- false
- true
`
	if diff := cmp.Diff(want, m.YAML()); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	const wantJSON = `{"frame_id":"a: b","joints":[` +
		`{"name":"one","id":-1,"limits":[1,65535],"points":[{"x":1.0,"y":0.0,"z":0.0},{"x":1.5,"y":0.0,"z":0.0}],"samples":["NaN","-Infinity",1000.0,0.1],"raw":[104,105]},` +
		`{"name":"","id":-128,"limits":[10,20],"points":[],"samples":[],"raw":[]}],` +
		`"corners":[{"x":1.5,"y":0.0,"z":3.0},{"x":1.5,"y":4.0,"z":0.0}],"nothing":{},"on":true,"label":"abc","big":18446744073709551615,"deep":-16,"words":["12","x"],"flags":[true,false,true]}`
	if diff := cmp.Diff(wantJSON, string(must(json.Marshal(m)))); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	back := must(New(arm(t), "arm/msg/Arm"))
	if err := back.SetYAML(wantJSON); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, back.YAML()); diff != "" {
		t.Errorf("JSON read back (- want, + got):\n%s", diff)
	}
	const line = `{frame_id: 'a: b', joints: [{name: one, id: -1, limits: [1, 65535], points: [{x: 1.0, y: 0.0, z: 0.0}, {x: 1.5, y: 0.0, z: 0.0}], samples: [.nan, -.inf, 1000.0, 0.1], raw: [104, 105]}, {name: '', id: -128, limits: [10, 20], points: [], samples: [], raw: []}], corners: [{x: 1.5, y: 0.0, z: 3.0}, {x: 1.5, y: 4.0, z: 0.0}], nothing: {}, on: true, label: abc, big: 18446744073709551615, deep: -16, words: ['12', x], flags: [true, false, true]}`
	if diff := cmp.Diff(line, m.GomegaString()); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	for _, empty := range []string{"", "{}", "# nothing", "~", "null"} {
		if err := back.SetYAML(empty); err != nil || back.YAML() != defaults {
			t.Errorf("%q: %v\n%v", empty, err, back)
		}
	}
}

func TestStringIsShort(t *testing.T) {
	m := must(New(arm(t), "arm/msg/Joint"))
	if err := m.Set("raw", make([]byte, 1_000_000)); err != nil {
		t.Fatal(err)
	}
	if err := m.Set("name", "é5678"); err == nil || err.Error() != "field name: found a string of 6 bytes, expected at most 5" {
		t.Error(err)
	}
	s := m.String()
	if n := strings.Count(s, "\n- 0"); n != 128 || !strings.HasSuffix(s, "\n# and 999872 more\n") {
		t.Errorf("%d zeros\n%s", n, s)
	}
	if n := strings.Count(m.YAML(), "\n- 0"); n != 1_000_000 {
		t.Errorf("%d zeros in YAML", n)
	}
	if s := m.GomegaString(); !strings.HasSuffix(s, "0, … 999984 more]}") {
		t.Error(s)
	}
}

func TestGetAndSet(t *testing.T) {
	m := must(New(arm(t), "arm/msg/Arm"))
	if err := m.SetYAML("joints: [{}, {points: [{}], samples: [1, 2]}]"); err != nil {
		t.Fatal(err)
	}
	type name string
	for _, c := range []struct {
		path        string
		value, want any
	}{
		{"frame_id", name("map"), "map"},
		{"on", true, true},
		{"big", 7, uint64(7)},
		{"big", uint64(math.MaxUint64), uint64(math.MaxUint64)},
		{"deep", float64(math.MinInt64), int64(math.MinInt64)},
		{"big", json.Number("18446744073709551615"), uint64(math.MaxUint64)},
		{"joints[1].id", uint8(127), int8(127)},
		{"joints[1].samples[1]", 3, float32(3)},
		{"joints[1].samples[0]", "Infinity", float32(math.Inf(1))},
		{"joints[1].samples", []float64{1, 2.5}, []float32{1, 2.5}},
		{"joints[1].raw", [2]byte{1, 2}, []uint8{1, 2}},
		{"joints[1].raw[1]", 3, uint8(3)},
		{"joints[0].limits", []any{1.0, 2}, []uint16{1, 2}},
		{"joints[1].points[0].x", 9, 9.0},
		{"corners[1].z", float32(0.5), 0.5},
		{"flags[2]", true, true},
		{"words", []string{"a"}, []string{"a"}},
		{"label", "🤖x", "🤖x"},
	} {
		if err := m.Set(c.path, c.value); err != nil {
			t.Error(err)
			continue
		}
		if got, err := m.Get(c.path); err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%s: %T %v, %v; want %T %v", c.path, got, got, err, c.want, c.want)
		}
	}
	corner := must(m.Get("corners[0]")).(*Message)
	if err := m.Set("corners[1]", corner); err != nil {
		t.Fatal(err)
	}
	if err := m.Set("corners[1].x", 77); err != nil {
		t.Fatal(err)
	}
	if x := must(m.Get("corners[0].x")); x != 1.5 {
		t.Errorf("a message was set and not copied: x is %v", x)
	}
	clone := must(m.Get("")).(*Message).Clone()
	if err := clone.Set("joints[1].samples[0]", 4); err != nil {
		t.Fatal(err)
	}
	if x := must(m.Get("joints[1].samples[0]")); x != float32(1) {
		t.Errorf("a clone shares its elements: %v", x)
	}
	if err := m.Set("", map[string]any{"frame_id": "new"}); err != nil || must(m.Get("big")) != uint64(0) {
		t.Errorf("%v\n%v", err, m)
	}
	if diff := cmp.Diff([]string{"x", "y", "z"}, corner.Fields()); diff != "" || corner.TypeName() != "arm/msg/Point" {
		t.Errorf("%s %s", corner.TypeName(), diff)
	}
}

// TestErrors is also that a message is as it was when there was one.
func TestErrors(t *testing.T) {
	m := must(New(arm(t), "arm/msg/Arm"))
	if err := m.SetYAML("joints: [{points: [{}], samples: [1, 2]}]"); err != nil {
		t.Fatal(err)
	}
	before := m.YAML()
	point := must(m.Get("corners[0]"))
	for _, c := range []struct {
		path  string
		value any
		want  string
	}{
		{"frame", "", `no field "frame" in arm/msg/Arm, which has frame_id, joints, corners, nothing, on, label, big, deep, words, flags`},
		{"joints[0].points[0].w", 1, `no field "w" in arm/msg/Point, which has x, y, z`},
		{"nothing.x", 1, `no field "x" in arm/msg/Empty, which has no fields`},
		{"joints[1].id", 1, `no element 1 in joints, which has 1: path "joints[1].id"`},
		{"joints[-1]", 1, `step "joints[-1]" of path "joints[-1]" is neither a name nor a name and an index such as ranges[0]`},
		{"joints[0", 1, `step "joints[0" of path "joints[0" is neither a name nor a name and an index such as ranges[0]`},
		{"joints[0][0]", 1, `step "joints[0][0]" of path "joints[0][0]" is neither a name nor a name and an index such as ranges[0]`},
		{"joints.id", 1, `joints is an arm/msg/Joint[] and has no fields: path "joints.id"`},
		{"big.x", 1, `big is a uint64 and has no fields: path "big.x"`},
		{"big[0]", 1, `big is a uint64 and has no elements: path "big[0]"`},
		{"big.", 1, `big is a uint64 and has no fields: path "big."`},
		{".big", 1, `no field "" in arm/msg/Arm, which has frame_id, joints, corners, nothing, on, label, big, deep, words, flags`},
		{"", 3, `found 3, expected the fields of arm/msg/Arm: frame_id, joints, corners, nothing, on, label, big, deep, words, flags`},
		{"", (*Message)(nil), `found nothing, expected the fields of arm/msg/Arm: frame_id, joints, corners, nothing, on, label, big, deep, words, flags`},
		{"", point, `found an arm/msg/Point, expected the fields of arm/msg/Arm: frame_id, joints, corners, nothing, on, label, big, deep, words, flags`},
		{"corners[0]", map[string]any{"x": 1, "w": 2}, `field corners[0]: no field "w" in arm/msg/Point, which has x, y, z`},
		{"corners", []any{map[string]any{"x": "a"}, nil}, `field corners[0].x: found "a", expected a float64`},
		{"corners", []any{map[string]any{}, nil}, `field corners[1]: found nothing, expected the fields of arm/msg/Point: x, y, z`},
		{"corners", []any{}, `field corners: found 0 elements, expected exactly 2`},
		{"words", []string{"a", "b", "c"}, `field words: found 3 elements, expected at most 2`},
		{"words", "a", `field words: found "a", expected the elements of string[<=2]`},
		{"words", map[string]any{}, `field words: found a map, expected the elements of string[<=2]`},
		{"words", []any{"a", 1}, `field words[1]: found 1, expected a string`},
		{"joints[0].name", "sixsix", `field joints[0].name: found a string of 6 bytes, expected at most 5`},
		{"label", "🤖🤖", `field label: found a string of 4 UTF-16 code units, expected at most 3`},
		{"label", nil, `field label: found nothing, expected a string`},
		{"on", 1, `field on: found 1, expected true or false`},
		{"big", -1, `field big: found -1, expected an integer from 0 to 18446744073709551615`},
		{"big", float64(1 << 63 * 2), `field big: found 1.8446744073709552e+19, expected an integer from 0 to 18446744073709551615`},
		{"deep", uint64(1 << 63), `field deep: found 9223372036854775808, expected an integer from -9223372036854775808 to 9223372036854775807`},
		{"deep", math.Inf(-1), `field deep: found -Inf, expected an integer from -9223372036854775808 to 9223372036854775807`},
		{"deep", 1.5, `field deep: found 1.5, expected an integer`},
		{"deep", math.NaN(), `field deep: found NaN, expected an integer`},
		{"deep", "1", `field deep: found "1", expected an integer`},
		{"deep", []any{1}, `field deep: found a list of 1, expected an integer`},
		{"joints[0].id", 128, `field joints[0].id: found 128, expected an integer from -128 to 127`},
		{"joints[0].limits", []int{1, -1}, `field joints[0].limits[1]: found -1, expected an integer from 0 to 65535`},
		{"joints[0].samples[0]", 1e39, `field joints[0].samples[0]: found 1e+39, expected a number within float32`},
		{"joints[0].samples[0]", nil, `field joints[0].samples[0]: found nothing, expected a float32`},
		{"joints[0].samples[0]", struct{}{}, `field joints[0].samples[0]: found a struct, expected a float32`},
	} {
		if err := m.Set(c.path, c.value); err == nil || err.Error() != c.want {
			t.Errorf("Set %s to %v:\n got  %v\n want %s", c.path, c.value, err, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"frame_id: {", `message in YAML: yaml: line 1: did not find expected node content`},
		{"hello", `found "hello", expected the fields of arm/msg/Arm: frame_id, joints, corners, nothing, on, label, big, deep, words, flags`},
		{"[1]", `found a list of 1, expected the fields of arm/msg/Arm: frame_id, joints, corners, nothing, on, label, big, deep, words, flags`},
		{"big: 1\nbig: 2", `line 2: field big of arm/msg/Arm is there twice`},
		{"[1]: 2", `line 1: a name of a field of arm/msg/Arm is no text`},
		{"joints: [&a {}, *a]", `line 1: *a is a YAML alias, and a message has none`},
		{"big: '1'", `field big: found "1", expected an integer`},
		{"big: 1.5", `field big: found 1.5, expected an integer`},
		{"big: 1e30", `field big: found 1e30, expected an integer from 0 to 18446744073709551615`},
		{"on: maybe", `field on: found "maybe", expected true or false`},
		{"frame_id:", `field frame_id: found nothing, expected a string`},
		{"frame_id: [a]", `field frame_id: found a list of 1, expected a string`},
		{"nothing: 1", `field nothing: found 1, expected the fields of arm/msg/Empty: no fields`},
		{"joints: [{id: 300}]", `field joints[0].id: found 300, expected an integer from -128 to 127`},
		{"joints: [{raw: !!binary '%'}]", `line 1: yaml: !!binary value contains invalid base64 data`},
	} {
		if err := m.SetYAML(c.text); err == nil || err.Error() != c.want {
			t.Errorf("SetYAML %s:\n got  %v\n want %s", c.text, err, c.want)
		}
	}
	if _, err := m.Get("joints[9]"); err == nil {
		t.Error("no error")
	}
	if m.YAML() != before {
		t.Errorf("changed by what failed:\n%s", m.YAML())
	}
}
