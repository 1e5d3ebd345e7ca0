package robot

import "github.com/robospec/robospec/msgs"

// Velocity is the command on /cmd_vel.
type Velocity struct {
	Linear  float64 // m/s
	Angular float64 // rad/s, counter-clockwise
}

// Odometry is what the wheels say, on /odom.
type Odometry struct {
	X, Y    float64 // m
	Heading float64 // rad
	Speed   float64 // m/s
	Turn    float64 // rad/s
}

// Motors are the speeds of the wheels, on /motors.
type Motors struct {
	Left, Right float64 // m/s
}

// EStop is the emergency stop, on /estop.
type EStop struct {
	Pressed bool
}

// State is how the robot is, on /state, which is latched: whoever subscribes
// gets the newest.
type State struct {
	Mode    string // "ready", "driving", "stopped"
	Battery int    // percent
}

// ArmGoal asks for a pose of the arm: "up" or "down".
type ArmGoal struct {
	Pose string
}

// ArmResult is the answer once the arm is there.
type ArmResult struct {
	Pose string
}

// Arm is the service /arm.
var Arm = msgs.JSONService[ArmGoal, ArmResult]("demo/srv/MoveArm")
