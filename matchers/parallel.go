package matchers

import (
	"fmt"
	"reflect"
)

// choose plans the choice among elements of type elem, those of the array at
// where: by a field of their own, or else by the nearest array of that name in
// what holds them. holders has what each step before was taken from, and last
// the array itself.
func (m *move) choose(elem reflect.Type, holders []reflect.Type, where string) error {
	for elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	if elem.Kind() == reflect.Struct {
		if f, ok := elem.FieldByName(m.name); ok && f.IsExported() {
			m.choice = f.Index
			return nil
		}
	}
	var beside string
	for i := len(holders) - 2; i >= 0; i-- {
		if holders[i].Kind() != reflect.Struct {
			continue
		}
		f, ok := holders[i].FieldByName(m.name)
		if ok && f.IsExported() && holdsNames(f.Type) {
			m.names, m.holder = f.Index, i
			return nil
		}
		if beside != "" {
			continue
		}
		beside = ", and no array of names " + m.name + " lies beside it"
		if ok && f.IsExported() {
			beside = fmt.Sprintf(", and %s beside it is a %s, no array of names", m.name, f.Type)
		}
		beside += "; there are " + fieldNamesThat(holders[i], func(f reflect.StructField) bool { return holdsNames(f.Type) })
	}
	if where == "" {
		where = "the message"
	}
	if elem.Kind() == reflect.Struct {
		return fmt.Errorf("the elements of %s (%s) have no field %s; there are %s", where, elem, m.name, fieldNames(elem))
	}
	return fmt.Errorf("the elements of %s are %s, which have no field %s%s", where, elem, m.name, beside)
}

// holdsNames reports whether a field is an array that can name the elements of
// another.
func holdsNames(t reflect.Type) bool {
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return false
	}
	switch k := t.Elem().Kind(); k {
	case reflect.String, reflect.Bool:
		return true
	default:
		return reflect.Int <= k && k <= reflect.Float64
	}
}

// parallel takes the element of list at the place that the array of names, in
// holder, has the name at.
func (p *path) parallel(m *move, holder, list reflect.Value) (next reflect.Value, absent string) {
	for holder.Kind() == reflect.Pointer {
		holder = holder.Elem()
	}
	names, err := holder.FieldByIndexErr(m.names)
	if err != nil {
		return list, fmt.Sprintf("%s is not there: nil before %s", p.text, m.name)
	}
	i, absent := p.find(m, names)
	switch {
	case absent != "":
		return list, absent
	// Which belongs to which is not known of slices that differ in length, though
	// both may reach so far; a fixed array may be longer than what is used of it.
	case i >= list.Len() || names.Len() != list.Len() && names.Kind() == list.Kind():
		return list, fmt.Sprintf("%s is not there: %d elements for %d of %s", p.text, list.Len(), names.Len(), m.name)
	}
	return list.Index(i), ""
}

// find is the index of the one element of list that is called so.
func (p *path) find(m *move, list reflect.Value) (index int, absent string) {
	index = -1
	for i := range list.Len() {
		name, ok := m.nameOf(list.Index(i))
		if !ok || !called(name, m.key) {
			continue
		}
		if index >= 0 {
			return 0, fmt.Sprintf("%s is ambiguous: elements %d and %d both have %s=%s", p.text, index, i, m.name, m.key)
		}
		index = i
	}
	if index < 0 {
		return 0, fmt.Sprintf("%s is not there: no element with %s=%s (there are %s)", p.text, m.name, m.key, m.namesOf(list))
	}
	return index, ""
}

// nameOf is what an element is called: by its field, or it is a name itself.
func (m *move) nameOf(e reflect.Value) (name reflect.Value, ok bool) {
	if m.choice == nil {
		return e, true
	}
	for e.Kind() == reflect.Pointer {
		if e.IsNil() {
			return e, false
		}
		e = e.Elem()
	}
	f, err := e.FieldByIndexErr(m.choice)
	return f, err == nil
}

// called is without allocation where names are plain strings.
func called(name reflect.Value, key string) bool {
	if name.Type() == stringType {
		return name.String() == key
	}
	return fmt.Sprint(name.Interface()) == key
}

var stringType = reflect.TypeFor[string]()

// namesOf are the first names there are.
func (m *move) namesOf(list reflect.Value) string {
	const most = 8
	var names []string
	for i := range list.Len() {
		if len(names) == most {
			names = append(names, "…")
			break
		}
		if name, ok := m.nameOf(list.Index(i)); ok {
			names = append(names, fmt.Sprint(name.Interface()))
		}
	}
	return orNone(names)
}
