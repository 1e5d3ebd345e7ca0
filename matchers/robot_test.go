package matchers_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/robospec/robospec/harness"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/measure"
	"github.com/robospec/robospec/msgs/builtin_interfaces"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/rosgraph_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
)

// question is a matcher put to one value.
type question struct {
	of    any
	m     types.GomegaMatcher
	want  color
	parts string // of the message, apart by |
}

func ask(t *testing.T, questions []question) {
	t.Helper()
	for _, q := range questions {
		var parts []string
		if q.parts != "" {
			parts = strings.Split(q.parts, "|")
		}
		c, text := to(q.of, q.m)
		want(t, c, text, q.want, parts...)
		_, err := q.m.Match(q.of)
		negated, text := notTo(q.of, q.m)
		if err == nil && (negated == green) != (c == red) || err != nil && negated != red {
			t.Errorf("%v of %T is %s, and negated %s\n%s", q.m, q.of, c, negated, text)
		}
	}
}

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

func at(x, y, z float64) geometry_msgs.Pose {
	return geometry_msgs.Pose{Position: geometry_msgs.Point{X: x, Y: y, Z: z}, Orientation: geometry_msgs.Quaternion{W: 1}}
}

func odometryAt(p geometry_msgs.Pose) (o nav_msgs.Odometry) {
	o.Pose.Pose = p
	return o
}

type flat struct{ X, Y float32 }

type measured struct {
	Pose  *geometry_msgs.Pose
	Extra string
}

func TestBeNear(t *testing.T) {
	near, far := BeNear(1, 2, 3, 0.1), BeNear(1, 2, 3.4, 0.1)
	plane := BeNear(1, 2, 0, 0.1)
	p := at(1, 2, 3.05)
	v := geometry_msgs.Vector3{X: 1, Y: 2, Z: 3.05}
	tf := geometry_msgs.Transform{Translation: v}
	for _, m := range []any{
		p.Position, v, geometry_msgs.Point32{X: 1, Y: 2, Z: 3.05}, geometry_msgs.PointStamped{Point: p.Position}, geometry_msgs.Vector3Stamped{Vector: v},
		p, geometry_msgs.PoseStamped{Pose: p}, geometry_msgs.PoseWithCovariance{Pose: p}, geometry_msgs.PoseWithCovarianceStamped{Pose: geometry_msgs.PoseWithCovariance{Pose: p}},
		tf, geometry_msgs.TransformStamped{Transform: tf}, odometryAt(p), new(odometryAt(p)), measured{Pose: &p}, [3]float64{1, 2, 3.05}, [3]float32{1, 2, 3.05},
		struct{ Position [3]float32 }{[3]float32{1, 2, 3.05}}, struct{ X, Y, Z int16 }{1, 2, 3},
	} {
		ask(t, []question{{m, near, green, ""}, {m, far, red, "want (1, 2, 3.4) ± 0.1: 0."}})
	}
	for _, m := range []any{flat{1, 2.05}, geometry_msgs.Pose2D{X: 1, Y: 2.05, Theta: 1}, struct{ Pose flat }{flat{1, 2.05}}} {
		ask(t, []question{{m, plane, green, ""}, {m, BeNear(1, 3, 0, 0.1), red, "2.05), want (1, 3) ± 0.1: 0.95 away (x +0, y -0.95)"},
			{m, near, red, "lies in the plane z = 0, it has no Z; say BeNear(1, 2, 0, 0.1)"}})
	}
	ask(t, []question{
		{odometryAt(p), BeNear(1, 2, 3, 0.05-1e-9), red, "to have position (1, 2, 3) ± 0.049999999|Pose.Pose.Position: got (1, 2, 3.05), want (1, 2, 3) ± 0.049999999: 0.05 away"},
		{odometryAt(at(4, 6, 3)), BeNear(1, 2, 3, 5), green, ""},
		{odometryAt(at(4, 6, 3)), BeNear(1, 2, 3, 4.9), red, "5 away (x +3, y +4, z +0)"},
		{at(1, nan, 3), near, red, "Position: got (1, NaN, 3), want (1, 2, 3) ± 0.1: Y is NaN"},
		{at(inf, nan, 3), near, red, "Y is NaN"},
		{at(inf, 2, 3), near, red, "+Inf away (x +Inf, y +0, z +0)"},
		{measured{}, near, red, "Pose.Position is not there: nil before Position"},
		{(*geometry_msgs.Point)(nil), near, red, "nil"},
		{nil, near, red, "nil"},
		{geometry_msgs.Twist{}, near, red, "BeNear(1, 2, 3, 0.1) finds no position in a geometry_msgs.Twist, which has Linear, Angular; if it lies deeper, say Field(path, BeNear(1, 2, 3, 0.1))"},
		{geometry_msgs.Twist{Linear: v}, Field("Linear", near), green, ""},
		{geometry_msgs.Twist{}, Field("Linear", near), red, "got (0, 0, 0)"},
		{geometry_msgs.Quaternion{W: 1}, near, red, "finds no position in a geometry_msgs.Quaternion"},
		{"here", near, red, "finds no position in a string, which has no fields"},
		{struct{ Position, Point geometry_msgs.Point }{}, near, red, "finds more than one position|Position, Point; say which: Field(path, "},
		{p, BeNear(1, 2, 3, -0.1), red, "the tolerance must be a number, zero or more; it is -0.1"},
		{p, BeNear(1, 2, 3, nan), red, "the tolerance must be a number"},
		{p, BeNear(1, 2, 3, inf), red, "the tolerance must be a number"},
		{p, BeNear(1, nan, 3, 1), red, "nothing is near a position that is not finite"},
		{p, BeNear(1, 2, 3.05, 0), green, ""},
	})
}

