package matchers_test

import (
	"math"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs/builtin_interfaces"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
)

type everything struct {
	N      int32
	U      uint64
	F      float32
	Name   string
	On     bool
	Raw    []byte
	Points [][3]float32
	Limits map[string]float64
	Next   *everything
	Any    any
	At     time.Time
	Took   time.Duration
	hidden float64
}

func some() everything {
	return everything{
		N: -3, U: 1<<63 + 1, F: 0.1, Name: "a", On: true, Raw: []byte{1, 2, 3}, Points: [][3]float32{{1, 2, 3}, {4, 5, 6}},
		Limits: map[string]float64{"x": 1, "y": 2}, Next: &everything{F: 1}, Any: []any{1.5, "k"}, At: time.Unix(100, 0), Took: time.Second, hidden: 1,
	}
}

func changed(f func(*everything)) everything {
	e := some()
	f(&e)
	return e
}

func TestApproximately(t *testing.T) {
	scan := sensor_msgs.LaserScan{Ranges: []float32{1, 2, 3}}
	ask(t, []question{
		{1.05, Approximately(1, 0.1), green, ""}, {float32(0.1), Approximately(0.1, 0), green, ""}, {uint8(3), Approximately(2.5, 0.5), green, ""},
		{1.2, Approximately(1, 0.1), red, "Expected\n    1.2\nto equal 1 ± 0.1\n\ngot 1.2, want 1 ± 0.1: 0.2 off"},
		{inf, Approximately(inf, 0), green, ""}, {-inf, Approximately(inf, 1), red, "got -Inf, want +Inf ± 1: +Inf off"}, {1, Approximately(inf, 1), red, "+Inf off"},
		{nan, Approximately(1, 1e9), red, "got NaN, which equals nothing, want 1"}, {nan, Approximately(nan, 1), red, "got NaN, which equals nothing, want NaN"},
		{1.5, Approximately(nan, 1), red, "got 1.5, want NaN, which equals nothing"},
		{uint64(1<<63 + 1), Approximately(uint64(1<<63), 0), red, "got 9223372036854775809, want 9223372036854775808 ± 0: 1 off"}, // which are one float64
		{uint64(1<<63 + 1), Approximately(uint64(1<<63), 1), green, ""}, {int64(math.MinInt64), Approximately(uint64(math.MaxUint64), 1e18), red, "2.76701e+19 off"},
		{int64(math.MinInt64), Approximately(int64(math.MinInt64+1), 1), green, ""}, {int8(-3), Approximately(uint8(3), 5), red, "got -3, want 3 ± 5: 6 off"},

		{some(), Approximately(some(), 0), green, ""}, {new(some()), Approximately(some(), 0), green, ""}, {some(), Approximately(new(some()), 0), green, ""},
		{changed(func(e *everything) { e.N = -2; e.F = 0.6; e.Points[1][2] = 6.5 }), Approximately(some(), 1), green, ""},
		{changed(func(e *everything) { e.N = -1; e.Points[1][2] = 8.5; e.Next.F = 3 }), Approximately(some(), 1), red,
			"N: got -1, want -3 ± 1: 2 off\nPoints[1][2]: got 8.5, want 6 ± 1: 2.5 off\nNext.F: got 3, want 1 ± 1: 2 off"},
		{changed(func(e *everything) { e.Name, e.On = "b", false }), Approximately(some(), 9), red, "Name: got \"b\", want \"a\"\nOn: got false, want true"},
		{changed(func(e *everything) { e.Raw[1] = 3 }), Approximately(some(), 1), green, ""},
		{changed(func(e *everything) { e.Raw[1] = 4 }), Approximately(some(), 1), red, "Raw[1]: got 4, want 2 ± 1: 2 off"},
		{changed(func(e *everything) { e.Raw = nil }), Approximately(some(), 1), red, "Raw: got 0 elements, want 3"},
		{changed(func(e *everything) { e.Points = append(e.Points, [3]float32{}) }), Approximately(some(), 1), red, "Points: got 3 elements, want 2"},
		{changed(func(e *everything) { e.Raw = nil }), Approximately(changed(func(e *everything) { e.Raw = []byte{} }), 0), green, ""},
		{changed(func(e *everything) { delete(e.Limits, "x"); e.Limits["z"] = 3 }), Approximately(some(), 1), red, "Limits.x: got nil, want 1\nLimits.z: got 3, want nil"},
		{changed(func(e *everything) { e.Next = nil }), Approximately(some(), 1), red, "Next: got nil, want {"},
		{changed(func(e *everything) { e.Any = []any{"k", "k"} }), Approximately(some(), 1), red, "Any[0]: got \"k\", a string, want 1.5, a float64"},
		{changed(func(e *everything) { e.Any = nil }), Approximately(some(), 1), red, "Any: got nil, want [1.5 k]"},
		{changed(func(e *everything) { e.hidden = 3 }), Approximately(some(), 1), red, "hidden: got 3, want 1 ± 1: 2 off"},
		{changed(func(e *everything) { e.At = time.Unix(100, 20_000_000) }), Approximately(some(), 0.02), green, ""},
		{changed(func(e *everything) { e.At = time.Unix(100, 20_000_000) }), Approximately(some(), 0.019), red, "At: got 100.02s, want 100s ± 0.019s: 20ms off"},
		{changed(func(e *everything) { e.At = time.Time{} }), Approximately(some(), 1), red, "At: got -62135596800s, want 100s"},
		{changed(func(e *everything) { e.Took = 980 * ms }), Approximately(some(), 0.01), red, "Took: got 0.98s, want 1s ± 0.01s: -20ms off"},
		{changed(func(e *everything) { e.Next.Next = e.Next }), Approximately(changed(func(e *everything) { e.Next.Next = e.Next }), 0), red, "nested more than 100 deep"},

		{stamped(1, 999_999_999), Approximately(stamped(2, 0), 1e-9), green, ""},
		{stamped(1, 999_999_999), Approximately(stamped(2, 5_000_000), 1e-3), red, "Header.Stamp: got 1.999999999s, want 2.005s ± 0.001s: -5.000001ms off"},
		{builtin_interfaces.Duration{Sec: -1, Nanosec: 500_000_000}, Approximately(-500*ms, 0), green, ""},
		{builtin_interfaces.Duration{Sec: -1, Nanosec: 500_000_000}, Approximately(builtin_interfaces.Duration{}, 0.1), red, "got -0.5s, want 0s ± 0.1s: -500ms off"},
		{stamped(math.MaxInt32, 0), Approximately(stamped(math.MinInt32, 0), 1), red, "2147483647s, want -2147483648s"},

		{[][3]float32{{1.08, -5, 5}, {0.08, -4, 5}}, Approximately([][3]float64{{1.08, -5, 5}, {0.08, -4, 5}}, 1e-3), green, ""},
		{[][3]float32{{1.08, -5, 5}, {0.08, -4.01, 5}}, Approximately([][3]float64{{1.08, -5, 5}, {0.08, -4, 5}}, 1e-3), red, "[1][1]: got -4.01, want -4 ± 0.001: 0.01"},
		{[3]float64{1, 2, 3}, Approximately([]float64{1, 2, 3}, 0), green, ""}, {[3]float64{1, 2, 3}, Approximately([]float64{1, 2}, 0), red, "got 3 elements, want 2"},
		{[]float64{}, Approximately([]float64{1}, 0), red, "got 0 elements, want 1"}, {[]float64{1}, Approximately([]float64{}, 0), red, "got 1 element, want 0"},
		{scan, Field("Ranges", Approximately([]float64{1, 2, 3}, 0)), green, ""},
		{scan, Field("Ranges", Approximately([]float64{1, 2.5, 3}, 0.1)), red, "Field Ranges:|[1]: got 2, want 2.5 ± 0.1: 0.5 off"},
		{sensor_msgs.LaserScan{Ranges: []float32{1, float32(nan), 3}}, Approximately(scan, 1), red, "Ranges[1]: got NaN, which equals nothing, want 2"},
		{sensor_msgs.LaserScan{Ranges: []float32{1, float32(inf), 3}}, Approximately(scan, 1), red, "Ranges[1]: got +Inf, want 2 ± 1: +Inf off"},
		{make([]float64, 100), Approximately([]int{99: 0, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1}, 0.5), red, "[3]: got 0, want 1 ± 0.5: 1 off\n[4]|[7]: got 0, want 1 ± 0.5: 1 off\nand 2 more of 100"},

		{std_msgs.String{}, Approximately(std_msgs.Header{}, 1), red, "the value is a std_msgs.String, which a std_msgs.Header cannot equal approximately"},
		{nav_msgs.Path{}, Field("Poses", Approximately([]geometry_msgs.Pose{}, 1)), red, "[] is a geometry_msgs.PoseStamped, which a geometry_msgs.Pose cannot equal"},
		{[2]int{}, Approximately([3]int{}, 1), red, "the value is a [2]int, which a [3]int cannot equal"},
		{map[string]int{}, Approximately(map[int]int{}, 1), red, "a map[string]int, which a map[int]int cannot equal"},
		{map[string]int{"a": 1}, Approximately(map[string]float64{"a": 1.5}, 1), green, ""},
		{1, Approximately(1, -1), red, "Approximately(1, -1): the tolerance must be a number, zero or more"}, {1, Approximately(1, nan), red, "the tolerance must be a number"},
		{1, Approximately(nil, 1), red, "nothing is approximately nil; say BeNil()"}, {nil, Approximately(1, 1), red, "got nil, want 1 ± 1"},
	})
}

