package matchers_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs/diagnostic_msgs"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
	"github.com/robospec/robospec/msgs/trajectory_msgs"
)

func joints() sensor_msgs.JointState {
	return sensor_msgs.JointState{Name: []string{"elbow", "wheel_left", "wheel_right"}, Position: []float64{0.1, 0.2, 0.3}, Velocity: []float64{1, 2, 3}}
}

func TestParallelArrays(t *testing.T) {
	twice := joints()
	twice.Name[2] = "elbow"
	short := joints()
	short.Velocity = short.Velocity[:2]
	long := joints()
	long.Velocity = append(long.Velocity, 4)
	deep := struct{ Arm *sensor_msgs.JointState }{new(joints())}
	trajectory := trajectory_msgs.JointTrajectory{JointNames: []string{"a", "b"}, Points: []trajectory_msgs.JointTrajectoryPoint{{Positions: []float64{1, 2}}, {Positions: []float64{3, 4}}}}
	multi := sensor_msgs.MultiDOFJointState{JointNames: []string{"a", "b"}, Transforms: []geometry_msgs.Transform{{}, {Translation: geometry_msgs.Vector3{X: 5}}}}
	fixed := struct {
		ID    []int32
		Level [4]uint8
	}{[]int32{30, -40}, [4]uint8{1, 2}}
	both := struct {
		Name   []string
		Status []status
	}{[]string{"x", "y"}, []status{{"cpu", 1}, {"disk", 0}}}
	holder := struct {
		Zone  string
		Names *[]string
		Level []uint8
	}{"a", &[]string{"a"}, []uint8{7}}
	none := sensor_msgs.JointState{}
	ask(t, []question{
		{joints(), Field("Velocity[Name=wheel_left]", 2), green, ""}, {new(joints()), Field("Position[Name=wheel_right]", BeNumerically("~", 0.3)), green, ""},
		{joints(), Field("Velocity[Name=wheel_left]", 3), red, "Field Velocity[Name=wheel_left]:\ngot 2, want 3"},
		{deep, Field("Arm.Velocity[Name=elbow]", 1), green, ""}, {struct{ Arm *sensor_msgs.JointState }{}, Field("Arm.Velocity[Name=elbow]", 1), red, "nil before Velocity"},
		{[]sensor_msgs.JointState{joints()}, Field("[0].Velocity[Name=elbow]", 1), green, ""},
		{map[string]sensor_msgs.JointState{"arm": joints()}, Field("arm.Velocity[Name=elbow]", 1), green, ""},
		{trajectory, Field("Points[1].Positions[JointNames=b]", 4), green, ""}, {trajectory, Field("Points[1].Positions[JointNames=c]", 4), red, "no element with JointNames=c (there are a, b)"},
		{multi, Field("Transforms[JointNames=b].Translation.X", 5), green, ""}, {multi, Field("Transforms[JointNames=b]", BeNear(5, 0, 0, 0)), green, ""},
		{fixed, Field("Level[ID=-40]", 2), green, ""}, {fixed, Field("Level[ID=31]", 2), red, "no element with ID=31 (there are 30, -40)"},
		{both, Field("Status[Name=cpu].Level", 1), green, ""}, {both, Field("Status[Name=x].Level", 1), red, "there are cpu, disk"}, // the element's own first
		{joints(), Field("Velocity[Name=wheel]", 2), red, "Velocity[Name=wheel] is not there: no element with Name=wheel (there are elbow, wheel_left, wheel_right)"},
		{none, Field("Velocity[Name=wheel]", 2), red, "no element with Name=wheel (there are none)"},
		{twice, Field("Velocity[Name=elbow]", 1), red, "Velocity[Name=elbow] is ambiguous: elements 0 and 2 both have Name=elbow"},
		{diagnostic_msgs.DiagnosticArray{Status: []diagnostic_msgs.DiagnosticStatus{{Name: "cpu"}, {Name: "cpu", Level: 2}}}, Field("Status[Name=cpu].Level", 0), red, "ambiguous: elements 0 and 1 both have Name=cpu"},
		{joints(), Field("Effort[Name=elbow]", 0), red, "Effort[Name=elbow] is not there: 0 elements for 3 of Name"},
		{short, Field("Velocity[Name=wheel_right]", 3), red, "2 elements for 3 of Name"}, {short, Field("Velocity[Name=elbow]", 1), red, "2 elements for 3 of Name"},
		{long, Field("Velocity[Name=elbow]", 1), red, "4 elements for 3 of Name"},
		{joints(), Field("Velocity[Nam=elbow]", 1), red, "the elements of Velocity are float64, which have no field Nam, and no array of names Nam lies beside it; there are Name, Position, Velocity, Effort"},
		{joints(), Field("Velocity[Header=elbow]", 1), red, "Header beside it is a std_msgs.Header, no array of names; there are Name, Position"},
		{holder, Field("Level[Zone=a]", 1), red, "Zone beside it is a string, no array of names; there are Level"},
		{[]float64{1}, Field("[Name=a]", 1), red, "the elements of the message are float64, which have no field Name"},
		{map[string]any{"Velocity": []any{1.0}, "Name": []any{"a"}}, Field("Velocity[Name=a]", 1), red, "which have no field Name"},
		{fixed, Field("Level[ID=30].X", 1), red, "is a uint8, which has no fields"},
	})
	for _, w := range []struct {
		m    any
		want color
		part string
	}{
		{HaveAverage("Velocity[Name=wheel_left]", 2), green, ""},
		{HaveAverage("Velocity[Name=wheel]", 2), red, "message 1: Velocity[Name=wheel] is not there: no element with Name=wheel"},
		{HaveRange("Velocity[Nam=wheel]", 2), red, "no array of names Nam"},
	} {
		c, text := to(window(joints(), joints()), w.m.(interface {
			Match(any) (bool, error)
			FailureMessage(any) string
			NegatedFailureMessage(any) string
		}))
		want(t, c, text, w.want, w.part)
	}
	many := joints()
	for i := range 20 {
		many.Name = append(many.Name, fmt.Sprint("j", i))
	}
	if _, text := to(many, Field("Velocity[Name=x]", 1)); !strings.Contains(text, "(there are elbow, wheel_left, wheel_right, j0, j1, j2, j3, j4, …)") {
		t.Error(text)
	}
}