// The quaternions of three attitudes, and the angles between them, were
// calculated from rotation matrices with yaw, pitch and roll about z, y and x.
var (
	attitudeA = geometry_msgs.Quaternion{X: 0.0342707985504821, Y: 0.10602051106179562, Z: 0.14357217502739186, W: 0.9833474432563558}  // yaw 0.3, pitch 0.2, roll 0.1
	attitudeB = geometry_msgs.Quaternion{X: 0.30881089411491586, Y: -0.02196129069006805, Z: 0.5767502968787768, W: 0.7559845424593121} // yaw 1.2, pitch −0.4, roll 0.5
	attitudeC = geometry_msgs.Quaternion{X: 0.27748644541016054, Y: 0.2401258995732817, Z: -0.8652824798735279, W: 0.3415070350544392}  // yaw −2.5, pitch 0.7, roll −0.3
	angles    = map[[2]geometry_msgs.Quaternion]float64{{attitudeA, attitudeB}: 1.1673043002827734, {attitudeA, attitudeC}: 2.6433396230211343, {attitudeB, attitudeC}: 2.8192782418770306}
)

func turned(q geometry_msgs.Quaternion) geometry_msgs.Pose { return geometry_msgs.Pose{Orientation: q} }

func about(axis int, rad float64) (q geometry_msgs.Quaternion) {
	sin, cos := math.Sincos(rad / 2)
	*[]*float64{&q.X, &q.Y, &q.Z}[axis] = sin
	q.W = cos
	return q
}

func negative(q geometry_msgs.Quaternion) geometry_msgs.Quaternion {
	return geometry_msgs.Quaternion{X: -q.X, Y: -q.Y, Z: -q.Z, W: -q.W}
}

