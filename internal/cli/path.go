package cli

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/robospec/robospec/msgs/rosidl"
)

// fieldPath leads to a part of a message, as in pose.position.x, ranges[0],
// status[name=cpu].level, or position[name=wheel_left], which takes the place
// from a list beside it.
type fieldPath []step

// step is a field, or the element of a list: by number, or by a field that has
// a value.
type step struct {
	field   string // "" for an element
	index   int
	by, has string // by is "" for an element by number
}

func (s step) String() string {
	switch {
	case s.field != "":
		return "." + s.field
	case s.by != "":
		return "[" + s.by + "=" + s.has + "]"
	}
	return "[" + strconv.Itoa(s.index) + "]"
}

func (p fieldPath) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteString(s.String())
	}
	return strings.TrimPrefix(b.String(), ".")
}

// parsePath reads a path; "" is the whole message.
func parsePath(s string) (fieldPath, error) {
	var p fieldPath
	rest := s
	for rest != "" {
		if inner, ok := strings.CutPrefix(rest, "["); ok {
			body, after, ok := strings.Cut(inner, "]")
			if !ok {
				return nil, fmt.Errorf("%q: a bracket does not end; write ranges[0] or position[name=left]", s)
			}
			if len(p) == 0 {
				return nil, fmt.Errorf("%q: it begins with a bracket; name the list before it, such as ranges[0]", s)
			}
			st := step{}
			if by, has, ok := strings.Cut(body, "="); ok && strings.TrimSpace(by) != "" {
				st.by, st.has = strings.TrimSpace(by), strings.TrimSpace(has)
			} else if n, err := strconv.Atoi(body); err == nil && n >= 0 {
				st.index = n
			} else {
				return nil, fmt.Errorf("%q: %q is no place in a list; write ranges[0] or position[name=left]", s, body)
			}
			p, rest = append(p, st), after
			continue
		}
		if len(p) > 0 {
			var ok bool
			if rest, ok = strings.CutPrefix(rest, "."); !ok {
				return nil, fmt.Errorf("%q: behind a bracket comes a dot or another bracket, not %q", s, rest)
			}
		}
		n := strings.IndexAny(rest, ".[")
		if n < 0 {
			n = len(rest)
		}
		if n == 0 {
			return nil, fmt.Errorf("%q: a field between dots has no name; write pose.position.x", s)
		}
		p, rest = append(p, step{field: rest[:n]}), rest[n:]
	}
	return p, nil
}

// in is the part of v that the path leads to.
func (p fieldPath) in(v any) (any, error) {
	var parent structure // of the list that v is, for its neighbours
	for i, s := range p {
		at := func() string { return orNone(p[:i].String(), "the message") }
		if s.field != "" {
			o, ok := structureOf(v)
			if !ok {
				return nil, fmt.Errorf("%s is %s and has no field %s", at(), kindOf(v), s.field)
			}
			var err error
			if v, err = o.Get(s.field); err != nil {
				return nil, err
			}
			parent = o
			continue
		}
		list, ok := listOf(v)
		if !ok {
			return nil, fmt.Errorf("%s is %s and no list", at(), kindOf(v))
		}
		n := s.index
		if s.by != "" {
			var err error
			if n, err = s.find(list, parent); err != nil {
				return nil, fmt.Errorf("%s: %w", at(), err)
			}
		}
		if n >= list.Len() {
			return nil, fmt.Errorf("%s has %s, none at place %d", at(), count(list.Len(), "element"), n)
		}
		v, parent = list.Index(n).Interface(), nil
	}
	return v, nil
}

// find is the place of the element that the step picks of a list: the one whose
// field has the value, or the place of the value in a list beside it.
func (s step) find(list reflect.Value, parent structure) (int, error) {
	var keys []any
	for i := range list.Len() {
		if o, ok := structureOf(list.Index(i).Interface()); ok {
			key, err := o.Get(s.by)
			if err != nil {
				return 0, err
			}
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 && parent != nil {
		beside, err := parent.Get(s.by)
		if err != nil {
			return 0, err
		}
		names, ok := listOf(beside)
		if !ok {
			return 0, fmt.Errorf("%s beside it is %s and no list", s.by, kindOf(beside))
		}
		for i := range names.Len() {
			keys = append(keys, names.Index(i).Interface())
		}
	}
	var there []string
	for i, key := range keys {
		text := fmt.Sprint(key)
		if text == s.has {
			return i, nil
		}
		there = append(there, text)
	}
	return 0, fmt.Errorf("nothing has the %s %q; there is %s", s.by, s.has, orNone(strings.Join(there[:min(len(there), 8)], ", "), "none"))
}

// check says whether a message of a type can have what the path leads to.
func (p fieldPath) check(set *rosidl.Set, typ string) error {
	m, err := set.Message(typ)
	if err != nil {
		return err
	}
	var parent *rosidl.Message // of the list that t is
	t := rosidl.Type{Kind: rosidl.Nested, Nested: typ}
	for i, s := range p {
		at := func() string { return orNone(p[:i].String(), "the message") }
		if s.field != "" {
			if m == nil {
				return fmt.Errorf("%s is of type %v and has no field %s", at(), t, s.field)
			}
			f, err := fieldOf(m, s.field)
			if err != nil {
				return err
			}
			parent, t = m, f.Type
		} else {
			if t.Shape == rosidl.Single {
				return fmt.Errorf("%s is of type %v and no list", at(), t)
			}
			if t.Shape == rosidl.Array && s.by == "" && s.index >= t.Len {
				return fmt.Errorf("%s has %s, none at place %d", at(), count(t.Len, "element"), s.index)
			}
			t.Shape = rosidl.Single
			if s.by != "" && t.Kind != rosidl.Nested {
				if f, err := fieldOf(parent, s.by); err != nil {
					return err
				} else if f.Type.Shape == rosidl.Single {
					return fmt.Errorf("%s beside %s is of type %v and no list", s.by, at(), f.Type)
				}
			}
		}
		m = nil
		if t.Kind == rosidl.Nested && t.Shape == rosidl.Single {
			if m, err = set.Message(t.Nested); err != nil {
				return err
			}
			if s.by != "" {
				if _, err := fieldOf(m, s.by); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func fieldOf(m *rosidl.Message, name string) (rosidl.Field, error) {
	names := make([]string, len(m.Fields))
	for i, f := range m.Fields {
		if f.Name == name {
			return f, nil
		}
		names[i] = f.Name
	}
	return rosidl.Field{}, fmt.Errorf("no field %q in %s, which has %s", name, m.Name, orNone(strings.Join(names, ", "), "none"))
}
