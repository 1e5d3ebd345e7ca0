package matchers

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/internal/oneline"
)

// Approximately is a matcher of a message, an array or a number that equals v,
// numbers within tol of each other: all that it holds is compared, structs field
// by field, slices and arrays element by element, maps by key. Numbers compare by
// value, whatever their types, so that a [][3]float64 may be asked of a
// [][3]float32; structs must be of one type. NaN equals nothing, itself included.
// An empty slice equals nil.
//
// Times and durations, Go's and those of ROS with Sec and Nanosec, are each one
// quantity in seconds: with a tol of 0.01 stamps may lie 10 ms apart.
func Approximately(v any, tol float64) types.GomegaMatcher {
	m := &approximately{want: v, tol: tol}
	wrong := badTolerance(fmt.Sprintf("Approximately(%s, %v)", oneline.Print(v), tol), tol)
	if wrong == nil && v == nil {
		wrong = fmt.Errorf("nothing is approximately nil; say BeNil()")
	}
	return &valueMatcher{question: m, wrong: wrong}
}

type approximately struct {
	want any
	tol  float64
}

func (m *approximately) String() string {
	return fmt.Sprintf("= %s ± %s", oneline.Print(m.want), exact(m.tol))
}

func (m *approximately) check(t reflect.Type) error {
	return canEqual(t, reflect.TypeOf(m.want), "", 0)
}

// canEqual reports what of a type cannot be approximately equal to what of
// another, whatever the values.
func canEqual(got, want reflect.Type, where string, depth int) error {
	for got.Kind() == reflect.Pointer {
		got = got.Elem()
	}
	for want.Kind() == reflect.Pointer {
		want = want.Elem()
	}
	const deepest = 20 // types may hold themselves
	switch {
	case got == want, depth == deepest, got.Kind() == reflect.Interface, want.Kind() == reflect.Interface,
		isNumber(got) && isNumber(want), isTime(got) && isTime(want):
		return nil
	case isList(got) && isList(want):
		if got.Kind() == reflect.Array && want.Kind() == reflect.Array && got.Len() != want.Len() {
			break
		}
		return canEqual(got.Elem(), want.Elem(), where+"[]", depth+1)
	case got.Kind() == reflect.Map && want.Kind() == reflect.Map && got.Key() == want.Key():
		return canEqual(got.Elem(), want.Elem(), where+"[]", depth+1)
	}
	if where == "" {
		where = "the value"
	}
	return fmt.Errorf("%s is a %s, which a %s cannot equal approximately", where, got, want)
}

func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Array }

func (m *approximately) compare(v any) (*comparison, error) {
	if err := m.check(reflect.TypeOf(v)); err != nil {
		return nil, err
	}
	c := &comparison{tol: m.tol}
	c.value(reflect.ValueOf(v), reflect.ValueOf(m.want))
	return c, nil
}

func (m *approximately) ask(v any) (bool, error) {
	c, err := m.compare(v)
	return err == nil && c.missed == 0, err
}

// near is the share of what is equal, and of what is not how near it comes.
func (m *approximately) near(v any) float64 {
	c, err := m.compare(v)
	if err != nil || c.n == 0 {
		return 0
	}
	return 0.99 * c.sum / float64(c.n)
}

func (m *approximately) explain(v any, where string) []string {
	c, err := m.compare(v)
	if err != nil {
		return line(where, "%v", err)
	}
	var out []string
	for _, d := range c.first {
		out = append(out, line(join(where, d.where), "%s", d.text)...)
	}
	if more := c.missed - len(c.first); more > 0 {
		out = append(out, fmt.Sprintf("and %d more of %d", more, c.n))
	}
	return out
}

// comparison compares two values leaf by leaf.
type comparison struct {
	tol float64
	at  []crumb // the way to what is compared

	n, missed int     // leaves, and those that differ
	sum       float64 // of how near each is, from 0 to 1
	first     []difference
}

// crumb is a field, or an element where it has no name. Only a difference is
// worth the text of a path.
type crumb struct {
	name  string
	index int
}

type difference struct{ where, text string }

func (c *comparison) where() (path string) {
	for _, s := range c.at {
		if s.name == "" {
			path += fmt.Sprintf("[%d]", s.index)
		} else {
			path = join(path, s.name)
		}
	}
	return path
}

func (c *comparison) same(leaves int) {
	c.n += leaves
	c.sum += float64(leaves)
}

// differ counts leaves that all differ as one difference.
func (c *comparison) differ(leaves int, near float64, format string, args ...any) {
	const most = 5 // a failure message has room for few
	c.n += leaves
	c.missed++
	c.sum += near
	if len(c.first) < most {
		c.first = append(c.first, difference{c.where(), fmt.Sprintf(format, args...)})
	}
}

func (c *comparison) within(s crumb, got, want reflect.Value) {
	c.at = append(c.at, s)
	c.value(got, want)
	c.at = c.at[:len(c.at)-1]
}

