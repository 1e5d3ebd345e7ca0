package session

// Gate lets one sink run at a time, whichever goroutine it runs on. It is no
// mutex, because a sink may close its session, which then waits for the
// goroutine that waits at the gate.
type Gate chan struct{}

// NewGate makes a gate that is open.
func NewGate() Gate { return make(Gate, 1) }

// Enter waits until nobody else is inside, or done is closed; then it reports
// false.
func (g Gate) Enter(done <-chan struct{}) bool {
	select {
	case g <- struct{}{}:
		return true
	default:
	}
	select {
	case g <- struct{}{}:
		return true
	case <-done:
		return false
	}
}

// Leave lets the next one in.
func (g Gate) Leave() { <-g }

// Await returns when nobody is inside.
func (g Gate) Await() {
	g.Enter(nil)
	g.Leave()
}
