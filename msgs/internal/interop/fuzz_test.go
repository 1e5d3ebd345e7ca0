package interop_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/internal/test_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/rcl_interfaces"
	"github.com/robospec/robospec/msgs/sensor_msgs"
)

// fuzz holds a decoder to three things: it returns a *msgs.DecodeError or a
// value, the value can be encoded again, and then stays as it is.
func fuzz[T any](f *testing.F, seeds ...T) {
	c, err := msgs.CodecFor[T](msgs.CDR)
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range append(seeds, *new(T)) {
		b, err := c.Append(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append([]byte{0, 0, 0, 0}, b[4:]...))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		v, err := c.Decode(payload)
		if err != nil {
			d, ok := errors.AsType[*msgs.DecodeError](err)
			if !ok || d.Offset < 0 || d.Offset > int64(len(payload)) {
				t.Fatalf("%#v", err)
			}
			return
		}
		once, err := c.Append(nil, v)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		again, err := c.Decode(once)
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
		if twice, err := c.Append(nil, again); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("encoded %x, then %x, %v", once, twice, err)
		}
	})
}

func FuzzOdometry(f *testing.F) { fuzz(f, nav_msgs.NewOdometry()) }

func FuzzJointState(f *testing.F) {
	fuzz(f, sensor_msgs.JointState{Name: []string{"left", "right"}, Position: []float64{1, 2}})
}

func FuzzPointCloud2(f *testing.F) {
	fuzz(f, sensor_msgs.PointCloud2{Fields: []sensor_msgs.PointField{{Name: "x"}}, Data: []byte{1, 2, 3}})
}

func FuzzParameterEvent(f *testing.F) {
	fuzz(f, rcl_interfaces.ParameterEvent{Node: "/n", NewParameters: []rcl_interfaces.Parameter{{Name: "p"}}})
}

func FuzzBoundedSequences(f *testing.F) { fuzz(f, test_msgs.NewBoundedSequences()) }

func FuzzMultiNested(f *testing.F) { fuzz(f, test_msgs.NewMultiNested()) }

func FuzzWStrings(f *testing.F) { fuzz(f, test_msgs.NewWStrings()) }

func FuzzStrings(f *testing.F) { fuzz(f, test_msgs.NewStrings()) }
