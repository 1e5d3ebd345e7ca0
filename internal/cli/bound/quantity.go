package bound

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Quantity is what a bound is of. It says which units a number may have, and
// what a number without one means.
type Quantity uint8

const (
	// Number has no unit: a count, a field of a message.
	Number Quantity = iota
	// Rate is in hertz, which may be left out.
	Rate
	// Duration is in nanoseconds. Its numbers need a unit.
	Duration
	// Size is in bytes, which may be left out.
	Size
	// Bandwidth is in bytes per second, which may be left out.
	Bandwidth
)

func (q Quantity) String() string {
	switch q {
	case Rate:
		return "a rate"
	case Duration:
		return "a duration"
	case Size:
		return "a size"
	case Bandwidth:
		return "a bandwidth"
	default:
		return "a number"
	}
}

type unit struct {
	name   string
	factor float64
}

// units are those of q, the usual one first.
func (q Quantity) units() []unit {
	bytes := []unit{{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}
	switch q {
	case Rate:
		return []unit{{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}}
	case Duration:
		return []unit{
			{"ms", float64(time.Millisecond)}, {"ns", 1}, {"us", float64(time.Microsecond)}, {"µs", float64(time.Microsecond)},
			{"μs", float64(time.Microsecond)}, {"s", float64(time.Second)}, {"m", float64(time.Minute)}, {"h", float64(time.Hour)},
		}
	case Size:
		return bytes
	case Bandwidth:
		for i := range bytes {
			bytes[i].name += "/s"
		}
		return bytes
	default:
		return nil
	}
}

// measured is whether its values are never exactly the same twice.
func (q Quantity) measured() bool { return q != Number && q != Size }

// usual is the unit to write in an example.
func (q Quantity) usual() string {
	if q == Duration {
		return "ms"
	}
	return ""
}

// parsed is a number as it was written.
type parsed struct {
	text  string // without its unit
	value float64
	unit  string // "" for none
}

// parse reads a number with or without a unit of q.
func (q Quantity) parse(s string) (parsed, error) {
	s = strings.TrimSpace(s)
	n := numberLen(s)
	if n == 0 {
		if s == "" {
			return parsed{}, fmt.Errorf("a number is missing")
		}
		return parsed{}, fmt.Errorf("%q is no number", s)
	}
	v, err := strconv.ParseFloat(s[:n], 64)
	if err != nil {
		return parsed{}, fmt.Errorf("%q is beyond what a number may be", s[:n])
	}
	p := parsed{text: s[:n], value: v, unit: strings.TrimSpace(s[n:])}
	units := q.units()
	if p.unit == "" || slices.ContainsFunc(units, func(u unit) bool { return u.name == p.unit }) {
		return p, nil
	}
	if q == Duration {
		if d, err := time.ParseDuration(s); err == nil { // 1m30s
			return parsed{text: s, value: float64(d), unit: "ns"}, nil
		}
	}
	if len(units) == 0 {
		return parsed{}, fmt.Errorf("%q is no number: it has no unit and ends after %s", s, p.text)
	}
	var names []string
	for _, u := range units {
		if u.name[0] < utf8.RuneSelf { // the two letters µ are us, too
			names = append(names, u.name)
		}
	}
	return parsed{}, fmt.Errorf("%q is no unit of %s; there are %s", p.unit, q, strings.Join(names, ", "))
}

// scale is the number in the base unit of q; without a unit of its own it has
// the one given.
func (q Quantity) scale(p parsed, else_ string) (float64, error) {
	name := p.unit
	if name == "" {
		name = else_
	}
	units := q.units()
	if name == "" && q == Duration {
		return 0, fmt.Errorf("%s has no unit; write %s%s or %[1]ss", p.text, p.text, q.usual())
	}
	for _, u := range units {
		if u.name == name {
			return p.value * u.factor, nil
		}
	}
	return p.value, nil
}

// numberLen is how many bytes at the start of s are a decimal number.
func numberLen(s string) int {
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	whole := digits()
	// Two dots are a range.
	if i < len(s) && s[i] == '.' && !strings.HasPrefix(s[i:], "..") {
		i++
		if !digits() && !whole {
			return 0
		}
		whole = true
	}
	if !whole {
		return 0
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		mantissa := i
		i++
		if i < len(s) && (s[i] == '-' || s[i] == '+') {
			i++
		}
		if !digits() {
			i = mantissa
		}
	}
	return i
}
