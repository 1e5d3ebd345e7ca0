package matchers

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"

	gomega "github.com/onsi/gomega/matchers"
	"github.com/onsi/gomega/types"
)

// Field is a matcher of messages whose field matches v, a matcher or a value.
// field is a path, or Norm(path), or Of(func(T) float64). Numbers compare by
// value, whatever their types: a uint8 with 2, a float32 with 15.0.
//
// A path reaches into arrays by index, "Pose.Covariance[0]", and by the value of
// a field of the element, "Status[Name=cpu].Level"; into maps by key,
// "Limits.speed". Where the elements have no such field, the name is looked up in
// the array of that name beside them: "Velocity[Name=wheel_left]" of a JointState
// is the velocity at the place where Name has wheel_left. The array may also lie
// beside what holds them, as with "Points[0].Positions[JointNames=elbow]".
//
// An index beyond a slice, a name that no element or more than one has, and
// parallel slices of different lengths match nothing. A misspelt path is an error
// when the expectation begins, naming the fields there are.
func Field(field, v any) types.GomegaMatcher {
	m := byValue(asMatcher(v))
	if path, ok := field.(string); ok {
		p, err := parsePath(path)
		return &fieldMatcher{path: p, wrong: err, m: m}
	}
	n, err := numberOf(field)
	return &valueMatcher{question: &figureOfField{text: describe(field), figure: n, m: m}, wrong: err}
}

// byValue has Equal of a number compare by value too: Not(Equal(2)) would be
// true of every uint8.
func byValue(m types.GomegaMatcher) types.GomegaMatcher {
	switch m := m.(type) {
	case *gomega.EqualMatcher:
		if _, ok := toNumber(reflect.ValueOf(m.Expected)); ok {
			return &equalNumber{m.Expected}
		}
	case *gomega.AndMatcher:
		return &gomega.AndMatcher{Matchers: allByValue(m.Matchers)}
	case *gomega.OrMatcher:
		return &gomega.OrMatcher{Matchers: allByValue(m.Matchers)}
	case *gomega.NotMatcher:
		return &gomega.NotMatcher{Matcher: byValue(m.Matcher)}
	}
	return m
}

func allByValue(ms []types.GomegaMatcher) []types.GomegaMatcher {
	out := make([]types.GomegaMatcher, len(ms))
	for i, m := range ms {
		out[i] = byValue(m)
	}
	return out
}

type fieldMatcher struct {
	path  *path
	wrong error
	m     types.GomegaMatcher
}

func (f *fieldMatcher) String() string {
	if f.wrong != nil {
		return "Field(…)"
	}
	return f.path.text + " " + describe(f.m)
}

// Match judges one message.
func (f *fieldMatcher) Match(actual any) (bool, error) {
	if f.wrong != nil {
		return false, f.wrong
	}
	v, _, err := f.path.value(actual)
	if err != nil || !v.IsValid() {
		return false, err
	}
	return f.m.Match(v.Interface())
}

func (f *fieldMatcher) FailureMessage(actual any) string {
	return f.message(actual, types.GomegaMatcher.FailureMessage)
}

func (f *fieldMatcher) NegatedFailureMessage(actual any) string {
	return f.message(actual, types.GomegaMatcher.NegatedFailureMessage)
}

func (f *fieldMatcher) message(actual any, of func(types.GomegaMatcher, any) string) string {
	if f.wrong != nil {
		return f.wrong.Error()
	}
	v, absent, err := f.path.value(actual)
	switch {
	case err != nil:
		return err.Error()
	case !v.IsValid():
		return absent
	}
	return fmt.Sprintf("Field %s:\n%s", f.path.text, of(f.m, v.Interface()))
}

