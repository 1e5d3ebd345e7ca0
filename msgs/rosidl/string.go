package rosidl

import "strconv"

// String is the word of a definition for k, "message" for Nested. Uint8 is
// uint8, though a definition may have said char.
func (k Kind) String() string {
	switch k {
	case Nested:
		return "message"
	case Int8:
		return "int8"
	case Uint8:
		return "uint8"
	case Int16:
		return "int16"
	case Uint16:
		return "uint16"
	case Int32:
		return "int32"
	case Uint32:
		return "uint32"
	case Int64:
		return "int64"
	case Uint64:
		return "uint64"
	case Float32:
		return "float32"
	case Float64:
		return "float64"
	case Bool:
		return "bool"
	case Byte:
		return "byte"
	case String:
		return "string"
	case WString:
		return "wstring"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// String is t as a definition writes it, a nested message by its full name.
func (t Type) String() string {
	s := t.Kind.String()
	if t.Kind == Nested {
		s = t.Nested
	}
	if t.StringBound > 0 {
		s += "<=" + strconv.Itoa(t.StringBound)
	}
	switch t.Shape {
	case Array:
		s += "[" + strconv.Itoa(t.Len) + "]"
	case Bounded:
		s += "[<=" + strconv.Itoa(t.Len) + "]"
	case Sequence:
		s += "[]"
	}
	return s
}
