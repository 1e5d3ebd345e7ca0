package matchers

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
)

// part finds a part of a message, such as its position, by the names it goes by.
type part struct {
	who   string // the word that asks
	noun  string
	names []string // ways in, from the message towards the part
	// is reports whether a type is the part, and of which fields it is made where
	// it is a struct.
	is func(reflect.Type) (axes [][]int, ok bool)
	// last is where it lies in the type last seen.
	last atomic.Pointer[place]
}

// place is where in a type a part lies.
type place struct {
	t, end reflect.Type // end is no pointer
	path   *path
	index  []int   // the same way by index, so that an embedded field is not found twice
	axes   [][]int // the fields that it is made of
}

func (p *part) in(t reflect.Type) (*place, error) {
	if pl := p.last.Load(); pl != nil && pl.t == t {
		return pl, nil
	}
	var ways []place
	p.search(t, nil, nil, &ways)
	switch len(ways) {
	case 1:
	case 0:
		at := t
		for at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		has := "which has no fields"
		if at.Kind() == reflect.Struct {
			has = "which has " + fieldNames(at)
		}
		return nil, fmt.Errorf("%s finds no %s in a %s, %s; if it lies deeper, say Field(path, %[1]s)", p.who, p.noun, at, has)
	default:
		var texts []string
		for _, w := range ways {
			texts = append(texts, w.path.text)
		}
		return nil, fmt.Errorf("%s finds more than one %s in a %s: %s; say which: Field(path, %[1]s)", p.who, p.noun, t, strings.Join(texts, ", "))
	}
	pl := &ways[0]
	pl.t = t
	p.last.Store(pl)
	return pl, nil
}

func (p *part) search(t reflect.Type, way []string, index []int, found *[]place) {
	const deepest = 6 // types may hold themselves
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if axes, ok := p.is(t); ok {
		at, err := parsePath(strings.Join(way, "."))
		if err == nil && !slices.ContainsFunc(*found, func(pl place) bool { return slices.Equal(pl.index, index) }) {
			*found = append(*found, place{end: t, axes: axes, path: at, index: index})
		}
		return
	}
	if t.Kind() != reflect.Struct || len(way) == deepest {
		return
	}
	for _, name := range p.names {
		if f, ok := t.FieldByName(name); ok && f.IsExported() {
			p.search(f.Type, append(way[:len(way):len(way)], name), append(index[:len(index):len(index)], f.Index...), found)
		}
	}
}

// of is the part of a message, and where it lies. An invalid value with a text
// says that the message has none.
func (p *part) of(msg any) (v reflect.Value, pl *place, absent string, err error) {
	if pl, err = p.in(reflect.TypeOf(msg)); err != nil {
		return v, nil, "", err
	}
	if v, absent, err = pl.path.value(msg); err == nil && v.IsValid() && v.Kind() == reflect.Pointer {
		return reflect.Value{}, pl, "it is nil", nil
	}
	return v, pl, absent, err
}

// numbers reads what a part is made of: of an array its elements, and of a
// number itself.
func (pl *place) numbers(v reflect.Value) (xs [4]float64, n int) {
	switch v.Kind() {
	case reflect.Struct:
		for _, axis := range pl.axes {
			xs[n], _ = toNumber(v.FieldByIndex(axis))
			n++
		}
	case reflect.Array:
		for n < v.Len() {
			xs[n], _ = toNumber(v.Index(n))
			n++
		}
	default:
		xs[0], _ = toNumber(v)
		n = 1
	}
	return xs, n
}

// component is a numeric field of a struct, nil if it has none of that name.
func component(t reflect.Type, name string) []int {
	if t.Kind() != reflect.Struct {
		return nil
	}
	f, ok := t.FieldByName(name)
	if !ok || !f.IsExported() || !isNumber(f.Type) {
		return nil
	}
	for i := 1; i < len(f.Index); i++ { // not through an embedded pointer, which may be nil
		if t.FieldByIndex(f.Index[:i]).Type.Kind() == reflect.Pointer {
			return nil
		}
	}
	return f.Index
}

func isNumber(t reflect.Type) bool {
	k := t.Kind()
	return reflect.Int <= k && k <= reflect.Float64 && k != reflect.Uintptr
}

func components(t reflect.Type, names ...string) (all [][]int) {
	for _, name := range names {
		if c := component(t, name); c != nil {
			all = append(all, c)
		}
	}
	return all
}
