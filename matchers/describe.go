package matchers

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"strings"

	gomega "github.com/onsi/gomega/matchers"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/internal/oneline"
)

// kidsOf are the matchers that a Gomega And, Or or Not combines.
func kidsOf(m types.GomegaMatcher) []types.GomegaMatcher {
	switch m := m.(type) {
	case *gomega.AndMatcher:
		return m.Matchers
	case *gomega.OrMatcher:
		return m.Matchers
	case *gomega.NotMatcher:
		return []types.GomegaMatcher{m.Matcher}
	}
	return nil
}

// describe prints a matcher or an argument in a few words.
func describe(m any) string {
	switch m := m.(type) {
	case nil:
		return "nil"
	case fmt.Stringer:
		return m.String()
	case string:
		return fmt.Sprintf("%q", m)
	case evenWithoutPublisher:
		return "EvenWithoutPublisher()"
	case *gomega.AndMatcher:
		return "And(" + describeAll(m.Matchers) + ")"
	case *gomega.OrMatcher:
		return "Or(" + describeAll(m.Matchers) + ")"
	case *gomega.NotMatcher:
		return "Not(" + describe(m.Matcher) + ")"
	case *gomega.BeNumericallyMatcher:
		switch len(m.CompareTo) {
		case 1:
			return fmt.Sprintf("%s %v", m.Comparator, m.CompareTo[0])
		case 2:
			return fmt.Sprintf("%v ± %v", m.CompareTo[0], m.CompareTo[1])
		}
	case *gomega.EqualMatcher:
		return "= " + oneline.Print(m.Expected)
	case *gomega.BeEquivalentToMatcher:
		return "= " + oneline.Print(m.Expected)
	case *gomega.HaveFieldMatcher:
		return m.Field + " " + describe(asMatcher(m.Expected))
	case *gomega.ContainSubstringMatcher:
		return fmt.Sprintf("contains %q", m.Substr)
	case *gomega.MatchRegexpMatcher:
		return fmt.Sprintf("matches %q", m.Regexp)
	case *gomega.HaveLenMatcher:
		return fmt.Sprintf("has length %d", m.Count)
	case *gomega.ContainElementMatcher:
		return "contains element " + describe(asMatcher(m.Element))
	case *gomega.HaveEachMatcher:
		return "each " + describe(asMatcher(m.Element))
	case *gomega.WithTransformMatcher:
		return transformName(m) + " " + describe(m.Matcher)
	case *gomega.BeTrueMatcher:
		return "= true"
	case *gomega.BeFalseMatcher:
		return "= false"
	case *gomega.BeZeroMatcher:
		return "is zero"
	case *gomega.BeNilMatcher:
		return "is nil"
	case *gomega.BeEmptyMatcher:
		return "is empty"
	case types.GomegaMatcher:
		name := reflect.TypeOf(m).String()
		name = name[strings.LastIndexByte(name, '.')+1:]
		return strings.TrimSuffix(name, "Matcher")
	}
	return oneline.Print(m)
}

// wanted describes what a value is to be, without the sign of equality.
func wanted(m any) string { return strings.TrimPrefix(describe(m), "= ") }

func describeAll(ms []types.GomegaMatcher) string {
	var s []string
	for _, m := range ms {
		s = append(s, describe(m))
	}
	return strings.Join(s, ", ")
}

// address is where Gomega says that something lies, which tells a reader
// nothing.
var address = regexp.MustCompile(` \| 0x[0-9a-f]+`)

// firstLines is at most n lines of s in one, since a failure message has room
// for few.
func firstLines(s string, n int) string {
	var out []string
	for line := range strings.Lines(address.ReplaceAllString(s, "")) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
		if len(out) == n {
			break
		}
	}
	return strings.Join(out, " ")
}

// mismatch says in one line why a value does not match.
func mismatch(m types.GomegaMatcher, v any) string {
	lines := misses(m, v, "")
	const most = 6
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("and %d more", len(lines)-most))
	}
	return strings.Join(lines, "; ")
}

// misses lists what of a value does not match, at where in the message.
func misses(m types.GomegaMatcher, v any, where string) (out []string) {
	if m == nil {
		return nil
	}
	if ok, err := m.Match(v); ok || err != nil {
		if err != nil {
			out = append(out, err.Error())
		}
		return out
	}
	at := func(s string) []string {
		if where != "" {
			s = where + ": " + s
		}
		return []string{s}
	}
	switch m := m.(type) {
	case *gomega.AndMatcher:
		for _, k := range m.Matchers {
			out = append(out, misses(k, v, where)...)
		}
		return out
	case *fieldMatcher:
		f, absent, _ := m.path.value(v)
		if !f.IsValid() {
			return []string{absent}
		}
		return misses(m.m, f.Interface(), join(where, m.path.text))
	case *valueMatcher:
		return m.explain(v, where)
	case *gomega.HaveFieldMatcher:
		if f, ok := haveField(m, v); ok {
			return misses(asMatcher(m.Expected), f, join(where, m.Field))
		}
	case *gomega.EqualMatcher:
		return diff(reflect.ValueOf(v), reflect.ValueOf(m.Expected), where, 0)
	case *gomega.WithTransformMatcher:
		if x, ok := transformed(m, v); ok {
			return misses(m.Matcher, x, join(where, transformName(m)))
		}
	}
	return at(fmt.Sprintf("got %s, want %s", oneline.Print(v), wanted(m)))
}

