// Package oneline prints any value in one line of bounded length.
package oneline

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// most is how many bytes a line may have.
const most = 160

// Print prints text quoted, what can print itself in its own words, and else
// like %+v; newlines become spaces, and what is too long is cut.
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
		s = fmt.Sprintf("%+v", v)
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
