package rosidl_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/robospec/robospec/msgs/rosidl"
)

// tree writes files below a new folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, roots ...string) *rosidl.Set {
	t.Helper()
	s, err := rosidl.Load(roots...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLoadFindsPackages(t *testing.T) {
	share := tree(t, map[string]string{
		"a/msg/One.msg": "int8 share", "a/msg/One.idl": "", "a/msg/One.json": "{}", "a/msg/bad_name.msg": "", "a/srv/S.srv": "---", "a/README": "",
		"b/msg/A.srv": "---", "Bad/msg/A.msg": "", "package.xml": "",
	})
	prefix := tree(t, map[string]string{"share/c/action/Go.action": "---\n---", "share/a/msg/Two.msg": "", "lib/x/msg/X.msg": ""})
	s := load(t, share, prefix)
	if diff := cmp.Diff([]string{"a/msg/One", "a/srv/S", "c/action/Go"}, s.Names()); diff != "" {
		t.Errorf("names (- want, + got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "c"}, s.Packages()); diff != "" {
		t.Errorf("packages (- want, + got):\n%s", diff)
	}
	if s := load(t, prefix, share); !slices.Contains(s.Names(), "a/msg/Two") || slices.Contains(s.Names(), "a/msg/One") {
		t.Errorf("the first root with package a does not count: %v", s.Names())
	}
	if _, err := rosidl.Load(filepath.Join(share, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a root that is not there: %v", err)
	}
}

func TestDefinitionsAreReadWhenAskedFor(t *testing.T) {
	dir := tree(t, map[string]string{"a/msg/Bad.msg": "int8", "a/msg/Good.msg": "int8 x", "a/msg/Gone.msg": ""})
	s := load(t, dir)
	if err := os.Remove(filepath.Join(dir, "a/msg/Gone.msg")); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Message("a/msg/Good"); err != nil || len(m.Fields) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	var malformed *rosidl.SyntaxError
	if _, err := s.Message("a/msg/Bad"); !errors.As(err, &malformed) || malformed.File != filepath.Join(dir, "a/msg/Bad.msg") {
		t.Errorf("%v", err)
	}
	if _, err := s.Message("a/msg/Gone"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "a/msg/Gone") {
		t.Errorf("%v", err)
	}
}

func TestAdd(t *testing.T) {
	var s rosidl.Set
	if err := s.Add("", "a/msg/A", []byte("int8 x")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tree(t, map[string]string{"arm_msgs/srv/Grip.srv": "a/A a\n---"}), "arm_msgs/srv/Grip.srv")
	if err := s.AddFile(file, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.AddFile(file, "other_msgs"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/msg/A", "arm_msgs/srv/Grip", "other_msgs/srv/Grip"}, s.Names()); diff != "" {
		t.Errorf("names (- want, + got):\n%s", diff)
	}
	if err := s.Add("", "a/msg/A", []byte("int8 x\nint8 y")); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Message("a/msg/A"); err != nil || len(m.Fields) != 2 {
		t.Errorf("a later definition does not replace: %+v, %v", m, err)
	}
	for _, err := range []error{
		s.Add("", "a/A", nil), s.Add("", "a/msg/A", []byte("?")), s.AddFile(file+"x", ""), s.AddFile("set_test.go", ""), s.AddFile(file, "Bad"),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
}

func TestPartsOfServicesAndActions(t *testing.T) {
	s := core(t)
	for _, want := range []struct{ name, fields string }{
		{"test_msgs/action/Fibonacci_Goal", "order"},
		{"test_msgs/action/Fibonacci_Result", "sequence"},
		{"test_msgs/action/Fibonacci_Feedback", "sequence"},
		{"test_msgs/action/Fibonacci_FeedbackMessage", "goal_id feedback"},
		{"test_msgs/action/Fibonacci_SendGoal_Request", "goal_id goal"},
		{"test_msgs/action/Fibonacci_SendGoal_Response", "accepted stamp"},
		{"test_msgs/action/Fibonacci_SendGoal_Event", "info request response"},
		{"test_msgs/action/Fibonacci_GetResult_Request", "goal_id"},
		{"test_msgs/action/Fibonacci_GetResult_Response", "status result"},
		{"std_srvs/srv/SetBool_Request", "data"},
		{"std_srvs/srv/SetBool_Response", "success message"},
		{"std_srvs/srv/SetBool_Event", "info request response"},
	} {
		m, err := s.Message(want.name)
		if err != nil {
			t.Error(err)
			continue
		}
		var fields []string
		for _, f := range m.Fields {
			fields = append(fields, f.Name)
		}
		if got := strings.Join(fields, " "); m.Name != want.name || got != want.fields {
			t.Errorf("%s: fields %q, want %q", m.Name, got, want.fields)
		}
	}
	if srv, err := s.Service("test_msgs/action/Fibonacci_GetResult"); err != nil || srv.Response.Name != "test_msgs/action/Fibonacci_GetResult_Response" {
		t.Errorf("%+v, %v", srv, err)
	}
	if a, err := s.Action("test_msgs/action/Fibonacci"); err != nil || a.Goal.Name != "test_msgs/action/Fibonacci_Goal" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestErrorsOfASet(t *testing.T) {
	dir := tree(t, map[string]string{
		"a/msg/Wheel.msg": "", "a/srv/S.srv": "---", "a/action/Go.action": "---\n---",
		"a/msg/Holder.msg": "b/Missing[] all", "a/msg/Loop.msg": "int8 x\nMiddle[] m", "a/msg/Middle.msg": "Loop l", "a/msg/Outer.msg": "Loop l",
	})
	s := load(t, dir)
	message := func(n string) error { _, err := s.Message(n); return err }
	service := func(n string) error { _, err := s.Service(n); return err }
	action := func(n string) error { _, err := s.Action(n); return err }
	hash := func(n string) error { _, err := s.Hash(n); return err }
	for _, c := range []struct {
		err     error
		unknown bool
		want    string
	}{
		{message("a/msg/Weel"), true, "rosidl: unknown interface a/msg/Weel: its package has no such definition in DIR; there is a/msg/Wheel"},
		{message("a/srv/Wheel"), true, "rosidl: unknown interface a/srv/Wheel: its package has no such definition in DIR; there is a/msg/Wheel"},
		{message("b/msg/Other"), true, "rosidl: unknown interface b/msg/Other: its package b is not in DIR; there is a/msg/Outer, a/msg/Holder"},
		{message("a/msg/Wheel_Request"), true, "rosidl: unknown interface a/msg/Wheel_Request: a/msg/Wheel is defined, but has no such part"},
		{hash("a/srv/S_Goal"), true, "rosidl: unknown interface a/srv/S_Goal: a/srv/S is defined, but has no such part"},
		{message("a/Wheel"), false, `rosidl: "a/Wheel" is no interface name, which is such as std_msgs/msg/String, std_srvs/srv/SetBool or nav2_msgs/action/Spin`},
		{message("a/srv/S"), false, "rosidl: a/srv/S is a service, not a message"},
		{message("a/action/Go_SendGoal"), false, "rosidl: a/action/Go_SendGoal is a service, not a message"},
		{service("a/action/Go"), false, "rosidl: a/action/Go is an action, not a service"},
		{service("a/srv/S_Request"), false, "rosidl: a/srv/S_Request is a message, not a service"},
		{action("a/msg/Wheel"), false, "rosidl: a/msg/Wheel is a message, not an action"},
		{hash("a/msg/Holder"), true, "field all of a/msg/Holder: rosidl: unknown interface b/msg/Missing: its package b is not in DIR"},
		{hash("a/srv/S"), true, "field info of a/srv/S_Event: rosidl: unknown interface service_msgs/msg/ServiceEventInfo: its package service_msgs is not in DIR"},
		{hash("a/msg/Outer"), false, "rosidl: a/msg/Loop holds itself: a/msg/Loop → a/msg/Middle → a/msg/Loop"},
	} {
		if c.err == nil || strings.ReplaceAll(c.err.Error(), dir, "DIR") != c.want || errors.Is(c.err, rosidl.ErrUnknown) != c.unknown {
			t.Errorf("\ngot  %v\nwant %s", c.err, c.want)
		}
	}
	if err := new(rosidl.Set).Add("", "a/msg/A", nil); err != nil {
		t.Error(err)
	}
	if _, err := new(rosidl.Set).Message("a/msg/A"); !errors.Is(err, rosidl.ErrUnknown) {
		t.Error(err)
	}
}

func TestDependencies(t *testing.T) {
	all, err := core(t).Dependencies("nav_msgs/msg/Odometry")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	want := []string{
		"builtin_interfaces/msg/Time", "geometry_msgs/msg/Point", "geometry_msgs/msg/Pose", "geometry_msgs/msg/PoseWithCovariance",
		"geometry_msgs/msg/Quaternion", "geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistWithCovariance", "geometry_msgs/msg/Vector3", "std_msgs/msg/Header",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

func TestSetIsForSeveralGoroutines(t *testing.T) {
	dir := tree(t, map[string]string{"a/msg/A.msg": "B b", "a/msg/B.msg": "int8 x"})
	s := load(t, dir)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if i%4 == 0 {
				if err := s.Add("", "a/msg/C", []byte("A a")); err != nil {
					t.Error(err)
				}
			}
			if _, err := s.Hash("a/msg/A"); err != nil {
				t.Error(err)
			}
			s.Names()
		})
	}
	wg.Wait()
}