func TestNorm(t *testing.T) {
	twist := geometry_msgs.Twist{Linear: geometry_msgs.Vector3{X: 2, Y: 3, Z: 6}}
	slow := BeNumerically("<", 0.03)
	ask(t, []question{
		{twist, Field(Norm("Linear"), 7), green, ""}, {&twist, Field(Norm("Linear"), 7), green, ""}, {twist.Linear, Field(Norm(""), 7), green, ""},
		{twist, Field(Norm("Linear"), slow), red, "to have Norm(\"Linear\") < 0.03|Norm(\"Linear\"): got 7, want < 0.03"},
		{twist, Field(Norm("Linear"), Not(slow)), green, ""}, {twist, Not(Field(Norm("Linear"), 7)), red, ""},
		{twist, Field(Of(func(t geometry_msgs.Twist) float64 { return t.Linear.Z }), 6), green, ""},
		{twist, Field(Of(func(t geometry_msgs.Twist) float64 { return t.Linear.Z }), 5), red, "Of(func(geometry_msgs.Twist) float64): got 6, want 5"},
		{joints(), Field(Norm("Velocity"), BeNumerically("~", 3.7416573868, 1e-9)), green, ""}, {[4]float32{2, 0, 0, 0}, Field(Norm(""), 2), green, ""},
		{[]uint8{3, 4}, Field(Norm(""), 5), green, ""}, {geometry_msgs.Point32{X: -3, Y: 4}, Field(Norm(""), 5), green, ""},
		{geometry_msgs.Vector3{X: nan, Y: inf}, Field(Norm(""), BeNumerically(">", 1)), red, "got NaN, want > 1"},
		{geometry_msgs.Vector3{X: 1e300, Y: 1e300}, Field(Norm(""), BeNumerically("~", 1.4142135623730951e300, 1e285)), green, ""},
		{joints(), Field(Norm("Effort"), 0), red, "Effort is empty, so it has no length"}, {map[string]any{"v": []any{3.0, 4.0}}, Field(Norm("v"), 5), green, ""},
		{map[string]any{"v": []any{3.0, "x"}}, Field(Norm("v"), 5), red, "Norm(\"v\") takes numbers"}, {struct{ V *geometry_msgs.Vector3 }{}, Field(Norm("V"), 0), red, "V is nil"},
		{twist, Field(Norm("Liner"), 7), red, "has no field Liner; there are Linear, Angular"}, {twist, Field(Norm("Linear["), 7), red, "] was expected"},
		{twist, Field(Norm(""), 7), red, "takes a struct of numbers, and the message (geometry_msgs.Twist) has a Linear that is a geometry_msgs.Vector3"},
		{twist, Field(Norm("Linear.X"), 7), red, "takes a struct of numbers or an array of them, and Linear.X is a float64"},
		{joints(), Field(Norm("Name"), 7), red, "takes numbers, and the elements of Name are string"}, {struct{}{}, Field(Norm(""), 7), red, "takes a struct of numbers or an array"},
		{twist, Field(3, 7), red, "a field is a path such as \"Twist.Linear.X\", Norm(path) or Of(func(T) float64), not a int"},
	})
	for _, w := range []question{
		{window(twist, twist), HaveAverage(Norm("Linear"), 7), green, ""}, {window(twist, twist), HaveAverage(Norm("Linear"), 8), red, "HaveAverage(Norm(\"Linear\"), 8)|it is 7"},
		{window(twist), HavePercentile(50, Norm("Lin"), 7), red, "has no field Lin"}, {window(twist), EveryMessage(Field(Norm("Linear"), slow)), red, "message 1 did not match: Norm(\"Linear\"): got 7, want < 0.03"},
		{window(twist), EveryMessage(Field(Norm("Lin"), slow)), red, "has no field Lin"}, {window(geometry_msgs.Vector3{X: nan}), HaveAverage(Norm(""), 1), red, "NaN"},
		{window(joints()), HaveAverage(Norm("Effort"), 1), red, "Effort is empty"}, {window(), HaveAverage(Norm("Lin["), 1), red, "] was expected"},
	} {
		c, text := to(w.of, w.m)
		want(t, c, text, w.want, strings.Split(w.parts, "|")...)
	}
}

