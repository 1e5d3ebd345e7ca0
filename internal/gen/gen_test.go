package gen

import (
	"strings"
	"testing"

	"github.com/robospec/robospec/msgs/rosidl"
)

func TestCamel(t *testing.T) {
	for ros, want := range map[string]string{
		"frame_id": "FrameID", "child_frame_id": "ChildFrameID", "id": "ID", "ids": "IDs", "uuid": "UUID",
		"mesh_uri": "MeshURI", "url": "URL", "identity": "Identity", "k": "K", "x_offset": "XOffset",
		"point_step": "PointStep", "NO_FIX": "NoFix", "TYPE_ID": "TypeID", "POWER_SUPPLY_HEALTH_GOOD": "PowerSupplyHealthGood",
		"a_1_b": "A1B", "INT8": "Int8",
	} {
		if got := camel(ros); got != want {
			t.Errorf("%s is %s in Go, want %s", ros, got, want)
		}
	}
}

// source generates a package t_msgs from definitions, each "kind/Name: text"
// with ; between lines.
func source(t *testing.T, pkg string, definitions ...string) (string, error) {
	t.Helper()
	set := &rosidl.Set{}
	for full, text := range map[string]string{ // what every service and action holds
		"builtin_interfaces/msg/Time": "int32 sec\nuint32 nanosec", "unique_identifier_msgs/msg/UUID": "uint8[16] uuid",
		"service_msgs/msg/ServiceEventInfo": "uint8 event_type",
	} {
		if err := set.Add(full, full, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, d := range definitions {
		name, text, _ := strings.Cut(d, ":")
		full := "t_msgs/" + name
		if err := set.Add(name, full, []byte(strings.ReplaceAll(text, ";", "\n"))); err != nil {
			t.Fatal(err)
		}
		names = append(names, full)
	}
	src, err := Package(set, pkg, names, func(message string) (string, error) {
		pkg, _, _ := split(message)
		return "example.org/" + pkg, nil
	})
	return string(src), err
}

func TestNamesThatMeet(t *testing.T) {
	tests := []struct {
		name        string
		definitions []string
		want        []string // in the source
		not         []string
	}{
		{"nothing meets", []string{"msg/A:bool a", "srv/B:---", "action/C:---;---"},
			[]string{"type A struct", "type BRequest struct", "type CGoal struct"}, []string{"Srv", "Action"}},
		{"a constant and a message", []string{"msg/A:uint8 KIND=3", "msg/AKind:bool b"},
			[]string{"type AKind struct", "A_KIND uint8 = 3"}, []string{"AKind uint8"}},
		{"two constants", []string{"msg/A:uint8 K_1=3;uint8 K1=4"},
			[]string{"AK1  uint8 = 3", "A_K1 uint8 = 4"}, nil},
		{"a message and a request", []string{"msg/BRequest:bool b", "srv/B:bool c;---"},
			[]string{"type BRequest struct {\n\tB bool", "type BSrvRequest struct {\n\tC bool", "var BSrv = "}, []string{"var B ="}},
		{"a service and an action", []string{"srv/CSendGoal:bool s;---", "action/C:---;---"},
			[]string{"type CSendGoalRequest struct {\n\tS bool", "type CActionSendGoalRequest struct", "type CActionGoal struct"}, []string{"type CGoal "}},
		{"all three", []string{"msg/A:bool a", "srv/A:---", "action/A:---;---"},
			[]string{"type A struct", "type ASrvRequest struct", "type AActionGoal struct"}, []string{"type AGoal ", "type ARequest "}},
	}
	for _, tt := range tests {
		src, err := source(t, "t_msgs", tt.definitions...)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(src, w) {
				t.Errorf("%s: no %q in\n%s", tt.name, w, src)
			}
		}
		for _, n := range tt.not {
			if strings.Contains(src, n) {
				t.Errorf("%s: %q in\n%s", tt.name, n, src)
			}
		}
	}
}

func TestWhatCannotBeGenerated(t *testing.T) {
	tests := []struct {
		pkg         string
		definitions []string
		want        string
	}{
		{"func", []string{"msg/A:bool a"}, "package func: Go code needs this name for something else; rename the ROS package"},
		{"msgs", []string{"msg/A:bool a"}, "package msgs: Go code needs this name for something else; rename the ROS package"},
		{"t_msgs", nil, "package t_msgs has no interface definitions"},
		{"t_msgs", []string{"msg/A:bool b_1;bool b1"}, "t_msgs/msg/A: field b1 would be named B1 in Go, as is field b_1"},
		{"t_msgs", []string{"msg/A:bool a true", "msg/NewA:bool a"}, "the default values of t_msgs/msg/A would be named NewA in Go, as is t_msgs/msg/NewA"},
		{"t_msgs", []string{"msg/A:bool a", "msg/ASrvRequest:bool a", "srv/A:---"}, "t_msgs/msg/ASrvRequest and t_msgs/srv/A would have one name in Go"},
	}
	for _, tt := range tests {
		if _, err := source(t, tt.pkg, tt.definitions...); err == nil || err.Error() != tt.want {
			t.Errorf("%v: %v, want %s", tt.definitions, err, tt.want)
		}
	}
}

func TestBrought(t *testing.T) {
	if !Brings("std_msgs") || Brings("std_msg") || Brings("test_msgs") {
		t.Error("robospec brings std_msgs, not std_msg and not test_msgs")
	}
	set := &rosidl.Set{}
	const empty = "std_msgs/msg/Empty"
	if err := set.Add(empty, empty, nil); err != nil {
		t.Fatal(err)
	}
	if path, err := Brought(set, empty); err != nil || path != Robospec+"/std_msgs" {
		t.Errorf("%s is in %s, %v", empty, path, err)
	}
	if err := set.Add(empty, empty, []byte("bool not_so")); err != nil {
		t.Fatal(err)
	}
	if path, err := Brought(set, empty); err == nil {
		t.Errorf("%s of another definition is in %s", empty, path)
	}
}
