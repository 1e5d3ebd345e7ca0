package matchers

import (
	"fmt"
	"math"
	"reflect"

	"github.com/onsi/gomega/types"
)

// HaveYaw is a matcher of a heading no further than tol from rad, both in
// radians: the turn about z in the order yaw, pitch, roll (REP 103). It wraps, so
// that 3.1 and −3.1 lie 0.083 apart. It takes a quaternion (a struct with X, Y, Z
// and W), a struct with Theta such as Pose2D, a number, and any message with one
// of them under the names Orientation, Rotation, Quaternion, Pose and Transform. A
// quaternion that is no rotation, since it is zero, NaN or not of length 1, has no
// yaw, nor has one that points straight up or down.
func HaveYaw(rad, tol float64) types.GomegaMatcher {
	m := newTurn(fmt.Sprintf("HaveYaw(%v, %v)", rad, tol), fmt.Sprintf("yaw %s ± %s rad", exact(rad), exact(tol)), tol)
	m.off = func(r rotation) float64 {
		yaw, _ := r.yaw()
		return math.Remainder(yaw-rad, 2*math.Pi)
	}
	m.say = func(r rotation, off float64) (string, string) {
		yaw, level := r.yaw()
		if !level {
			return tuple(r.q[:]), "it points straight up or down, so it has no yaw"
		}
		sign := "+"
		if off < 0 {
			sign = "-"
		}
		return "yaw " + brief(yaw), sign + brieflyUnlike(math.Abs(off), tol) + " rad off"
	}
	wrong := badAngle(m.part.who, tol)
	if wrong == nil && rad-rad != 0 {
		wrong = fmt.Errorf("%s: the yaw must be a finite number", m.part.who)
	}
	return &valueMatcher{question: m, wrong: wrong}
}

// BeRotated is a matcher of a rotation that takes a turn of no more than tol
// radians to become q, about whatever axis; q and −q are the same rotation. q is a
// quaternion: anything with X, Y, Z and W such as geometry_msgs.Quaternion, or a
// [4]float64 of x, y, z, w. It takes the messages that HaveYaw takes; a Theta or
// a number is a turn about z. A quaternion that is no rotation, since it is zero,
// NaN or not of length 1, matches nothing.
func BeRotated(q any, tol float64) types.GomegaMatcher {
	want, err := quaternionOf(q)
	m := newTurn(fmt.Sprintf("BeRotated(%s, %v)", tuple(want[:]), tol), fmt.Sprintf("rotation %s ± %s rad", tuple(want[:]), exact(tol)), tol)
	m.off = func(r rotation) float64 { return want.angle(r.quaternion()) }
	m.say = func(r rotation, off float64) (string, string) {
		q := r.quaternion()
		return tuple(q[:]), brieflyUnlike(off, tol) + " rad apart"
	}
	if err == nil {
		err = badAngle(m.part.who, tol)
	}
	if why := want.fault(); err == nil && why != "" {
		err = fmt.Errorf("%s: %s", m.part.who, why)
	}
	return &valueMatcher{question: m, wrong: err}
}

// turn asks how far a rotation is off.
type turn struct {
	part part
	text string
	tol  float64
	// off is by what angle, NaN where there is none, and say is how that reads.
	off func(rotation) float64
	say func(r rotation, off float64) (got, how string)
}

func newTurn(who, text string, tol float64) *turn {
	return &turn{text: text, tol: tol, part: part{who: who, noun: "rotation",
		names: []string{"Orientation", "Rotation", "Quaternion", "Theta", "Pose", "Transform"}, is: isRotation}}
}

var quaternionAxes = []string{"X", "Y", "Z", "W"}

func isRotation(t reflect.Type) (axes [][]int, ok bool) {
	axes = components(t, quaternionAxes...)
	return axes, len(axes) == 4 || isNumber(t)
}

// badAngle is what is wrong with the tolerance of an angle.
func badAngle(name string, tol float64) error {
	if tol >= math.Pi {
		return fmt.Errorf("%s: every rotation lies within %v rad; the unit is radians, not degrees", name, tol)
	}
	return badTolerance(name, tol)
}

// quaternion is x, y, z, w.
type quaternion [4]float64