// fieldChecks are the checks of every Field, and of every other matcher that
// knows what it asks of a type, in a matcher of messages.
func fieldChecks(m types.GomegaMatcher) (checks []typeCheck) {
	if f, ok := m.(*fieldMatcher); ok {
		return []typeCheck{func(t reflect.Type) error {
			if f.wrong != nil {
				return f.wrong
			}
			inner, err := f.path.check(t)
			if err != nil {
				return err
			}
			for _, check := range fieldChecks(f.m) {
				if err := check(inner); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	if v, ok := m.(*valueMatcher); ok {
		return []typeCheck{v.check}
	}
	for _, k := range kidsOf(m) {
		checks = append(checks, fieldChecks(k)...)
	}
	return checks
}

// path is a parsed way into a message.
type path struct {
	text  string
	steps []step
	// plan is the way through the type last seen.
	plan atomic.Pointer[plan]
}

// step is a name, an index, or a choice of an element by a field's value.
type step struct {
	text  string
	kind  stepKind
	name  string
	index int
	key   string // of a choice
}

type stepKind uint8

const (
	byName stepKind = iota
	byIndex
	byChoice
)

// parsePath reads "A.B[0].C[Name=x]". The empty path is the message itself.
func parsePath(text string) (*path, error) {
	p := &path{text: text}
	fail := func(at int, want string) (*path, error) {
		return nil, fmt.Errorf("field path %q: at byte %d %s was expected", text, at, want)
	}
	for i := 0; i < len(text); {
		switch {
		case text[i] == '[':
			end := strings.IndexByte(text[i:], ']')
			if end < 0 {
				return fail(len(text), "]")
			}
			inner := text[i+1 : i+end]
			s := step{text: "[" + inner + "]"}
			if key, value, ok := strings.Cut(inner, "="); ok && key != "" {
				s.kind, s.name, s.key = byChoice, key, value
			} else if n, err := strconv.Atoi(inner); err == nil && n >= 0 {
				s.kind, s.index = byIndex, n
			} else {
				return fail(i+1, "an index or Name=value")
			}
			p.steps = append(p.steps, s)
			i += end + 1
		default:
			if text[i] == '.' {
				if i == 0 {
					return fail(0, "a name or [")
				}
				i++
			} else if i > 0 {
				return fail(i, "a dot or [")
			}
			end := strings.IndexAny(text[i:], ".[")
			if end < 0 {
				end = len(text) - i
			}
			if end == 0 {
				return fail(i, "a name")
			}
			name := text[i : i+end]
			p.steps = append(p.steps, step{text: name, kind: byName, name: name})
			i += end
		}
	}
	return p, nil
}

// plan is a path through one type: how to take each step.
type plan struct {
	t     reflect.Type
	moves []move
	end   reflect.Type // nil where an interface hides it
}

type move struct {
	step
	field  []int // of a struct
	choice []int // of the element's field
	names  []int // of the array of names beside the elements, in what
	holder int   // so many moves lead to
}

// through plans the path through a type.
func (p *path) through(t reflect.Type) (*plan, error) {
	if pl := p.plan.Load(); pl != nil && pl.t == t {
		return pl, nil
	}
	pl := &plan{t: t}
	at := t
	walked := ""
	var holders []reflect.Type // by the number of moves to each, nil for what is no struct
	for _, s := range p.steps {
		m := move{step: s}
		for at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		if at.Kind() == reflect.Interface { // known only message by message
			return &plan{t: t}, nil
		}
		holders = append(holders, at)
		where := "the message"
		if walked != "" {
			where = walked
		}
		switch s.kind {
		case byName:
			switch {
			case at.Kind() == reflect.Struct:
				f, ok := at.FieldByName(s.name)
				if !ok || !f.IsExported() {
					return nil, fmt.Errorf("%s (%s) has no field %s; there are %s", where, at, s.name, fieldNames(at))
				}
				m.field, at = f.Index, f.Type
			case at.Kind() == reflect.Map && at.Key().Kind() == reflect.String:
				at = at.Elem()
			default:
				return nil, fmt.Errorf("%s is a %s, which has no fields, so there is no %s", where, at, s.name)
			}
			walked = strings.TrimPrefix(walked+"."+s.name, ".")
		case byIndex, byChoice:
			if at.Kind() != reflect.Slice && at.Kind() != reflect.Array {
				return nil, fmt.Errorf("%s is a %s, no array, so there is no %s", where, at, s.text)
			}
			if at.Kind() == reflect.Array && s.kind == byIndex && s.index >= at.Len() {
				return nil, fmt.Errorf("%s has %d elements, so there is no %s", where, at.Len(), s.text)
			}
			at = at.Elem()
			walked += s.text
			if s.kind == byChoice {
				if err := m.choose(at, holders, walked[:len(walked)-len(s.text)]); err != nil {
					return nil, err
				}
			}
		}
		pl.moves = append(pl.moves, m)
	}
	pl.end = at
	p.plan.Store(pl)
	return pl, nil
}

func fieldNames(t reflect.Type) string {
	return fieldNamesThat(t, func(reflect.StructField) bool { return true })
}

func fieldNamesThat(t reflect.Type, are func(reflect.StructField) bool) string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous && are(f) {
			names = append(names, f.Name)
		}
	}
	return orNone(names)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// check reports what is wrong with the path in messages of type t, and what
// type it leads to.
func (p *path) check(t reflect.Type) (reflect.Type, error) {
	pl, err := p.through(t)
	if err != nil {
		return nil, err
	}
	if pl.end == nil {
		return reflect.TypeFor[any](), nil
	}
	return pl.end, nil
}

func (p *path) checkNumber(t reflect.Type) error {
	end, err := p.check(t)
	if err != nil {
		return err
	}
	for end.Kind() == reflect.Pointer {
		end = end.Elem()
	}
	if end.Kind() == reflect.Interface {
		return nil
	}
	if _, ok := toNumber(reflect.Zero(end)); !ok {
		what := p.text
		if what == "" {
			what = "the message"
		}
		return fmt.Errorf("%s is a %s, not a number", what, end)
	}
	return nil
}

// value is what the path leads to in a message. An invalid value with a text
// says that the message has no such thing.
func (p *path) value(msg any) (v reflect.Value, absent string, err error) {
	v = reflect.ValueOf(msg)
	if !v.IsValid() {
		return v, "the message is nil", nil
	}
	pl, err := p.through(v.Type())
	if err != nil {
		return v, "", err
	}
	if pl.end == nil {
		return p.dynamic(v)
	}
	if v, absent = p.walk(pl.moves, v); absent != "" {
		return reflect.Value{}, absent, nil
	}
	for (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() {
		v = v.Elem()
	}
	return v, "", nil
}

// dynamic walks a message whose type hides behind interfaces, such as decoded
// JSON.
func (p *path) dynamic(v reflect.Value) (reflect.Value, string, error) {
	for i := range p.steps {
		for v.Kind() == reflect.Interface && !v.IsNil() {
			v = v.Elem()
		}
		if v.Kind() == reflect.Interface {
			return reflect.Value{}, fmt.Sprintf("%s is not there: null before %s", p.text, p.steps[i].text), nil
		}
		one := path{text: p.text, steps: p.steps[i : i+1]}
		pl, err := one.through(v.Type())
		if err != nil {
			return v, "", err
		}
		var absent string
		if v, absent = p.walk(pl.moves, v); absent != "" {
			return reflect.Value{}, absent, nil
		}
	}
	for v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	return v, "", nil
}

// walk takes step after step.
func (p *path) walk(moves []move, from reflect.Value) (v reflect.Value, absent string) {
	v = from
	for i := range moves {
		m := &moves[i]
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			if v.IsNil() {
				return v, fmt.Sprintf("%s is not there: nil before %s", p.text, m.text)
			}
			v = v.Elem()
		}
		if m.names == nil {
			v, absent = p.move(m, v)
		} else {
			var holder reflect.Value
			if holder, absent = p.walk(moves[:m.holder], from); absent == "" {
				v, absent = p.parallel(m, holder, v)
			}
		}
		if absent != "" {
			return v, absent
		}
	}
	return v, ""
}

// move takes one step.
func (p *path) move(m *move, v reflect.Value) (next reflect.Value, absent string) {
	switch {
	case m.field != nil:
		f, err := v.FieldByIndexErr(m.field)
		if err != nil {
			return v, fmt.Sprintf("%s is not there: nil before %s", p.text, m.text)
		}
		return f, ""
	case m.kind == byName:
		e := v.MapIndex(reflect.ValueOf(m.name).Convert(v.Type().Key()))
		if !e.IsValid() {
			return v, fmt.Sprintf("%s is not there: no key %s", p.text, m.name)
		}
		return e, ""
	case m.kind == byIndex:
		if m.index >= v.Len() {
			return v, fmt.Sprintf("%s is not there: only %d elements", p.text, v.Len())
		}
		return v.Index(m.index), ""
	}
	i, absent := p.find(m, v)
	if absent != "" {
		return v, absent
	}
	return reflect.Indirect(v.Index(i)), ""
}

// number is the value of a numeric field.
func (p *path) number(msg any) (float64, error) {
	v, absent, err := p.value(msg)
	if err != nil {
		return 0, err
	}
	if !v.IsValid() {
		return 0, notThere(absent)
	}
	x, ok := toNumber(v)
	if !ok {
		return 0, fmt.Errorf("%s is a %s, not a number", p.text, v.Type())
	}
	return x, nil
}

func toNumber(v reflect.Value) (float64, bool) {
	switch {
	case !v.IsValid():
		return 0, false
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return 0, false
}

// equalNumber compares numbers by value: exactly as integers where both are,
// and else in the narrower of the two float types.
type equalNumber struct{ want any }

func (m *equalNumber) String() string { return fmt.Sprintf("= %v", m.want) }

func (m *equalNumber) Match(actual any) (bool, error) {
	a, w := reflect.ValueOf(actual), reflect.ValueOf(m.want)
	x, ok := toNumber(a)
	if !ok {
		return false, fmt.Errorf("%v is a number, and the value is a %T", m.want, actual)
	}
	y, _ := toNumber(w)
	if (a.CanInt() || a.CanUint()) && (w.CanInt() || w.CanUint()) {
		return sameInteger(a, w), nil
	}
	if a.Kind() == reflect.Float32 || w.Kind() == reflect.Float32 {
		return float32(x) == float32(y), nil
	}
	return x == y, nil
}

func sameInteger(a, b reflect.Value) bool {
	switch {
	case a.CanInt() && b.CanInt():
		return a.Int() == b.Int()
	case a.CanUint() && b.CanUint():
		return a.Uint() == b.Uint()
	case a.CanInt():
		return a.Int() >= 0 && uint64(a.Int()) == b.Uint()
	}
	return b.Int() >= 0 && uint64(b.Int()) == a.Uint()
}

func (m *equalNumber) FailureMessage(actual any) string {
	return fmt.Sprintf("got %v, want %v", actual, m.want)
}

func (m *equalNumber) NegatedFailureMessage(actual any) string {
	return fmt.Sprintf("got %v, which was not wanted", actual)
}