func TestHaveYaw(t *testing.T) {
	for q, yaw := range map[geometry_msgs.Quaternion]float64{attitudeA: 0.3, attitudeB: 1.2, attitudeC: -2.5, {W: 1}: 0, {Z: 1}: math.Pi, {Z: math.Sqrt2 / 2, W: -math.Sqrt2 / 2}: -math.Pi / 2} {
		for _, q := range []geometry_msgs.Quaternion{q, negative(q)} {
			for _, m := range []any{
				q, turned(q), geometry_msgs.PoseStamped{Pose: turned(q)}, geometry_msgs.Transform{Rotation: q}, geometry_msgs.TransformStamped{Transform: geometry_msgs.Transform{Rotation: q}},
				geometry_msgs.QuaternionStamped{Quaternion: q}, odometryAt(turned(q)), sensor_msgs.Imu{Orientation: q}, geometry_msgs.Pose2D{Theta: yaw}, yaw, yaw + 4*math.Pi,
			} {
				ask(t, []question{{m, HaveYaw(yaw, 1e-9), green, ""}, {m, HaveYaw(yaw-2*math.Pi, 1e-9), green, ""},
					{m, HaveYaw(yaw+0.2, 0.1), red, "-0.2 rad off"}, {m, HaveYaw(yaw-0.2, 0.1), red, "+0.2 rad off"}})
			}
		}
	}
	ask(t, []question{
		{turned(about(2, 3.1)), HaveYaw(-3.1, 0.1), green, ""},
		{turned(about(2, 3.1)), HaveYaw(-3.1, 0.08), red, "to have yaw -3.1 ± 0.08 rad|Orientation: got yaw 3.1, want yaw -3.1 ± 0.08 rad: -0.0831853 rad off"},
		{geometry_msgs.Pose2D{Theta: -3.1}, HaveYaw(3.1, 0.1), green, ""},
		{odometryAt(at(0, 0, 0)), Field("Pose.Pose", And(BeNear(0, 0, 0, 0.1), HaveYaw(0, 0.05))), green, ""},
		{odometryAt(at(0, 0, 0)), Field("Pose.Pose", HaveYaw(1, 0.05)), red, "Orientation: got yaw 0, want yaw 1 ± 0.05 rad: -1 rad off"},
		{turned(geometry_msgs.Quaternion{}), HaveYaw(0, 0.1), red, "got (0, 0, 0, 0), want yaw 0 ± 0.1 rad: a zero quaternion is no rotation; was it never set?"},
		{turned(geometry_msgs.Quaternion{Z: 1, W: 1}), HaveYaw(math.Pi/2, 0.1), red, "a quaternion of length 1.41421 is no rotation, which has 1"},
		{turned(geometry_msgs.Quaternion{W: 1.004}), HaveYaw(0, 0.1), green, ""},
		{turned(geometry_msgs.Quaternion{W: 1.006}), HaveYaw(0, 0.1), red, "length 1.006"},
		{turned(geometry_msgs.Quaternion{Z: nan, W: 1}), HaveYaw(0, 0.1), red, "Z is NaN"},
		{turned(geometry_msgs.Quaternion{Z: inf, W: 1}), HaveYaw(0, 0.1), red, "length +Inf"},
		{turned(about(1, math.Pi/2)), HaveYaw(0, 0.1), red, "points straight up or down, so it has no yaw"},
		{turned(about(1, math.Pi/2-0.01)), HaveYaw(0, 0.1), green, ""},
		{geometry_msgs.Pose2D{Theta: nan}, HaveYaw(0, 0.1), red, "Theta: got NaN, want yaw 0 ± 0.1 rad: an angle is finite"},
		{geometry_msgs.Pose2D{Theta: inf}, HaveYaw(0, 0.1), red, "an angle is finite"},
		{struct {
			Theta       float64
			Orientation geometry_msgs.Quaternion
		}{}, HaveYaw(0, 0.1), red, "finds more than one rotation|Orientation, Theta; say which: Field(path, HaveYaw(0, 0.1))"},
		{geometry_msgs.Twist{}, HaveYaw(0, 0.1), red, "HaveYaw(0, 0.1) finds no rotation in a geometry_msgs.Twist, which has Linear, Angular"},
		{at(0, 0, 0), HaveYaw(90, 5), red, "every rotation lies within 5 rad; the unit is radians, not degrees"},
		{at(0, 0, 0), HaveYaw(nan, 0.1), red, "the yaw must be a finite number"},
		{at(0, 0, 0), HaveYaw(0, -1), red, "the tolerance must be a number"},
	})
}

