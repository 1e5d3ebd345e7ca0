package gen

import (
	"strings"

	"github.com/robospec/robospec/msgs/rosidl"
)

// initialisms are the words that Go writes in capitals. The list is short since
// each word more would change names that users have typed already.
var initialisms = map[string]string{"id": "ID", "ids": "IDs", "uri": "URI", "url": "URL", "uuid": "UUID"}

// camel is a snake_case or UPPER_CASE name as Go writes it: frame_id → FrameID,
// NO_FIX → NoFix.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(name), "_") {
		if word == "" {
			continue
		}
		if in, ok := initialisms[word]; ok {
			b.WriteString(in)
		} else {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// lower is an exported Go name as an unexported one.
func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// split takes a full name apart: "std_srvs/srv/SetBool_Request" is of the
// package "std_srvs" and the kind "srv", and the rest is "SetBool_Request".
func split(fullName string) (pkg, kind, rest string) {
	parts := strings.SplitN(fullName, "/", 3)
	return parts[0], parts[1], parts[2]
}

// base is the name of the definition in the rest of a full name, and what is
// behind it: "SetBool", "_Request".
func base(rest string) (definition, suffix string) {
	definition, suffix, found := strings.Cut(rest, "_")
	if found {
		suffix = "_" + suffix
	}
	return definition, suffix
}

// keywords of Go are no names of packages.
var keywords = map[string]bool{
	"break": true, "case": true, "chan": true, "const": true, "continue": true, "default": true, "defer": true,
	"else": true, "fallthrough": true, "for": true, "func": true, "go": true, "goto": true, "if": true,
	"import": true, "interface": true, "map": true, "package": true, "range": true, "return": true,
	"select": true, "struct": true, "switch": true, "type": true, "var": true,
}

// goTypes are the Go types of the kinds that are no messages.
var goTypes = map[rosidl.Kind]string{
	rosidl.Int8: "int8", rosidl.Uint8: "uint8", rosidl.Int16: "int16", rosidl.Uint16: "uint16",
	rosidl.Int32: "int32", rosidl.Uint32: "uint32", rosidl.Int64: "int64", rosidl.Uint64: "uint64",
	rosidl.Float32: "float32", rosidl.Float64: "float64", rosidl.Bool: "bool", rosidl.Byte: "byte",
	rosidl.String: "string", rosidl.WString: "string",
}

// methods are the names of the methods of those kinds in package cdr.
var methods = map[rosidl.Kind]string{
	rosidl.Int8: "Int8", rosidl.Uint8: "Uint8", rosidl.Int16: "Int16", rosidl.Uint16: "Uint16",
	rosidl.Int32: "Int32", rosidl.Uint32: "Uint32", rosidl.Int64: "Int64", rosidl.Uint64: "Uint64",
	rosidl.Float32: "Float32", rosidl.Float64: "Float64", rosidl.Bool: "Bool", rosidl.Byte: "Uint8",
	rosidl.String: "String", rosidl.WString: "WString",
}

// sizes are the bytes of those kinds in CDR; a string has at least its length.
var sizes = map[rosidl.Kind]int{
	rosidl.Int8: 1, rosidl.Uint8: 1, rosidl.Int16: 2, rosidl.Uint16: 2, rosidl.Int32: 4, rosidl.Uint32: 4,
	rosidl.Int64: 8, rosidl.Uint64: 8, rosidl.Float32: 4, rosidl.Float64: 8, rosidl.Bool: 1, rosidl.Byte: 1,
	rosidl.String: 4, rosidl.WString: 4,
}
