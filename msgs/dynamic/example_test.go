package dynamic_test

import (
	"context"
	"fmt"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/msgs/dynamic"
	"github.com/robospec/robospec/msgs/rosidl"
	"github.com/robospec/robospec/transports/inproc"
)

// A message type that no Go type was generated for, on a graph.
func Example() {
	var set rosidl.Set // rosidl.Load("/opt/ros/jazzy", …) finds definitions on disk
	if err := set.Add("", "arm_msgs/msg/Joint", []byte("string name\nfloat64[3] torque")); err != nil {
		panic(err)
	}
	codec, err := dynamic.Codec(&set, "arm_msgs/msg/Joint")
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	rig := harness.New(inproc.NewNetwork().Join("spec"), harness.Config{})
	defer rig.Close()
	sub, err := harness.Subscribe[*dynamic.Message](ctx, rig, "/joint", harness.Using(codec))
	if err != nil {
		panic(err)
	}
	pub, err := harness.Advertise[*dynamic.Message](ctx, rig, "/joint", harness.Using(codec))
	if err != nil {
		panic(err)
	}

	joint, err := dynamic.New(&set, "arm_msgs/msg/Joint")
	if err != nil {
		panic(err)
	}
	if err := joint.SetYAML("{name: elbow, torque: [1, 2.5, 0]}"); err != nil {
		panic(err)
	}
	r := sub.FromNow()
	if _, err := pub.Publish(ctx, joint); err != nil {
		panic(err)
	}
	got, err := r.WaitForNext(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(got.Value.Get("torque[1]"))
	fmt.Print(got.Value)
	fmt.Println(joint.Set("torque[1]", "high"))
	// Output:
	// 2.5 <nil>
	// name: elbow
	// torque:
	// - 1.0
	// - 2.5
	// - 0.0
	// field torque[1]: found "high", expected a float64
}
