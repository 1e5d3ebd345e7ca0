package harness

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// SoftTimeout is the cause of a context made by Soft whose time was up: an
// outcome that was expected, never the caller's own deadline or cancellation.
// It is not context.DeadlineExceeded.
type SoftTimeout struct {
	// After is the time that was given.
	After time.Duration
}

func (e *SoftTimeout) Error() string { return fmt.Sprintf("soft timeout of %v", e.After) }

// Soft is a context that ends after d with a *SoftTimeout as its cause. If ctx
// ends first, its own cause comes through.
func Soft(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &SoftTimeout{After: d})
}

// For runs block for d: it returns nil when the block ended by itself without
// an error, or when only this very soft deadline ended it. Any other error of
// the block, and the end of ctx, come through; so soft timeouts nest.
func For(ctx context.Context, d time.Duration, block func(ctx context.Context) error) error {
	own := &SoftTimeout{After: d}
	soft, cancel := context.WithTimeoutCause(ctx, d, own)
	defer cancel()
	err := block(soft)
	if err == nil || endedBy(err, own, context.Cause(soft)) {
		return context.Cause(ctx)
	}
	return err
}

// endedBy reports whether err says nothing but that own ended the block: each
// of the errors at the bottom of it is own, or the deadline that a context
// whose cause is own ends with.
func endedBy(err error, own *SoftTimeout, cause error) bool {
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !endedBy(err, own, cause) })
	case interface{ Unwrap() error }:
		if under := e.Unwrap(); under != nil {
			return endedBy(under, own, cause)
		}
	}
	return err == own || err == context.DeadlineExceeded && cause == own //nolint:errorlint // identity is meant
}
