package cases_test

import (
	"time"

	"github.com/robospec/robospec/harness"
)

// collisionMonitor passes commands on, at half speed with an obstacle nearer
// than 2 m and at none nearer than 1 m. A second into a stop it publishes no
// more. Its fields are its faults.
type collisionMonitor struct {
	ignoresScan, slowsOnly  bool
	stateLate               time.Duration
	nameless, stateless     bool
	diesAt                  int // the scan at which it dies
	diesAfter               time.Duration
	ceaseAfter, resumeAfter time.Duration
}

func (m collisionMonitor) join(e *executor) {
	if m.ceaseAfter == 0 {
		m.ceaseAfter = time.Second
	}
	out := publisher[Twist](e, "/cmd_vel_out")
	state := publisher[CollisionMonitorState](e, "/state")
	obstacle, scans := float32(10), 0
	var stopped, blocked time.Time
	onMessage(e, "/scan", func(s LaserScan) {
		if scans++; scans == m.diesAt {
			e.after(m.diesAfter, e.crash)
		}
		if !m.ignoresScan {
			obstacle = s.Ranges[0]
		}
	}, harness.SensorData())
	onMessage(e, "/cmd_vel_in", func(cmd Twist) {
		now := time.Now()
		factor, zone := 1.0, ""
		switch {
		case obstacle < 1 && !m.slowsOnly:
			factor, zone = 0, "Stop"
		case obstacle < 2:
			factor, zone = 0.5, "SlowDown"
		}
		if m.nameless {
			zone = ""
		}
		if !m.stateless {
			e.after(m.stateLate, func() { state(CollisionMonitorState{zone}) })
		}
		if factor == 0 {
			if stopped.IsZero() {
				stopped = now
			}
			if blocked = now; now.Sub(stopped) > m.ceaseAfter {
				return
			}
		} else if stopped = (time.Time{}); now.Sub(blocked) < m.resumeAfter {
			return
		}
		out(twist(cmd.Linear.X*factor, cmd.Linear.Y*factor, cmd.Angular.Z*factor))
	})
}
