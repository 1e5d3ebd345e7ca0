package cases_test

import "time"

// autopilot publishes its status at 10 Hz and takes commands. A mode of another
// node may be entered while that node says so. Its fields are its faults.
type autopilot struct {
	ignoresCheck, descends, staysInMode, dies, staysArmed bool
	checkTimeout                                          time.Duration
}

func (a autopilot) join(e *executor) {
	const hold, descend = 4, 12
	if a.checkTimeout == 0 {
		a.checkTimeout = time.Second
	}
	status := publisher[VehicleStatus](e, "/fmu/out/vehicle_status")
	now := VehicleStatus{ArmingState: 1, NavState: hold}
	var external uint8
	var heard time.Time
	enterExternal := func() {
		if now.ExternalMode || a.ignoresCheck {
			now.NavState = external
		}
	}
	onMessage(e, "/fmu/in/arming_check_reply", func(r ArmingCheckReply) {
		external, now.ExternalMode, heard = r.NavState, r.CanArmRun, time.Now()
	})
	onMessage(e, "/fmu/in/vehicle_command", func(c VehicleCommand) {
		switch c.Command {
		case 400:
			if c.Param1 == 1 {
				now.ArmingState = 2
			} else if !a.staysArmed {
				now.ArmingState = 1
			}
		case 420:
			e.after(500*ms, func() {
				switch {
				case a.dies:
					e.crash()
				case a.descends:
					now.NavState = descend
				default:
					enterExternal()
				}
			})
		case 100000:
			if mode := uint8(c.Param1); mode == external {
				enterExternal()
			} else {
				now.NavState = mode
			}
		}
	})
	e.every(100*ms, func() {
		if !heard.IsZero() && time.Since(heard) > a.checkTimeout && now.NavState == external && !a.staysInMode {
			now.NavState, now.ExternalMode = descend, false
		}
		status(now)
	})
}
