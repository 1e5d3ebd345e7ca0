package gen

import (
	"fmt"
	"math"
	"strconv"

	"github.com/robospec/robospec/msgs/rosidl"
)

func (g *generator) printf(format string, args ...any) { fmt.Fprintf(&g.out, format, args...) }

func (g *generator) emit() {
	for _, s := range g.services {
		g.service(s)
	}
	for _, m := range g.messages {
		g.structure(m)
		g.constants(m)
		g.defaults(m)
		g.codec(m)
	}
}

func (g *generator) hash(fullName string) string {
	h, err := g.set.Hash(fullName)
	if err != nil {
		g.fail(err)
	}
	return h
}

func (g *generator) service(s service) {
	request, response := g.goType(s.Request.Name), g.goType(s.Response.Name)
	g.printf("\n// %s is the service %s.\n", s.goName, s.Name)
	g.printf("var %s = msgs.Service[%s, %s]{\nName: %q,\nHash: %q,\n", s.goName, request, response, s.Name, g.hash(s.Name))
	g.printf("Request: %s{},\nResponse: %s{},\n}\n", codecOf(request), codecOf(response))
}

func codecOf(goName string) string { return lower(goName) + "Codec" }

func (g *generator) structure(m message) {
	g.printf("\n// %s is %s.", m.goName, m.Name)
	if g.hasDefaults(m.Message) {
		g.printf(" New%s has its default values.", m.goName)
	}
	g.printf("\ntype %s struct {\n", m.goName)
	// The methods are names of the struct, too.
	seen := map[string]string{"CDRCodec": "a method of each message", "AppendCDR": "a method of each message", "DecodeCDR": "a method of each message"}
	for _, f := range m.Fields {
		name := camel(f.Name)
		if other, ok := seen[name]; ok {
			g.fail(fmt.Errorf("%s: field %s would be named %s in Go, as is %s", m.Name, f.Name, name, other))
		}
		seen[name] = "field " + f.Name
		g.printf("%s %s%s\n", name, g.fieldType(f.Type), note(f.Type))
	}
	g.printf("}\n")
}

func (g *generator) elementType(t rosidl.Type) string {
	if t.Kind == rosidl.Nested {
		return g.goType(t.Nested)
	}
	return goTypes[t.Kind]
}

func (g *generator) fieldType(t rosidl.Type) string {
	switch t.Shape {
	case rosidl.Array:
		return fmt.Sprintf("[%d]%s", t.Len, g.elementType(t))
	case rosidl.Bounded, rosidl.Sequence:
		return "[]" + g.elementType(t)
	default:
		return g.elementType(t)
	}
}

// note says of a type what Go's does not.
func note(t rosidl.Type) string {
	text := ""
	switch {
	case t.StringBound > 0 && t.Kind == rosidl.WString:
		text = fmt.Sprintf("wstring<=%d", t.StringBound)
	case t.StringBound > 0:
		text = fmt.Sprintf("string<=%d", t.StringBound)
	case t.Kind == rosidl.WString:
		text = "wstring"
	}
	if t.Shape == rosidl.Bounded {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("at most %d", t.Len)
	}
	if text == "" {
		return ""
	}
	return " // " + text
}

func (g *generator) constants(m message) {
	if len(m.Constants) == 0 {
		return
	}
	g.printf("\n// Constants of %s.\nconst (\n", m.Name)
	var variables []string
	for _, c := range m.Constants {
		name := m.goName + camel(c.Name)
		if what := m.Name + "." + c.Name; !g.reserve(name, what) {
			name = m.goName + "_" + c.Name
			if !g.reserve(name, what) {
				g.fail(fmt.Errorf("%s would be named %s in Go, as is %s", what, name, g.taken[name]))
			}
		}
		line := fmt.Sprintf("%s %s = %s\n", name, goTypes[c.Type.Kind], g.literal(c.Type, c.Value))
		if f, ok := c.Value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			variables = append(variables, line) // Go has no such constants
			continue
		}
		g.printf("%s", line)
	}
	g.printf(")\n")
	for _, v := range variables {
		g.printf("\nvar %s", v)
	}
}

// literal is a value of one element of type t.
func (g *generator) literal(t rosidl.Type, v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case string:
		return strconv.Quote(v)
	case float64:
		var special string
		switch {
		case math.IsNaN(v):
			special = "math.NaN()"
		case math.IsInf(v, 1):
			special = "math.Inf(1)"
		case math.IsInf(v, -1):
			special = "math.Inf(-1)"
		case v == 0 && math.Signbit(v):
			special = "math.Copysign(0, -1)"
		default:
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		g.needMath = true
		return goTypes[t.Kind] + "(" + special + ")"
	}
	g.fail(fmt.Errorf("a value of type %T stands in the model", v))
	return ""
}

// hasDefaults reports whether a message or one it holds has default values.
func (g *generator) hasDefaults(m *rosidl.Message) bool {
	for _, f := range m.Fields {
		if f.Default != nil || g.nestedDefaults(f.Type) {
			return true
		}
	}
	return false
}

