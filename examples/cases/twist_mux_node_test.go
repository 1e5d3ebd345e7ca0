package cases_test

import "time"

// twistMux passes on the input of the highest priority that spoke within its
// time-out. Its fields are its faults.
type twistMux struct {
	zerosWithoutInput, dropsInput1, input1First, passesAll bool
	timeout                                                time.Duration // of input 3
	ignoresLock, dies                                      bool
}

func (m twistMux) join(e *executor) {
	if m.timeout == 0 {
		m.timeout = 300 * ms
	}
	out := publisher[Twist](e, "/cmd_vel_out")
	locked := false
	var heard1, heard3 time.Time
	pass := func(t Twist) {
		if !locked {
			out(t)
		}
	}
	onMessage(e, "/vel_1", func(t Twist) {
		heard1 = time.Now()
		if m.dropsInput1 || !m.passesAll && !m.input1First && time.Since(heard3) < m.timeout {
			return
		}
		pass(t)
	})
	onMessage(e, "/vel_3", func(t Twist) {
		heard3 = time.Now()
		if m.input1First && time.Since(heard1) < 500*ms {
			return
		}
		pass(t)
	})
	onMessage(e, "/lock", func(b Bool) {
		if m.dies {
			e.crash()
			return
		}
		locked = b.Data && !m.ignoresLock
	})
	if m.zerosWithoutInput {
		e.every(100*ms, func() {
			if heard1.IsZero() {
				out(Twist{})
			}
		})
	}
}
