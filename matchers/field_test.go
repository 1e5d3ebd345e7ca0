package matchers_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/measure"
)

type pose struct {
	Position   struct{ X, Y, Z float64 }
	Covariance [36]float64
	Speed      float32
	Level      uint8
	Big        uint64
	Names      []string
	Status     []status
	Next       *pose
	Limits     map[string]int
	Joints     []string
	Turns      []float64
	Any        any
	hidden     int
}

func somePose() pose {
	p := pose{Speed: 15.1, Level: 2, Big: 1<<63 + 1, Names: []string{"a", "b"}, Status: []status{{"cpu", 1}, {"fan", 2}},
		Limits: map[string]int{"speed": 3}, Joints: []string{"a", "b"}, Turns: []float64{1, 2}, Any: map[string]any{"k": []any{1.5, "x"}}}
	p.Position.X, p.Covariance[7] = 1.5, 0.25
	p.Next = &pose{Level: 9}
	p.hidden = 1
	return p
}

func TestFieldMatches(t *testing.T) {
	for _, test := range []struct {
		path string
		v    any
		want bool
	}{
		{"Level", 2, true}, {"Level", uint8(2), true}, {"Level", 2.0, true}, {"Level", 2.5, false}, {"Level", -2, false},
		{"Level", Equal(2), true}, {"Level", Not(Equal(2)), false}, {"Level", Or(Equal(1), Equal(2.0)), true}, {"Level", And(Not(Equal(1)), Not(Equal(2))), false},
		{"Speed", 15.1, true}, {"Speed", float32(15.1), true}, {"Speed", 15, false}, {"Speed", BeNumerically("~", 15, 0.2), true},
		{"Big", uint64(1<<63 + 1), true}, {"Big", uint64(1 << 63), false}, // which are one float64
		{"Position.X", 1.5, true}, {"Position.X", BeNumerically(">", 1), true}, {"Covariance[7]", 0.25, true}, {"Covariance[0]", 0, true},
		{"Names[1]", "b", true}, {"Names[1]", "a", false}, {"Names[2]", "b", false}, {"Names", HaveLen(2), true},
		{"Status[Name=fan].Level", 2, true}, {"Status[Name=fan].Level", 1, false}, {"Status[Name=disk].Level", 2, false},
		{"Status[Level=1].Name", "cpu", true}, {"Status[1].Name", ContainSubstring("fa"), true},
		{"Next.Level", 9, true}, {"Next.Next.Level", 9, false}, {"Limits.speed", 3, true}, {"Limits.other", 3, false},
		{"Any.k[0]", 1.5, true}, {"Any.k[1]", "x", true}, {"Any.k[2]", 1, false},
		{"Position", Field("X", 1.5), true}, {"", Field("Level", 2), true},
		{"Status", ContainElement(Field("Name", "cpu")), true},
	} {
		ok, err := Field(test.path, test.v).Match(somePose())
		if err != nil || ok != test.want {
			t.Errorf("Field(%q, %v) is %v, %v; want %v", test.path, test.v, ok, err, test.want)
		}
		if ok, err := Field(test.path, test.v).Match(new(somePose())); err != nil || ok != test.want {
			t.Errorf("Field(%q, %v) of a pointer is %v, %v; want %v", test.path, test.v, ok, err, test.want)
		}
	}
}

func TestFieldIsWrong(t *testing.T) {
	for path, part := range map[string]string{
		"Lavel": "has no field Lavel; there are Position, Covariance", "Position.W": "Position (struct { X float64; Y float64; Z float64 }) has no field W; there are X, Y, Z",
		"Covariance[36]": "Covariance has 36 elements", "Level[0]": "no array", "Level.X": "has no fields", "hidden": "no field hidden",
		"Names[Name=x]": "elements of Names are string", "Status[Nam=x]": "have no field Nam; there are Name, Level",
		"Position..X": "at byte 9 a name was expected", ".X": "at byte 0", "Names[": "] was expected", "Names[x]": "an index or Name=value", "Names[-1]": "an index",
		"Names[0]X": "a dot or [", "Position.": "", "Next.Lavel": "Next (matchers_test.pose) has no field Lavel",
	} {
		ok, err := Field(path, 1).Match(somePose())
		if path == "Position." { // a trailing dot is no name
			if err == nil {
				t.Errorf("Field(%q) is no error", path)
			}
			continue
		}
		if ok || err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Field(%q): %v, %v; want an error with %q", path, ok, err, part)
		}
	}
}

