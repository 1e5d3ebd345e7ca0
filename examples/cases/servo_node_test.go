package cases_test

import "time"

// servo turns a jog of seven joints into a trajectory and tells its status
// after each. Its fields are its faults.
type servo struct {
	half, warns         bool
	takesFew, takesMany bool
	late                time.Duration
	moves, dies         bool
}

func (s servo) join(e *executor) {
	trajectory := publisher[JointTrajectory](e, "/joint_trajectory")
	status := publisher[Int8](e, "/servo_node/status")
	jogs := 0
	position := make([]float64, 7)
	onMessage(e, "/servo_node/delta_joint_cmds", func(j JointJog) {
		jogs++
		n := len(j.Velocities)
		if n < 7 && !s.takesFew || n > 7 && !s.takesMany {
			if s.dies {
				e.crash()
				return
			}
			if s.moves {
				trajectory(JointTrajectory{position})
			}
			e.after(s.late, func() { status(Int8{invalid}) })
			return
		}
		for i := range min(n, len(position)) {
			position[i] += j.Velocities[i] * 0.1
		}
		if !s.half || jogs%2 == 0 {
			trajectory(JointTrajectory{position})
		}
		if s.warns {
			status(Int8{1})
		} else {
			status(Int8{noWarning})
		}
	})
}