// What allocates is a number handed to a matcher as any, however it was found.
func TestNoAllocationPerMessage(t *testing.T) {
	j, o := any(joints()), any(odometryAt(at(1, 2, 3)))
	allocs := func(m types.GomegaMatcher, v any) float64 {
		if ok, err := m.Match(v); !ok || err != nil {
			t.Fatal(m, ok, err)
		}
		return testing.AllocsPerRun(100, func() { _, _ = m.Match(v) })
	}
	slow := BeNumerically("<", 9)
	if by, direct := allocs(Field("Velocity[Name=wheel_left]", slow), j), allocs(Field("Velocity[1]", slow), j); by > direct {
		t.Errorf("an element by name allocates %v times, by index %v", by, direct)
	}
	if norm, of := allocs(Field(Norm("Velocity"), slow), j), allocs(Field(Of(func(sensor_msgs.JointState) float64 { return 1.5 }), slow), j); norm > of {
		t.Errorf("Norm allocates %v times, Of %v", norm, of)
	}
	for _, m := range []types.GomegaMatcher{BeNear(1, 2, 3, 0.1), HaveYaw(0, 0.1), BeRotated([4]float64{0, 0, 0, 1}, 0.1)} {
		if n := allocs(m, o); n > 0 {
			t.Errorf("%v allocates %v times", m, n)
		}
	}
	if n := allocs(HaveFrame(""), o); n > 0 {
		t.Errorf("HaveFrame allocates %v times", n)
	}
}
