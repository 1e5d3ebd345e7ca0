package rosidl

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// value parses a default or the value of a constant.
func (l *line) value(t Type) any {
	if t.Shape == Single {
		return l.scalar(t, "#")
	}
	at := l.pos
	if !l.skip("[") {
		l.fail("found %s, expected the values in brackets, such as [1, 2]", l.found())
	}
	values := []any{}
	l.space()
	for !l.skip("]") {
		if len(values) > 0 {
			if !l.skip(",") {
				l.fail("found %s, expected \",\" or \"]\"", l.found())
			}
			l.space()
		}
		if l.end() {
			l.fail("found %s, expected a value or \"]\"", l.found())
		}
		values = append(values, l.scalar(t, "#,]"))
		l.space()
	}
	switch {
	case t.Shape == Array && len(values) != t.Len:
		l.failAt(at, "found %d values, expected exactly %d", len(values), t.Len)
	case t.Shape == Bounded && len(values) > t.Len:
		l.failAt(at, "found %d values, expected at most %d", len(values), t.Len)
	}
	return values
}

// scalar parses one value. One that is not quoted ends before any byte of ends.
func (l *line) scalar(t Type, ends string) any {
	at := l.pos
	if t.Kind.isString() {
		var s string
		if l.pos < len(l.text) && (l.text[l.pos] == '"' || l.text[l.pos] == '\'') {
			s = l.quoted()
		} else {
			s = l.bare(ends)
		}
		if n := utf8.RuneCountInString(s); t.StringBound > 0 && n > t.StringBound {
			l.failAt(at, "found a string of %d characters, expected at most %d", n, t.StringBound)
		}
		return s
	}
	text := l.text[l.pos:]
	if i := strings.IndexAny(text, ends); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimRight(text, " \t")
	l.pos += len(text)
	found := quote(text)
	if text == "" {
		found = l.found()
	}
	switch t.Kind {
	case Bool:
		switch strings.ToLower(text) {
		case "true", "1":
			return true
		case "false", "0":
			return false
		}
		l.failAt(at, "found %s, expected true or false", found)
	case Float32, Float64:
		return l.float(t.Kind, text, found, at)
	}
	return l.integer(t.Kind, text, found, at)
}

func (l *line) float(k Kind, text, found string, at int) float64 {
	bits := 64
	if k == Float32 {
		bits = 32
	}
	plain, ok := digits(text)
	f, err := strconv.ParseFloat(plain, 64)
	if !ok || strings.ContainsAny(text, "xX") || err != nil && !isRange(err) {
		l.failAt(at, "found %s, expected a number such as 1.5, -2e3, inf or nan", found)
	}
	if _, err32 := strconv.ParseFloat(plain, bits); err32 != nil {
		l.failAt(at, "found %s, expected a number within float%d", found, bits)
	}
	// As written, since 0.1 of a float32 reads better in Go code than what it
	// is rounded to.
	return f
}

// integer is an int64 of a signed kind and a uint64 of another.
func (l *line) integer(k Kind, text, found string, at int) any {
	bits, signed := 8, false
	switch k {
	case Int8:
		signed = true
	case Int16, Uint16:
		bits, signed = 16, k == Int16
	case Int32, Uint32:
		bits, signed = 32, k == Int32
	case Int64, Uint64:
		bits, signed = 64, k == Int64
	}
	sign, rest := "", text
	if text != "" && (text[0] == '-' || text[0] == '+') {
		sign, rest = text[:1], text[1:]
	}
	base := 10
	if len(rest) > 2 && rest[0] == '0' {
		switch rest[1] | 0x20 {
		case 'x':
			base = 16
		case 'o':
			base = 8
		case 'b':
			base = 2
		}
		if base != 10 {
			rest = rest[2:]
		}
	}
	plain, ok := digits(rest)
	if ok && plain != "" && (letter(plain[0]) || digit(plain[0])) {
		if signed {
			i, err := strconv.ParseInt(sign+plain, base, bits)
			if err == nil {
				return i
			}
			ok = isRange(err)
		} else {
			u, err := strconv.ParseUint(plain, base, bits)
			if err == nil && (sign != "-" || u == 0) {
				return u
			}
			ok = err == nil || isRange(err)
		}
	} else {
		ok = false
	}
	from, to := "0", strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
	if signed {
		from, to = strconv.FormatInt(math.MinInt64>>(64-bits), 10), strconv.FormatInt(math.MaxInt64>>(64-bits), 10)
	}
	if !ok {
		l.failAt(at, "found %s, expected an integer", found)
	}
	l.failAt(at, "found %s, expected an integer from %s to %s", found, from, to)
	return nil
}

// digits removes single underscores between digits, as in 1_000, and reports
// whether no others are there.
func digits(s string) (string, bool) {
	if !strings.Contains(s, "_") {
		return s, true
	}
	ok := !strings.HasPrefix(s, "_") && plainUnderscores(s)
	return strings.ReplaceAll(s, "_", ""), ok
}

func isRange(err error) bool { return errors.Is(err, strconv.ErrRange) }

// bare reads a string without quotes.
func (l *line) bare(ends string) string {
	from, last := l.pos, 0
	var b strings.Builder
	for l.pos < len(l.text) && strings.IndexByte(ends, l.text[l.pos]) < 0 {
		if c := l.text[l.pos]; c == '\\' {
			l.escape(&b)
			last = b.Len()
		} else {
			b.WriteByte(c)
			l.pos++
			if !blank(c) {
				last = b.Len()
			}
		}
	}
	if b.Len() == 0 {
		l.pos = from
		l.fail("found %s, expected a string", l.found())
	}
	return b.String()[:last]
}

// quoted reads a string in the quotes it begins with.
func (l *line) quoted() string {
	from, quoteMark := l.pos, l.text[l.pos]
	var b strings.Builder
	l.pos++
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; c {
		case quoteMark:
			l.pos++
			return b.String()
		case '\\':
			l.escape(&b)
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	l.failAt(from, "found a string without its end, expected %c before the end of the line", quoteMark)
	return ""
}

// escape reads an escape sequence as Python does: one that is none stands for
// itself.
func (l *line) escape(b *strings.Builder) {
	from := l.pos
	l.pos++
	if l.pos == len(l.text) {
		b.WriteByte('\\')
		return
	}
	c := l.text[l.pos]
	l.pos++
	switch c {
	case '\\', '\'', '"':
		b.WriteByte(c)
	case 'a':
		b.WriteByte('\a')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'v':
		b.WriteByte('\v')
	case 'x', 'u', 'U':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		hex := l.text[l.pos:min(l.pos+n, len(l.text))]
		r, err := strconv.ParseUint(hex, 16, 32)
		if len(hex) < n || err != nil {
			l.failAt(from, "found %s, expected %d hexadecimal digits after \\%c", quote(`\`+string(c)+hex), n, c)
		}
		if !utf8.ValidRune(rune(r)) || r > utf8.MaxRune {
			l.failAt(from, "found %s, expected the number of a character", quote(`\`+string(c)+hex))
		}
		b.WriteRune(rune(r))
		l.pos += n
	case '0', '1', '2', '3', '4', '5', '6', '7':
		r := rune(c - '0')
		for range 2 {
			if l.pos == len(l.text) || l.text[l.pos] < '0' || l.text[l.pos] > '7' {
				break
			}
			r = r*8 + rune(l.text[l.pos]-'0')
			l.pos++
		}
		b.WriteRune(r)
	default:
		b.WriteByte('\\')
		l.pos--
	}
}
