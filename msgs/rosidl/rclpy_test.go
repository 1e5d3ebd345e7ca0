package rosidl_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/msgs/rosidl"
)

//go:embed testdata/defaults.py
var defaultsScript string

// TestConstantsAndDefaultsOfTheWheels compares every constant and the first
// value of every field with what the Python classes of the wheels have.
func TestConstantsAndDefaultsOfTheWheels(t *testing.T) {
	set, err := rosidl.Load(testenv.ROSShare(t))
	if err != nil {
		t.Fatal(err)
	}
	var messages []*rosidl.Message
	for _, name := range set.Names() {
		// Its Python package is not among the wheels.
		if strings.HasPrefix(name, "rmw_dds_common/") {
			continue
		}
		for _, suffix := range []string{
			"", "_Request", "_Response", "_Event", "_Goal", "_Result", "_Feedback", "_FeedbackMessage",
			"_SendGoal_Request", "_SendGoal_Response", "_SendGoal_Event", "_GetResult_Request", "_GetResult_Response", "_GetResult_Event",
		} {
			if m, err := set.Message(name + suffix); err == nil {
				messages = append(messages, m)
			}
		}
	}
	python := testenv.StartPython(t, defaultsScript)
	constants, defaults := 0, 0
	for _, m := range messages {
		python.Send(strings.ReplaceAll(m.Name, "/", " "))
		var theirs struct{ Constants, Fields map[string]any }
		if err := json.Unmarshal([]byte(python.Line()), &theirs); err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		ours := map[string]any{}
		for _, c := range m.Constants {
			ours[c.Name] = pythonic(c.Type, c.Value)
			constants++
		}
		if diff := cmp.Diff(theirs.Constants, ours); diff != "" {
			t.Errorf("constants of %s (- theirs, + ours):\n%s", m.Name, diff)
		}
		ours = map[string]any{}
		for _, f := range m.Fields {
			ours[f.Name] = pythonic(f.Type, f.Default)
			if f.Default != nil {
				defaults++
			}
		}
		if diff := cmp.Diff(theirs.Fields, ours); diff != "" {
			t.Errorf("fields of %s (- theirs, + ours):\n%s", m.Name, diff)
		}
	}
	t.Logf("%d messages, %d constants, %d defaults", len(messages), constants, defaults)
	if constants < 300 || defaults < 100 {
		t.Errorf("%d constants and %d defaults compared, want 300 and 100 at least", constants, defaults)
	}
}

// pythonic is a value as defaults.py writes it.
func pythonic(t rosidl.Type, v any) any {
	if t.Shape != rosidl.Single {
		values, _ := v.([]any)
		if t.Shape == rosidl.Array && v == nil {
			values = make([]any, t.Len)
		}
		t.Shape = rosidl.Single
		out := []any{}
		for _, v := range values {
			out = append(out, pythonic(t, v))
		}
		return out
	}
	switch t.Kind {
	case rosidl.Nested:
		return nil
	case rosidl.Bool:
		b, _ := v.(bool)
		return map[bool]string{true: "True", false: "False"}[b]
	case rosidl.String, rosidl.WString:
		s, _ := v.(string)
		return s
	case rosidl.Float32, rosidl.Float64:
		f, _ := v.(float64)
		return fmt.Sprintf("float %.6g", f)
	}
	if v == nil {
		return "0"
	}
	return fmt.Sprint(v)
}

//go:embed testdata/adapter.py
var adapterScript string

