// Package dynamic has messages whose type is known at run time only, from its
// definition: for tools that show, judge and send what no Go type was generated
// for. A [Codec] makes them of CDR and CDR of them.
package dynamic

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/robospec/robospec/msgs/rosidl"
)

// Message is a message of any type. Its values are Go values: a bool, an int8
// to uint64 (byte, char and uint8 are uint8), a float32 or float64, a string (of
// wstring, too), a *Message, and of arrays and sequences a slice of these.
//
// Paths name a field as ROS does, such as "pose.position.x", "ranges[0]" or
// "status[2].values[0].key"; the empty path is the message itself. Several
// goroutines may read a message, while none sets a field.
type Message struct {
	t *structure
	v []any
}

// New is a message of set with the defaults of its definition, zero where it
// has none.
func New(set *rosidl.Set, name string) (*Message, error) {
	s, err := compile(set, name)
	if err != nil {
		return nil, err
	}
	return s.fresh(), nil
}

// TypeName is its type, such as "std_msgs/msg/String".
func (m *Message) TypeName() string { return m.t.name }

// Fields is the names of its fields, in the order of the definition.
func (m *Message) Fields() []string {
	names := make([]string, len(m.t.fields))
	for i, f := range m.t.fields {
		names[i] = f.Name
	}
	return names
}

// Get is the value at path. A slice must not be changed.
func (m *Message) Get(path string) (any, error) {
	at, err := m.find(path)
	if err != nil {
		return nil, err
	}
	if at.field == nil {
		return at.message, nil
	}
	v := at.message.v[at.at]
	if at.element >= 0 {
		v = reflect.ValueOf(v).Index(at.element).Interface()
	}
	return v, nil
}

// Set replaces the value at path. Numbers may be of any Go type as long as the
// field can hold the value; float64 with no fraction may stand for an integer
// and the strings "NaN", "Infinity" and "-Infinity" for a float, as in JSON. A
// message is a map of its fields, in which those left out get their defaults, or
// a *Message, which is copied. When there is an error, m is as it was.
func (m *Message) Set(path string, value any) error {
	at, err := m.find(path)
	if err != nil {
		return err
	}
	if at.field == nil {
		n, err := m.t.convert("", value)
		if err == nil {
			m.v = n.v
		}
		return err
	}
	if at.element < 0 {
		v, err := at.field.convert(path, value)
		if err == nil {
			at.message.v[at.at] = v
		}
		return err
	}
	v, err := at.field.convertOne(path, value)
	if err != nil {
		return err
	}
	// The slice may be a part of what was decoded, or a default.
	old := reflect.ValueOf(at.message.v[at.at])
	changed := reflect.MakeSlice(old.Type(), old.Len(), old.Len())
	reflect.Copy(changed, old)
	changed.Index(at.element).Set(reflect.ValueOf(v))
	at.message.v[at.at] = changed.Interface()
	return nil
}

// spot is where a path leads: to a field of a message or an element of it, or,
// without a field, to the message.
type spot struct {
	message *Message
	field   *field
	at      int // of the field in the message
	element int // −1 for the whole field
}

func (m *Message) find(path string) (spot, error) {
	at := spot{message: m, element: -1}
	if path == "" {
		return at, nil
	}
	for walked, step := range steps(path) {
		// Where an earlier step led to, there has to be a message now.
		if at.field != nil {
			if at.field.nested == nil || at.field.Type.Shape != rosidl.Single && at.element < 0 {
				return at, fmt.Errorf("%s is %s and has no fields: path %q", walked, article(at.field.Type.String()), path)
			}
			if at.element >= 0 {
				at.message = at.message.v[at.at].([]*Message)[at.element]
			} else {
				at.message = at.message.v[at.at].(*Message)
			}
		}
		name, index, indexed := strings.Cut(step, "[")
		i, err := at.message.t.index(name)
		if err != nil {
			return at, err
		}
		at.field, at.at, at.element = &at.message.t.fields[i], i, -1
		if !indexed {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil || !strings.HasSuffix(index, "]") || n < 0 {
			return at, fmt.Errorf("step %q of path %q is neither a name nor a name and an index such as ranges[0]", step, path)
		}
		if at.field.Type.Shape == rosidl.Single {
			return at, fmt.Errorf("%s is %s and has no elements: path %q", name, article(at.field.Type.String()), path)
		}
		if has := reflect.ValueOf(at.message.v[i]).Len(); n >= has {
			return at, fmt.Errorf("no element %d in %s, which has %d: path %q", n, name, has, path)
		}
		at.element = n
	}
	return at, nil
}

// steps yields the parts of a path between its dots, each with the path before
// it.
func steps(path string) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for begin := 0; begin <= len(path); {
			end := strings.IndexByte(path[begin:], '.')
			if end < 0 {
				end = len(path) - begin
			}
			if !yield(path[:max(begin-1, 0)], path[begin:begin+end]) {
				return
			}
			begin += end + 1
		}
	}
}

func article(s string) string {
	if strings.ContainsRune("aeiou", rune(s[0])) && !strings.HasPrefix(s, "uint") {
		return "an " + s
	}
	return "a " + s
}

// Clone is a copy that shares nothing with m that could be changed.
func (m *Message) Clone() *Message {
	c := &Message{t: m.t, v: slices.Clone(m.v)}
	for i, v := range c.v {
		switch v := v.(type) {
		case *Message:
			c.v[i] = v.Clone()
		case []*Message:
			all := make([]*Message, len(v))
			for j := range v {
				all[j] = v[j].Clone()
			}
			c.v[i] = all
		}
	}
	return c
}