func join(where, field string) string {
	if where == "" {
		return field
	}
	if strings.HasPrefix(field, "[") {
		return where + field
	}
	return where + "." + field
}

func haveField(m *gomega.HaveFieldMatcher, v any) (any, bool) {
	p, err := parsePath(m.Field)
	if err != nil {
		return nil, false
	}
	f, _, err := p.value(v)
	if err != nil || !f.IsValid() || !f.CanInterface() {
		return nil, false
	}
	return f.Interface(), true
}

// transformName is "speed()" for the function speed, "func()" for one without a
// name.
func transformName(m *gomega.WithTransformMatcher) string {
	f := runtime.FuncForPC(reflect.ValueOf(m.Transform).Pointer())
	if f == nil || closure.MatchString(f.Name()) {
		return "func()"
	}
	return f.Name()[strings.LastIndexByte(f.Name(), '.')+1:] + "()"
}

var closure = regexp.MustCompile(`\.func\d+(\.\d+)*$`)

// transformed is what the transform makes of v, which has gone well before.
func transformed(m *gomega.WithTransformMatcher, v any) (any, bool) {
	f := reflect.ValueOf(m.Transform)
	if v == nil || !reflect.TypeOf(v).AssignableTo(f.Type().In(0)) {
		return nil, false
	}
	return f.Call([]reflect.Value{reflect.ValueOf(v)})[0].Interface(), true
}

// diff lists where two values differ.
func diff(got, want reflect.Value, where string, depth int) []string {
	if got.IsValid() && want.IsValid() && got.Type() == want.Type() && got.CanInterface() && want.CanInterface() {
		if reflect.DeepEqual(got.Interface(), want.Interface()) {
			return nil
		}
		if depth < 8 {
			var out []string
			switch got.Kind() {
			case reflect.Struct:
				for i := range got.NumField() {
					if f := got.Type().Field(i); f.IsExported() {
						out = append(out, diff(got.Field(i), want.Field(i), join(where, f.Name), depth+1)...)
					}
				}
			case reflect.Slice, reflect.Array:
				if got.Len() == want.Len() && got.Type().Elem().Kind() != reflect.Uint8 {
					for i := range got.Len() {
						out = append(out, diff(got.Index(i), want.Index(i), fmt.Sprintf("%s[%d]", where, i), depth+1)...)
					}
				}
			}
			if len(out) > 0 {
				return out
			}
		}
	}
	s := fmt.Sprintf("got %s, want %s", shortValue(got), shortValue(want))
	if got.IsValid() && want.IsValid() && got.Type() != want.Type() {
		s += fmt.Sprintf(" (a %s, not a %s)", got.Type(), want.Type())
	}
	if where != "" {
		s = where + ": " + s
	}
	return []string{s}
}

func shortValue(v reflect.Value) string {
	if !v.IsValid() {
		return "nothing"
	}
	if !v.CanInterface() {
		return fmt.Sprint(v)
	}
	return oneline.Print(v.Interface())
}

// closeness is how near a value comes to matching, from 0 to 1.
func closeness(m types.GomegaMatcher, v any) float64 {
	if m == nil {
		return 1
	}
	if ok, err := m.Match(v); err == nil && ok {
		return 1
	}
	switch m := m.(type) {
	case *gomega.AndMatcher:
		sum := 0.0
		for _, k := range m.Matchers {
			sum += closeness(k, v)
		}
		return sum / float64(max(1, len(m.Matchers)))
	case *gomega.OrMatcher:
		best := 0.0
		for _, k := range m.Matchers {
			best = max(best, closeness(k, v))
		}
		return best
	case *fieldMatcher:
		if f, _, err := m.path.value(v); err == nil && f.IsValid() && f.CanInterface() {
			return closeness(m.m, f.Interface())
		}
	case *valueMatcher:
		return m.near(v)
	case *gomega.HaveFieldMatcher:
		if f, ok := haveField(m, v); ok {
			return closeness(asMatcher(m.Expected), f)
		}
	case *gomega.WithTransformMatcher:
		if x, ok := transformed(m, v); ok {
			return closeness(m.Matcher, x)
		}
	case *gomega.BeNumericallyMatcher:
		if len(m.CompareTo) > 0 {
			return near(v, m.CompareTo[0])
		}
	case *equalNumber:
		return near(v, m.want)
	case *gomega.EqualMatcher:
		return alike(reflect.ValueOf(v), reflect.ValueOf(m.Expected))
	}
	return 0
}

// near is closeness of numbers, below 1.
func near(v, want any) float64 {
	x, ok := toNumber(reflect.ValueOf(v))
	y, ok2 := toNumber(reflect.ValueOf(want))
	if !ok || !ok2 || math.IsNaN(x) || math.IsNaN(y) {
		return 0
	}
	return 0.99 / (1 + math.Abs(x-y)/(1e-9+math.Abs(y)))
}

// alike is the share of the exported fields that are equal, below 1.
func alike(got, want reflect.Value) float64 {
	if !got.IsValid() || !want.IsValid() || got.Type() != want.Type() {
		return 0
	}
	if x, ok := toNumber(got); ok {
		y, _ := toNumber(want)
		return near(x, y)
	}
	if got.Kind() != reflect.Struct || got.NumField() == 0 {
		if got.CanInterface() && want.CanInterface() && reflect.DeepEqual(got.Interface(), want.Interface()) {
			return 0.99
		}
		return 0
	}
	sum := 0.0
	for i := range got.NumField() {
		sum += alike(got.Field(i), want.Field(i))
	}
	return sum / float64(got.NumField())
}
