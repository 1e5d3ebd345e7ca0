package bound

import (
	"fmt"
	"strconv"
	"strings"
)

// Split cuts what is expected into the name of what a bound is of, which may
// be left out, and the bound. The name of a field may hold what else would be an
// operator between brackets: position[name=left]>0.5.
func Split(s string) (name, bound string) {
	s = strings.TrimSpace(s)
	depth := 0
	for i, r := range s {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth <= 0 && strings.ContainsRune("<>=!≤≥≠", r):
			return strings.TrimSpace(s[:i]), s[i:]
		}
	}
	// A range or a tolerance, behind a blank if there is a name.
	if s == "" || !isLetter(s[0]) {
		return "", s
	}
	if name, bound, ok := strings.Cut(s, " "); ok {
		return name, strings.TrimSpace(bound)
	}
	return s, ""
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// Value is what is expected of a field: a bound of a number, or a text or truth
// value to be equal or not.
type Value struct {
	number Bound
	text   string
	other  bool // it is no number
	not    bool
}

// ParseValue reads what is expected of a field: a bound of a Number, or == or !=
// before true, false or a text, which may stand in double quotes.
func ParseValue(s string) (Value, error) {
	s = strings.TrimSpace(s)
	for _, op := range []string{"==", "!=", "≠"} {
		rest, ok := strings.CutPrefix(s, op)
		if !ok {
			continue
		}
		rest = strings.TrimSpace(rest)
		if rest == "" {
			return Value{}, fmt.Errorf("behind %s, a value is missing", op)
		}
		if n := numberLen(rest); n == len(rest) {
			break
		}
		v := Value{other: true, text: rest, not: op != "=="}
		if strings.HasPrefix(rest, `"`) {
			text, err := strconv.Unquote(rest)
			if err != nil {
				return Value{}, fmt.Errorf("behind %s, the text in quotes does not end or has a wrong escape", op)
			}
			v.text = text
		}
		return v, nil
	}
	b, err := Parse(s, Number)
	return Value{number: b}, err
}

// Holds reports whether x, the value of a field, is as expected. An error says
// that x is nothing to compare so.
func (v Value) Holds(x any) (bool, error) {
	switch x := x.(type) {
	case bool:
		if !v.other {
			return false, fmt.Errorf("it is %v and no number; write ==true or ==false", x)
		}
		return (strconv.FormatBool(x) == v.text) != v.not, nil
	case string:
		if !v.other { // a text that looks like a number
			return false, fmt.Errorf("it is the text %q and no number; write ==%[1]q", x)
		}
		return (x == v.text) != v.not, nil
	}
	f, ok := number(x)
	if !ok {
		return false, fmt.Errorf("it is no number, text or truth value; name one of its parts")
	}
	if v.other {
		return false, fmt.Errorf("it is the number %v and no text; write ==%[1]v", x)
	}
	return v.number.Contains(f), nil
}

// number is x as a float64. Integers beyond 2⁵³ are rounded.
func number(x any) (float64, bool) {
	switch x := x.(type) {
	case float64:
		return x, true
	case float32:
		// As it is written: 0.1 of a float32 is to be the 0.1 of the bound.
		f, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
		return f, err == nil
	case int8:
		return float64(x), true
	case int16:
		return float64(x), true
	case int32:
		return float64(x), true
	case int64:
		return float64(x), true
	case int:
		return float64(x), true
	case uint8:
		return float64(x), true
	case uint16:
		return float64(x), true
	case uint32:
		return float64(x), true
	case uint64:
		return float64(x), true
	}
	return 0, false
}
