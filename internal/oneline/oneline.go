// Package oneline prints any value in one line of bounded length.
package oneline

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// most is how many bytes a line may have.
const most = 200

// Print prints text quoted, what can print itself in its own words, and else
// like %+v, but that structs and arrays of nothing but zeros and empty slices
// inside a struct are left out. Newlines become spaces, and what is too long is
// cut.
func Print(v any) string {
	var s string
	switch v := v.(type) {
	case string:
		s = fmt.Sprintf("%q", v[:min(len(v), most)])
	case []byte:
		s = fmt.Sprintf("%q", v[:min(len(v), most)])
	case error:
		s = v.Error()
	case interface{ GomegaString() string }:
		s = v.GomegaString()
	default:
		s = string(appendValue(nil, reflect.ValueOf(v)))
	}
	s = strings.ReplaceAll(s, "\n", " ")
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// appendValue appends v, of what is too long no more than the beginning.
func appendValue(b []byte, v reflect.Value) []byte {
	if len(b) > most {
		return b
	}
	if !v.IsValid() {
		return append(b, "<nil>"...)
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case interface{ GomegaString() string }:
			return append(b, x.GomegaString()...)
		case error, fmt.Stringer, fmt.Formatter:
			return fmt.Appendf(b, "%+v", x)
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		return appendFields(b, v)
	case reflect.Slice, reflect.Array:
		return appendElements(b, v)
	case reflect.String:
		s := v.String()
		return append(b, s[:min(len(s), most)]...)
	default:
		return fmt.Appendf(b, "%+v", v)
	}
}

func appendFields(b []byte, v reflect.Value) []byte {
	b = append(b, '{')
	for i, separator := 0, ""; i < v.NumField(); i++ {
		if len(b) > most {
			break
		}
		f := v.Field(i)
		switch f.Kind() {
		case reflect.Struct, reflect.Array:
			if f.IsZero() {
				continue
			}
		case reflect.Slice:
			if f.Len() == 0 {
				continue
			}
		}
		b = append(b, separator...)
		b = append(b, v.Type().Field(i).Name...)
		b = append(b, ':')
		b = appendValue(b, f)
		separator = " "
	}
	return append(b, '}')
}

func appendElements(b []byte, v reflect.Value) []byte {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ' ')
		}
		if len(b) > most {
			break
		}
		b = appendValue(b, v.Index(i))
	}
	return append(b, ']')
}
