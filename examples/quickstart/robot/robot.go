// Package robot is a small simulated robot with two driven wheels and an arm:
// what the quickstart suite tests. It could be any program that speaks the same
// topics.
package robot

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/robospec/robospec/harness"
)

const (
	// TopSpeed is the fastest it may drive, in m/s.
	TopSpeed = 1.0

	period = 20 * time.Millisecond // of odometry and motor commands
	track  = 0.4                   // m between the wheels
)

// Robot is the state of the simulation.
type Robot struct {
	graph *harness.Graph
	fault Fault

	odom   *harness.Publisher[Odometry]
	motors *harness.Publisher[Motors]
	state  *harness.Publisher[State]
	phase  *harness.Publisher[string]
	cmd    *harness.Subscription[Velocity]
	estop  *harness.Subscription[EStop]
	arm    *harness.Server[ArmGoal, ArmResult]

	mu      sync.Mutex
	target  Velocity
	now     Odometry
	tick    int
	stopped bool
	wheels  *harness.Stream[Motors]
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
	r.wheels = r.motors.Every(period, r.turnWheels)
	go r.obey()
	go r.watchEStop()
	go r.serveArm()
	return nil
}

func (r *Robot) declare(ctx context.Context) error {
	var errs [7]error
	g := r.graph
	r.odom, errs[0] = harness.Advertise[Odometry](ctx, g, "/odom", harness.JSON[Odometry]())
	r.motors, errs[1] = harness.Advertise[Motors](ctx, g, "/motors", harness.JSON[Motors]())
	r.state, errs[2] = harness.Advertise[State](ctx, g, r.fault.stateTopic(), harness.Latched(1), harness.JSON[State]())
	r.phase, errs[3] = harness.Advertise[string](ctx, g, "/arm/phase")
	r.cmd, errs[4] = harness.Subscribe[Velocity](ctx, g, "/cmd_vel", harness.JSON[Velocity]())
	r.estop, errs[5] = harness.Subscribe[EStop](ctx, g, "/estop", harness.JSON[EStop]())
	r.arm, errs[6] = harness.Serve(ctx, g, "/arm", Arm)
	return errors.Join(errs[:]...)
}

// tell publishes the state.
func (r *Robot) tell(ctx context.Context, mode string) error {
	_, err := r.state.Publish(ctx, State{Mode: mode, Battery: 87})
	return err
}

// drive moves the robot on to tick i and returns its odometry.
func (r *Robot) drive(i int) Odometry {
	r.mu.Lock()
	defer r.mu.Unlock()
	dt := float64(i-r.tick) * r.fault.odometryPeriod().Seconds()
	r.tick = i
	o := &r.now
	o.Speed = approach(o.Speed, r.target.Linear, r.fault.acceleration()*dt)
	o.Turn = approach(o.Turn, r.target.Angular, 4*dt)
	o.Heading += o.Turn * dt
	o.X += o.Speed * math.Cos(o.Heading) * dt
	o.Y += o.Speed * math.Sin(o.Heading) * dt
	return r.fault.measured(*o, i)
}

// approach moves v towards target by step at most.
func approach(v, target, step float64) float64 {
	return v + max(-step, min(step, target-v))
}

// turnWheels is the command to the motors.
func (r *Robot) turnWheels(int) Motors {
	r.mu.Lock()
	defer r.mu.Unlock()
	half := r.target.Angular * track / 2
	return Motors{Left: r.target.Linear - half, Right: r.target.Linear + half}
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
		if !m.Value.Pressed {
			continue
		}
		if r.fault != Runaway {
			r.wheels.Stop()
		}
		r.mu.Lock()
		r.stopped, r.target = true, Velocity{}
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

func (r *Robot) moveArm(goal *harness.Responder[ArmGoal, ArmResult]) error {
	pose := goal.Request.Pose
	if pose != "up" && pose != "down" {
		_, err := goal.Fail("the arm has no pose " + pose)
		return err
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
	_, err := goal.Reply(ArmResult(goal.Request))
	return err
}

// show publishes the phase of the arm.
func (r *Robot) show(phase string) error {
	_, err := r.phase.Publish(context.Background(), phase)
	return err
}
