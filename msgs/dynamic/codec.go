package dynamic

import (
	"fmt"
	"slices"

	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/cdr"
	"github.com/robospec/robospec/msgs/rosidl"
)

// Codec is the codec of a message of set on CDR, as [msgs.Codec] describes it. A
// decoded message may alias the bytes that it was decoded from.
func Codec(set *rosidl.Set, name string) (msgs.Codec[*Message], error) {
	s, err := compile(set, name)
	if err != nil {
		return nil, err
	}
	hash, err := set.Hash(name)
	if err != nil {
		return nil, err
	}
	return codec{s, hash}, nil
}

// Service describes a service of set. The definitions of service_msgs and
// builtin_interfaces have to be in the set, since the hash of every service is
// made of them, too.
func Service(set *rosidl.Set, name string) (msgs.Service[*Message, *Message], error) {
	var none msgs.Service[*Message, *Message]
	s, err := set.Service(name)
	if err != nil {
		return none, err
	}
	hash, err := set.Hash(name)
	if err != nil {
		return none, err
	}
	request, err := Codec(set, s.Request.Name)
	if err != nil {
		return none, err
	}
	response, err := Codec(set, s.Response.Name)
	if err != nil {
		return none, err
	}
	return msgs.Service[*Message, *Message]{Name: name, Hash: hash, Request: request, Response: response}, nil
}

type codec struct {
	t    *structure
	hash string
}

func (codec) Encoding() string   { return msgs.CDR }
func (c codec) TypeName() string { return c.t.name }
func (c codec) TypeHash() string { return c.hash }

func (c codec) Append(dst []byte, m *Message) ([]byte, error) {
	if m == nil {
		return dst, fmt.Errorf("encode %s: nil message", c.t.name)
	}
	if m.t.name != c.t.name {
		return dst, fmt.Errorf("encode %s: the message is %s", c.t.name, article(m.t.name))
	}
	if !same(m.t, c.t) {
		return dst, fmt.Errorf("encode %s: the message was made by another definition of it", c.t.name)
	}
	w := cdr.NewWriter(dst, m.t.least)
	m.write(&w)
	return w.Done(c.t.name)
}

// same reports whether messages of a and b have the same fields.
func same(a, b *structure) bool {
	return a == b || a.name == b.name && slices.EqualFunc(a.fields, b.fields, func(f, g field) bool {
		return f.Name == g.Name && f.Type == g.Type && (f.nested == nil || same(f.nested, g.nested))
	})
}

func (c codec) Decode(src []byte) (*Message, error) {
	r := cdr.NewReader(c.t.name, src)
	// What is below is checked against its sequence, so that no array is ever
	// allocated that the payload has no bytes for.
	if left := len(src) - 4; r.OK() && c.t.least > left {
		r.Fail("", "%d bytes wanted at least, %d left; the payload is cut short, or its sender means another type", c.t.least, left)
	}
	if !r.OK() {
		return nil, r.Err()
	}
	m := c.t.read(&r)
	if !r.OK() {
		return nil, r.Err()
	}
	return m, nil
}

func (s *structure) read(r *cdr.Reader) *Message {
	m := &Message{t: s, v: make([]any, len(s.fields))}
	if len(s.fields) == 0 {
		r.Uint8("")
	}
	for i := range s.fields {
		if m.v[i] = s.fields[i].read(r); !r.OK() {
			return nil
		}
	}
	return m
}

func (f *field) read(r *cdr.Reader) any {
	if f.Type.Shape == rosidl.Single {
		return f.readOne(r)
	}
	array := f.Type.Shape == rosidl.Array
	n := f.Type.Len
	switch f.Type.Kind {
	case rosidl.Nested:
		if !array {
			n = r.Len(f.Name, n, f.nested.least)
		}
		all := make([]*Message, n)
		for i := range all {
			r.Enter()
			all[i] = f.nested.read(r)
			if r.LeaveAt(f.Name, i); !r.OK() {
				return nil
			}
		}
		return all
	case rosidl.Bool:
		if array {
			v := make([]bool, n)
			r.Bools(f.Name, v)
			return v
		}
		return r.BoolSequence(f.Name, n)
	case rosidl.String:
		if array {
			v := make([]string, n)
			r.Strings(f.Name, v, f.Type.StringBound)
			return v
		}
		return r.StringSequence(f.Name, n, f.Type.StringBound)
	case rosidl.WString:
		if array {
			v := make([]string, n)
			r.WStrings(f.Name, v, f.Type.StringBound)
			return v
		}
		return r.WStringSequence(f.Name, n, f.Type.StringBound)
	case rosidl.Byte, rosidl.Uint8:
		if !array {
			return r.Bytes(f.Name, n)
		}
		return numbers[uint8](r, f)
	case rosidl.Int8:
		return numbers[int8](r, f)
	case rosidl.Int16:
		return numbers[int16](r, f)
	case rosidl.Uint16:
		return numbers[uint16](r, f)
	case rosidl.Int32:
		return numbers[int32](r, f)
	case rosidl.Uint32:
		return numbers[uint32](r, f)
	case rosidl.Int64:
		return numbers[int64](r, f)
	case rosidl.Uint64:
		return numbers[uint64](r, f)
	case rosidl.Float32:
		return numbers[float32](r, f)
	}
	return numbers[float64](r, f)
}

