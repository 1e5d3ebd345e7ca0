package rosidl

import (
	"strconv"
	"strings"
)

// kindOf is the Kind that a word of a definition stands for, 0 for no word.
func kindOf(word string) Kind {
	switch word {
	case "bool":
		return Bool
	case "byte":
		return Byte
	case "char", "uint8":
		return Uint8
	case "int8":
		return Int8
	case "int16":
		return Int16
	case "uint16":
		return Uint16
	case "int32":
		return Int32
	case "uint32":
		return Uint32
	case "int64":
		return Int64
	case "uint64":
		return Uint64
	case "float32":
		return Float32
	case "float64":
		return Float64
	case "string":
		return String
	case "wstring":
		return WString
	}
	return 0
}

func (k Kind) isString() bool { return k == String || k == WString }

// typ parses a type: a word, the bound of a string, brackets.
func (l *line) typ() (t Type) {
	at := l.pos
	word := l.word("/")
	if word == "" {
		l.fail("found %s, expected a type such as float64, string or geometry_msgs/Point", l.found())
	}
	if t.Kind = kindOf(word); t.Kind == 0 {
		t.Kind, t.Nested = Nested, l.nested(word, at)
	}
	if at := l.pos; l.skip("<=") {
		if !t.Kind.isString() {
			l.failAt(at, "found a bound after %s, expected one only after string and wstring; a bounded sequence is %s[<=N]", word, word)
		}
		t.StringBound = l.count()
	}
	if !l.skip("[") {
		return t
	}
	switch {
	case l.skip("]"):
		t.Shape = Sequence
		return t
	case l.skip("<="):
		t.Shape = Bounded
	default:
		t.Shape = Array
	}
	t.Len = l.count()
	if !l.skip("]") {
		l.fail("found %s, expected \"]\"", l.found())
	}
	return t
}

// count parses a length or a bound.
func (l *line) count() int {
	at := l.pos
	digits := l.word("")
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || n == 0 {
		l.pos = at
		l.fail("found %s, expected a number from 1 to %d", l.found(), 1<<31-1)
	}
	return int(n)
}

// nested is the full name of the message that word stands for.
func (l *line) nested(word string, at int) string {
	parts := strings.Split(word, "/")
	pkg, base := l.pkg, parts[len(parts)-1]
	if len(parts) > 1 {
		pkg = parts[0]
	}
	if len(parts) > 3 || len(parts) == 3 && parts[1] != "msg" {
		l.failAt(at, "found %s, expected a message such as Point, geometry_msgs/Point or geometry_msgs/msg/Point", quote(word))
	}
	if !snakeCase(pkg) {
		l.failAt(at, "found %s, expected the name of a package before the slash: lower case letters, digits and single underscores", quote(word))
	}
	if !typeName(base) && len(parts) > 1 {
		l.failAt(at, "found %s, expected the name of a message after the slash: a capital, then letters and digits", quote(word))
	}
	if !typeName(base) {
		l.failAt(at, "found %s, expected a type such as %s", quote(word), likely(base))
	}
	return pkg + "/msg/" + base
}

// likely is what somebody may have meant who wrote a type that is none.
func likely(word string) string {
	switch word {
	case "time":
		return "builtin_interfaces/Time"
	case "duration":
		return "builtin_interfaces/Duration"
	case "int", "long":
		return "int32 or int64"
	case "float":
		return "float32"
	case "double":
		return "float64"
	case "boolean":
		return "bool"
	case "str", "char8", "text":
		return "string"
	}
	return "float64, string or geometry_msgs/Point"
}
