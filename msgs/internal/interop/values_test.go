package interop_test

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/robospec/robospec/msgs/rosidl"
)

// walker goes through Go values along their definitions, which say what Go's
// types do not: bounds and wide strings.
type walker struct {
	t     *testing.T
	set   *rosidl.Set
	known map[string]*rosidl.Message
}

func (w walker) message(name string) *rosidl.Message {
	m, ok := w.known[name]
	if !ok {
		var err error
		if m, err = w.set.Message(name); err != nil {
			w.t.Fatal(err)
		}
		w.known[name] = m
	}
	return m
}

// text of a value is as rclpy_peer.py makes it.
func (w walker) text(name string, v reflect.Value) string {
	var b strings.Builder
	w.appendText(&b, name, v)
	return b.String()
}

func (w walker) appendText(b *strings.Builder, name string, v reflect.Value) {
	m := w.message(name)
	if v.NumField() != len(m.Fields) {
		w.t.Fatalf("%s has %d fields, and its Go type has %d", name, len(m.Fields), v.NumField())
	}
	b.WriteByte('{')
	for i, f := range m.Fields {
		if i > 0 {
			b.WriteByte(',')
		}
		field := strings.ReplaceAll(f.Name, "_", "")
		if in := v.Type().Field(i).Name; !strings.EqualFold(in, field) {
			w.t.Fatalf("field %s of %s is %s in Go", f.Name, name, in)
		}
		b.WriteString(field + "=")
		if f.Type.Shape == rosidl.Single {
			w.appendElement(b, f.Type, v.Field(i))
			continue
		}
		b.WriteByte('[')
		for j := range v.Field(i).Len() {
			if j > 0 {
				b.WriteByte(',')
			}
			w.appendElement(b, f.Type, v.Field(i).Index(j))
		}
		b.WriteByte(']')
	}
	b.WriteByte('}')
}

func (w walker) appendElement(b *strings.Builder, t rosidl.Type, v reflect.Value) {
	switch {
	case t.Kind == rosidl.Nested:
		w.appendText(b, t.Nested, v)
	case v.CanInt():
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		b.WriteString(strconv.FormatUint(v.Uint(), 10))
	case v.CanFloat() && math.IsNaN(v.Float()):
		b.WriteString("nan")
	case v.CanFloat():
		var bits [8]byte
		binary.BigEndian.PutUint64(bits[:], math.Float64bits(v.Float()))
		b.WriteString("f" + hex.EncodeToString(bits[:]))
	case v.Kind() == reflect.String:
		b.WriteString(`"` + hex.EncodeToString([]byte(v.String())) + `"`)
	default:
		b.WriteString(strconv.FormatBool(v.Bool()))
	}
}

// mode is what kind of values are made.
type mode int

const (
	anything mode = iota
	smallest
	largest
)

type filler struct {
	walker
	*rand.Rand
	mode mode
}

// fill gives v random values within the bounds of its definition.
func (f filler) fill(name string, v reflect.Value) {
	for i, field := range f.message(name).Fields {
		t, v := field.Type, v.Field(i)
		switch t.Shape {
		case rosidl.Single:
			f.element(t, v)
			continue
		case rosidl.Bounded, rosidl.Sequence:
			n := f.IntN(6)
			switch {
			case f.mode == smallest:
				n = 0
			case t.Shape == rosidl.Bounded && (f.mode == largest || n > t.Len):
				n = min(t.Len, 100)
			}
			if n > 0 { // as it is decoded
				v.Set(reflect.MakeSlice(v.Type(), n, n))
			}
		}
		for j := range v.Len() {
			f.element(t, v.Index(j))
		}
	}
}

func (f filler) element(t rosidl.Type, v reflect.Value) {
	bits := 0
	if t.Kind != rosidl.Nested && !v.CanConvert(reflect.TypeFor[string]()) || v.CanInt() || v.CanUint() || v.CanFloat() {
		bits = int(v.Type().Size()) * 8
	}
	switch {
	case t.Kind == rosidl.Nested:
		f.fill(t.Nested, v)
	case t.Kind == rosidl.Bool:
		v.SetBool(f.mode == largest || f.mode == anything && f.IntN(2) == 0)
	case v.CanInt():
		lo, hi := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
		v.SetInt(pick(f, lo, hi, int64(f.Uint64())>>(64-bits), 0, -1, 1))
	case v.CanUint():
		v.SetUint(pick(f, 0, uint64(math.MaxUint64)>>(64-bits), f.Uint64()>>(64-bits), 1))
	case v.CanFloat() && bits == 32:
		v.SetFloat(float64(pick(f, -math.MaxFloat32, math.MaxFloat32, float32(f.NormFloat64()), 0, float32(math.NaN()), float32(math.Inf(-1)), math.SmallestNonzeroFloat32)))
	case v.CanFloat():
		v.SetFloat(pick(f, -math.MaxFloat64, math.MaxFloat64, f.NormFloat64(), math.Copysign(0, -1), math.NaN(), math.Inf(1), math.SmallestNonzeroFloat64))
	default:
		v.SetString(f.string(t))
	}
}