// The closest miss is told by closeness, which each of these has.
func TestClosestMiss(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		pub, sub := w.poses()
		for _, x := range []float64{9, 3, 5} {
			p := at(x, 0, 0)
			p.Orientation = about(2, x)
			if _, err := pub.Publish(t.Context(), geometry_msgs.PoseStamped{Pose: p, Header: std_msgs.Header{FrameID: "map"}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * ms)
		}
		wanted := geometry_msgs.PoseStamped{Pose: at(2, 0, 0), Header: std_msgs.Header{FrameID: "map"}}
		for m, closest := range map[string]any{
			"closest:      at +0.010000s: Pose.Position: got (3, 0, 0), want (2, 0, 0) ± 0.5: 1 away (x +1, y +0, z +0)":         BeNear(2, 0, 0, 0.5),
			"closest:      at +0.010000s: Pose.Position: got (3, 0, 0)":                                                          And(BeNear(2, 0, 0, 0.5), HaveFrame("map")),
			"closest:      at +0.000000s: Pose.Orientation: got yaw 2.71681, want yaw 2 ± 0.5 rad: +0.716815 rad off":            HaveYaw(2, 0.5),
			"closest:      at +0.000000s: Pose.Orientation: got (0, 0, -0.97753, -0.210796)":                                     BeRotated(about(2, 8), 0.5),
			"closest:      at +0.010000s: Pose.Position.X: got 3, want 2 ± 0.5: 1 off; Pose.Orientation.Z: got 0.997495, want 0": Approximately(wanted, 0.5),
			"closest:      at +0.010000s: Norm(\"Pose.Position\"): got 3, want 2 ± 0.5":                                          Field(Norm("Pose.Position"), BeNumerically("~", 2, 0.5)),
		} {
			c, text := to(sub.FromStart(), Within(500*ms, AnyMessage(closest)))
			want(t, c, text, red, m)
		}
		c, text := to(sub.FromStart(), Over(500*ms, BeNear(2, 0, 0, 0.5)))
		want(t, c, text, red, "position (2, 0, 0) ± 0.5 is a matcher of one value, and Over judges many; say EveryMessage(")
		if strings.Contains(text, "%!") {
			t.Error(text)
		}
	})
}
