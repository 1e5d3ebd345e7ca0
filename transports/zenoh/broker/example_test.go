package broker_test

import (
	"context"
	"fmt"
	"log"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/zenoh"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

func Example() {
	ctx := context.Background()
	router, err := broker.Listen(ctx, broker.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	robot, err := zenoh.Dial(ctx, zenoh.Config{Endpoint: router.Endpoint()})
	if err != nil {
		log.Fatal(err)
	}
	fault, err := router.Inject(broker.Rule{Key: "**/odom"}, broker.DropEvery(2))
	if err != nil {
		log.Fatal(err)
	}
	pub, err := robot.Advertise(ctx, "/robot/odom", transports.Type{}, transports.QoS{})
	if err != nil {
		log.Fatal(err)
	}
	if err := pub.Publish(ctx, []byte("nobody hears it")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(fault)
	fmt.Println(fault.Undo())
	_ = robot.Close() // nil, always
	if err := router.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// drop every 2. of **/odom
	// broker: the fault "drop every 2. of **/odom" changed nothing: no message met its rule
}
