package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robospec/robospec/internal/cli/bound"
	"github.com/robospec/robospec/measure"
)

// figure is something measured that a bound may be put on.
type figure struct {
	name string
	of   bound.Quantity
}

// reading is what was measured of a figure. All values must keep a bound; they
// are one, but for a figure of every message, which has the two extremes.
type reading struct {
	values []float64
	// plusMinus is how finely values could be told apart, 0 for exactly.
	plusMinus float64
}

// expectation is one --expect.
type expectation struct {
	figure
	bound bound.Bound
}

func (e expectation) String() string { return e.name + " " + e.bound.String() }

// expectations reads the values of --expect. figures are what there is to be
// expected, the first of them where no name is given; percentile names, such as
// p95, are figures of it too when percentiles is true.
func expectations(texts []string, percentiles bool, figures ...figure) ([]expectation, error) {
	var all []expectation
	for _, text := range texts {
		name, rest := bound.Split(text)
		f := figures[0]
		if name != "" {
			i := slices.IndexFunc(figures, func(f figure) bool { return f.name == name })
			switch {
			case i >= 0:
				f = figures[i]
			case percentiles && isPercentile(name):
				f = figure{name, figures[0].of}
			default:
				return nil, misusef("--expect %q: there is no %q to expect here; there is %s", text, name, figureNames(figures, percentiles))
			}
		}
		b, err := bound.Parse(rest, f.of)
		if err != nil {
			return nil, misusef("--expect %q: %v", text, err)
		}
		all = append(all, expectation{f, b})
	}
	return all, nil
}

func figureNames(figures []figure, percentiles bool) string {
	names := make([]string, 0, len(figures)+1)
	for _, f := range figures {
		names = append(names, f.name)
	}
	if percentiles {
		names = append(names, "a percentile such as p95")
	}
	return strings.Join(names, ", ")
}

// isPercentile reports whether name is p and a number between 0 and 100.
func isPercentile(name string) bool {
	_, err := percentileOf(name)
	return err == nil
}

func percentileOf(name string) (p float64, err error) {
	rest, ok := strings.CutPrefix(name, "p")
	if !ok || strings.Trim(rest, "0123456789.") != "" {
		return 0, errors.New("no percentile")
	}
	if _, err := fmt.Sscanf(rest, "%g", &p); err != nil || p <= 0 || p >= 100 {
		return 0, errors.New("no percentile")
	}
	return p, nil
}

// verdict is what came of the expectations of a command.
type verdict struct {
	// Verdict is pass, fail, inconclusive, or empty when nothing was expected.
	Verdict string  `json:"verdict,omitempty"`
	Checks  []check `json:"checks,omitempty"`
}

type check struct {
	Of      string   `json:"of"`
	Expect  string   `json:"expect"`
	Value   *float64 `json:"value,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Verdict string   `json:"verdict"`
	// Reason is why it is inconclusive.
	Reason string `json:"reason,omitempty"`

	found string
	err   error
}

// judge holds the expectations against what was measured. A definite no counts
// more than what could not be seen: that could not change it.
func judge(expected []expectation, read func(figure) (reading, error)) verdict {
	var v verdict
	for _, e := range expected {
		c := check{Of: e.name, Expect: e.bound.String(), Verdict: "pass"}
		r, err := read(e.figure)
		if err != nil {
			c.Verdict, c.Reason, c.err = "inconclusive", err.Error(), err
		} else {
			x := r.values[0]
			for _, y := range r.values {
				if !e.bound.Contains(y) {
					x, c.Verdict = y, "fail"
				}
			}
			c.found = valueText(e.of, x, r.plusMinus)
			if c.Verdict == "fail" && r.plusMinus > 0 && e.bound.Near(x, r.plusMinus) {
				c.found += " (watch longer to tell values apart that lie so close)"
			}
			c.Unit = unitOf(e.of)
			if e.of == bound.Duration {
				x /= float64(time.Second)
			}
			c.Value = &x
		}
		v.Checks = append(v.Checks, c)
	}
	for _, is := range []string{"fail", "inconclusive", "pass"} {
		if slices.ContainsFunc(v.Checks, func(c check) bool { return c.Verdict == is }) {
			v.Verdict = is
			break
		}
	}
	return v
}

func unitOf(q bound.Quantity) string {
	return map[bound.Quantity]string{bound.Rate: "Hz", bound.Duration: "s", bound.Size: "B", bound.Bandwidth: "B/s"}[q]
}

func valueText(q bound.Quantity, x, plusMinus float64) string {
	pm := ""
	switch q {
	case bound.Rate:
		if plusMinus > 0 {
			pm = " ± " + oneDigit(plusMinus)
		}
		return fmt.Sprintf("%s%s Hz", fourDigits(x), pm)
	case bound.Duration:
		return short(time.Duration(x))
	case bound.Size:
		return amount(x, 4)
	case bound.Bandwidth:
		if plusMinus > 0 {
			pm = " ± " + amount(plusMinus, 3) + "/s"
		}
		return amount(x, 4) + "/s" + pm
	}
	return fmt.Sprint(x)
}

// fourDigits is x to four digits, or to the integer.
func fourDigits(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

// oneDigit is x to one digit, or to the integer.
func oneDigit(x float64) string {
	if x >= 1 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1g", x)
}

// tell prints what was expected and came, for people.
func (v verdict) tell(p *printer) {
	for _, c := range v.Checks {
		if c.Verdict == "inconclusive" {
			p.printf("inconclusive: %s, expected %s", c.Of, c.Expect)
			continue
		}
		p.printf("%s: %s %s, expected %s", c.Verdict, c.Of, c.found, c.Expect)
	}
}

// failure is a definite no; robospec exits with Fail.
type failure struct{ reason string }

func (f *failure) Error() string { return f.reason }

func failf(format string, args ...any) error { return &failure{fmt.Sprintf(format, args...)} }

// exit is the error that the command ends with.
func (v verdict) exit() error {
	for _, c := range v.Checks {
		if v.Verdict != c.Verdict {
			continue
		}
		switch c.Verdict {
		case "fail":
			return failf("%s %s, expected %s", c.Of, c.found, c.Expect)
		case "inconclusive":
			return inconclusive(c.err)
		}
	}
	return nil
}

// inconclusive is err as what could not be judged.
func inconclusive(err error) error {
	if _, ok := errors.AsType[*measure.Inconclusive](err); ok {
		return err
	}
	return &measure.Inconclusive{Reason: err.Error(), Err: err}
}
