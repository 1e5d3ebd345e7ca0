package dynamic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/robospec/robospec/msgs/rosidl"
)

// random is a message of random values, with the edges of each type often.
func (s *structure) random(r *rand.Rand) *Message {
	m := &Message{t: s, v: make([]any, len(s.fields))}
	for i := range s.fields {
		f := &s.fields[i]
		n := 0
		switch f.Type.Shape {
		case rosidl.Single:
			m.v[i] = f.randomOne(r)
			continue
		case rosidl.Array:
			n = f.Type.Len
		case rosidl.Bounded:
			n = r.IntN(f.Type.Len + 1)
		case rosidl.Sequence:
			n = r.IntN(5)
		}
		list := reflect.MakeSlice(reflect.SliceOf(goType(f.Type.Kind)), n, n)
		for j := range n {
			list.Index(j).Set(reflect.ValueOf(f.randomOne(r)))
		}
		m.v[i] = list.Interface()
	}
	return m
}

func (f *field) randomOne(r *rand.Rand) any {
	switch f.Type.Kind {
	case rosidl.Nested:
		return f.nested.random(r)
	case rosidl.Bool:
		return r.IntN(2) == 1
	case rosidl.Float32:
		if r.IntN(4) == 0 {
			return []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, math.SmallestNonzeroFloat32}[r.IntN(7)]
		}
		return float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20)))
	case rosidl.Float64:
		if r.IntN(4) == 0 {
			return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.Float64frombits(0x7ff8 << 48), math.MaxFloat64, math.SmallestNonzeroFloat64}[r.IntN(7)]
		}
		return r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20))
	case rosidl.String, rosidl.WString:
		words := []string{"", "a", "true", "null", "1.5", "-", " x ", "it's", `"`, "a: b", "# c", "é", "机器人", "🤖", "\n", "\t\x01", "{", "[1]", "no", "0x1F", "~", "1e3", ".nan", "2001-01-01", "=", "<<", "\u0085\u2028", "`@%&*!|>?"}
		var b strings.Builder
		for range r.IntN(4) {
			b.WriteString(words[r.IntN(len(words))])
		}
		s := b.String()
		if bound := f.Type.StringBound; bound > 0 && len(s) > bound {
			s = strings.ToValidUTF8(s[:bound], "")
		}
		return s
	}
	v := reflect.New(goType(f.Type.Kind)).Elem()
	bits := r.Uint64()
	if r.IntN(4) == 0 {
		bits = []uint64{0, 1, math.MaxUint64, math.MaxInt64, 1 << 63, 1 << 31, 127, 128}[r.IntN(8)]
	}
	if v.CanInt() {
		v.SetInt(int64(bits) >> (64 - v.Type().Bits()))
	} else {
		v.SetUint(bits >> (64 - v.Type().Bits()))
	}
	return v.Interface()
}

// must is for what cannot fail in a test unless the test is wrong.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("dynamic: %v", err))
	}
	return v
}
