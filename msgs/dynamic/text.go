package dynamic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shown is how many elements of a sequence and characters of a string String
// shows, as "ros2 topic echo" does.
const shown = 128

// String is the message as "ros2 topic echo" prints it: YAML, of a sequence no
// more than 128 elements and of a string no more than 128 characters, and of
// what is left how much it is. [Message.YAML] has it all.
func (m *Message) String() string {
	p := printer{most: shown}
	p.fields(m, 0)
	return string(p.b)
}

// YAML is the whole message in YAML, which SetYAML reads back.
func (m *Message) YAML() string {
	p := printer{most: math.MaxInt}
	p.fields(m, 0)
	return string(p.b)
}

// GomegaString is the message in one line of YAML, sequences and strings
// shortened to 16.
func (m *Message) GomegaString() string {
	p := printer{most: 16}
	p.flow(m)
	return string(p.b)
}

type printer struct {
	b    []byte
	most int
}

func (p *printer) add(s string) { p.b = append(p.b, s...) }

func (p *printer) indent(n int) {
	for range n {
		p.add("  ")
	}
}

// fields prints the fields of a message as lines. The first one goes on where
// the line is.
func (p *printer) fields(m *Message, depth int) {
	if len(m.v) == 0 {
		p.add("{}\n")
	}
	for i, v := range m.v {
		if i > 0 {
			p.indent(depth)
		}
		p.add(m.t.fields[i].Name)
		p.add(":")
		switch v := v.(type) {
		case *Message:
			if len(v.v) == 0 {
				p.add(" {}\n")
				continue
			}
			p.add("\n")
			p.indent(depth + 1)
			p.fields(v, depth+1)
		default:
			list := reflect.ValueOf(v)
			if list.Kind() != reflect.Slice {
				p.add(" ")
				p.value(v)
				p.add("\n")
				continue
			}
			if list.Len() == 0 {
				p.add(" []\n")
				continue
			}
			p.add("\n")
			p.elements(list, depth)
		}
	}
}

func (p *printer) elements(list reflect.Value, depth int) {
	n := list.Len()
	for i := range min(n, p.most) {
		p.indent(depth)
		p.add("- ")
		switch v := list.Index(i).Interface().(type) {
		case *Message:
			p.fields(v, depth+1)
		default:
			p.value(v)
			p.add("\n")
		}
	}
	if n > p.most {
		p.indent(depth)
		p.add("# and " + strconv.Itoa(n-p.most) + " more\n")
	}
}

// flow prints any value within a line.
func (p *printer) flow(v any) {
	if m, ok := v.(*Message); ok {
		p.add("{")
		for i, v := range m.v {
			if i > 0 {
				p.add(", ")
			}
			p.add(m.t.fields[i].Name + ": ")
			p.flow(v)
		}
		p.add("}")
		return
	}
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice {
		p.value(v)
		return
	}
	p.add("[")
	n := list.Len()
	for i := range min(n, p.most) {
		if i > 0 {
			p.add(", ")
		}
		p.flow(list.Index(i).Interface())
	}
	if n > p.most {
		p.add(", … " + strconv.Itoa(n-p.most) + " more")
	}
	p.add("]")
}

func (p *printer) value(v any) {
	switch v := v.(type) {
	case bool:
		p.b = strconv.AppendBool(p.b, v)
	case string:
		p.text(v)
	case float32:
		p.float(float64(v), 32)
	case float64:
		p.float(v, 64)
	default:
		if i := reflect.ValueOf(v); i.CanInt() {
			p.b = strconv.AppendInt(p.b, i.Int(), 10)
		} else {
			p.b = strconv.AppendUint(p.b, i.Uint(), 10)
		}
	}
}

// float prints a float as Python's YAML does, but one of 32 bits in no more
// digits than it has.
func (p *printer) float(x float64, bits int) {
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		p.add(".nan")
	case math.IsInf(x, 1):
		p.add(".inf")
	case math.IsInf(x, -1):
		p.add("-.inf")
	case a != 0 && (a < 1e-4 || a >= 1e16):
		s := strconv.FormatFloat(x, 'e', -1, bits)
		if !strings.Contains(s, ".") {
			// YAML 1.1 knows no float without a point.
			s = strings.Replace(s, "e", ".0e", 1)
		}
		p.add(s)
	default:
		s := strconv.FormatFloat(x, 'f', -1, bits)
		p.add(s)
		if !strings.Contains(s, ".") {
			p.add(".0")
		}
	}
}

func (p *printer) text(s string) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if p.most < math.MaxInt {
		if r := []rune(s); len(r) > p.most {
			s = string(r[:p.most]) + "…"
		}
	}
	switch {
	case plain(s):
		p.add(s)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.quoted(s)
	default:
		p.add("'" + strings.ReplaceAll(s, "'", "''") + "'")
	}
}

// quoted quotes what has line breaks and the like in it.
func (p *printer) quoted(s string) {
	p.add(`"`)
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			p.b = append(p.b, '\\', byte(r))
		case r == '\n':
			p.add(`\n`)
		case r == '\t':
			p.add(`\t`)
		case unicode.IsPrint(r):
			p.b = utf8.AppendRune(p.b, r)
		case r > 0xffff:
			p.b = fmt.Appendf(p.b, `\U%08x`, r)
		default:
			p.b = fmt.Appendf(p.b, `\u%04x`, r)
		}
	}
	p.add(`"`)
}

// plain reports whether YAML takes s for a string without quotes.
func plain(s string) bool {
	if s == "" || s[len(s)-1] == ' ' {
		return false
	}
	for i, r := range s {
		word := r == '_' || r == '/' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !word && (i == 0 || !strings.ContainsRune("0123456789-+.() ", r)) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return false
	}
	return true
}

// quoteJSON quotes s as JSON does. Bytes that are no UTF-8 become U+FFFD.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// MarshalJSON is the whole message in JSON. A float that JSON has no number for
// is "NaN", "Infinity" or "-Infinity".
func (m *Message) MarshalJSON() ([]byte, error) {
	var p printer
	p.json(m)
	return p.b, nil
}

func (p *printer) json(v any) {
	switch v := v.(type) {
	case *Message:
		p.add("{")
		for i, f := range v.t.fields {
			if i > 0 {
				p.add(",")
			}
			p.add(`"` + f.Name + `":`)
			p.json(v.v[i])
		}
		p.add("}")
	case string:
		p.add(quoteJSON(v))
	case float32:
		p.jsonFloat(float64(v), 32)
	case float64:
		p.jsonFloat(v, 64)
	case []uint8: // of an image, a million
		p.add("[")
		for i, x := range v {
			if i > 0 {
				p.add(",")
			}
			p.b = strconv.AppendUint(p.b, uint64(x), 10)
		}
		p.add("]")
	default:
		list := reflect.ValueOf(v)
		if list.Kind() != reflect.Slice {
			p.value(v)
			return
		}
		p.add("[")
		for i := range list.Len() {
			if i > 0 {
				p.add(",")
			}
			p.json(list.Index(i).Interface())
		}
		p.add("]")
	}
}

func (p *printer) jsonFloat(x float64, bits int) {
	switch {
	case math.IsNaN(x):
		p.add(`"NaN"`)
	case math.IsInf(x, 1):
		p.add(`"Infinity"`)
	case math.IsInf(x, -1):
		p.add(`"-Infinity"`)
	default:
		s := strconv.FormatFloat(x, 'g', -1, bits)
		if p.add(s); !strings.ContainsAny(s, ".e") {
			p.add(".0") // a reader knows it for a float, and -0 from 0
		}
	}
}