func TestBeRotated(t *testing.T) {
	for pair, angle := range angles {
		for _, pair := range [][2]geometry_msgs.Quaternion{pair, {pair[1], pair[0]}, {negative(pair[0]), pair[1]}, {pair[0], negative(pair[1])}} {
			q := pair[1]
			for _, want := range []any{q, &q, [4]float64{q.X, q.Y, q.Z, q.W}, struct{ W, X, Y, Z float64 }{q.W, q.X, q.Y, q.Z}} {
				ask(t, []question{{turned(pair[0]), BeRotated(want, angle+1e-9), green, ""}, {turned(pair[0]), BeRotated(want, angle-1e-9), red, " rad apart"}})
			}
		}
	}
	level := geometry_msgs.Quaternion{W: 1}
	ask(t, []question{
		{odometryAt(turned(attitudeA)), BeRotated(negative(attitudeA), 0), green, ""},
		{odometryAt(turned(about(0, 1e-9))), BeRotated(level, 1.001e-9), green, ""}, // where an arc cosine has no digits left
		{odometryAt(turned(about(0, 1e-9))), BeRotated(level, 0.999e-9), red, "1e-09 rad apart"},
		{turned(about(2, 1)), BeRotated(level, 0.5), red, "to have rotation (0, 0, 0, 1) ± 0.5 rad|Orientation: got (0, 0, 0.479426, 0.877583), want rotation (0, 0, 0, 1) ± 0.5 rad: 1 rad apart"},
		{geometry_msgs.Pose2D{Theta: 1}, BeRotated(about(2, 1.1), 0.11), green, ""},
		{geometry_msgs.Pose2D{Theta: 1}, BeRotated(about(2, 1.1), 0.09), red, "0.1 rad apart"},
		{turned(geometry_msgs.Quaternion{}), BeRotated(level, 0.5), red, "a zero quaternion is no rotation; was it never set?"},
		{turned(geometry_msgs.Quaternion{X: nan}), BeRotated(level, 0.5), red, "X is NaN"},
		{turned(level), BeRotated(geometry_msgs.Quaternion{}, 0.5), red, "BeRotated((0, 0, 0, 0), 0.5): a zero quaternion is no rotation"},
		{turned(level), BeRotated([4]float64{1, 1, 0, 0}, 0.5), red, "a quaternion of length 1.41421 is no rotation"},
		{turned(level), BeRotated(geometry_msgs.Vector3{}, 0.5), red, "BeRotated takes a quaternion, something with X, Y, Z and W or a [4]float64 of x, y, z, w; not a geometry_msgs.Vector3"},
		{turned(level), BeRotated(nil, 0.5), red, "not a <nil>"},
		{turned(level), BeRotated(level, 10), red, "radians, not degrees"},
		{geometry_msgs.Point{}, BeRotated(level, 1), red, "finds no rotation in a geometry_msgs.Point, which has X, Y, Z"},
	})
}

func TestHaveFrame(t *testing.T) {
	h := std_msgs.Header{FrameID: "odom"}
	odom := nav_msgs.Odometry{Header: h, ChildFrameID: "base_link"}
	ask(t, []question{
		{odom, HaveFrame("odom"), green, ""}, {&odom, HaveFrame("odom"), green, ""}, {h, HaveFrame("odom"), green, ""},
		{geometry_msgs.TransformStamped{Header: h}, HaveFrame("map"), red, "to have frame \"map\"|Header.FrameID: got \"odom\", want \"map\""},
		{odom, Field("Header", HaveFrame("map")), red, "FrameID: got \"odom\", want \"map\""},
		{geometry_msgs.Pose{}, HaveFrame("map"), red, "HaveFrame(\"map\") finds no frame in a geometry_msgs.Pose, which has Position, Orientation"},
	})
}

