// Package tbrecord has a test that may fail without failing the one that looks
// on, for tests of what a spec says when it fails.
package tbrecord

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// TB keeps what is said to it. It may be used from several goroutines; the zero
// value is ready to use, and Run makes one that also ends.
type TB struct {
	ctx      context.Context
	mu       sync.Mutex
	failures []string
	logs     []string
	cleanups []func()
	finished bool
}

// Helper does nothing.
func (r *TB) Helper() {}

// Name is the same for each.
func (r *TB) Name() string { return "the recorded spec" }

// Context ends before the clean-up, as that of a *testing.T does.
func (r *TB) Context() context.Context {
	if r.ctx == nil {
		return context.Background()
	}
	return r.ctx
}

// Cleanup keeps f for the end of the spec.
func (r *TB) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// Errorf keeps a failure.
func (r *TB) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// Fatalf ends the calling goroutine.
func (r *TB) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// Logf keeps a line of the log.
func (r *TB) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

// Failed reports whether there was a failure.
func (r *TB) Failed() bool { return len(r.Failures()) > 0 }

// Failures is what the spec failed with, each by itself.
func (r *TB) Failures() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.failures)
}

// Failure is all of Failures.
func (r *TB) Failure() string { return strings.Join(r.Failures(), "\n---\n") }

// Log is all that the spec logged.
func (r *TB) Log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.logs, "\n---\n")
}

// Finished reports whether the spec ran to its end.
func (r *TB) Finished() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.finished
}

// Run runs a spec, which may end its goroutine, then its clean-up, and returns
// what it said.
func Run(spec func(tb *TB)) *TB {
	ctx, cancel := context.WithCancel(context.Background())
	r := &TB{ctx: ctx}
	alone(func() {
		spec(r)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.finished = true
	})
	cancel()
	for f := r.lastCleanup(); f != nil; f = r.lastCleanup() {
		alone(f)
	}
	return r
}

func (r *TB) lastCleanup() (f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.cleanups); n > 0 {
		f, r.cleanups = r.cleanups[n-1], r.cleanups[:n-1]
	}
	return f
}

// alone runs f on a goroutine of its own, which f may end.
func alone(f func()) {
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Wait()
}