func (c *comparison) value(got, want reflect.Value) {
	got, want = pointee(got), pointee(want)
	const deepest = 100 // what holds itself has no end
	switch {
	case !got.IsValid() && !want.IsValid():
		c.same(1)
	case !got.IsValid() || !want.IsValid():
		c.differ(1, 0, "got %s, want %s", orNil(got), orNil(want))
	case len(c.at) == deepest:
		c.differ(1, 0, "nested more than %d deep", deepest)
	case isTime(got.Type()) && isTime(want.Type()) && got.CanInterface() && want.CanInterface():
		c.times(stampOf(got), stampOf(want))
	case isNumber(got.Type()) && isNumber(want.Type()):
		c.numbers(got, want)
	case isList(got.Type()) && isList(want.Type()):
		c.lists(got, want)
	case got.Kind() == reflect.Map && want.Kind() == reflect.Map && got.Type().Key() == want.Type().Key():
		c.maps(got, want)
	case got.Type() != want.Type():
		c.differ(1, 0, "got %s, a %s, want %s, a %s", shortValue(got), got.Type(), shortValue(want), want.Type())
	case got.Kind() == reflect.Struct:
		t := got.Type()
		for i := range t.NumField() {
			c.within(crumb{name: t.Field(i).Name}, got.Field(i), want.Field(i))
		}
		if t.NumField() == 0 {
			c.same(1)
		}
	case got.Comparable() && got.Equal(want):
		c.same(1)
	default:
		c.differ(1, 0, "got %s, want %s", shortValue(got), shortValue(want))
	}
}

// pointee is what pointers and interfaces lead to, invalid at a nil.
func pointee(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func orNil(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	return shortValue(v)
}

func (c *comparison) numbers(got, want reflect.Value) {
	off := distanceOf(got, want)
	if off <= c.tol {
		c.same(1)
		return
	}
	g, w := numberText(got, want), numberText(want, got)
	switch {
	case g == "NaN":
		c.differ(1, 0, "got NaN, which equals nothing, want %s", w)
	case w == "NaN":
		c.differ(1, 0, "got %s, want NaN, which equals nothing", g)
	default:
		c.differ(1, nearness(off, c.tol), "got %s, want %s ± %s: %s off", g, w, exact(c.tol), brieflyUnlike(off, c.tol))
	}
}

func numberText(v, other reflect.Value) string {
	if !v.CanFloat() {
		return fmt.Sprint(v)
	}
	x, _ := toNumber(other)
	if math.IsNaN(x) {
		x = 0
	}
	return brieflyUnlike(v.Float(), x)
}

// distanceOf is |a − b|: exact of integers, and else in the narrower of the two
// float types. Equal infinities lie 0 apart.
func distanceOf(a, b reflect.Value) float64 {
	if !a.CanFloat() && !b.CanFloat() {
		return integerDistance(a, b)
	}
	x, _ := toNumber(a)
	y, _ := toNumber(b)
	if a.Kind() == reflect.Float32 || b.Kind() == reflect.Float32 {
		x, y = float64(float32(x)), float64(float32(y))
	}
	if x == y {
		return 0
	}
	return math.Abs(x - y)
}

func integerDistance(a, b reflect.Value) float64 {
	x, negX := magnitude(a)
	y, negY := magnitude(b)
	switch {
	case negX != negY:
		return float64(x) + float64(y)
	case x < y:
		return float64(y - x)
	}
	return float64(x - y)
}

func magnitude(v reflect.Value) (m uint64, negative bool) {
	if v.CanUint() {
		return v.Uint(), false
	}
	if i := v.Int(); i < 0 {
		return -uint64(i), true
	}
	return uint64(v.Int()), false
}

func (c *comparison) times(got, want stamp) {
	off, seconds := got.since(want), got.secondsSince(want)
	if math.Abs(seconds) <= c.tol {
		c.same(1)
		return
	}
	c.differ(1, nearness(math.Abs(seconds), c.tol), "got %v, want %v ± %ss: %v off", got, want, exact(c.tol), off)
}

func (c *comparison) lists(got, want reflect.Value) {
	switch n := got.Len(); {
	case n != want.Len():
		c.differ(max(n, want.Len()), 0, "got %s, want %d", elements(n), want.Len())
	case n == 0:
		c.same(1)
	case bytesEqual(got, want):
		c.same(n)
	case isNumber(got.Type().Elem()) && isNumber(want.Type().Elem()) && !isTime(got.Type().Elem()):
		c.at = append(c.at, crumb{})
		for i := range n { // of which there may be millions
			c.at[len(c.at)-1].index = i
			c.numbers(got.Index(i), want.Index(i))
		}
		c.at = c.at[:len(c.at)-1]
	default:
		for i := range n {
			c.within(crumb{index: i}, got.Index(i), want.Index(i))
		}
	}
}

func elements(n int) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
}

// bytesEqual spares an image its look at every byte.
func bytesEqual(a, b reflect.Value) bool {
	byteSlice := func(v reflect.Value) bool {
		return v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8
	}
	return byteSlice(a) && byteSlice(b) && bytes.Equal(a.Bytes(), b.Bytes())
}

func (c *comparison) maps(got, want reflect.Value) {
	keys := want.MapKeys()
	for _, k := range got.MapKeys() {
		if !want.MapIndex(k).IsValid() {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		c.within(crumb{name: fmt.Sprint(k)}, got.MapIndex(k), want.MapIndex(k))
	}
	if len(keys) == 0 {
		c.same(1)
	}
}