func numbers[T cdr.Fixed](r *cdr.Reader, f *field) any {
	if f.Type.Shape == rosidl.Array {
		v := make([]T, f.Type.Len)
		cdr.Array(r, f.Name, v)
		return v
	}
	return cdr.Sequence[T](r, f.Name, f.Type.Len)
}

func (f *field) readOne(r *cdr.Reader) any {
	switch f.Type.Kind {
	case rosidl.Nested:
		r.Enter()
		m := f.nested.read(r)
		r.Leave(f.Name)
		return m
	case rosidl.Bool:
		return r.Bool(f.Name)
	case rosidl.String:
		return r.String(f.Name, f.Type.StringBound)
	case rosidl.WString:
		return r.WString(f.Name, f.Type.StringBound)
	case rosidl.Byte, rosidl.Uint8:
		return r.Uint8(f.Name)
	case rosidl.Int8:
		return r.Int8(f.Name)
	case rosidl.Int16:
		return r.Int16(f.Name)
	case rosidl.Uint16:
		return r.Uint16(f.Name)
	case rosidl.Int32:
		return r.Int32(f.Name)
	case rosidl.Uint32:
		return r.Uint32(f.Name)
	case rosidl.Int64:
		return r.Int64(f.Name)
	case rosidl.Uint64:
		return r.Uint64(f.Name)
	case rosidl.Float32:
		return r.Float32(f.Name)
	}
	return r.Float64(f.Name)
}

func (m *Message) write(w *cdr.Writer) {
	if len(m.v) == 0 {
		w.Uint8(0)
	}
	for i := range m.v {
		m.t.fields[i].write(w, m.v[i])
	}
}

func (f *field) write(w *cdr.Writer, v any) {
	array := f.Type.Shape == rosidl.Array
	wide := f.Type.Kind == rosidl.WString
	switch v := v.(type) {
	case bool:
		w.Bool(v)
	case int8:
		w.Int8(v)
	case uint8:
		w.Uint8(v)
	case int16:
		w.Int16(v)
	case uint16:
		w.Uint16(v)
	case int32:
		w.Int32(v)
	case uint32:
		w.Uint32(v)
	case int64:
		w.Int64(v)
	case uint64:
		w.Uint64(v)
	case float32:
		w.Float32(v)
	case float64:
		w.Float64(v)
	case string:
		if wide {
			w.WString(f.Name, v, f.Type.StringBound)
		} else {
			w.String(f.Name, v, f.Type.StringBound)
		}
	case *Message:
		w.Enter()
		v.write(w)
		w.Leave(f.Name)
	case []*Message:
		if !array {
			w.Len(f.Name, len(v), f.Type.Len)
		}
		for i := range v {
			w.Enter()
			v[i].write(w)
			w.LeaveAt(f.Name, i)
		}
	case []bool:
		if array {
			w.Bools(v)
		} else {
			w.BoolSequence(f.Name, v, f.Type.Len)
		}
	case []string:
		switch {
		case array && wide:
			w.WStrings(f.Name, v, f.Type.StringBound)
		case array:
			w.Strings(f.Name, v, f.Type.StringBound)
		case wide:
			w.WStringSequence(f.Name, v, f.Type.Len, f.Type.StringBound)
		default:
			w.StringSequence(f.Name, v, f.Type.Len, f.Type.StringBound)
		}
	case []int8:
		writeNumbers(w, f, v)
	case []uint8:
		writeNumbers(w, f, v)
	case []int16:
		writeNumbers(w, f, v)
	case []uint16:
		writeNumbers(w, f, v)
	case []int32:
		writeNumbers(w, f, v)
	case []uint32:
		writeNumbers(w, f, v)
	case []int64:
		writeNumbers(w, f, v)
	case []uint64:
		writeNumbers(w, f, v)
	case []float32:
		writeNumbers(w, f, v)
	case []float64:
		writeNumbers(w, f, v)
	}
}

func writeNumbers[T cdr.Fixed](w *cdr.Writer, f *field, v []T) {
	if f.Type.Shape == rosidl.Array {
		cdr.AppendArray(w, v)
	} else {
		cdr.AppendSequence(w, f.Name, v, f.Type.Len)
	}
}