func stamped(sec int32, nanosec uint32) geometry_msgs.PoseStamped {
	return geometry_msgs.PoseStamped{Header: std_msgs.Header{Stamp: builtin_interfaces.Time{Sec: sec, Nanosec: nanosec}}}
}

func stamps(at ...time.Duration) *measure.Window {
	var all []any
	for _, d := range at {
		all = append(all, stamped(int32(d/time.Second), uint32(d%time.Second)))
	}
	return window(all...)
}

func clocks(at ...time.Duration) *measure.Window {
	var all []any
	for _, d := range at {
		all = append(all, rosgraph_msgs.Clock{Clock: builtin_interfaces.Time{Sec: int32(d / time.Second), Nanosec: uint32(d % time.Second)}})
	}
	return window(all...)
}

func TestHaveStampGaps(t *testing.T) {
	const s, epoch = time.Second, 1_700_000_000 * time.Second
	m := HaveStampGaps(BeNumerically("~", 20*ms, 5*ms))
	for _, q := range []struct {
		w     *measure.Window
		m     types.GomegaMatcher
		want  color
		parts string
	}{
		{stamps(s, s+20*ms, s+44*ms), m, green, ""},
		{stamps(s-10*ms, s+10*ms), m, green, ""},
		{stamps(s, s+20*ms, s+40*ms), HaveStampGaps(20 * ms), green, ""},
		{clocks(epoch, epoch+20*ms, epoch+40*ms), m, green, ""},
		{stamps(0, 20*ms, 40*ms), m, green, ""}, // simulated time begins at 0
		{stamps(s, s+20*ms, s+65*ms, s+85*ms), m, red, "the stamp of message 3 is 45ms after the one before, want 20ms ± 5ms"},
		{stamps(s, s+20*ms, s), m, red, "the stamp of message 3 goes back by 20ms, to 1s"},
		{stamps(s, s+20*ms, s+20*ms), HaveStampGaps(BeNumerically("<", s)), red, "the stamp of message 3 stands still at 1.02s"},
		{stamps(s, s+20*ms, s), HaveStampGaps(BeNumerically("<", s)), red, "goes back by 20ms"},
		{stamps(0, 0), m, red, "the stamps of messages 1 and 2 are zero, as if never set"},
		{stamps(epoch, 0), m, red, "the stamp of message 2 is zero, as if never set"},
		{stamps(0, epoch), m, red, "want 20ms ± 5ms; that of message 1 is zero, as if never set"},
		{stamps(s), m, inconclusive, "one message arrived on /t, which makes no gap"},
		{stamps(), m, inconclusive, "nothing to judge"},
		{window(geometry_msgs.Pose{}, geometry_msgs.Pose{}), m, red, "finds no stamp in a geometry_msgs.Pose, which has Position, Orientation"},
		{stamps(s, s+20*ms), HaveStampGaps(HaveLen(1)), red, "cannot judge"},
		{window(time.Unix(5, 0), time.Unix(5, int64(20*ms))), m, green, ""},
		{window(struct{ Stamp time.Time }{time.Unix(5, 0)}, struct{ Stamp time.Time }{time.Unix(6, 0)}), m, red, "is 1s after the one before"},
	} {
		c, text := to(q.w, q.m)
		want(t, c, text, q.want, strings.Split(q.parts, "|")...)
	}
}

