package cdr_test

import (
	"fmt"

	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
)

func Example() {
	codec, err := msgs.CodecFor[geometry_msgs.Point32](msgs.CDR)
	if err != nil {
		fmt.Println(err)
		return
	}
	payload, err := codec.Append(nil, geometry_msgs.Point32{X: 1, Y: 2, Z: 3})
	fmt.Printf("% x, %v\n", payload, err)

	_, err = (*std_msgs.Header)(nil).CDRCodec().Decode(payload)
	fmt.Println(err)
	// Output:
	// 00 01 00 00 00 00 80 3f 00 00 00 40 00 00 40 40, <nil>
	// not a std_msgs/msg/Header at byte 16, field frame_id: 1077936128 bytes wanted, 0 left; the payload is cut short, or its sender means another type
}