func (g *generator) nestedDefaults(t rosidl.Type) bool {
	if t.Kind != rosidl.Nested || t.Shape == rosidl.Bounded || t.Shape == rosidl.Sequence {
		return false
	}
	nested := g.nested(t)
	return nested != nil && g.hasDefaults(nested)
}

// nested is the message that a type holds, nil after a failure.
func (g *generator) nested(t rosidl.Type) *rosidl.Message {
	m, err := g.set.Message(t.Nested)
	if err != nil {
		g.fail(err)
	}
	return m
}

func (g *generator) defaults(m message) {
	if !g.hasDefaults(m.Message) {
		return
	}
	name := "New" + m.goName
	if !g.reserve(name, "the default values of "+m.Name) {
		g.fail(fmt.Errorf("the default values of %s would be named %s in Go, as is %s", m.Name, name, g.taken[name]))
	}
	g.printf("\n// %s is a %s with the default values of its definition.\nfunc %[1]s() %[2]s {\nvar m %[2]s\n", name, m.goName)
	for _, f := range m.Fields {
		field, t := "m."+camel(f.Name), f.Type
		switch values, many := f.Default.([]any); {
		case many:
			g.printf("%s = %s{", field, g.fieldType(t))
			for i, v := range values {
				if i > 0 {
					g.printf(", ")
				}
				g.printf("%s", g.literal(t, v))
			}
			g.printf("}\n")
		case f.Default != nil:
			g.printf("%s = %s\n", field, g.literal(t, f.Default))
		case !g.nestedDefaults(t):
		case t.Shape == rosidl.Array:
			g.printf("for i := range %s {\n%[1]s[i] = %s()\n}\n", field, g.newName(t.Nested))
		default:
			g.printf("%s = %s()\n", field, g.newName(t.Nested))
		}
	}
	g.printf("return m\n}\n")
}

func (g *generator) newName(fullName string) string {
	pkg, _, rest := split(fullName)
	if pkg == g.pkg {
		return "New" + g.goName(fullName)
	}
	return pkg + ".New" + rest
}

func (g *generator) codec(m message) {
	codec := codecOf(m.goName)
	g.printf("\n// CDRCodec is the codec of %s.\nfunc (*%s) CDRCodec() msgs.Codec[%[2]s] { return %s{} }\n", m.Name, m.goName, codec)

	g.printf("\n// AppendCDR writes the fields of m, for the codecs of messages that hold one.\n")
	g.printf("func (m *%s) AppendCDR(w *cdr.Writer) {\n", m.goName)
	for _, f := range m.Fields {
		g.appendField(f)
	}
	if len(m.Fields) == 0 {
		g.printf("w.Uint8(0)\n")
	}
	g.printf("}\n")

	g.printf("\n// DecodeCDR reads the fields of a zero m, likewise.\n")
	g.printf("func (m *%s) DecodeCDR(r *cdr.Reader) {\n", m.goName)
	for _, f := range m.Fields {
		g.decodeField(f)
	}
	if len(m.Fields) == 0 {
		g.printf("r.Uint8(\"structure_needs_at_least_one_member\")\n")
	}
	g.printf("}\n")

	g.printf("\ntype %s struct{}\n", codec)
	g.printf("\nfunc (%s) Append(dst []byte, v %s) ([]byte, error) {\nw := cdr.NewWriter(dst, %d)\nv.AppendCDR(&w)\nreturn w.Done(%q)\n}\n",
		codec, m.goName, g.written(m.Message, 0), m.Name)
	g.printf("\nfunc (%s) Decode(src []byte) (%s, error) {\nvar v %[2]s\nr := cdr.NewReader(%[3]q, src)\nv.DecodeCDR(&r)\nif err := r.Err(); err != nil {\nreturn %[2]s{}, err\n}\nreturn v, nil\n}\n",
		codec, m.goName, m.Name)
	g.printf("\nfunc (%s) Encoding() string { return msgs.CDR }\n", codec)
	g.printf("\nfunc (%s) TypeName() string { return %q }\n", codec, m.Name)
	g.printf("\nfunc (%s) TypeHash() string { return %q }\n", codec, g.hash(m.Name))
}

func isString(k rosidl.Kind) bool { return k == rosidl.String || k == rosidl.WString }

func isByte(k rosidl.Kind) bool { return k == rosidl.Uint8 || k == rosidl.Byte }