// One Field may meet messages of several types in turn.
func TestFieldOfSeveralTypes(t *testing.T) {
	m := Field("Level", 2)
	for range 3 {
		for _, v := range []any{status{Level: 2}, somePose(), &status{Level: 2}, map[string]int{"Level": 2}} {
			if ok, err := m.Match(v); !ok || err != nil {
				t.Errorf("of %T: %v, %v", v, ok, err)
			}
		}
	}
}

func FuzzFieldPath(f *testing.F) {
	for _, s := range []string{"", "Level", "Position.X", "Covariance[7]", "Status[Name=cpu].Level", "Next.Next", "Any.k[0]", "[0]", "a[b=c]d", "Turns[Joints=a]", "Next.Turns[Joints=b]", "Status[Joints=a].Level", "Turns[Names=a]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		_, _ = Field(path, 1).Match(somePose())
		_ = Field(path, 1).FailureMessage(somePose())
		_, _ = HaveAverage(path, 1).Match(window(somePose()))
		_, _ = HaveAverage(Norm(path), 1).Match(window(somePose()))
		_ = Field(Norm(path), 1).FailureMessage(somePose())
	})
}

// window is a second of these messages, a tenth of a second apart, from one
// publisher that lives.
func window(values ...any) *measure.Window {
	start := time.Now()
	var all []measure.Arrival
	for i, v := range values {
		all = append(all, measure.Arrival{Received: start.Add(time.Duration(i+1) * 100 * ms), Sent: start.Add(time.Duration(i+1)*100*ms - 20*ms).Round(0),
			Order: uint64(i + 1), Seq: uint64(i + 1), HasSeq: true, Publisher: measure.PublisherID{1}, Topic: "/t", Value: v})
	}
	return measure.NewWindow(measure.Stretch{Topic: "/t", From: start, To: start.Add(time.Second), Life: measure.Life{State: measure.LifeShown}}, all)
}

type reading struct{ V float64 }

func readings(vs ...float64) *measure.Window {
	var all []any
	for _, v := range vs {
		all = append(all, reading{v})
	}
	return window(all...)
}

