// Package stack looks for callers. Go has no goroutine-local storage, so the
// question "am I called from within X?" is answered from the stack, where it is
// asked.
package stack

import (
	"reflect"
	"runtime"
	"strings"
)

// Has reports whether a function whose full name begins like one of names is
// among the callers of the function that asks, however deep.
func Has(names ...string) bool {
	pcs := make([]uintptr, 64)
	for skip := 3; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs)
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(pcs[:n])
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			for _, name := range names {
				if strings.HasPrefix(f.Function, name) {
					return true
				}
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// Name is the full name of a function, which must not be inlined to be found.
func Name(f any) string { return runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name() }