func (g *generator) appendField(f rosidl.Field) {
	t, field := f.Type, "m."+camel(f.Name)
	switch {
	case t.Shape == rosidl.Single && t.Kind == rosidl.Nested:
		g.printf("w.Enter()\n%s.AppendCDR(w)\nw.Leave(%q)\n", field, f.Name)
	case t.Shape == rosidl.Single && isString(t.Kind):
		g.printf("w.%s(%q, %s, %d)\n", methods[t.Kind], f.Name, field, t.StringBound)
	case t.Shape == rosidl.Single:
		g.printf("w.%s(%s)\n", methods[t.Kind], field)

	case t.Kind == rosidl.Nested:
		if t.Shape != rosidl.Array {
			g.printf("w.Len(%q, len(%s), %d)\nw.Grow(len(%[2]s) * %[4]d)\n", f.Name, field, t.Len, g.least(g.nested(t)))
		}
		g.printf("for i := range %s {\nw.Enter()\n%[1]s[i].AppendCDR(w)\nw.LeaveAt(%[2]q, i)\n}\n", field, f.Name)

	case t.Shape == rosidl.Array && isString(t.Kind):
		g.printf("w.%ss(%q, %s[:], %d)\n", methods[t.Kind], f.Name, field, t.StringBound)
	case t.Shape == rosidl.Array && t.Kind == rosidl.Bool:
		g.printf("w.Bools(%s[:])\n", field)
	case t.Shape == rosidl.Array:
		g.printf("cdr.AppendArray(w, %s[:])\n", field)

	case isString(t.Kind):
		g.printf("w.%sSequence(%q, %s, %d, %d)\n", methods[t.Kind], f.Name, field, t.Len, t.StringBound)
	case t.Kind == rosidl.Bool:
		g.printf("w.BoolSequence(%q, %s, %d)\n", f.Name, field, t.Len)
	default:
		g.printf("cdr.AppendSequence(w, %q, %s, %d)\n", f.Name, field, t.Len)
	}
}

func (g *generator) decodeField(f rosidl.Field) {
	t, field := f.Type, "m."+camel(f.Name)
	elements := func() {
		g.printf("for i := range %s {\nr.Enter()\n%[1]s[i].DecodeCDR(r)\nif r.LeaveAt(%[2]q, i); !r.OK() {\nreturn\n}\n}\n", field, f.Name)
	}
	switch {
	case t.Shape == rosidl.Single && t.Kind == rosidl.Nested:
		g.printf("r.Enter()\n%s.DecodeCDR(r)\nr.Leave(%q)\n", field, f.Name)
	case t.Shape == rosidl.Single && isString(t.Kind):
		g.printf("%s = r.%s(%q, %d)\n", field, methods[t.Kind], f.Name, t.StringBound)
	case t.Shape == rosidl.Single:
		g.printf("%s = r.%s(%q)\n", field, methods[t.Kind], f.Name)

	case t.Shape == rosidl.Array && t.Kind == rosidl.Nested:
		elements()
	case t.Kind == rosidl.Nested:
		g.printf("if n := r.Len(%q, %d, %d); n > 0 {\n%s = make([]%s, n)\n", f.Name, t.Len, g.least(g.nested(t)), field, g.elementType(t))
		elements()
		g.printf("}\n")

	case t.Shape == rosidl.Array && isString(t.Kind):
		g.printf("r.%ss(%q, %s[:], %d)\n", methods[t.Kind], f.Name, field, t.StringBound)
	case t.Shape == rosidl.Array && t.Kind == rosidl.Bool:
		g.printf("r.Bools(%q, %s[:])\n", f.Name, field)
	case t.Shape == rosidl.Array:
		g.printf("cdr.Array(r, %q, %s[:])\n", f.Name, field)

	case isString(t.Kind):
		g.printf("%s = r.%sSequence(%q, %d, %d)\n", field, methods[t.Kind], f.Name, t.Len, t.StringBound)
	case t.Kind == rosidl.Bool:
		g.printf("%s = r.BoolSequence(%q, %d)\n", field, f.Name, t.Len)
	case isByte(t.Kind):
		g.printf("%s = r.Bytes(%q, %d)\n", field, f.Name, t.Len)
	default:
		g.printf("%s = cdr.Sequence[%s](r, %q, %d)\n", field, goTypes[t.Kind], f.Name, t.Len)
	}
}

// least is how many bytes a message has at the least in any CDR, wherever it
// stands.
func (g *generator) least(m *rosidl.Message) int {
	if m == nil || len(m.Fields) == 0 {
		return 1
	}
	total := 0
	for _, f := range m.Fields {
		t := f.Type
		one := sizes[t.Kind]
		if t.Kind == rosidl.Nested {
			one = g.least(g.nested(t))
		}
		switch t.Shape {
		case rosidl.Single:
			total += one
		case rosidl.Array:
			total += t.Len * one
		default:
			total += 4
		}
	}
	return total
}

// written is where a message that begins at offset ends as we write it, its
// strings and sequences being empty.
func (g *generator) written(m *rosidl.Message, offset int) int {
	if m == nil || len(m.Fields) == 0 {
		return offset + 1
	}
	for _, f := range m.Fields {
		t, n := f.Type, 1
		switch t.Shape {
		case rosidl.Array:
			n = t.Len
		case rosidl.Bounded, rosidl.Sequence:
			t, n = rosidl.Type{Kind: rosidl.Uint32}, 1 // its length
		}
		for range n {
			if t.Kind == rosidl.Nested {
				offset = g.written(g.nested(t), offset)
				continue
			}
			offset += -offset & (sizes[t.Kind] - 1)
			offset += sizes[t.Kind]
			if t.Kind == rosidl.String {
				offset++ // its NUL
			}
		}
	}
	return offset
}
