package matchers

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/robospec/robospec/internal/oneline"
)

// question is what a matcher of one value asks, such as BeNear.
type question interface {
	// String is what is wanted: "position (1, 2, 0) ± 0.1", "= 3 ± 0.1".
	String() string
	// check reports what of it cannot be asked of a type.
	check(t reflect.Type) error
	ask(v any) (bool, error)
	// near is how near a value that misses comes, from 0 to below 1.
	near(v any) float64
	// explain says what of a value counted, at where in the message; of a value
	// that misses, all that misses.
	explain(v any, where string) []string
}

// valueMatcher is a matcher of one value that says itself how far it missed.
type valueMatcher struct {
	question
	wrong error // misuse found when it was made
}

// Match judges one message, or a part of one.
func (m *valueMatcher) Match(actual any) (bool, error) {
	if m.wrong != nil {
		return false, m.wrong
	}
	if actual == nil {
		return false, nil
	}
	return m.ask(actual)
}

func (m *valueMatcher) check(t reflect.Type) error {
	if m.wrong != nil || t.Kind() == reflect.Interface { // known only message by message
		return m.wrong
	}
	return m.question.check(t)
}

func (m *valueMatcher) near(v any) float64 {
	if m.wrong != nil || v == nil {
		return 0
	}
	return m.question.near(v)
}

func (m *valueMatcher) explain(v any, where string) []string {
	if v == nil {
		return line(where, "got nil, want %s", wanted(m))
	}
	return m.question.explain(v, where)
}

func (m *valueMatcher) FailureMessage(actual any) string { return m.message(actual, "to") }

func (m *valueMatcher) NegatedFailureMessage(actual any) string { return m.message(actual, "not to") }

func (m *valueMatcher) message(actual any, to string) string {
	if m.wrong != nil {
		return m.wrong.Error()
	}
	want := m.String()
	if equal, ok := strings.CutPrefix(want, "= "); ok {
		want = "equal " + equal
	} else {
		want = "have " + want
	}
	s := fmt.Sprintf("Expected\n    %s\n%s %s", oneline.Print(actual), to, want)
	if why := m.explain(actual, ""); len(why) > 0 {
		s += "\n\n" + strings.Join(why, "\n")
	}
	return s
}

// line is one line of an explanation.
func line(where, format string, args ...any) []string {
	s := fmt.Sprintf(format, args...)
	if where != "" {
		s = where + ": " + s
	}
	return []string{s}
}

// badTolerance is what is wrong with a tolerance.
func badTolerance(name string, tol float64) error {
	if tol >= 0 && !math.IsInf(tol, 0) {
		return nil
	}
	return fmt.Errorf("%s: the tolerance must be a number, zero or more; it is %v", name, tol)
}

// nearness of a value that is off by so much, below 1.
func nearness(off, tol float64) float64 {
	if math.IsNaN(off) {
		return 0
	}
	return 0.99 / (1 + off/(1e-9+tol))
}

// brief prints a number with as many digits as a reader wants.
func brief(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// exact prints a number that somebody wrote, such as a tolerance.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// brieflyUnlike prints a number with as many digits as tell it from another.
func brieflyUnlike(x, other float64) string {
	for digits := 6; digits < 17; digits++ {
		if s := strconv.FormatFloat(x, 'g', digits, 64); s != strconv.FormatFloat(other, 'g', digits, 64) {
			return s
		}
	}
	return exact(x)
}

// tuple prints "(1, 2, 0)".
func tuple(xs []float64) string {
	var s []string
	for _, x := range xs {
		s = append(s, brief(x))
	}
	return "(" + strings.Join(s, ", ") + ")"
}
