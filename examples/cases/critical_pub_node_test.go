package cases_test

import "time"

// aggregator publishes the top-level state once a second from its first input
// on, and at once when it becomes an error. Its fields are its faults.
type aggregator struct {
	first, period                    time.Duration
	waits, softens, everyError, dies bool
}

func (a aggregator) join(e *executor) {
	if a.period == 0 {
		a.period = time.Second
	}
	if a.first == 0 {
		a.first = a.period
	}
	top := publisher[DiagnosticStatus](e, "/diagnostics_toplevel_state")
	state, beats := DiagnosticStatus{Name: "toplevel_state"}, false
	onMessage(e, "/diagnostics", func(d DiagnosticArray) {
		if !beats {
			beats = true
			e.after(a.first, func() {
				top(state)
				e.every(a.period, func() { top(state) })
			})
		}
		level := d.Status[0].Level
		fresh := level != state.Level
		state.Level = level
		if level < levelError {
			return
		}
		if a.dies {
			e.crash()
			return
		}
		if a.softens {
			state.Level = 1
		}
		if a.everyError || fresh && !a.waits {
			top(state)
		}
	})
}
