package rosidl

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SyntaxError says where a definition is malformed and what was expected there.
type SyntaxError struct {
	// File is the file's name as the parser was told, or the name of the
	// interface when it was told none.
	File string
	// Line and Column count from 1, columns in characters.
	Line, Column int
	// Msg is such as `found "]", expected a number`.
	Msg string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// ParseMessage parses the text of a .msg file. file is for errors; fullName is
// such as "std_msgs/msg/String". A malformed text is a [*SyntaxError].
//
// Where the ROS 2 tools and their documentation differ, this is a parser of what
// is documented: a # or = within a quoted string belongs to it, and the escapes
// of Python (\n, \t, \\, \', \x41, \u00e9, …) are decoded once. As there, char
// is another word for uint8.
func ParseMessage(file, fullName string, text []byte) (*Message, error) {
	m, err := parse(file, fullName, "msg", text, "")
	if err != nil {
		return nil, err
	}
	return m[0], nil
}

// ParseService parses the text of a .srv file, as [ParseMessage] does. fullName
// is such as "std_srvs/srv/SetBool".
func ParseService(file, fullName string, text []byte) (*Service, error) {
	m, err := parse(file, fullName, "srv", text, "_Request", "_Response")
	if err != nil {
		return nil, err
	}
	return &Service{Name: fullName, Request: m[0], Response: m[1]}, nil
}

// ParseAction parses the text of an .action file, as [ParseMessage] does.
// fullName is such as "nav2_msgs/action/Spin".
func ParseAction(file, fullName string, text []byte) (*Action, error) {
	m, err := parse(file, fullName, "action", text, "_Goal", "_Result", "_Feedback")
	if err != nil {
		return nil, err
	}
	return &Action{Name: fullName, Goal: m[0], Result: m[1], Feedback: m[2]}, nil
}

const separator = "---"

// parse parses messages separated by lines of three dashes, one per suffix.
func parse(file, fullName, kind string, text []byte, suffixes ...string) (parsed []*Message, err error) {
	n, err := splitName(fullName)
	if err != nil {
		return nil, err
	}
	if n.kind != kind {
		return nil, fmt.Errorf("rosidl: %q is no name for a .%s file, which is such as %s/%s/%s", fullName, kind, n.pkg, kind, n.base)
	}
	if file == "" {
		file = fullName
	}
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(*SyntaxError)
			if !ok {
				panic(p)
			}
			parsed, err = nil, e
		}
	}()

	l := &line{file: file, pkg: n.pkg}
	m := newMessages(fullName, suffixes)
	for s := range strings.SplitSeq(string(text), "\n") {
		l.start(strings.TrimRight(s, " \t\r"))
		switch {
		case l.end():
		case l.text == separator:
			if !m.next() {
				l.fail("found another line %s, expected no more than %s", separator, m.layout())
			}
		default:
			l.member(m)
		}
	}
	if m.more() {
		l.pos = len(l.text)
		l.fail("found the end of the file, expected a line %s: %s", separator, m.layout())
	}
	return m.all, nil
}

// messages are those of one file, while it is read.
type messages struct {
	all     []*Message
	current int
	lines   map[string]int // of the current one's fields and constants
}

func newMessages(fullName string, suffixes []string) *messages {
	m := &messages{lines: map[string]int{}}
	for _, s := range suffixes {
		m.all = append(m.all, &Message{Name: fullName + s})
	}
	return m
}

func (m *messages) more() bool { return m.current < len(m.all)-1 }

func (m *messages) next() bool {
	if !m.more() {
		return false
	}
	m.current++
	m.lines = map[string]int{}
	return true
}

func (m *messages) layout() string {
	switch len(m.all) {
	case 1:
		return "fields and constants in a .msg file"
	case 2:
		return "request and response in a .srv file"
	}
	return "goal, result and feedback in an .action file"
}

// line is the line being parsed. Its methods panic with a *SyntaxError.
type line struct {
	file, pkg string
	number    int
	text      string
	pos       int // in bytes
}

func (l *line) start(text string) {
	l.number++
	l.text, l.pos = text, 0
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			l.pos = i
			l.fail("found the byte 0x%02x, expected text in UTF-8", text[i])
		}
		if r < ' ' && r != '\t' || r == 0x7f || r == 0xFEFF {
			l.pos = i
			l.fail("found the character %U, expected a printable one", r)
		}
	}
	l.space()
}

func (l *line) fail(format string, args ...any) { l.failAt(l.pos, format, args...) }

func (l *line) failAt(pos int, format string, args ...any) {
	panic(&SyntaxError{
		File: l.file, Line: l.number, Column: utf8.RuneCountInString(l.text[:pos]) + 1,
		Msg: fmt.Sprintf(format, args...),
	})
}

