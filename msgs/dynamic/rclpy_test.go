package dynamic

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/msgs/rosidl"
)

//go:embed testdata/rclpy.py
var rclpyScript string

// structures is the types of all messages of the wheels, those of services and
// actions included.
func structures(tb testing.TB) []*structure {
	tb.Helper()
	set := must(rosidl.Load(testenv.ROSShare(tb)))
	var all []*structure
	for _, name := range set.Names() {
		// Its Python package is not among the wheels.
		if strings.HasPrefix(name, "rmw_dds_common/") {
			continue
		}
		for _, suffix := range []string{
			"", "_Request", "_Response", "_Event", "_Goal", "_Result", "_Feedback", "_FeedbackMessage",
			"_SendGoal_Request", "_SendGoal_Response", "_SendGoal_Event", "_GetResult_Request", "_GetResult_Response", "_GetResult_Event",
		} {
			if _, err := set.Message(name + suffix); err == nil {
				all = append(all, must(compile(set, name+suffix)))
			}
		}
	}
	return all
}

// TestAsRclpy has rclpy write and read random messages of every type, and its
// defaults.
func TestAsRclpy(t *testing.T) {
	all := structures(t)
	python := testenv.StartPython(t, rclpyScript)
	count := 0
	for _, s := range all {
		r := rand.New(rand.NewPCG(1, uint64(len(s.name))))
		rounds := 2
		if strings.HasPrefix(s.name, "test_msgs/") && s.name != "test_msgs/msg/MultiNested" {
			rounds = 10
		}
		for range rounds {
			m := s.random(r)
			asRclpy(t, python, s, m, m)
			count++
		}
		asRclpy(t, python, s, s.fresh(), nil)
	}
	t.Logf("%d messages of %d types", count, len(all))
	if len(all) < 260 {
		t.Errorf("only %d types", len(all))
	}
}

// asRclpy compares m, which rclpy is given as value, nil for the defaults that it
// has itself.
func asRclpy(t *testing.T, python *testenv.Process, s *structure, m, value *Message) {
	t.Helper()
	c := codec{t: s}
	ours := must(c.Append(nil, m))
	python.Send(string(must(json.Marshal(map[string]any{"type": s.name, "value": value, "cdr": hex.EncodeToString(ours), "yaml": m.YAML()}))))
	var got struct {
		CDR         string
		Value, YAML json.RawMessage
	}
	if err := json.Unmarshal([]byte(python.Line()), &got); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}

	theirs := must(hex.DecodeString(got.CDR))
	if len(theirs) < len(ours) {
		t.Fatalf("%s: rclpy writes %d bytes, ours are %d\n%v", s.name, len(theirs), len(ours), m)
	}
	// Where their bytes are not ours, they are padding: read and written again
	// they are the same.
	decoded, err := c.Decode(theirs)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	if again := must(c.Append(nil, decoded)); !bytes.Equal(again, ours) {
		t.Errorf("%s:\nours   %x\ntheirs %x\ndecoded of theirs:\n%v\nwant:\n%v", s.name, ours, theirs, decoded, m)
	}
	for what, value := range map[string]json.RawMessage{"rclpy read": got.Value, "PyYAML read": got.YAML} {
		back := s.fresh()
		if err := back.SetYAML(string(value)); err != nil {
			t.Fatalf("%s: what %s: %v\n%s", s.name, what, err, value)
		}
		if again := must(c.Append(nil, back)); !bytes.Equal(again, ours) {
			t.Errorf("%s: %s\n%v\nwant\n%v", s.name, what, back.YAML(), m.YAML())
		}
	}
}
