package msgs_test

import (
	"fmt"

	"github.com/robospec/robospec/msgs"
)

func ExampleCodecFor() {
	_, err := msgs.CodecFor[map[string]int](msgs.Raw)
	fmt.Println(err)
	// Output:
	// msgs: map[string]int has no codec for the encoding "raw"; pass one, such as harness.JSON[map[string]int]()
}

func ExampleJSON() {
	c := msgs.JSON[struct{ Speed float64 }]()
	v, err := c.Decode([]byte(`{"Speed": 0.5}`))
	fmt.Println(v.Speed, err)
	_, err = c.Decode([]byte(`{"Speed": "fast"}`))
	fmt.Println(err)
	// Output:
	// 0.5 <nil>
	// not a struct { Speed float64 } at byte 16: json: cannot unmarshal string into Go struct field .Speed of type float64
}
