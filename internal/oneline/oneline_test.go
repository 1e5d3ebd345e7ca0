package oneline

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

type named struct{}

func (named) GomegaString() string { return "by its own\nwords" }

func TestPrint(t *testing.T) {
	for want, v := range map[string]any{
		`"a\nb"`: "a\nb", `"\x00x"`: []byte("\x00x"), "broken pipe": errors.New("broken pipe"), "by its own words": named{},
		"{X:1}": struct{ X int }{1}, "<nil>": nil,
	} {
		if got := Print(v); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	}
}

func TestPrintCuts(t *testing.T) {
	for _, v := range []any{strings.Repeat("ä", 1000), []byte(strings.Repeat("x", 1000)), errors.New(strings.Repeat("€", 1000)), make([]int, 1000)} {
		got := Print(v)
		if len(got) > most+len("…") || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("printed %d bytes: %q", len(got), got)
		}
	}
}
