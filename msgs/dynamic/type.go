package dynamic

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/robospec/robospec/msgs/rosidl"
)

// structure is a message type, ready for use: all the types that it holds are
// known.
type structure struct {
	name   string
	fields []field
	// least is how many bytes of CDR an instance has at least, padding aside.
	least int
}

type field struct {
	rosidl.Field
	nested  *structure // of a Nested one
	initial any        // the default in Go's types, nil without one
}

// compile makes the structure of a message.
func compile(set *rosidl.Set, name string) (*structure, error) {
	m, err := set.Message(name)
	if err != nil {
		return nil, err
	}
	deps, err := set.Dependencies(name)
	if err != nil {
		return nil, err
	}
	all := map[string]*rosidl.Message{}
	for _, d := range deps {
		all[d.Name] = d
	}
	done := map[string]*structure{}
	var of func(m *rosidl.Message) (*structure, error)
	of = func(m *rosidl.Message) (*structure, error) {
		if s := done[m.Name]; s != nil {
			return s, nil
		}
		s := &structure{name: m.Name}
		for _, def := range m.Fields {
			f := field{Field: def}
			if def.Type.Kind == rosidl.Nested {
				if f.nested, err = of(all[def.Type.Nested]); err != nil {
					return nil, err
				}
			} else if def.Default != nil {
				if f.initial, err = f.convert(def.Name, def.Default); err != nil {
					return nil, fmt.Errorf("default in %s: %w", m.Name, err)
				}
			}
			s.fields = append(s.fields, f)
			s.least = min(s.least+f.least(), math.MaxInt32)
		}
		// rosidl gives an empty message one byte.
		s.least = max(s.least, 1)
		done[m.Name] = s
		return s, nil
	}
	return of(m)
}

// least is how many bytes of CDR the field has at least, padding aside.
func (f *field) least() int {
	if f.Type.Shape == rosidl.Bounded || f.Type.Shape == rosidl.Sequence {
		return 4
	}
	n := f.leastOne()
	if f.Type.Shape == rosidl.Array {
		n = int(min(int64(n)*int64(f.Type.Len), math.MaxInt32))
	}
	return n
}

func (f *field) leastOne() int {
	switch f.Type.Kind {
	case rosidl.Nested:
		return f.nested.least
	case rosidl.String, rosidl.WString:
		return 4
	}
	return int(goType(f.Type.Kind).Size())
}

// goType is what one value of a kind is in Go.
func goType(k rosidl.Kind) reflect.Type {
	switch k {
	case rosidl.Nested:
		return reflect.TypeFor[*Message]()
	case rosidl.Bool:
		return reflect.TypeFor[bool]()
	case rosidl.Int8:
		return reflect.TypeFor[int8]()
	case rosidl.Byte, rosidl.Uint8:
		return reflect.TypeFor[uint8]()
	case rosidl.Int16:
		return reflect.TypeFor[int16]()
	case rosidl.Uint16:
		return reflect.TypeFor[uint16]()
	case rosidl.Int32:
		return reflect.TypeFor[int32]()
	case rosidl.Uint32:
		return reflect.TypeFor[uint32]()
	case rosidl.Int64:
		return reflect.TypeFor[int64]()
	case rosidl.Uint64:
		return reflect.TypeFor[uint64]()
	case rosidl.Float32:
		return reflect.TypeFor[float32]()
	case rosidl.Float64:
		return reflect.TypeFor[float64]()
	}
	return reflect.TypeFor[string]()
}

// fresh is a message with the defaults of its type.
func (s *structure) fresh() *Message {
	m := &Message{t: s, v: make([]any, len(s.fields))}
	for i := range s.fields {
		m.v[i] = s.fields[i].fresh()
	}
	return m
}

func (f *field) fresh() any {
	if f.initial != nil {
		return f.initial
	}
	one := goType(f.Type.Kind)
	n := 0
	switch f.Type.Shape {
	case rosidl.Single:
		if f.nested != nil {
			return f.nested.fresh()
		}
		return reflect.Zero(one).Interface()
	case rosidl.Array:
		n = f.Type.Len
	}
	list := reflect.MakeSlice(reflect.SliceOf(one), n, n)
	if f.nested != nil {
		for i := range n {
			list.Index(i).Set(reflect.ValueOf(f.nested.fresh()))
		}
	}
	return list.Interface()
}

// index is the place of a field, and an error that says which there are.
func (s *structure) index(name string) (int, error) {
	i := slices.IndexFunc(s.fields, func(f field) bool { return f.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("no field %q in %s, which has %s", name, s.name, s.names())
	}
	return i, nil
}

func (s *structure) names() string {
	if len(s.fields) == 0 {
		return "no fields"
	}
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
