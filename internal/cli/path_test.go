package cli

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/robospec/robospec/msgs/definitions"
	"github.com/robospec/robospec/msgs/dynamic"
	"github.com/robospec/robospec/msgs/rosidl"
)

func message(t *testing.T, typ, yaml string) *dynamic.Message {
	t.Helper()
	set := new(rosidl.Set)
	must(t, definitions.AddTo(set))
	m, err := messageOf(set, typ, yaml)
	must(t, err)
	return m
}

func TestPath(t *testing.T) {
	diagnostics := message(t, "diagnostic_msgs/msg/DiagnosticArray", `
status:
- {name: cpu, level: 1, values: [{key: load, value: high}]}
- {name: disk, level: 2}`)
	joints := message(t, "sensor_msgs/msg/JointState", "{name: [left, right], position: [0.5, -1]}")
	var program any
	must(t, json.Unmarshal([]byte(`{"speed":1.5,"ok":true,"name":["a","b"],"at":[1,2],"parts":[{"id":7,"state":"on"}],"none":null}`), &program))
	for _, c := range []struct {
		of         any
		path, want string
	}{
		{diagnostics, "status[0].name", "cpu"},
		{diagnostics, "status[name=disk].level", "2"},
		{diagnostics, "status[name=cpu].values[key=load].value", "high"},
		{diagnostics, "status[name=cpu].values[0]", "key: load\nvalue: high"},
		{diagnostics, "header.stamp.sec", "0"},
		{joints, "position[name=right]", "-1"},
		{joints, "position[1]", "-1"},
		{joints, "position", "- 0.5\n- -1"},
		{joints, "effort", "[]"},
		{program, "speed", "1.5"},
		{program, "ok", "true"},
		{program, "at[name=b]", "2"},
		{program, "parts[state=on].id", "7"},
		{program, "parts[id=7].state", "on"},
		{program, "parts[0]", `{"id":7,"state":"on"}`},

		{diagnostics, "status[name=gpu].level", "error: status: nothing has the name \"gpu\"; there is cpu, disk"},
		{diagnostics, "status[2].level", "error: status has 2 elements, none at place 2"},
		{diagnostics, "status.level", "error: status is a list and has no field level"},
		{diagnostics, "header[0]", "error: header is a message and no list"},
		{diagnostics, "head", "error: no field \"head\" in diagnostic_msgs/msg/DiagnosticArray, which has header, status"},
		{joints, "position[joint=left]", "error: position: no field \"joint\" in sensor_msgs/msg/JointState, which has header, name, position, velocity, effort"},
		{joints, "position[header=left]", "error: position: header beside it is a message and no list"},
		{joints, "velocity[name=left]", "error: velocity has 0 elements, none at place 0"},
		{joints, "position[0].x", "error: position[0] is a number and has no field x"},
		{program, "sped", "error: no field \"sped\"; there is at, name, none, ok, parts, speed"},
		{program, "speed.x", "error: speed is a number and has no field x"},
		{program, "ok[0]", "error: ok is a truth value and no list"},
		{program, "none.x", "error: none is null and has no field x"},
		{program, "name[0].x", "error: name[0] is a text and has no field x"},
		{"text", "x", "error: the message is a text and has no field x"},
	} {
		p, err := parsePath(c.path)
		must(t, err)
		if p.String() != c.path {
			t.Errorf("%s prints as %s", c.path, p)
		}
		v, err := p.in(c.of)
		got := partText(v, false)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("%s is %s, want %s", c.path, got, c.want)
		}
	}
}

func TestPathOfType(t *testing.T) {
	set := new(rosidl.Set)
	must(t, definitions.AddTo(set))
	for _, c := range []struct{ typ, path, want string }{
		{"nav_msgs/msg/Odometry", "", ""},
		{"nav_msgs/msg/Odometry", "pose.pose.position.x", ""},
		{"nav_msgs/msg/Odometry", "pose.covariance[35]", ""},
		{"diagnostic_msgs/msg/DiagnosticArray", "status[99].values[key=load].value", ""},
		{"sensor_msgs/msg/JointState", "position[name=left]", ""},
		{"nav_msgs/msg/Odometry", "pose.position.x", `no field "position" in geometry_msgs/msg/PoseWithCovariance, which has pose, covariance`},
		{"nav_msgs/msg/Odometry", "pose.covariance[36]", "pose.covariance has 36 elements, none at place 36"},
		{"nav_msgs/msg/Odometry", "pose.covariance[key=1]", `no field "key" in geometry_msgs/msg/PoseWithCovariance, which has pose, covariance`},
		{"nav_msgs/msg/Odometry", "pose.covariance[pose=1]", "pose beside pose.covariance is of type geometry_msgs/msg/Pose and no list"},
		{"nav_msgs/msg/Odometry", "child_frame_id.x", "child_frame_id is of type string and has no field x"},
		{"nav_msgs/msg/Odometry", "child_frame_id[0]", "child_frame_id is of type string and no list"},
		{"diagnostic_msgs/msg/DiagnosticArray", "status[title=cpu]", `no field "title" in diagnostic_msgs/msg/DiagnosticStatus, which has level, name, message, hardware_id, values`},
		{"diagnostic_msgs/msg/DiagnosticArray", "status.name", "status is of type diagnostic_msgs/msg/DiagnosticStatus[] and has no field name"},
	} {
		p, err := parsePath(c.path)
		must(t, err)
		got := ""
		if err := p.check(set, c.typ); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.path, c.typ, got, c.want)
		}
	}
}

func TestPartJSON(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{[]uint8{1, 2}, "[1,2]"},
		{[]float64{1, math.NaN(), math.Inf(1), math.Inf(-1)}, `[1,"NaN","Infinity","-Infinity"]`},
		{float32(math.Inf(-1)), `"-Infinity"`},
		{"a<b", `"a\u003cb"`},
		{[]string{}, "[]"},
		{message(t, "std_msgs/msg/Bool", "data: true"), `{"data":true}`},
	} {
		got, err := partJSON(c.v)
		if err != nil || string(got) != c.want {
			t.Errorf("%v is %s, %v; want %s", c.v, got, err, c.want)
		}
	}
}

func TestLongLists(t *testing.T) {
	list := make([]int32, 200)
	if got := partText(list, false); strings.Count(got, "\n") != most || !strings.HasSuffix(got, "# and 72 more; --full shows them") {
		t.Errorf("%s", got)
	}
	if got := partText(list, true); strings.Count(got, "\n") != 199 {
		t.Errorf("%s", got)
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"pose.position.x", "status[name=cpu].values[0].key", "a[b=c=d]", "[0]", "a..b", "a[0", "a[ x = y ]"} {
		f.Add(s)
	}
	set := new(rosidl.Set)
	if err := definitions.AddTo(set); err != nil {
		f.Fatal(err)
	}
	m, err := dynamic.New(set, "diagnostic_msgs/msg/DiagnosticArray")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePath(s)
		if err != nil {
			return
		}
		again, err := parsePath(p.String())
		if err != nil || !slices.Equal(again, p) {
			t.Errorf("%q is %q, and that is %q, %v", s, p, again, err)
		}
		if _, err := p.in(m); err == nil {
			if err := p.check(set, m.TypeName()); err != nil {
				t.Errorf("%q leads somewhere, but: %v", s, err)
			}
		}
	})
}