// found is what an error says is here.
func (l *line) found() string {
	if l.end() {
		return "the end of the line"
	}
	if blank(l.text[l.pos]) {
		return "a space"
	}
	end := l.pos
	for end < len(l.text) && !blank(l.text[end]) {
		end++
	}
	return quote(l.text[l.pos:end])
}

// quote is s for an error, shortened.
func quote(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:39]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// end reports whether nothing but a comment is left.
func (l *line) end() bool { return l.pos == len(l.text) || l.text[l.pos] == '#' }

func (l *line) space() bool {
	from := l.pos
	for l.pos < len(l.text) && blank(l.text[l.pos]) {
		l.pos++
	}
	return l.pos > from
}

func (l *line) skip(token string) bool {
	ok := strings.HasPrefix(l.text[l.pos:], token)
	if ok {
		l.pos += len(token)
	}
	return ok
}

// word reads letters, digits, underscores and what more holds.
func (l *line) word(more string) string {
	from := l.pos
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		if !letter(c) && !digit(c) && c != '_' && strings.IndexByte(more, c) < 0 {
			break
		}
		l.pos++
	}
	return l.text[from:l.pos]
}

func blank(c byte) bool  { return c == ' ' || c == '\t' }
func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }

// member parses a field or a constant.
func (l *line) member(m *messages) {
	typeAt := l.pos
	t := l.typ()
	if !l.space() {
		l.fail("found %s, expected a space and a name", l.found())
	}
	nameAt := l.pos
	name := l.word("")
	if name == "" {
		l.fail("found %s, expected the name of a field or constant", l.found())
	}
	spaced := l.space()
	if l.skip("=") {
		if t.Shape != Single {
			l.failAt(typeAt, "found a constant of an array type, expected a type of a single value")
		}
		if t.Kind == Nested {
			l.failAt(typeAt, "found a constant of type %s, expected bool, a number or a string", t.Nested)
		}
		if t.StringBound != 0 {
			l.failAt(typeAt, "found a constant of a bounded string, expected string or wstring")
		}
		if !constantName(name) {
			l.failAt(nameAt, "found the name %s, expected that of a constant: upper case letters, digits and single underscores, such as MAX_SPEED", quote(name))
		}
		l.unique(m, name, nameAt)
		l.space()
		c := Constant{Name: name, Type: t}
		if l.end() && t.Kind.isString() {
			c.Value = ""
		} else {
			c.Value = l.value(t)
		}
		l.done()
		cur := m.all[m.current]
		cur.Constants = append(cur.Constants, c)
		return
	}
	if !snakeCase(name) {
		l.failAt(nameAt, "found the name %s, expected that of a field: lower case letters, digits and single underscores, such as max_speed", quote(name))
	}
	l.unique(m, name, nameAt)
	f := Field{Name: name, Type: t}
	if !l.end() {
		if !spaced {
			l.fail("found %s, expected a space and a default, \"=\" or the end of the line", l.found())
		}
		if t.Kind == Nested {
			l.fail("found a default of a field of type %s, expected none: only bool, numbers and strings have one", t.Nested)
		}
		f.Default = l.value(t)
		l.done()
	}
	cur := m.all[m.current]
	cur.Fields = append(cur.Fields, f)
}

func (l *line) unique(m *messages, name string, at int) {
	if n, ok := m.lines[name]; ok {
		l.failAt(at, "found the name %s again, expected another than in line %d", quote(name), n)
	}
	m.lines[name] = l.number
}

func (l *line) done() {
	l.space()
	if !l.end() {
		l.fail("found %s, expected the end of the line", l.found())
	}
}

func snakeCase(s string) bool {
	return lowerOnly(s) && plainUnderscores(s)
}

func lowerOnly(s string) bool {
	for i := range len(s) {
		lower := 'a' <= s[i] && s[i] <= 'z'
		if !lower && (i == 0 || !digit(s[i]) && s[i] != '_') {
			return false
		}
	}
	return s != ""
}

func constantName(s string) bool {
	lower := strings.ToLower(s)
	return s == strings.ToUpper(s) && snakeCase(lower)
}

func plainUnderscores(s string) bool {
	return !strings.Contains(s, "__") && !strings.HasSuffix(s, "_")
}

// typeName reports whether s is the last part of an interface name.
func typeName(s string) bool {
	for i := range len(s) {
		if !letter(s[i]) && (i == 0 || !digit(s[i])) {
			return false
		}
	}
	return s != "" && s[0] < 'a'
}
