package msgs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/robospec/robospec/msgs"
)

type pose struct {
	X, Y  float64
	Frame string
	Tags  []string `json:",omitempty"`
}

func TestRawCodecs(t *testing.T) {
	b, err := msgs.CodecFor[[]byte](msgs.Raw)
	if err != nil {
		t.Fatal(err)
	}
	s, err := msgs.CodecFor[string](msgs.Raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "hello", "\x00\xff not UTF-8", strings.Repeat("x", 1<<16)} {
		got, err := b.Append([]byte("before:"), []byte(text))
		if err != nil || string(got) != "before:"+text {
			t.Errorf("bytes append %q, %v", got, err)
		}
		if got, err := b.Decode([]byte(text)); err != nil || string(got) != text {
			t.Errorf("bytes decode %q, %v", got, err)
		}
		got, err = s.Append([]byte("before:"), text)
		if err != nil || string(got) != "before:"+text {
			t.Errorf("string appends %q, %v", got, err)
		}
		if got, err := s.Decode([]byte(text)); err != nil || got != text {
			t.Errorf("string decodes %q, %v", got, err)
		}
	}
	for _, got := range []string{b.Encoding(), s.Encoding()} {
		if got != msgs.Raw {
			t.Errorf("encoding is %q", got)
		}
	}
	if b.TypeName() != "" || s.TypeName() != "" {
		t.Errorf("type names are %q and %q", b.TypeName(), s.TypeName())
	}
}

// A decoded string is the receiver's own, whatever happens to the payload.
func TestStringDoesNotAlias(t *testing.T) {
	c, err := msgs.CodecFor[string](msgs.Raw)
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte("abc")
	v, err := c.Decode(payload)
	payload[0] = 'x'
	if err != nil || v != "abc" {
		t.Errorf("decoded %q, %v", v, err)
	}
}

func TestCodecForRefuses(t *testing.T) {
	type text string
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(msgs.CodecFor[pose](msgs.Raw)), `msgs: msgs_test.pose has no codec for the encoding "raw"; pass one, such as harness.JSON[msgs_test.pose]()`},
		{second(msgs.CodecFor[*pose](msgs.Raw)), `msgs: *msgs_test.pose has no codec for the encoding "raw"; pass one, such as harness.JSON[*msgs_test.pose]()`},
		{second(msgs.CodecFor[text](msgs.Raw)), `msgs: msgs_test.text has no codec for the encoding "raw"; pass one, such as harness.JSON[msgs_test.text]()`},
		{second(msgs.CodecFor[any](msgs.Raw)), `msgs: interface {} has no codec for the encoding "raw"; pass one, such as harness.JSON[interface {}]()`},
		{second(msgs.CodecFor[error](msgs.Raw)), `msgs: error has no codec for the encoding "raw"; pass one, such as harness.JSON[error]()`},
		{second(msgs.CodecFor[string]("cdr")), `msgs: string has no codec for the encoding "cdr"; use a type that has one or pass one`},
		{second(msgs.CodecFor[[]byte]("json")), `msgs: []uint8 has no codec for the encoding "json"; use a type that has one or pass one`},
		{second(msgs.CodecFor[pose]("")), `msgs: msgs_test.pose has no codec for the encoding ""; use a type that has one or pass one`},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("error is %v, want %s", c.err, c.want)
		}
	}
}

func second[T any](_ msgs.Codec[T], err error) error { return err }

