package cases_test

import (
	"math"
	"time"
)

// base is a differential drive at 50 Hz whose speed follows the last command,
// with a first-order lag of 60 ms; a command is good for 250 ms. Its fields are
// its faults.
type base struct {
	weak    float64 // the share of the speed that it reaches
	timeout time.Duration
	jump    Twist   // what it does at zeros that end a pause
	slips   float64 // the same of one wheel, in rad/s
	mute    bool
}

func (b base) join(e *executor) {
	const period, lag, radius, track = 20 * ms, 60 * ms, 0.1, 0.5
	if b.timeout == 0 {
		b.timeout = 250 * ms
	}
	if b.weak == 0 {
		b.weak = 1
	}
	odometry := publisher[Odometry](e, "/odom")
	joints := publisher[JointState](e, "/joint_states")
	var command, body Twist
	var commanded, jumped time.Time
	onMessage(e, "/cmd_vel", func(c TwistStamped) {
		now := time.Now()
		if !commanded.IsZero() && now.Sub(commanded) > b.timeout && c.Twist == (Twist{}) {
			jumped = now
		}
		command, commanded = c.Twist, now
	})
	last := time.Now()
	e.every(period, func() {
		now := time.Now()
		step := 1 - math.Exp(-float64(now.Sub(last))/float64(lag))
		last = now
		target := command
		if now.Sub(commanded) > b.timeout {
			target = Twist{}
		}
		jumps := now.Sub(jumped) < 200*ms
		if jumps {
			target = b.jump
		}
		body.Linear.X += step * (b.weak*target.Linear.X - body.Linear.X)
		body.Angular.Z += step * (target.Angular.Z - body.Angular.Z)
		left := (body.Linear.X - body.Angular.Z*track/2) / radius
		right := (body.Linear.X + body.Angular.Z*track/2) / radius
		if jumps {
			right += b.slips
		}
		if b.mute && !jumped.IsZero() {
			return
		}
		odometry(Odometry{body})
		joints(JointState{[]string{"left_wheel_joint", "right_wheel_joint", "arm_joint"}, []float64{left, right, 1}})
	})
}
