package session

import "runtime"

// goid is the number of the calling goroutine, as in a stack trace. Close needs
// it to tell whether it was called from a sink, whose goroutine it must not wait
// for. It takes about a microsecond.
func goid() uint64 {
	var b [64]byte
	n := runtime.Stack(b[:], false)
	var id uint64
	for _, c := range b[len("goroutine "):n] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}
