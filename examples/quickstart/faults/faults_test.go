// Package faults runs the quickstart suite against a robot with one fault after
// the other: each has to be found, by the specs that are about it, for the right
// reason.
package faults_test

import (
	"testing"

	"github.com/robospec/robospec/examples/internal/faulty"
	"github.com/robospec/robospec/examples/quickstart/robot"
)

// found is, for each fault, what the specs that fail say.
var found = map[robot.Fault]map[string]string{
	robot.SlowRamp: {
		"reaches the commanded speed":                     `a message matched, but \d+\.?\d*ms late`,
		"keeps the commanded speed":                       `a message matched, but \d+\.?\d*ms late`,
		"settles":                                         `the longest run that matched spans 0s`,
		"is never faster than it may be":                  `Twist.Twist.Linear.X: got 0\.4\d*, want 1`,
		"leaves the motors alone after an emergency stop": `a message matched, but \d+\.?\d*ms late`,
		"covers the ground that its speed says":           `a message matched, but \d+\.?\d*ms late`,
	},
	robot.Wobble: {
		"keeps the commanded speed": `it is 0\.4[78]\d*, of \d+ messages`,
		"settles":                   `the longest run that matched spans \d+`,
	},
	robot.Overspeed: {
		"keeps the commanded speed":      `it is 0\.5[2-6]\d*, of \d+ messages`,
		"is never faster than it may be": `Always on /odom .* was violated by \d of \d+ messages, first by {.* Twist:{Twist:{Linear:{X:1\.5 `,
	},
	robot.SlowOdom: {
		"gives odometry at 40 Hz at least, without a gap": `HaveRate\(> 40\): it is (2[5-9]|30)\b`,
	},
	robot.LateArm: {
		"answers when the arm is up": `\d+\.?\d*ms late: the reply was {Success:true Message:up}`,
	},
	robot.DisorderlyArm: {
		"moves the arm before it says that it is up": `2 messages, 1 of 2 in order, then none that matched Data = "up"`,
	},
	robot.Runaway: {
		"does not move the arm while the emergency stop is pressed": `\d+ messages, never silent for 100ms`,
		"leaves the motors alone after an emergency stop":           `message 1 arrived, .* after the start: {Name:\[left right\] Velocity:\[0 0\]}`,
	},
	robot.RenamedState: {
		"tells its state to those who come late": `inconclusive: (?s:.*)nothing arrived on /state and nobody was there to publish: no publisher in the graph`,
	},
}

func TestEachFaultIsFound(t *testing.T) {
	faulty.Suite[robot.Fault]{
		Package:  "github.com/robospec/robospec/examples/quickstart",
		Variable: "ROBOSPEC_FAULT",
		AtOnce:   len(robot.Faults),
		Faults:   robot.Faults,
		Found:    found,
	}.Run(t)
}
