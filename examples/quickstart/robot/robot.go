// Package robot is a small simulated robot with two driven wheels and an arm:
// what the quickstart suite tests. It could be any program that speaks the same
// topics:
//
//	/cmd_vel         geometry_msgs/msg/Twist      the command
//	/odom            nav_msgs/msg/Odometry        what the wheels say, at 50 Hz
//	/wheel_commands  sensor_msgs/msg/JointState   the command to the motors, in rad/s
//	/estop           std_msgs/msg/Bool            the emergency stop
//	/state           std_msgs/msg/String          latched: "ready", "driving", "stopped"
//	/arm             std_srvs/srv/SetBool         moves the arm up or down
//	/arm/phase       std_msgs/msg/String          "moving", "up", "down"
package robot

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/msgs/builtin_interfaces"
	"github.com/robospec/robospec/msgs/geometry_msgs"
	"github.com/robospec/robospec/msgs/nav_msgs"
	"github.com/robospec/robospec/msgs/sensor_msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
	"github.com/robospec/robospec/msgs/std_srvs"
)

const (
	// TopSpeed is the fastest it may drive, in m/s.
	TopSpeed = 1.0

	period = 20 * time.Millisecond // of odometry and motor commands
	track  = 0.4                   // m between the wheels
	radius = 0.1                   // m of a wheel
)

// Robot is the state of the simulation.
type Robot struct {
	graph *harness.Graph
	fault Fault

	odom   *harness.Publisher[nav_msgs.Odometry]
	wheels *harness.Publisher[sensor_msgs.JointState]
	state  *harness.Publisher[std_msgs.String]
	phase  *harness.Publisher[std_msgs.String]
	cmd    *harness.Subscription[geometry_msgs.Twist]
	estop  *harness.Subscription[std_msgs.Bool]
	arm    *harness.Server[std_srvs.SetBoolRequest, std_srvs.SetBoolResponse]

	mu          sync.Mutex
	target      geometry_msgs.Twist
	x, y        float64 // m
	heading     float64 // rad
	speed, turn float64 // m/s, rad/s
	tick        int
	stopped     bool
	turning     *harness.Stream[sensor_msgs.JointState]
}

// Start lets a robot live on a graph of its own. It is there when Start
// returns, and leaves when the graph is closed. ctx bounds the call.
func Start(ctx context.Context, g *harness.Graph, fault Fault) error {
	if err := fault.check(); err != nil {
		return err
	}
	r := &Robot{graph: g, fault: fault}
	if err := r.declare(ctx); err != nil {
		return err
	}
	if err := r.tell(ctx, "ready"); err != nil {
		return err
	}
	r.odom.Every(fault.odometryPeriod(), r.drive)
	r.turning = r.wheels.Every(period, r.turnWheels)
	go r.obey()
	go r.watchEStop()
	go r.serveArm()
	return nil
}

func (r *Robot) declare(ctx context.Context) error {
	var errs [7]error
	g := r.graph
	r.odom, errs[0] = harness.Advertise[nav_msgs.Odometry](ctx, g, "/odom")
	r.wheels, errs[1] = harness.Advertise[sensor_msgs.JointState](ctx, g, "/wheel_commands")
	r.state, errs[2] = harness.Advertise[std_msgs.String](ctx, g, r.fault.stateTopic(), harness.Latched(1))
	r.phase, errs[3] = harness.Advertise[std_msgs.String](ctx, g, "/arm/phase")
	r.cmd, errs[4] = harness.Subscribe[geometry_msgs.Twist](ctx, g, "/cmd_vel")
	r.estop, errs[5] = harness.Subscribe[std_msgs.Bool](ctx, g, "/estop")
	r.arm, errs[6] = harness.Serve(ctx, g, "/arm", std_srvs.SetBool)
	return errors.Join(errs[:]...)
}

// tell publishes the state.
func (r *Robot) tell(ctx context.Context, mode string) error {
	_, err := r.state.Publish(ctx, std_msgs.String{Data: mode})
	return err
}

