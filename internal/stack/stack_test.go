package stack

import "testing"

//go:noinline
func marked(f func() bool) bool { return f() }

func ask() bool { return Has(Name(marked)) }

func deep(n int) bool {
	if n == 0 {
		return ask()
	}
	return deep(n - 1)
}

func TestHas(t *testing.T) {
	for _, n := range []int{0, 1, 62, 63, 64, 65, 1000} {
		if !marked(func() bool { return deep(n) }) {
			t.Errorf("not found %d frames up", n)
		}
		if deep(n) {
			t.Errorf("found though it is not among %d callers", n)
		}
	}
	if marked(func() bool { other := make(chan bool); go func() { other <- ask() }(); return <-other }) {
		t.Error("found on the stack of another goroutine")
	}
}
