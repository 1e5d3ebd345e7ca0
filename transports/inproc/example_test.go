package inproc_test

import (
	"context"
	"fmt"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/inproc"
)

func Example() {
	ctx := context.Background()
	graph := inproc.NewNetwork()
	talker, listener := graph.Join("talker"), graph.Join("listener")
	defer talker.Close()
	defer listener.Close()

	latched := transports.QoS{Durability: transports.TransientLocal, Depth: 1}
	pub, err := talker.Advertise(ctx, "map", transports.Type{}, latched)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := pub.Publish(ctx, []byte("corridor")); err != nil {
		fmt.Println(err)
		return
	}
	// A late subscription gets what was kept, here before Subscribe returns.
	_, err = listener.Subscribe(ctx, "/map", transports.Type{}, latched, func(s transports.Sample) {
		fmt.Printf("%s %d: %s\n", s.Topic, s.Seq, s.Payload)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(listener.Life("map").Sign)
	// Output:
	// /map 1: corridor
	// 1 publisher in the graph
}