func TestWordsOnAWindow(t *testing.T) {
	w := readings(1, 2, 3, 4, 5, 6, 7, 8, 9)
	v := func(x any) types.GomegaMatcher { return Field("V", x) }
	many := make([]float64, 400)
	for i := range many {
		many[i] = float64(i)
	}
	big := func() *measure.Window {
		var all []measure.Arrival
		start := time.Now()
		for i, x := range many {
			all = append(all, measure.Arrival{Received: start.Add(time.Duration(i) * ms), Value: reading{x}})
		}
		return measure.NewWindow(measure.Stretch{Topic: "/t", From: start, To: start.Add(400 * ms), Life: measure.Life{State: measure.LifeShown}}, all)
	}()
	for _, test := range []struct {
		w    *measure.Window
		m    types.GomegaMatcher
		want color
	}{
		{w, AnyMessage(v(5)), green}, {w, AnyMessage(v(10)), red}, {w, AnyMessage(), green},
		{w, AtLeast(4, v(BeNumerically(">", 5))), green}, {w, AtLeast(5, v(BeNumerically(">", 5))), red},
		{w, InOrder(v(2), v(7)), green}, {w, InOrder(v(7), v(2)), red}, {w, InOrder(v(2), v(2)), red},
		{w, Consecutive(3, v(BeNumerically(">", 6))), green}, {w, Consecutive(4, v(BeNumerically(">", 6))), red},
		{w, Settle(200*ms, v(BeNumerically(">", 6))), green}, {w, Settle(201*ms, v(BeNumerically(">", 6))), red},
		{w, EveryMessage(v(BeNumerically("<", 10))), green}, {w, EveryMessage(v(BeNumerically("<", 9))), red},
		{w, NoMessage(v(10)), green}, {w, NoMessage(v(9)), red}, {w, NoMessage(), red},
		{w, FirstMessage(v(1)), green}, {w, FirstMessage(v(2)), red}, {w, LastMessage(v(9)), green}, {w, LastMessage(v(8)), red},
		{w, HaveCount(9), green}, {w, HaveCount(8), red}, {w, HaveCount(BeNumerically(">", 8)), green},
		{w, HaveFraction(v(BeNumerically(">", 6)), BeNumerically("~", 1.0/3)), green}, {w, HaveFraction(v(1), 0.5), red},
		{w, HaveAverage("V", 5), green}, {w, HaveAverage("V", 5.1), red}, {w, HaveAverage(Of(func(r reading) float64 { return r.V }), 5), green},
		{w, HaveMedian("V", 5), green}, {w, HaveRange("V", 8), green}, {w, HaveStdDev("V", BeNumerically("~", 2.582, 1e-3)), green},
		{w, HaveRate(BeNumerically("~", 10, 1e-6)), green}, {w, HaveRate(11), red},
		{w, HaveMaxGap(100 * ms), green}, {w, HaveMaxGap(BeNumerically("<", 100*ms)), red}, {w, HaveJitter(BeNumerically("<", time.Microsecond)), green},
		{w, HaveDelay("max", BeNumerically("~", 20*ms, ms)), green}, {w, HaveDelay("mean", BeNumerically("<", 20*ms-1)), red},
		{w, HaveDelay("p95", BeNumerically("<", time.Second)), inconclusive},
		{w, HaveNoLoss(), green}, {w.Filter(func(a measure.Arrival) bool { return a.Seq != 5 }), HaveNoLoss(), red},
		{w, HavePercentile(95, "V", 9), inconclusive}, {big, HavePercentile(95, "V", 379), green}, {big, HavePercentile(99, "V", 395), green},
		{big, HavePercentile(99.9, "V", 1), inconclusive},
		{w, Exactly(v(1), v(2)), red}, {readings(1, 2), Exactly(v(1), v(2)), green}, {readings(1, 2), Exactly(v(2), v(1)), red}, {readings(1), Exactly(v(1), v(2)), red},
		{readings(1, 2), HaveRate(10), inconclusive}, {readings(), HaveAverage("V", 0), inconclusive}, {readings(), HaveMaxGap(time.Second), inconclusive},
		{readings(), EveryMessage(v(1)), inconclusive}, {readings(), NoMessage(v(1)), green}, {readings(), HaveCount(0), green},
		{readings(), LastMessage(v(1)), inconclusive}, {readings(), FirstMessage(v(1)), inconclusive}, {readings(), HaveFraction(v(1), 0), inconclusive},
		{w, And(HaveCount(9), HaveAverage("V", 5), NoMessage(v(10))), green},
		{w, Or(HaveCount(8), HaveAverage("V", 5)), green}, {w, Not(HaveCount(8)), green},
		{w, Within(500*ms, AnyMessage(v(5))), green}, {w, Within(500*ms, AnyMessage(v(6))), red}, // a recording is judged from its beginning
		{w, Over(300*ms, HaveCount(3)), green}, {w, ReceiveBetween(400*ms, time.Second, v(5)), green}, {w, ReceiveBetween(501*ms, time.Second, v(5)), red},
		{w, Over(time.Second, WithTransform(func(w *measure.Window) int { return w.Len() }, Equal(9))), green},
		{w, Over(time.Second, Satisfy(func(w *measure.Window) bool { return w.Len() == 8 })), red},
	} {
		c, text := to(test.w, test.m)
		want(t, c, text, test.want)
		opposite := map[color]color{green: red, red: green, inconclusive: inconclusive}[test.want]
		if c, text := notTo(test.w, test.m); c != opposite {
			t.Errorf("%v negated is %s, want %s\n%s", test.m, c, opposite, text)
		}
	}
}
