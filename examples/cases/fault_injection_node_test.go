package cases_test

import "time"

// faultInjection publishes the diagnostics of a computer at 10 Hz, with the
// levels that events ask for. Its fields are its faults.
type faultInjection struct {
	beginsWithError, ignoresEvents bool
	late                           time.Duration
	onlyNewest, addsUnknown        bool
	silent, dies                   bool
}

func (f faultInjection) join(e *executor) {
	names := map[string]string{"cpu_temperature": ": CPU Temperature", "cpu_usage": ": CPU Usage", "cpu_load_average": ": CPU Load Average"}
	initial := func() []DiagnosticStatus {
		return []DiagnosticStatus{{Name: ": CPU Temperature"}, {Name: ": CPU Usage"}, {Name: ": CPU Load Average"}}
	}
	status := initial()
	if f.beginsWithError {
		status[2].Level = levelError
	}
	diagnostics := publisher[DiagnosticArray](e, "/diagnostics")
	if !f.silent {
		e.every(100*ms, func() { diagnostics(DiagnosticArray{status}) })
	}
	onMessage(e, "/simulation/events", func(event SimulationEvent) {
		if f.dies {
			e.after(0, e.crash)
			return
		}
		if f.ignoresEvents {
			return
		}
		e.after(f.late, func() {
			if f.onlyNewest {
				status = initial()
			}
			for i := range status {
				if status[i].Name == names[event.Name] {
					status[i].Level = event.Level
				}
			}
			if f.addsUnknown {
				status = append(status, DiagnosticStatus{Name: event.Name, Level: event.Level})
			}
		})
	})
}
