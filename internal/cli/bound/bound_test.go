package bound_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robospec/robospec/internal/cli/bound"
)

var update = flag.Bool("update", false, "rewrite testdata")

const ms = 1e6 // of nanoseconds

func TestContains(t *testing.T) {
	for _, c := range []struct {
		q       bound.Quantity
		bound   string
		in, out []float64
	}{
		{bound.Rate, ">=49", []float64{49, 1e9, math.Inf(1)}, []float64{48.999, math.NaN()}},
		{bound.Rate, ">49", []float64{49.001}, []float64{49}},
		{bound.Rate, "<=51", []float64{51, -1}, []float64{51.001}},
		{bound.Rate, "<51 Hz", []float64{50.999}, []float64{51}},
		{bound.Rate, "≥ 1.5kHz", []float64{1500}, []float64{1499}},
		{bound.Rate, "50±1", []float64{49, 50, 51}, []float64{48.99, 51.01, math.NaN()}},
		{bound.Rate, "50 +/- 1 Hz", []float64{49, 51}, []float64{48.99, 51.01}},
		{bound.Rate, "50+-1", []float64{49, 51}, []float64{48.99, 51.01}},
		{bound.Rate, "50±2%", []float64{49, 51}, []float64{48.99, 51.01}},
		{bound.Rate, "49..51", []float64{49, 51}, []float64{48.99, 51.01}},
		{bound.Rate, "49. .. 51.5", []float64{51.5}, []float64{51.6}},
		{bound.Rate, ".5..1e3", []float64{0.5, 1000}, []float64{0.4, 1001}},
		{bound.Number, "-2..-1", []float64{-2, -1}, []float64{0, -3}},
		{bound.Number, "-2±5%", []float64{-2.1, -1.9}, []float64{-2.2, -1.8}},
		{bound.Number, "==3", []float64{3}, []float64{2.999, 4, math.NaN()}},
		{bound.Number, "!=3", []float64{2, 4}, []float64{3, math.NaN()}},
		{bound.Duration, "<20ms", []float64{19.9 * ms}, []float64{20 * ms}},
		{bound.Duration, "10..20ms", []float64{10 * ms, 20 * ms}, []float64{9.9 * ms, 21 * ms}},
		{bound.Duration, "10ms±500us", []float64{9.5 * ms, 10.5 * ms}, []float64{9.4 * ms, 10.6 * ms}},
		{bound.Duration, "10±1ms", []float64{9 * ms, 11 * ms}, []float64{8 * ms}},
		{bound.Duration, "10ms±10%", []float64{9 * ms, 11 * ms}, []float64{8 * ms}},
		{bound.Duration, "<1m30s", []float64{89e9}, []float64{90e9}},
		{bound.Duration, "<1.5s", []float64{1.4e9}, []float64{1.5e9}},
		{bound.Size, "==1KiB", []float64{1024}, []float64{1000}},
		{bound.Bandwidth, ">=1.5MB/s", []float64{1.5e6}, []float64{1.4e6}},
		{bound.Bandwidth, "<1MiB/s", []float64{1 << 19}, []float64{1 << 20}},
	} {
		b, err := bound.Parse(c.bound, c.q)
		if err != nil {
			t.Errorf("%s: %v", c.bound, err)
			continue
		}
		if b.String() != c.bound {
			t.Errorf("%s prints as %q", c.bound, b)
		}
		for _, x := range c.in {
			if !b.Contains(x) {
				t.Errorf("%s does not contain %v", c.bound, x)
			}
		}
		for _, x := range c.out {
			if b.Contains(x) {
				t.Errorf("%s contains %v", c.bound, x)
			}
		}
	}
}

func TestNear(t *testing.T) {
	b, err := bound.Parse("49..51", bound.Rate)
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[float64]bool{48.4: false, 48.6: true, 49.4: true, 50: false, 51.5: true, 51.6: false} {
		if got := b.Near(x, 0.5); got != want {
			t.Errorf("Near(%v, 0.5) = %v", x, got)
		}
	}
}

