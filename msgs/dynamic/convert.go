package dynamic

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/robospec/robospec/msgs/rosidl"
)

// scalar is a value of a YAML text, which is a string as well where a string is
// wanted.
type scalar struct {
	text  string
	value any
}

// valueError is what cannot be put into a field.
func valueError(path, format string, args ...any) error {
	if path == "" {
		return fmt.Errorf(format, args...)
	}
	return fmt.Errorf("field %s: "+format, append([]any{path}, args...)...)
}

func show(v any) string {
	if s, ok := v.(scalar); ok {
		_, isString := s.value.(string)
		if s.value != nil && !isString {
			return s.text
		}
		v = s.value
	}
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		if r := []rune(v); len(r) > 40 {
			v = string(r[:39]) + "…"
		}
		return strconv.Quote(v)
	case *Message:
		if v == nil {
			return "nothing"
		}
		return article(v.t.name)
	}
	switch k := reflect.TypeOf(v).Kind(); k {
	case reflect.Map, reflect.Struct:
		return "a " + k.String()
	case reflect.Slice, reflect.Array:
		return fmt.Sprintf("a list of %d", reflect.ValueOf(v).Len())
	}
	return fmt.Sprint(v)
}

// convert makes a message of a map.
func (s *structure) convert(path string, v any) (*Message, error) {
	switch v := v.(type) {
	case *Message:
		if v != nil && same(v.t, s) {
			return v.Clone(), nil
		}
	case map[string]any:
		m := s.fresh()
		for _, name := range slices.Sorted(maps.Keys(v)) {
			i, err := s.index(name)
			if err != nil {
				if path != "" {
					err = fmt.Errorf("field %s: %w", path, err)
				}
				return nil, err
			}
			if m.v[i], err = s.fields[i].convert(join(path, name), v[name]); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return nil, valueError(path, "found %s, expected the fields of %s: %s", show(v), s.name, s.names())
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (f *field) convert(path string, v any) (any, error) {
	if f.Type.Shape == rosidl.Single {
		return f.convertOne(path, v)
	}
	if s, ok := v.(scalar); ok {
		v = s.value
	}
	list := reflect.ValueOf(v)
	if k := list.Kind(); k != reflect.Slice && k != reflect.Array {
		return nil, valueError(path, "found %s, expected the elements of %s", show(v), f.Type)
	}
	n := list.Len()
	switch {
	case f.Type.Shape == rosidl.Array && n != f.Type.Len:
		return nil, valueError(path, "found %d elements, expected exactly %d", n, f.Type.Len)
	case f.Type.Shape == rosidl.Bounded && n > f.Type.Len:
		return nil, valueError(path, "found %d elements, expected at most %d", n, f.Type.Len)
	}
	one := goType(f.Type.Kind)
	out := reflect.MakeSlice(reflect.SliceOf(one), n, n)
	if list.Type().Elem() == one && f.nested == nil && one.Kind() != reflect.String {
		reflect.Copy(out, list)
		return out.Interface(), nil
	}
	for i := range n {
		e, err := f.convertOne(path+"["+strconv.Itoa(i)+"]", list.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		out.Index(i).Set(reflect.ValueOf(e))
	}
	return out.Interface(), nil
}

func (f *field) convertOne(path string, v any) (any, error) {
	if f.nested != nil {
		return f.nested.convert(path, v)
	}
	k := f.Type.Kind
	if k == rosidl.String || k == rosidl.WString {
		return f.text(path, v)
	}
	in := v
	switch n := in.(type) {
	case scalar:
		in = n.value
	case json.Number:
		in = number(n)
	}
	switch k {
	case rosidl.Bool:
		if b := reflect.ValueOf(in); b.Kind() == reflect.Bool {
			return b.Bool(), nil
		}
		return nil, valueError(path, "found %s, expected true or false", show(v))
	case rosidl.Float32, rosidl.Float64:
		return float(path, k, in, v)
	}
	return integer(path, k, in, v)
}

// number is an int64, uint64 or float64, whichever first holds n, or n as it is.
func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return u
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return n
}

func (f *field) text(path string, v any) (any, error) {
	in := reflect.ValueOf(v)
	if s, ok := v.(scalar); ok && s.value != nil {
		in = reflect.ValueOf(s.text)
	}
	if _, isNumber := v.(json.Number); isNumber || in.Kind() != reflect.String {
		return nil, valueError(path, "found %s, expected a string", show(v))
	}
	s := in.String()
	n, unit := len(s), "bytes"
	if f.Type.Kind == rosidl.WString {
		n, unit = 0, "UTF-16 code units"
		for _, r := range s {
			n += utf16.RuneLen(r)
		}
	}
	if b := f.Type.StringBound; b > 0 && n > b {
		return nil, valueError(path, "found a string of %d %s, expected at most %d", n, unit, b)
	}
	return s, nil
}

func float(path string, k rosidl.Kind, in, given any) (any, error) {
	var x float64
	v := reflect.ValueOf(in)
	switch {
	case !v.IsValid():
		return nil, valueError(path, "found nothing, expected a %v", k)
	case v.CanFloat():
		x = v.Float()
	case v.CanInt():
		x = float64(v.Int())
	case v.CanUint():
		x = float64(v.Uint())
	default:
		var ok bool
		if s, isString := in.(string); isString {
			x, ok = special(s)
		}
		if !ok {
			return nil, valueError(path, "found %s, expected a %v", show(given), k)
		}
	}
	if math.IsNaN(x) {
		// Go's own has its lowest bit set, which no other language's has.
		x = math.Float64frombits(0x7ff8 << 48)
	}
	if k == rosidl.Float64 {
		return x, nil
	}
	y := float32(x)
	if math.IsInf(float64(y), 0) && !math.IsInf(x, 0) {
		return nil, valueError(path, "found %s, expected a number within float32", show(given))
	}
	return y, nil
}

// special is a float that JSON has no number for.
func special(s string) (float64, bool) {
	switch strings.ToLower(strings.TrimPrefix(s, "+")) {
	case "nan":
		return math.NaN(), true
	case "inf", "infinity":
		return math.Inf(1), true
	case "-inf", "-infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

// integer checks a number of any type against the range of a kind.
func integer(path string, k rosidl.Kind, in, given any) (any, error) {
	t := goType(k)
	bits := t.Bits()
	signed := reflect.Zero(t).CanInt()
	from, to := "0", strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
	if signed {
		from, to = strconv.FormatInt(math.MinInt64>>(64-bits), 10), strconv.FormatInt(math.MaxInt64>>(64-bits), 10)
	}
	out := reflect.New(t).Elem()
	v := reflect.ValueOf(in)
	known := v.IsValid()
	switch {
	case known && v.CanFloat():
		// 2^63 and 2^64 have to stay out, and -2^63 is in.
		switch x := v.Float(); {
		case x != math.Trunc(x):
			known = false
		case x >= -(1<<63) && x < 1<<63:
			v = reflect.ValueOf(int64(x))
		case x >= 0 && x < 1<<64:
			v = reflect.ValueOf(uint64(x))
		}
	case known && !v.CanInt() && !v.CanUint():
		known = false
	}
	if !known {
		return nil, valueError(path, "found %s, expected an integer", show(given))
	}
	ok := false
	switch {
	case v.CanInt() && signed:
		if ok = !out.OverflowInt(v.Int()); ok {
			out.SetInt(v.Int())
		}
	case v.CanInt():
		if ok = v.Int() >= 0 && !out.OverflowUint(uint64(v.Int())); ok {
			out.SetUint(uint64(v.Int()))
		}
	case v.CanUint() && signed:
		if ok = v.Uint() <= math.MaxInt64 && !out.OverflowInt(int64(v.Uint())); ok {
			out.SetInt(int64(v.Uint()))
		}
	case v.CanUint():
		if ok = !out.OverflowUint(v.Uint()); ok {
			out.SetUint(v.Uint())
		}
	}
	if !ok {
		return nil, valueError(path, "found %s, expected an integer from %s to %s", show(given), from, to)
	}
	return out.Interface(), nil
}
