package rosidl_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/robospec/robospec/msgs/rosidl"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func TestParseMessage(t *testing.T) {
	text := `# What this is.
#int32 not_this

uint8 OK = 0   # a constant
uint8 BAD=0xff # another
string GREETING="say \"hi\" # not a comment, not = either"
string BARE = plain text # a comment
string NOTHING=
float64 PI=3.14159
bool ON=TRUE
wstring WIDE='für'

std_msgs/Header header
geometry_msgs/msg/Point[] points
	Other   other
string<=5 name 'it\'s'
wstring<=7[<=2] names ["a, b", c d]
char letter 65
byte[2] raw [1, 0xff]
float32[] ratios [.5, -inf]
int64[<=3] empty []
string escapes "\t\x41\u00e9\U0001F916\101\\\d"` + "\r\n"
	got, err := rosidl.ParseMessage("Mixed.msg", "arm_msgs/msg/Mixed", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	single := func(k rosidl.Kind) rosidl.Type { return rosidl.Type{Kind: k} }
	want := &rosidl.Message{
		Name: "arm_msgs/msg/Mixed",
		Constants: []rosidl.Constant{
			{"OK", single(rosidl.Uint8), uint64(0)},
			{"BAD", single(rosidl.Uint8), uint64(255)},
			{"GREETING", single(rosidl.String), `say "hi" # not a comment, not = either`},
			{"BARE", single(rosidl.String), "plain text"},
			{"NOTHING", single(rosidl.String), ""},
			{"PI", single(rosidl.Float64), 3.14159},
			{"ON", single(rosidl.Bool), true},
			{"WIDE", single(rosidl.WString), "für"},
		},
		Fields: []rosidl.Field{
			{"header", rosidl.Type{Kind: rosidl.Nested, Nested: "std_msgs/msg/Header"}, nil},
			{"points", rosidl.Type{Kind: rosidl.Nested, Nested: "geometry_msgs/msg/Point", Shape: rosidl.Sequence}, nil},
			{"other", rosidl.Type{Kind: rosidl.Nested, Nested: "arm_msgs/msg/Other"}, nil},
			{"name", rosidl.Type{Kind: rosidl.String, StringBound: 5}, "it's"},
			{"names", rosidl.Type{Kind: rosidl.WString, StringBound: 7, Shape: rosidl.Bounded, Len: 2}, []any{"a, b", "c d"}},
			{"letter", single(rosidl.Uint8), uint64(65)},
			{"raw", rosidl.Type{Kind: rosidl.Byte, Shape: rosidl.Array, Len: 2}, []any{uint64(1), uint64(255)}},
			{"ratios", rosidl.Type{Kind: rosidl.Float32, Shape: rosidl.Sequence}, []any{.5, math.Inf(-1)}},
			{"empty", rosidl.Type{Kind: rosidl.Int64, Shape: rosidl.Bounded, Len: 3}, []any{}},
			{"escapes", single(rosidl.String), "\tAé🤖A\\\\d"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

func TestParseServiceAndAction(t *testing.T) {
	s, err := rosidl.ParseService("", "p/srv/S", []byte("---  \nbool ok\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "p/srv/S" || s.Request.Name != "p/srv/S_Request" || s.Response.Name != "p/srv/S_Response" ||
		len(s.Request.Fields) != 0 || len(s.Response.Fields) != 1 {
		t.Errorf("%+v", s)
	}
	// Each part has names of its own.
	a, err := rosidl.ParseAction("", "p/action/A", []byte("int8 x\nint8 X=1\n---\nint8 x\nint8 X=1\n---\nint8 x"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Goal.Name != "p/action/A_Goal" || a.Result.Name != "p/action/A_Result" || a.Feedback.Name != "p/action/A_Feedback" ||
		len(a.Goal.Constants) != 1 || len(a.Result.Constants) != 1 || len(a.Feedback.Fields) != 1 {
		t.Errorf("%+v", a)
	}
}

// TestErrors holds the errors of malformed definitions in testdata/errors.golden.
func TestErrors(t *testing.T) {
	var golden bytes.Buffer
	for _, c := range []struct{ file, text string }{
		{"A.msg", "floot64 x\n"},
		{"A.msg", "time stamp\n"},
		{"A.msg", "int32 ok\n  double x\n"},
		{"A.msg", "int32\n"},
		{"A.msg", "int32 # and its name?\n"},
		{"A.msg", "int32 max-speed\n"},
		{"A.msg", "int32 maxSpeed\n"},
		{"A.msg", "int32 _x\n"},
		{"A.msg", "int32 max__speed\n"},
		{"A.msg", "int32 max_speed=3\n"},
		{"A.msg", "int32 X=3\nint32 MAX_=3\n"},
		{"A.msg", "int32 x\nfloat64 y\nstring x\n"},
		{"A.msg", "int32 X=1\nint32 X=1\n"},
		{"A.msg", "int32 x 1 2\n"},
		{"A.msg", "int32 x,y\n"},
		{"A.msg", "uint8 x 256\n"},
		{"A.msg", "int8 X=-129\n"},
		{"A.msg", "byte x -1\n"},
		{"A.msg", "int32 x 0x\n"},
		{"A.msg", "int32 x 1.5\n"},
		{"A.msg", "float32 x 1e40\n"},
		{"A.msg", "float64 x 1,5\n"},
		{"A.msg", "float64 X=\n"},
		{"A.msg", "bool x maybe\n"},
		{"A.msg", "string x \"never ends\n"},
		{"A.msg", "string x 'a' 'b'\n"},
		{"A.msg", "string x \"\\xZZ\"\n"},
		{"A.msg", "string x \"\\ud800\"\n"},
		{"A.msg", "string<=3 x abcd\n"},
		{"A.msg", "string<=0 x\n"},
		{"A.msg", "string<= x\n"},
		{"A.msg", "string<=3 X=abc\n"},
		{"A.msg", "int32<=3 x\n"},
		{"A.msg", "int32[3 x\n"},
		{"A.msg", "int32[0] x\n"},
		{"A.msg", "int32[N] x\n"},
		{"A.msg", "int32[<3] x\n"},
		{"A.msg", "int32[99999999999] x\n"},
		{"A.msg", "int32[3]x\n"},
		{"A.msg", "int32[][] x\n"},
		{"A.msg", "int32[2] X=[1, 2]\n"},
		{"A.msg", "int32[2] x [1]\n"},
		{"A.msg", "int32[<=2] x [1, 2, 3]\n"},
		{"A.msg", "int32[] x 1\n"},
		{"A.msg", "int32[] x [1, 2\n"},
		{"A.msg", "int32[] x [1,, 2]\n"},
		{"A.msg", "int32[] x [1, two]\n"},
		{"A.msg", "string[] x ['a' 'b']\n"},
		{"A.msg", "Point x [1, 2]\n"},
		{"A.msg", "Point X=1\n"},
		{"A.msg", "geometry_msgs/point x\n"},
		{"A.msg", "Geometry/Point x\n"},
		{"A.msg", "geometry_msgs/srv/Point x\n"},
		{"A.msg", "a/b/c/D x\n"},
		{"A.msg", "@key int32 x\n"},
		{"A.msg", "int32 x; int32 y\n"},
		{"A.msg", "int32 x\n---\nint32 y\n"},
		{"A.msg", "string gr\xfc\xdfe\n"},
		{"A.msg", "string s \"für ü\" x\n"},
		{"A.msg", "int32 x\x00\n"},
		{"A.msg", "\uFEFFint32 x\n"},
		{"A.srv", "int32 x\n"},
		{"A.srv", "int32 x\n----\nint32 y\n"},
		{"A.srv", "int32 x\n---\n---\n"},
		{"A.srv", "int32 x\n---\nint32 x\nint32 y\nint32 x\n"},
		{"A.action", "int32 x\n---\nint32 y"},
		{"A.action", "---\n---\n---\n"},
	} {
		var err error
		switch c.file {
		case "A.msg":
			_, err = rosidl.ParseMessage(c.file, "p/msg/A", []byte(c.text))
		case "A.srv":
			_, err = rosidl.ParseService(c.file, "p/srv/A", []byte(c.text))
		default:
			_, err = rosidl.ParseAction(c.file, "p/action/A", []byte(c.text))
		}
		var malformed *rosidl.SyntaxError
		if !errors.As(err, &malformed) || !strings.Contains(malformed.Msg, "expected") {
			t.Errorf("%q: error %v", c.text, err)
		}
		fmt.Fprintf(&golden, "%q\n\t%v\n", c.text, err)
	}
	const file = "testdata/errors.golden"
	if *update {
		if err := os.WriteFile(file, golden.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), golden.String()); diff != "" {
		t.Errorf("- golden, + got; -update rewrites it:\n%s", diff)
	}
}

func TestNamesThatAreNone(t *testing.T) {
	for _, name := range []string{"", "String", "std_msgs/String", "std_msgs/msg/string", "std_msgs/msg/A_B", "Std/msg/A", "std_msgs/srv/A", "a/msg/b/C", "std_msgs/msg/Ä"} {
		if m, err := rosidl.ParseMessage("", name, nil); err == nil {
			t.Errorf("%q: %+v", name, m)
		}
	}
	_, err := rosidl.ParseMessage("", "p/msg/A", []byte("x"))
	if err == nil || !strings.HasPrefix(err.Error(), "p/msg/A:1:1: ") {
		t.Errorf("without a file the name stands for it: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"int32 x 1\nstring<=3[<=2] S=\"a#b\" # c\n", "uint8 X=0xff\n---\nstd_msgs/Header[3] h\n---\nwstring s '\\u00e9'",
		"bool[2] b [true, 0]\r\nfloat32 f nan", "---\n", "string s \\x41 b", "byte b 1_0",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		check := func(err error, all ...*rosidl.Message) {
			if err == nil {
				for _, m := range all {
					checkMessage(t, m)
				}
				return
			}
			var e *rosidl.SyntaxError
			if !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			lines := strings.Split(string(text), "\n")
			if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > utf8.RuneCountInString(lines[e.Line-1])+1 {
				t.Errorf("no such place: %v", e)
			}
		}
		if m, err := rosidl.ParseMessage("f", "p/msg/A", text); err != nil {
			check(err)
		} else {
			check(nil, m)
		}
		if s, err := rosidl.ParseService("f", "p/srv/A", text); err != nil {
			check(err)
		} else {
			check(nil, s.Request, s.Response)
		}
		if a, err := rosidl.ParseAction("f", "p/action/A", text); err != nil {
			check(err)
		} else {
			check(nil, a.Goal, a.Result, a.Feedback)
		}
	})
}

func checkMessage(t *testing.T, m *rosidl.Message) {
	names := map[string]bool{}
	for _, f := range m.Fields {
		if names[f.Name] || f.Name == "" {
			t.Errorf("field %q twice", f.Name)
		}
		names[f.Name] = true
		if f.Default == nil {
			continue
		}
		values, list := f.Default.([]any)
		if list != (f.Type.Shape != rosidl.Single) {
			t.Errorf("%+v", f)
		}
		if f.Type.Shape == rosidl.Array && len(values) != f.Type.Len || f.Type.Shape == rosidl.Bounded && len(values) > f.Type.Len {
			t.Errorf("%+v", f)
		}
		if !list {
			values = []any{f.Default}
		}
		for _, v := range values {
			checkValue(t, f.Type, v)
		}
	}
	for _, c := range m.Constants {
		checkValue(t, c.Type, c.Value)
	}
}

func checkValue(t *testing.T, typ rosidl.Type, v any) {
	ok := false
	switch v := v.(type) {
	case bool:
		ok = typ.Kind == rosidl.Bool
	case int64:
		bits := map[rosidl.Kind]int{rosidl.Int8: 8, rosidl.Int16: 16, rosidl.Int32: 32, rosidl.Int64: 64}[typ.Kind]
		ok = bits > 0 && v >= math.MinInt64>>(64-bits) && v <= math.MaxInt64>>(64-bits)
	case uint64:
		bits := map[rosidl.Kind]int{rosidl.Byte: 8, rosidl.Uint8: 8, rosidl.Uint16: 16, rosidl.Uint32: 32, rosidl.Uint64: 64}[typ.Kind]
		ok = bits > 0 && v <= math.MaxUint64>>(64-bits)
	case float64:
		ok = typ.Kind == rosidl.Float64 || typ.Kind == rosidl.Float32 && (math.IsInf(v, 0) || math.IsNaN(v) || !math.IsInf(float64(float32(v)), 0))
	case string:
		ok = (typ.Kind == rosidl.String || typ.Kind == rosidl.WString) && utf8.ValidString(v) &&
			(typ.StringBound == 0 || utf8.RuneCountInString(v) <= typ.StringBound)
	}
	if !ok {
		t.Errorf("value %T %v of type %+v", v, v, typ)
	}
}
