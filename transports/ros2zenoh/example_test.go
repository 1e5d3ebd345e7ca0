package ros2zenoh_test

import (
	"context"
	"fmt"

	"github.com/robospec/robospec/transports/ros2zenoh"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

// A node joins domain 5 through a router, here one in this very process.
func ExampleDial() {
	router, err := broker.Listen(context.Background(), broker.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer router.Close()
	node, err := ros2zenoh.Dial(context.Background(), ros2zenoh.Config{
		Endpoint: router.Endpoint(), Domain: 5, Node: "inspector", Namespace: "/lab"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	graph, _ := node.Graph()
	fmt.Println(graph.Nodes)
	// Output: [/lab/inspector]
}
