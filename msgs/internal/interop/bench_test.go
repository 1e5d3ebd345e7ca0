package interop_test

import (
	"bytes"
	"os"
	"runtime"
	"testing"

	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
)

// Odometry and JointState are files that rclpy made and that scripts/bench-msgs
// gives to the peers, too.

func BenchmarkOdometry(b *testing.B) { benchmark[nav_msgs.Odometry](b, file(b, "odometry.cdr")) }

func BenchmarkJointState(b *testing.B) {
	benchmark[sensor_msgs.JointState](b, file(b, "joint_state.cdr"))
}

func BenchmarkImage(b *testing.B) {
	benchmark[sensor_msgs.Image](b, encoded(b, sensor_msgs.Image{
		Header: std_msgs.Header{FrameID: "camera"},
		Height: 512, Width: 682, Encoding: "rgb8", Step: 2046,
		Data: make([]byte, 1<<20),
	}))
}

func BenchmarkPointCloud2(b *testing.B) {
	const points, step = 100_000, 16
	cloud := sensor_msgs.PointCloud2{
		Header: std_msgs.Header{FrameID: "lidar"},
		Height: 1, Width: points, PointStep: step, RowStep: points * step,
		Data: make([]byte, points*step), IsDense: true,
	}
	for i, name := range []string{"x", "y", "z", "intensity"} {
		cloud.Fields = append(cloud.Fields, sensor_msgs.PointField{Name: name, Offset: uint32(4 * i), Datatype: sensor_msgs.PointFieldFloat32, Count: 1})
	}
	benchmark[sensor_msgs.PointCloud2](b, encoded(b, cloud))
}

// BenchmarkFloat64MultiArray decodes what cannot alias the payload.
func BenchmarkFloat64MultiArray(b *testing.B) {
	benchmark[std_msgs.Float64MultiArray](b, encoded(b, std_msgs.Float64MultiArray{Data: make([]float64, 1<<17)}))
}

func file(b *testing.B, name string) []byte {
	payload, err := os.ReadFile("testdata/" + name)
	if err != nil {
		b.Fatal(err)
	}
	return payload
}

func encoded[T any](b *testing.B, v T) []byte {
	c, err := msgs.CodecFor[T](msgs.CDR)
	if err != nil {
		b.Fatal(err)
	}
	payload, err := c.Append(nil, v)
	if err != nil {
		b.Fatal(err)
	}
	return payload
}

// held stands for the messages that a harness keeps, a quarter of what the log
// of one subscription may. With nothing held, the collector would run every 4 MB,
// as in no program that has a use for messages.
const held = 16 << 20

func benchmark[T any](b *testing.B, payload []byte) {
	kept := make([]byte, held)
	defer runtime.KeepAlive(kept)
	c, err := msgs.CodecFor[T](msgs.CDR)
	if err != nil {
		b.Fatal(err)
	}
	v, err := c.Decode(payload)
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	buf := make([]byte, 0, len(payload)+8)
	run("encode", func() error { _, err := c.Append(buf, v); return err })
	run("copy", func() error { buf = append(buf[:0], payload...); return nil })
	run("encode-new", func() error { sink, err = c.Append(nil, v); return err })
	run("copy-new", func() error { sink = bytes.Clone(payload); return nil })
	run("decode", func() error { _, err := c.Decode(payload); return err })
}

// sink keeps what was allocated from living on the stack.
var sink []byte
