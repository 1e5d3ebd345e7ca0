package testenv

import (
	"context"
	"testing"
	"time"
)

// Must fails the test on an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Soon is a context for what a real peer does at once. It ends after 20 s, and
// with the test.
func Soon(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	tb.Cleanup(cancel)
	return ctx
}

// Next is what comes next on ch. The test fails when that takes 20 s.
func Next[T any](tb testing.TB, ch <-chan T) T {
	tb.Helper()
	patient := time.NewTimer(patience)
	defer patient.Stop()
	select {
	case x, ok := <-ch:
		if !ok {
			tb.Fatal("testenv: the channel was closed, and something was to come")
		}
		return x
	case <-patient.C:
		tb.Fatalf("testenv: nothing came within %v", patience)
	}
	return *new(T)
}