func quaternionOf(q any) (quaternion, error) {
	if q, ok := q.([4]float64); ok {
		return q, nil
	}
	v := reflect.Indirect(reflect.ValueOf(q))
	if v.IsValid() {
		if axes := components(v.Type(), quaternionAxes...); len(axes) == 4 {
			pl := place{axes: axes}
			xs, _ := pl.numbers(v)
			return xs, nil
		}
	}
	return quaternion{}, fmt.Errorf("BeRotated takes a quaternion, something with X, Y, Z and W or a [4]float64 of x, y, z, w; not a %T", q)
}

func (q quaternion) norm() float64 {
	return math.Hypot(math.Hypot(q[0], q[1]), math.Hypot(q[2], q[3]))
}

// fault is why a quaternion is no rotation. tf2 takes a squared norm within 0.01
// of 1 for a rotation (tf2/buffer_core, QUATERNION_NORMALIZATION_TOLERANCE).
func (q quaternion) fault() string {
	if nan := notNumbers(q[:], "XYZW"); nan != "" {
		return nan
	}
	switch n := q.norm(); {
	case n == 0:
		return "a zero quaternion is no rotation; was it never set?"
	case !(math.Abs(n*n-1) < 0.01):
		return fmt.Sprintf("a quaternion of length %s is no rotation, which has 1", brieflyUnlike(n, 1))
	}
	return ""
}

// angle is that of the turn from q to r, from 0 to π. The arc tangent is exact
// where the arc cosine of the dot product is not, near 0.
func (q quaternion) angle(r quaternion) float64 {
	x := q[3]*r[0] - q[0]*r[3] - q[1]*r[2] + q[2]*r[1]
	y := q[3]*r[1] - q[1]*r[3] - q[2]*r[0] + q[0]*r[2]
	z := q[3]*r[2] - q[2]*r[3] - q[0]*r[1] + q[1]*r[0]
	w := q[0]*r[0] + q[1]*r[1] + q[2]*r[2] + q[3]*r[3]
	return 2 * math.Atan2(math.Hypot(math.Hypot(x, y), z), math.Abs(w))
}

// rotation is a quaternion, or an angle about z where there is only that.
type rotation struct {
	q     quaternion
	angle float64
	flat  bool
}

// yaw is the turn about z, NaN for one whose x axis is vertical.
func (r rotation) yaw() (rad float64, level bool) {
	if r.flat {
		return r.angle, true
	}
	x, y, z, w := r.q[0], r.q[1], r.q[2], r.q[3]
	east, north := w*w+x*x-y*y-z*z, 2*(w*z+x*y) // the x axis as it lies in the plane
	if math.Hypot(east, north) < 1e-6 {
		return math.NaN(), false
	}
	return math.Atan2(north, east), true
}

func (r rotation) quaternion() quaternion {
	if r.flat {
		sin, cos := math.Sincos(r.angle / 2)
		return quaternion{2: sin, 3: cos}
	}
	return r.q
}

// fault is why it is no rotation.
func (r rotation) fault() string {
	switch {
	case !r.flat:
		return r.q.fault()
	case r.angle-r.angle != 0:
		return "an angle is finite"
	}
	return ""
}

func (m *turn) String() string { return m.text }

func (m *turn) check(t reflect.Type) error {
	_, err := m.part.in(t)
	return err
}

// look is a message's rotation and how far it is off, NaN if it has none.
func (m *turn) look(v any) (r rotation, off float64, where, absent string, err error) {
	at, pl, absent, err := m.part.of(v)
	if err != nil || !at.IsValid() {
		return r, math.NaN(), "", absent, err
	}
	xs, n := pl.numbers(at)
	r = rotation{q: xs, angle: xs[0], flat: n == 1}
	if off = math.NaN(); r.fault() == "" {
		off = m.off(r)
	}
	return r, off, pl.path.text, "", nil
}

func (m *turn) ask(v any) (bool, error) {
	_, off, _, _, err := m.look(v)
	return err == nil && math.Abs(off) <= m.tol, err
}

func (m *turn) near(v any) float64 {
	_, off, _, _, err := m.look(v)
	if err != nil {
		return 0
	}
	return nearness(math.Abs(off), m.tol)
}

func (m *turn) explain(v any, where string) []string {
	r, off, path, absent, err := m.look(v)
	switch {
	case err != nil:
		return line(where, "%v", err)
	case absent != "":
		return line(where, "%s", absent)
	}
	got, why := tuple(r.q[:]), r.fault()
	switch {
	case why == "":
		got, why = m.say(r, off)
	case r.flat:
		got = brief(r.angle)
	}
	return line(join(where, path), "got %s, want %s: %s", got, m.text, why)
}