func TestSplit(t *testing.T) {
	for s, want := range map[string][2]string{
		">=49":                        {"", ">=49"},
		"50±1":                        {"", "50±1"},
		"49..51":                      {"", "49..51"},
		" -1..1":                      {"", "-1..1"},
		"max-gap<50ms":                {"max-gap", "<50ms"},
		"gap 10ms .. 20ms":            {"gap", "10ms .. 20ms"},
		"p99.9 <= 20ms":               {"p99.9", "<= 20ms"},
		"pose.position.x>0.5":         {"pose.position.x", ">0.5"},
		"position[name=left]>0.5":     {"position[name=left]", ">0.5"},
		"status[0].level != 2":        {"status[0].level", "!= 2"},
		`frame_id=="a<b"`:             {"frame_id", `=="a<b"`},
		"position[name=left] 0.1±0.2": {"position[name=left]", "0.1±0.2"},
		"rate":                        {"rate", ""},
		"":                            {"", ""},
	} {
		if name, b := bound.Split(s); name != want[0] || b != want[1] {
			t.Errorf("Split(%q) = %q, %q; want %q", s, name, b, want)
		}
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		bound string
		x     any
		want  bool
	}{
		{">0.5", 0.6, true},
		{">0.5", float32(0.4), false},
		{"==0.1", float32(0.1), true},
		{"==2", uint8(2), true},
		{"!=2", int64(2), false},
		{"==true", true, true},
		{"!=true", true, false},
		{"==false", true, false},
		{"==hello", "hello", true},
		{`=="hello world"`, "hello world", true},
		{`=="5"`, "5", true},
		{"!=hello", "hello", false},
		{"1..2", int32(2), true},
		{"==-1.5e3", -1500.0, true},
	} {
		v, err := bound.ParseValue(c.bound)
		if err != nil {
			t.Errorf("%s: %v", c.bound, err)
			continue
		}
		if got, err := v.Holds(c.x); err != nil || got != c.want {
			t.Errorf("%s of %#v: %v, %v", c.bound, c.x, got, err)
		}
	}
}

// TestErrors holds what a wrong bound is answered with.
func TestErrors(t *testing.T) {
	var out strings.Builder
	write := func(what, s string, err error) {
		if err == nil {
			t.Errorf("%s %q is no error", what, s)
		}
		fmt.Fprintf(&out, "%s %s\n    %v\n", what, s, err)
	}
	for _, c := range []struct {
		q      bound.Quantity
		bounds []string
	}{
		{bound.Rate, []string{
			"", "  ", "50", "50Hz", "fast", ">=", ">=fast", ">= 49 <= 51", ">=49,<=51", "=50", "=>50", "=<50", "==50", "!=50Hz", "50±", "±1", "50±-1", "50±x%",
			"50±1±2", "49..", "..51", "51..49", "49..51..53", "<20ms", "<5 0", "NaN", "<inf", "<1e999", "<0x10", "50%",
		}},
		{bound.Duration, []string{"20ms", "20", "<20", "10..20", "20±1", "20±10%", "<20Hz", "==20ms", "<1m30"}},
		{bound.Bandwidth, []string{"<1MB", "<1Mbit/s"}},
		{bound.Size, []string{"5", "<1MB/s"}},
		{bound.Number, []string{"3", "<3ms"}},
	} {
		for _, s := range c.bounds {
			_, err := bound.Parse(s, c.q)
			write(c.q.String(), s, err)
		}
	}
	for _, s := range []string{"", "==", "hello", ">hello", "=hello", `=="open`} {
		_, err := bound.ParseValue(s)
		write("a field", s, err)
	}
	for _, c := range []struct {
		bound string
		x     any
	}{{"==1", true}, {"==1", "1"}, {">1", "b"}, {"==one", 1.5}, {"==one", []any{1}}, {"==1", nil}} {
		v, err := bound.ParseValue(c.bound)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Holds(c.x)
		write("a field", fmt.Sprintf("%s of %#v", c.bound, c.x), err)
	}
	golden := filepath.Join("testdata", "errors.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), out.String()); d != "" {
		t.Errorf("errors differ from %s (-want +got); go test ./internal/cli/bound -update rewrites it:\n%s", golden, d)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{">=49", "50±1", "49..51", "<20ms", "==3", "a.b[x=1]>2", `x=="y"`, "50±2%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, b := bound.Split(s)
		if len(name)+len(b) > len(s) {
			t.Errorf("Split(%q) = %q, %q", s, name, b)
		}
		for q := bound.Number; q <= bound.Bandwidth; q++ {
			if _, err := bound.Parse(b, q); err != nil && err.Error() == "" {
				t.Error("an error that says nothing")
			}
		}
		if v, err := bound.ParseValue(b); err == nil {
			_, _ = v.Holds(1.5)
			_, _ = v.Holds(s)
		}
	})
}