// pick is lo or hi in these modes, else any of all.
func pick[T any](f filler, lo, hi, random T, more ...T) T {
	switch f.mode {
	case smallest:
		return lo
	case largest:
		return hi
	}
	if f.IntN(2) == 0 {
		return random
	}
	more = append(more, lo, hi)
	return more[f.IntN(len(more))]
}

var letters = []string{"a", "Z", " ", "9", "\n", `"`, "ß", "€", "ロ", "\ufffd", "🤖", "𝄞"}

func (f filler) string(t rosidl.Type) string {
	units := func(s string) int {
		if t.Kind == rosidl.WString {
			return len(utf16.Encode([]rune(s)))
		}
		return len(s)
	}
	bound := t.StringBound
	if bound == 0 {
		bound = 40
	}
	switch f.mode {
	case smallest:
		return ""
	case largest:
		return strings.Repeat("x", bound)
	}
	s := ""
	for range f.IntN(20) {
		if l := letters[f.IntN(len(letters))]; units(s+l) <= bound {
			s += l
		}
	}
	return s
}

// encoder writes CDR once more, the slow and plain way, in any byte order, and
// knows which bytes are padding.
type encoder struct {
	walker
	order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
	body    []byte
	padding []bool
}

func (w walker) encode(name string, v reflect.Value, big bool) (cdr []byte, padding []bool) {
	e := &encoder{walker: w, order: binary.LittleEndian}
	head := []byte{0, 1, 0, 0}
	if big {
		e.order, head = binary.BigEndian, []byte{0, 0, 0, 0}
	}
	e.message(name, v)
	return append(head, e.body...), append(make([]bool, 4), e.padding...)
}

func (e *encoder) number(size int, bits uint64) {
	for len(e.body)%size != 0 {
		e.body, e.padding = append(e.body, 0), append(e.padding, true)
	}
	switch size {
	case 1:
		e.body = append(e.body, byte(bits))
	case 2:
		e.body = e.order.AppendUint16(e.body, uint16(bits))
	case 4:
		e.body = e.order.AppendUint32(e.body, uint32(bits))
	case 8:
		e.body = e.order.AppendUint64(e.body, bits)
	}
	e.padding = append(e.padding, make([]bool, size)...)
}

func (e *encoder) message(name string, v reflect.Value) {
	fields := e.walker.message(name).Fields
	if len(fields) == 0 {
		e.number(1, 0)
	}
	for i, f := range fields {
		v := v.Field(i)
		if f.Type.Shape == rosidl.Single {
			e.element(f.Type, v)
			continue
		}
		if f.Type.Shape != rosidl.Array {
			e.number(4, uint64(v.Len()))
		}
		for j := range v.Len() {
			e.element(f.Type, v.Index(j))
		}
	}
}

func (e *encoder) element(t rosidl.Type, v reflect.Value) {
	size := int(v.Type().Size())
	switch {
	case t.Kind == rosidl.Nested:
		e.message(t.Nested, v)
	case t.Kind == rosidl.String:
		e.number(4, uint64(len(v.String())+1))
		for _, c := range []byte(v.String() + "\x00") {
			e.number(1, uint64(c))
		}
	case t.Kind == rosidl.WString:
		units := utf16.Encode([]rune(v.String()))
		e.number(4, uint64(len(units)))
		for _, u := range units {
			e.number(4, uint64(u))
		}
	case v.CanInt():
		e.number(size, uint64(v.Int()))
	case v.CanUint():
		e.number(size, v.Uint())
	case v.CanFloat() && size == 4:
		e.number(4, uint64(math.Float32bits(float32(v.Float()))))
	case v.CanFloat():
		e.number(8, math.Float64bits(v.Float()))
	case v.Bool():
		e.number(1, 1)
	default:
		e.number(1, 0)
	}
}