// A gap next to what was not seen is no gap, and proves nothing.
func TestHaveStampGapsOverWhatWasNotSeen(t *testing.T) {
	m := HaveStampGaps(BeNumerically("~", 20*ms, ms))
	arrivals := func(change func(i int, a *measure.Arrival)) *measure.Window {
		start := time.Now()
		var all []measure.Arrival
		for i := range 4 {
			a := measure.Arrival{Received: start.Add(time.Duration(i) * 20 * ms), Order: uint64(i + 1), Value: stamped(5, uint32(i*20_000_000))}
			change(i, &a)
			all = append(all, a)
		}
		return measure.NewWindow(measure.Stretch{Topic: "/t", From: start, To: start.Add(100 * ms), Life: measure.Life{State: measure.LifeShown}}, all)
	}
	garbled := func(i int, a *measure.Arrival) {
		if i == 1 {
			a.Value, a.Err = nil, errors.New("truncated")
		}
	}
	c, text := to(arrivals(garbled), m)
	want(t, c, text, inconclusive, "truncated")

	c, text = to(arrivals(func(i int, a *measure.Arrival) {
		garbled(i, a)
		if i == 3 {
			a.Value, a.Publisher = stamped(4, 0), measure.PublisherID{2}
		}
	}), m)
	want(t, c, text, red, "the stamp of message 4 goes back by 1.04s, to 4s; another publisher sent it") // whatever message 2 was

	lossy := arrivals(func(int, *measure.Arrival) {})
	lossy.Dropped = 1
	c, text = to(lossy, m)
	want(t, c, text, inconclusive, "dropped")

	c, text = to(arrivals(func(i int, a *measure.Arrival) {
		a.Value = struct{ Header *std_msgs.Header }{}
	}), m)
	want(t, c, text, red, "message 1 has no stamp: Header.Stamp is not there: nil before Stamp")
}

// Whatever they are asked of, they answer or say what is wrong.
func TestNothingPanics(t *testing.T) {
	type hides struct {
		name  string
		pose  geometry_msgs.Pose
		f     func()
		Inner *hides
	}
	type embeds struct{ *geometry_msgs.Pose }
	type list []list
	some := []any{
		nil, (*hides)(nil), hides{}, hides{name: "a", pose: at(1, 2, 3), f: func() {}, Inner: &hides{}}, embeds{}, embeds{new(at(1, 2, 3))}, list{}, list{list{}}, make(chan int), func() {}, map[string]any{},
		map[string]any{"X": 1.0, "Header": nil}, []any{}, []any{1, nil}, struct{}{}, struct{ Pose any }{}, struct{ Header any }{3}, struct{ Pose, Transform, Position, Theta any }{},
		errors.New("x"), "", 3, 2 + 3i, true, time.Now(), ms, [0]int{}, [4]float64{}, &[]int{1}, new(any), new(new(3)), joints(), odometryAt(at(1, 2, 3)), stamped(1, 2), window(), uintptr(1),
	}
	ms := []types.GomegaMatcher{
		BeNear(0, 0, 0, 1), HaveYaw(0, 1), BeRotated([4]float64{3: 1}, 1), HaveFrame(""), Field(Norm(""), 1), Field("Velocity[Name=elbow]", 1), Field("[Name=elbow]", BeNear(0, 0, 0, 1)),
	}
	for _, v := range some {
		ms = append(ms, Approximately(v, 1), BeRotated(v, 1))
	}
	for _, v := range some {
		for _, m := range ms {
			to(v, m)
			notTo(v, m)
			if v != nil {
				to(window(v, v), AnyMessage(m))
			}
		}
		to(window(v, v), And(HaveStampGaps(1), HaveAverage(Norm(""), 1)))
	}
	c, text := to(hides{name: "b"}, Approximately(hides{name: "a"}, 1))
	want(t, c, text, red, "name: got b, want a")
	if c, text := to(embeds{new(at(1, 2, 3))}, BeNear(1, 2, 3, 0)); c != green {
		t.Error(text)
	}
}

// poses are those of a robot, on /pose.
func (w *world) poses() (*harness.Publisher[geometry_msgs.PoseStamped], *harness.Subscription[geometry_msgs.PoseStamped]) {
	pub, err := harness.Advertise[geometry_msgs.PoseStamped](w.t.Context(), w.robot, "/pose")
	if err != nil {
		w.t.Fatal(err)
	}
	sub, err := harness.Subscribe[geometry_msgs.PoseStamped](w.t.Context(), w.rig, "/pose")
	if err != nil {
		w.t.Fatal(err)
	}
	return pub, sub
}
