package matchers

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/onsi/gomega/types"
)

// BeNear is a matcher of a position no further than tol from (x, y, z), by
// Euclidean distance, in the unit of the message, which is metres in ROS. It
// takes a point or vector (a struct with X, Y and Z, or an array of three numbers)
// and any message with one position under the names Position, Point, Translation,
// Vector, Pose and Transform: Pose, PoseStamped, PoseWithCovarianceStamped,
// Transform, TransformStamped, Odometry. One without a Z, such as Pose2D, lies in
// the plane z = 0, and asking it for another z is an error. A position with NaN is
// near nothing.
func BeNear(x, y, z, tol float64) types.GomegaMatcher {
	m := &nearPoint{want: [3]float64{x, y, z}, tol: tol}
	m.part = part{who: fmt.Sprintf("BeNear(%v, %v, %v, %v)", x, y, z, tol), noun: "position",
		names: []string{"Position", "Point", "Translation", "Vector", "Pose", "Transform"}, is: isPoint}
	wrong := badTolerance(m.part.who, tol)
	if off := x + y + z; wrong == nil && off-off != 0 {
		wrong = fmt.Errorf("%s: nothing is near a position that is not finite", m.part.who)
	}
	return &valueMatcher{question: m, wrong: wrong}
}

// isPoint leaves out quaternions, which have X, Y and Z too.
func isPoint(t reflect.Type) (axes [][]int, ok bool) {
	if t.Kind() == reflect.Array {
		return nil, t.Len() == 3 && isNumber(t.Elem())
	}
	return components(t, "X", "Y", "Z"), len(components(t, "X", "Y")) == 2 && len(components(t, quaternionAxes...)) < 4
}

type nearPoint struct {
	part part
	want [3]float64
	tol  float64
}

func (m *nearPoint) String() string {
	return fmt.Sprintf("position %s ± %s", tuple(m.want[:]), exact(m.tol))
}

func (m *nearPoint) check(t reflect.Type) error {
	pl, err := m.part.in(t)
	if err == nil && pl.end.Kind() == reflect.Struct && len(pl.axes) == 2 && m.want[2] != 0 {
		err = fmt.Errorf("%s: a %s lies in the plane z = 0, it has no Z; say BeNear(%v, %v, 0, %v)", m.part.who, pl.end, m.want[0], m.want[1], m.tol)
	}
	return err
}

// look is the position and its distance, NaN if there is none.
func (m *nearPoint) look(v any) (got [3]float64, axes int, off float64, where string, absent string, err error) {
	if err = m.check(reflect.TypeOf(v)); err != nil {
		return got, 0, 0, "", "", err
	}
	at, pl, absent, err := m.part.of(v)
	if err != nil || !at.IsValid() {
		return got, 0, math.NaN(), "", absent, err
	}
	xs, axes := pl.numbers(at)
	copy(got[:], xs[:])
	for i := range got {
		off = hypot(off, got[i]-m.want[i])
	}
	return got, axes, off, pl.path.text, "", nil
}

func (m *nearPoint) ask(v any) (bool, error) {
	_, _, off, _, _, err := m.look(v)
	return err == nil && off <= m.tol, err
}

func (m *nearPoint) near(v any) float64 {
	_, _, off, _, _, err := m.look(v)
	if err != nil {
		return 0
	}
	return nearness(off, m.tol)
}

func (m *nearPoint) explain(v any, where string) []string {
	got, axes, off, path, absent, err := m.look(v)
	if err != nil {
		return line(where, "%v", err)
	}
	if absent != "" {
		return line(where, "%s", absent)
	}
	what := fmt.Sprintf("got %s, want %s ± %s", tuple(got[:axes]), tuple(m.want[:axes]), exact(m.tol))
	where = join(where, path)
	if nan := notNumbers(got[:axes], "XYZ"); nan != "" {
		return line(where, "%s: %s", what, nan)
	}
	var by []string
	for i := range axes {
		by = append(by, fmt.Sprintf("%c %+.6g", "xyz"[i], got[i]-m.want[i]))
	}
	return line(where, "%s: %s away (%s)", what, brieflyUnlike(off, m.tol), strings.Join(by, ", "))
}

// notNumbers names what is NaN.
func notNumbers(xs []float64, names string) string {
	var nan []string
	for i, x := range xs {
		if math.IsNaN(x) {
			nan = append(nan, names[i:i+1]+" is NaN")
		}
	}
	return strings.Join(nan, ", ")
}
