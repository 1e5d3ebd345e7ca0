package matchers

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync/atomic"

	"github.com/onsi/gomega/types"
)

// Norm is the Euclidean length of what lies at a path, as a field:
// HaveAverage(Norm("LinearAcceleration"), m), Field(Norm("Twist.Twist.Linear"), m).
// It takes a struct of numbers or an array of them; the empty path is the message
// itself. An empty slice has no length.
func Norm(path string) FieldNumber {
	p, err := parsePath(path)
	return &norm{text: fmt.Sprintf("Norm(%q)", path), path: p, wrong: err}
}

type norm struct {
	text  string
	path  *path
	wrong error
	// seen is the type last checked.
	seen atomic.Pointer[reflect.Type]
}

func (n *norm) String() string { return n.text }

func (n *norm) number() number { return number{check: n.check, get: n.get} }

func (n *norm) check(t reflect.Type) error {
	if n.wrong != nil {
		return n.wrong
	}
	if seen := n.seen.Load(); seen != nil && *seen == t {
		return nil
	}
	if err := n.checkEnd(t); err != nil {
		return err
	}
	seen := t // what escapes only here
	n.seen.Store(&seen)
	return nil
}

func (n *norm) checkEnd(t reflect.Type) error {
	end, err := n.path.check(t)
	if err != nil {
		return err
	}
	for end.Kind() == reflect.Pointer {
		end = end.Elem()
	}
	what := n.path.text
	if what == "" {
		what = "the message"
	}
	switch end.Kind() {
	case reflect.Interface:
		return nil
	case reflect.Slice, reflect.Array:
		if !isNumber(end.Elem()) && end.Elem().Kind() != reflect.Interface {
			return fmt.Errorf("%s takes numbers, and the elements of %s are %s", n.text, what, end.Elem())
		}
		return nil
	case reflect.Struct:
		exported := 0
		for i := range end.NumField() {
			f := end.Field(i)
			if !f.IsExported() {
				continue
			}
			if exported++; !isNumber(f.Type) {
				return fmt.Errorf("%s takes a struct of numbers, and %s (%s) has a %s that is a %s", n.text, what, end, f.Name, f.Type)
			}
		}
		if exported > 0 {
			return nil
		}
	}
	return fmt.Errorf("%s takes a struct of numbers or an array of them, and %s is a %s", n.text, what, end)
}

func (n *norm) get(msg any) (float64, error) {
	if msg == nil {
		return 0, notThere("the message is nil")
	}
	if err := n.check(reflect.TypeOf(msg)); err != nil {
		return 0, err
	}
	v, absent, err := n.path.value(msg)
	switch {
	case err != nil:
		return 0, err
	case !v.IsValid():
		return 0, notThere(absent)
	case v.Kind() == reflect.Pointer:
		return 0, notThere(n.path.text + " is nil")
	}
	var length float64
	add := func(e reflect.Value) error {
		if e.Kind() == reflect.Interface {
			e = e.Elem()
		}
		x, ok := toNumber(e)
		if !ok {
			return fmt.Errorf("%s takes numbers, and %s is %s", n.text, n.path.text, orNil(v))
		}
		length = hypot(length, x)
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() {
				if err := add(f); err != nil {
					return 0, err
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			return 0, notThere(n.path.text + " is empty, so it has no length")
		}
		for i := range v.Len() {
			if err := add(v.Index(i)); err != nil {
				return 0, err
			}
		}
	default:
		return 0, add(reflect.Value{})
	}
	return length, nil
}

// hypot is NaN if either is, which math.Hypot forgets beside an infinity.
func hypot(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return math.Hypot(a, b)
}

// notThere says that a message has no such number, which matches nothing.
type notThere string

func (n notThere) Error() string { return string(n) }

// figureOfField is Field of a FieldNumber.
type figureOfField struct {
	text   string
	figure number
	m      types.GomegaMatcher
}

func (f *figureOfField) String() string { return f.text + " " + describe(f.m) }

func (f *figureOfField) check(t reflect.Type) error { return f.figure.check(t) }

func (f *figureOfField) ask(v any) (bool, error) {
	x, err := f.figure.get(v)
	if _, absent := errors.AsType[notThere](err); absent {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return f.m.Match(x)
}

func (f *figureOfField) near(v any) float64 {
	x, err := f.figure.get(v)
	if err != nil {
		return 0
	}
	return closeness(f.m, x)
}

func (f *figureOfField) explain(v any, where string) []string {
	x, err := f.figure.get(v)
	if err != nil {
		return line(where, "%v", err)
	}
	if why := misses(f.m, x, join(where, f.text)); len(why) > 0 {
		return why
	}
	return line(join(where, f.text), "got %s", brief(x))
}
