// Package bound reads what a command line expects of a measurement:
//
//	>=49   >49   <=51   <51    at least, more than, at most, less than
//	50±1   50+-1   50±2%       no further than that from it
//	49..51                     between, both included
//	==3   !=3                  of counts, sizes and fields only: nothing measured is exact
//
// Numbers are decimal and may have a unit of what they are of: 20ms, 1.5MB/s,
// 50Hz. A name before the bound says what it is of: max-gap<50ms, p95<20ms,
// gap 10ms..20ms, pose.position.x>0.5. Only durations need a unit.
package bound

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Bound is a range of numbers in the base unit of its Quantity. The zero value
// contains only 0.
type Bound struct {
	text              string
	low, high         float64
	lowOpen, highOpen bool
	except            bool // all but what the range holds
}

// String is the bound as it was written.
func (b Bound) String() string { return b.text }

// Contains reports whether x keeps the bound. NaN keeps none.
func (b Bound) Contains(x float64) bool {
	if math.IsNaN(x) {
		return false
	}
	in := (x > b.low || x == b.low && !b.lowOpen) && (x < b.high || x == b.high && !b.highOpen)
	return in != b.except
}

// Near reports whether an edge of the bound lies within ±tolerance of x, so that
// a measurement no finer than that does not tell on which side x is.
func (b Bound) Near(x, tolerance float64) bool {
	return math.Abs(x-b.low) <= tolerance || math.Abs(x-b.high) <= tolerance
}

// operators are in the order in which they are looked for.
func operators() []string {
	return []string{">=", "≥", "<=", "≤", "==", "!=", "≠", "=>", "=<", ">", "<", "="}
}

// Parse reads a bound of q. An error says what is wrong with it and what to write
// instead; the caller says where it stands.
func Parse(s string, q Quantity) (Bound, error) {
	s = strings.TrimSpace(s)
	b, err := parse(s, q)
	if err != nil {
		return Bound{}, err
	}
	b.text = s
	return b, nil
}

func parse(s string, q Quantity) (Bound, error) {
	if s == "" {
		return Bound{}, fmt.Errorf("a bound is missing; write %s", forms(q, "50"))
	}
	for _, op := range operators() {
		rest, ok := strings.CutPrefix(s, op)
		if !ok {
			continue
		}
		if strings.ContainsAny(rest, "<>=≤≥≠") {
			return Bound{}, errors.New("it holds two comparisons; write 49..51 for a range, or --expect twice")
		}
		p, err := q.parse(rest)
		if err != nil {
			return Bound{}, fmt.Errorf("behind %s, %w", op, err)
		}
		x, err := q.scale(p, "")
		if err != nil {
			return Bound{}, err
		}
		return compare(op, x, p, q)
	}
	if before, after, op, ok := cut(s, "±", "+/-", "+-"); ok {
		return around(before, after, op, q)
	}
	if before, after, _, ok := cut(s, "..", "…"); ok {
		return between(before, after, q)
	}
	p, err := q.parse(s)
	if err != nil {
		return Bound{}, fmt.Errorf("%w; write %s", err, forms(q, "50"))
	}
	return Bound{}, fmt.Errorf("a number alone does not say how far from it is too far; write %s", forms(q, p.text))
}

// forms are the ways to write a bound around a number.
func forms(q Quantity, n string) string {
	u := q.usual()
	s := fmt.Sprintf(">=%[1]s%[2]s, <=%[1]s%[2]s, %[1]s±1%[2]s or 49..51%[2]s", n, u)
	if !q.measured() {
		s = fmt.Sprintf("==%s, %s", n, s)
	}
	return s
}

func compare(op string, x float64, p parsed, q Quantity) (Bound, error) {
	b := Bound{low: math.Inf(-1), high: math.Inf(1)}
	switch op {
	case ">":
		b.low, b.lowOpen = x, true
	case ">=", "≥":
		b.low = x
	case "<":
		b.high, b.highOpen = x, true
	case "<=", "≤":
		b.high = x
	case "==", "!=", "≠":
		if q.measured() {
			return b, fmt.Errorf("no measured %s is ever exactly %s%s; write %[2]s±1%[4]s", strings.TrimPrefix(q.String(), "a "), p.text, p.unit, unitOr(p, q))
		}
		b.low, b.high, b.except = x, x, op != "=="
	case "=>", "=<":
		return b, fmt.Errorf("write %s=%s%s", op[1:], p.text, p.unit)
	case "=":
		return b, fmt.Errorf("write ==%s%s", p.text, p.unit)
	}
	return b, nil
}

func unitOr(p parsed, q Quantity) string {
	if p.unit != "" {
		return p.unit
	}
	return q.usual()
}

func around(before, after, op string, q Quantity) (Bound, error) {
	mid, err := q.parse(before)
	if err != nil {
		return Bound{}, fmt.Errorf("before %s, %w", op, err)
	}
	if percent, ok := strings.CutSuffix(strings.TrimSpace(after), "%"); ok {
		p, err := Number.parse(percent)
		if err != nil {
			return Bound{}, fmt.Errorf("behind %s, %w", op, err)
		}
		x, err := q.scale(mid, "")
		if err != nil {
			return Bound{}, err
		}
		return within(x, math.Abs(x)*p.value/100, op)
	}
	tol, err := q.parse(after)
	if err != nil {
		return Bound{}, fmt.Errorf("behind %s, %w", op, err)
	}
	x, err := q.scale(mid, tol.unit)
	if err != nil {
		return Bound{}, err
	}
	d, err := q.scale(tol, mid.unit)
	if err != nil {
		return Bound{}, err
	}
	return within(x, d, op)
}

func within(x, d float64, op string) (Bound, error) {
	if d < 0 {
		return Bound{}, fmt.Errorf("the tolerance behind %s is negative", op)
	}
	return Bound{low: x - d, high: x + d}, nil
}

func between(before, after string, q Quantity) (Bound, error) {
	low, err := q.parse(before)
	if err != nil {
		return Bound{}, fmt.Errorf("before the dots, %w; write 49..51%s, or >=49%[2]s without an upper end", err, q.usual())
	}
	high, err := q.parse(after)
	if err != nil {
		return Bound{}, fmt.Errorf("behind the dots, %w; write 49..51%s, or >=49%[2]s without an upper end", err, q.usual())
	}
	l, err := q.scale(low, high.unit)
	if err != nil {
		return Bound{}, err
	}
	h, err := q.scale(high, low.unit)
	if err != nil {
		return Bound{}, err
	}
	if l > h {
		return Bound{}, fmt.Errorf("its lower end lies above its upper; write %s..%s", strings.TrimSpace(after), strings.TrimSpace(before))
	}
	return Bound{low: l, high: h}, nil
}

// cut splits s at the first of the separators that it holds.
func cut(s string, seps ...string) (before, after, sep string, ok bool) {
	for _, sep := range seps {
		if before, after, ok := strings.Cut(s, sep); ok {
			return before, after, sep, true
		}
	}
	return "", "", "", false
}