func TestJSON(t *testing.T) {
	c := msgs.JSON[pose]()
	v := pose{X: 1.5, Y: -2, Frame: "<map> & 'odom'", Tags: []string{"ü", "\x01"}}
	b, err := c.Append([]byte("before:"), v)
	if err != nil {
		t.Fatal(err)
	}
	body, ok := bytes.CutPrefix(b, []byte("before:"))
	if !ok {
		t.Fatalf("append overwrote: %s", b)
	}
	got, err := c.Decode(body)
	if err != nil || !reflect.DeepEqual(got, v) {
		t.Errorf("decoded %+v, %v, want %+v", got, err, v)
	}
	if c.Encoding() != "json" || c.TypeName() != "" {
		t.Errorf("encoding %q, type %q", c.Encoding(), c.TypeName())
	}
	for _, text := range []string{`{"X":1,"Z":9}`, " \n{\"X\":1}\r\n\t "} {
		if got, err := c.Decode([]byte(text)); err != nil || got.X != 1 {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got, err := c.Decode([]byte("null")); err != nil || !reflect.DeepEqual(got, pose{}) {
		t.Errorf("null: %+v, %v", got, err)
	}
}

func TestJSONEncodeError(t *testing.T) {
	b, err := msgs.JSON[pose]().Append([]byte("before"), pose{X: math.NaN()})
	if string(b) != "before" || err == nil || !strings.Contains(err.Error(), "encode msgs_test.pose as JSON: ") {
		t.Errorf("append is %q, %v", b, err)
	}
	if !errors.As(err, new(*json.UnsupportedValueError)) {
		t.Errorf("error %v does not unwrap to its cause", err)
	}
}

// Own errors of a type's UnmarshalJSON count bytes of their own, or none.
type picky struct{}

func (*picky) UnmarshalJSON(b []byte) error {
	if string(b) == `"nested"` {
		return json.Unmarshal([]byte("{"), new(any))
	}
	return errors.New("too picky")
}

func TestJSONDecodeErrors(t *testing.T) {
	decode := func(text string) error { _, err := msgs.JSON[pose]().Decode([]byte(text)); return err }
	pick := func(text string) error { _, err := msgs.JSON[picky]().Decode([]byte(text)); return err }
	for _, c := range []struct {
		err    error
		offset int64
		says   string
	}{
		{decode(``), 0, "not a msgs_test.pose at byte 0: unexpected end of JSON input"},
		{decode(`   `), 3, "unexpected end"},
		{decode(`{"X":1`), 6, "unexpected end"},
		{decode(`{"X":1}}`), 8, "after top-level value"},
		{decode(`{"X":1}]`), 8, "after top-level value"},
		{decode(`{"X":1} {"X":2}`), 9, "after top-level value"},
		{decode("{\"X\":1}\x00"), 8, "after top-level value"},
		{decode(`{"X":?}`), 6, "invalid character '?'"},
		{decode(`hello`), 1, "invalid character 'h'"},
		{decode(`{"X":1,"Frame":7}`), 16, "cannot unmarshal number into Go struct field pose.Frame of type string"},
		{decode(`[1]`), 1, "cannot unmarshal array"},
		{decode(`{"X":1e999}`), 10, "cannot unmarshal number 1e999"},
		{decode(strings.Repeat("[", 20000)), 10001, "exceeded max depth"},
		{pick(`{}`), -1, "not a msgs_test.picky: too picky"},
		{pick(`"nested"`), -1, "not a msgs_test.picky: unexpected end of JSON input"},
	} {
		var e *msgs.DecodeError
		if !errors.As(c.err, &e) || e.Offset != c.offset || !strings.Contains(e.Error(), c.says) {
			t.Errorf("error is %v, want %q at byte %d", c.err, c.says, c.offset)
			continue
		}
		if errors.Unwrap(c.err) != e.Err || e.Err == nil {
			t.Errorf("%v does not unwrap to its cause", c.err)
		}
	}
}

// Cut anywhere, a payload is an error and no half message.
func TestJSONTruncated(t *testing.T) {
	c := msgs.JSON[pose]()
	whole, err := c.Append(nil, pose{X: 1, Frame: "map", Tags: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		v, err := c.Decode(whole[:n])
		var e *msgs.DecodeError
		if !errors.As(err, &e) || e.Offset != int64(n) || !reflect.DeepEqual(v, pose{}) {
			t.Errorf("%q: %+v, %v", whole[:n], v, err)
		}
	}
}

func TestJSONService(t *testing.T) {
	s := msgs.JSONService[pose, bool]("nav/srv/Go")
	b, err := s.Request.Append(nil, pose{X: 3})
	if err != nil {
		t.Fatal(err)
	}
	req, err := s.Request.Decode(b)
	if err != nil || req.X != 3 || s.Name != "nav/srv/Go" {
		t.Errorf("%q: request %+v, %v", s.Name, req, err)
	}
	b, err = s.Response.Append(nil, true)
	if err != nil || string(b) != "true" {
		t.Errorf("response is %q, %v", b, err)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "null", `{"X":1}`, `{"X":1}}`, `{"X":1e999}`, `{"Frame":"\ud800"}`, "{\"Tags\":[\"a\",null]}", "[[[["} {
		f.Add([]byte(s))
	}
	c := msgs.JSON[pose]()
	f.Fuzz(func(t *testing.T, src []byte) {
		kept := bytes.Clone(src)
		v, err := c.Decode(src)
		if !bytes.Equal(src, kept) {
			t.Fatal("decode changed the payload")
		}
		if err != nil {
			var e *msgs.DecodeError
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(src)) {
				t.Errorf("error is %v", err)
			}
			if !reflect.DeepEqual(v, pose{}) {
				t.Errorf("half a message with an error: %+v", v)
			}
			return
		}
		if !json.Valid(src) {
			t.Errorf("%q is no JSON and decoded to %+v", src, v)
		}
		b, err := c.Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.Decode(b)
		if len(v.Tags) == 0 {
			v.Tags = nil // an empty list is left out
		}
		if err != nil || !reflect.DeepEqual(again, v) {
			t.Errorf("%+v, %v after a round trip of %+v", again, err, v)
		}
	})
}

func FuzzRaw(f *testing.F) {
	f.Add([]byte("before"), []byte("\xff\x00"))
	c, err := msgs.CodecFor[string](msgs.Raw)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, dst, src []byte) {
		want := string(dst) + string(src)
		v, err := c.Decode(src)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Append(dst, v); err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	})
}
