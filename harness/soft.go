package harness

import (
	"context"
	"errors"
	"fmt"
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
	if ctx.Err() != nil {
		if err == nil {
			err = context.Cause(ctx)
		}
		return err
	}
	var got *SoftTimeout
	if errors.As(err, &got) && got == own {
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) && context.Cause(soft) == own { //nolint:errorlint // identity is meant
		return nil
	}
	return err
}
