package oneline

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

type named struct{}

func (named) GomegaString() string { return "by its own\nwords" }

type point struct{ X, Y float64 }

type stamped struct {
	D          time.Duration
	At         point
	E          error
	Covariance [4]float64
	Tags       []string
}

func TestPrint(t *testing.T) {
	for want, v := range map[string]any{
		`"a\nb"`: "a\nb", `"\x00x"`: []byte("\x00x"), "broken pipe": errors.New("broken pipe"), "by its own words": named{},
		"{X:1}": struct{ X int }{1}, "<nil>": nil, "{X:0 Y:0}": point{}, "&{X:1 Y:0}": &point{X: 1}, "[1 2]": []int{1, 2}, "map[a:1]": map[string]int{"a": 1},
		"{D:1s At:{X:1 Y:0} E:<nil>}":         stamped{D: time.Second, At: point{X: 1}},
		"{D:0s E:broken pipe Tags:[a ]}":      stamped{E: errors.New("broken pipe"), Tags: []string{"a", ""}},
		"{D:0s E:<nil> Covariance:[0 0 1 0]}": stamped{Covariance: [4]float64{2: 1}},
		"{D:0s E:<nil>}":                      stamped{Tags: []string{}},
	} {
		if got := Print(v); got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
	}
}

func TestPrintCuts(t *testing.T) {
	for _, v := range []any{strings.Repeat("ä", 1000), []byte(strings.Repeat("x", 1000)), errors.New(strings.Repeat("€", 1000)), make([]int, 1000), stamped{Tags: make([]string, 1000)}, make([]byte, 0, 1<<20)[:1<<20]} {
		got := Print(v)
		if len(got) > most+len("…") || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("printed %d bytes: %q", len(got), got)
		}
	}
}
