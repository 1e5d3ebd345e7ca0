package robot

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/robospec/robospec/msgs/nav_msgs"
)

// Fault is something wrong with the robot, to see what a suite says about it.
// The zero value is a good robot.
type Fault string

// The faults there are.
const (
	SlowRamp      Fault = "slow-ramp"      // accelerates too slowly
	Wobble        Fault = "wobble"         // the speed never settles
	Overspeed     Fault = "overspeed"      // one odometry message in 20 is too fast
	SlowOdom      Fault = "slow-odom"      // odometry at 30 Hz
	LateArm       Fault = "late-arm"       // the arm takes too long
	DisorderlyArm Fault = "disorderly-arm" // says it is up before it moves
	Runaway       Fault = "runaway"        // the motors do not obey the emergency stop
	RenamedState  Fault = "renamed-state"  // publishes /status instead of /state
)

// Faults are all of them.
var Faults = []Fault{SlowRamp, Wobble, Overspeed, SlowOdom, LateArm, DisorderlyArm, Runaway, RenamedState}

func (f Fault) check() error {
	if f == "" || slices.Contains(Faults, f) {
		return nil
	}
	return fmt.Errorf("fault %q: there are %q", string(f), Faults)
}

func (f Fault) acceleration() float64 { // m/s²
	if f == SlowRamp {
		return 0.22
	}
	return 2
}

func (f Fault) odometryPeriod() time.Duration {
	if f == SlowOdom {
		return time.Second / 30
	}
	return period
}

func (f Fault) armTime() time.Duration {
	if f == LateArm {
		return 600 * time.Millisecond
	}
	return 60 * time.Millisecond
}

func (f Fault) stateTopic() string {
	if f == RenamedState {
		return "/status"
	}
	return "/state"
}

// phases are what the arm says before it moves and when it is there.
func (f Fault) phases(pose string) (before, after string) {
	if f == DisorderlyArm {
		return pose, "moving"
	}
	return "moving", pose
}

// measured is the odometry of tick i as it is published.
func (f Fault) measured(o nav_msgs.Odometry, i int) nav_msgs.Odometry {
	speed := &o.Twist.Twist.Linear.X
	switch {
	case f == Wobble && i%5 == 0:
		*speed *= 0.8
	case f == Overspeed && i%20 == 0:
		*speed = 1.5 * TopSpeed
	}
	for _, v := range []*float64{&o.Pose.Pose.Position.X, &o.Pose.Pose.Position.Y, speed, &o.Twist.Twist.Angular.Z} {
		*v = math.Round(*v*1e4) / 1e4 // as fine as the encoders are
	}
	return o
}