// drive moves the robot on to tick i and returns its odometry.
func (r *Robot) drive(i int) nav_msgs.Odometry {
	r.mu.Lock()
	defer r.mu.Unlock()
	dt := float64(i-r.tick) * r.fault.odometryPeriod().Seconds()
	r.tick = i
	r.speed = approach(r.speed, r.target.Linear.X, r.fault.acceleration()*dt)
	r.turn = approach(r.turn, r.target.Angular.Z, 4*dt)
	r.heading += r.turn * dt
	r.x += r.speed * math.Cos(r.heading) * dt
	r.y += r.speed * math.Sin(r.heading) * dt

	o := nav_msgs.Odometry{ChildFrameID: "base_link"}
	o.Header = std_msgs.Header{FrameID: "odom", Stamp: builtin_interfaces.TimeOf(time.Now())}
	o.Pose.Pose.Position = geometry_msgs.Point{X: r.x, Y: r.y}
	o.Pose.Pose.Orientation = geometry_msgs.Quaternion{Z: math.Sin(r.heading / 2), W: math.Cos(r.heading / 2)}
	o.Twist.Twist.Linear.X, o.Twist.Twist.Angular.Z = r.speed, r.turn
	return r.fault.measured(o, i)
}

// approach moves v towards target by step at most.
func approach(v, target, step float64) float64 {
	return v + max(-step, min(step, target-v))
}

// turnWheels is the command to the motors.
func (r *Robot) turnWheels(int) sensor_msgs.JointState {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, half := r.target.Linear.X, r.target.Angular.Z*track/2
	return sensor_msgs.JointState{
		Name:     []string{"left", "right"},
		Velocity: []float64{(v - half) / radius, (v + half) / radius},
	}
}

// obey takes the newest command.
func (r *Robot) obey() {
	ctx := context.Background() // the loop ends with the graph
	for m, err := range r.cmd.FromStart().Listen(ctx) {
		if err != nil {
			return
		}
		r.mu.Lock()
		obeys := !r.stopped
		if obeys {
			r.target = m.Value
		}
		r.mu.Unlock()
		if obeys && r.tell(ctx, "driving") != nil {
			return
		}
	}
}

// watchEStop cuts the motors, for good.
func (r *Robot) watchEStop() {
	ctx := context.Background()
	for m, err := range r.estop.FromStart().ListenReliable(ctx) {
		if err != nil {
			return
		}
		if !m.Value.Data {
			continue
		}
		if r.fault != Runaway {
			r.turning.Stop()
		}
		r.mu.Lock()
		r.stopped, r.target = true, geometry_msgs.Twist{}
		r.mu.Unlock()
		if r.tell(ctx, "stopped") != nil {
			return
		}
	}
}

// serveArm moves the arm, one goal after the other.
func (r *Robot) serveArm() {
	for m, err := range r.arm.ListenReliable(context.Background()) {
		if err != nil {
			return
		}
		if err := r.moveArm(m.Value); err != nil {
			return
		}
	}
}

func (r *Robot) moveArm(goal *harness.Responder[std_srvs.SetBoolRequest, std_srvs.SetBoolResponse]) error {
	r.mu.Lock()
	stopped := r.stopped
	r.mu.Unlock()
	if stopped {
		_, err := goal.Reply(std_srvs.SetBoolResponse{Message: "the emergency stop is pressed"})
		return err
	}
	pose := "down"
	if goal.Request.Data {
		pose = "up"
	}
	before, after := r.fault.phases(pose)
	if err := r.show(before); err != nil {
		return err
	}
	select {
	case <-time.After(r.fault.armTime()):
	case <-r.graph.Done():
		return r.graph.Err()
	}
	if err := r.show(after); err != nil {
		return err
	}
	_, err := goal.Reply(std_srvs.SetBoolResponse{Success: true, Message: pose})
	return err
}

// show publishes the phase of the arm.
func (r *Robot) show(phase string) error {
	_, err := r.phase.Publish(context.Background(), std_msgs.String{Data: phase})
	return err
}