// TestLiteralsAsTheROS2ToolsReadThem compares with rosidl_adapter, which the ROS
// 2 build reads definitions with.
func TestLiteralsAsTheROS2ToolsReadThem(t *testing.T) {
	testenv.ROSShare(t) // rosidl_adapter comes with them
	python := testenv.StartPython(t, adapterScript)
	for _, line := range []string{
		"bool x true", "bool x FALSE", "bool x 1", "bool x 0", "bool x yes", "bool x 2",
		"int8 x -128", "int8 x 128", "int8 x -129", "uint8 x 255", "uint8 x 256", "uint8 x -1", "uint8 x -0", "uint8 x +3",
		"int32 x 0x10", "int32 x -0x10", "int32 x 0X1F", "int32 x 0b101", "int32 x 0o17", "int32 x 017", "int32 x 00", "int32 x 0x", "int32 x 0xg",
		"int32 x 1_000", "int32 x 1__0", "int32 x _1", "int32 x 1_", "int32 x 1.0", "int32 x 1e3", "int32 x", "int32 x - 1", "int32 x --1",
		"int64 x -9223372036854775808", "int64 x 9223372036854775808", "uint64 x 18446744073709551615", "uint64 x 18446744073709551616",
		"byte x 255", "byte x 0xff", "byte x -1", "char x 65", "char x a",
		"float32 x 1", "float32 x .5", "float32 x 5.", "float32 x 1e5", "float32 x -1.5E-3", "float64 x 0x10", "float64 x 1_0.5", "float64 x 1,5",
		"float64 x inf", "float64 x -Infinity", "float64 x .", "float64 x e5", "float64 x 1f",
		"string x hello", "string x hello world # said", "string x 'it is'", `string x "it's"`, `string x 'it\'s'`, `string x ""`, `string x "a" "b"`,
		"string<=3 x abc", "string<=3 x abcd", "string<=3 x éèà", "string<=0 x", "string<=-1 x", "string<=n x", "wstring<=2 x ab", "int8<=3 x",
		"string S=", "string S= a b ", "string S='a b '", "int32 X=", "int32 X=1", "int32 X = 1 # one", "int32 x=1", "int32 Xy=1", "int32 X_Y2=1", "int32 X__Y=1", "int32 X_=1", "int32 _X=1", "int32 X2_3=1",
		"Point X=1", "int32[2] X=[1, 2]", "string<=3 X=a",
		"int32[2] x [1, 2]", "int32[2] x [1]", "int32[2] x [1, 2, 3]", "int32[] x []", "int32[] x [1,2 , 3]", "int32[<=2] x [1, 2, 3]", "int32[<=2] x []", "int32[] x 1", "int32[] x [1", "int32[] x [1,]", "int32[] x [,1]",
		"string[] x ['a', \"b,c\"]", "string[] x [a, b c]", "string[2] x ['a', 'b']", "string[2] x ['a']",
		"int32[0] x", "int32[-1] x", "int32[n] x", "int32[<=] x", "int32[<3] x", "int32] x", "int32[ x",
		"int32 Name", "int32 camelCase", "int32 a_b", "int32 a__b", "int32 a_", "int32 _a", "int32 2a", "int32 a2", "int32 a-b",
		"Point x", "geometry_msgs/Point x", "Geometry/Point x", "geometry_msgs/point x", "a/b/c/D x", "/Point x", "geometry_msgs/ x", "Point[3] x", "Point_Request x 1", "Point x 1",
		"int32", "int32  x", "int32\tx", "# int32 x", "int32 x # 1",
	} {
		python.Send(strconv.QuoteToASCII(line))
		theirs := python.Line()
		ours := adapted(rosidl.ParseMessage("x.msg", "p/msg/X", []byte(line)))
		if theirs != ours {
			t.Errorf("%s\n theirs %s\n ours   %s", line, theirs, ours)
		}
	}
}

// adapted writes a message or an error as adapter.py does.
func adapted(m *rosidl.Message, err error) string {
	if err != nil {
		return `"error"`
	}
	out := []any{}
	show := func(name string, t rosidl.Type, v any) {
		var p any
		if v != nil {
			p = pythonic(t, v)
		}
		out = append(out, []any{name, p})
	}
	for _, f := range m.Fields {
		show(f.Name, f.Type, f.Default)
	}
	for _, c := range m.Constants {
		show(c.Name, c.Type, c.Value)
	}
	b, err := json.Marshal(slices.Clip(out))
	if err != nil {
		return err.Error()
	}
	return string(b)
}
