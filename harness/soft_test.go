package harness_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robospec/robospec/harness"
)

func TestSoft(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s := w.sub("/x")
		ctx, cancel := harness.Soft(t.Context(), time.Second)
		defer cancel()
		_, err := s.WaitForNext(ctx)
		var own *harness.SoftTimeout
		if !errors.As(err, &own) || own.After != time.Second || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
		if want := "WaitForNext on /x: soft timeout of 1s (waited 1s, 0 messages came)"; err.Error() != want {
			t.Errorf("reads %q, want %q", err, want)
		}
		// The caller's own end comes through.
		outer, stop := context.WithTimeout(t.Context(), 500*ms)
		defer stop()
		inner, cancel := harness.Soft(outer, time.Second)
		defer cancel()
		if _, err = s.WaitForNext(inner); isSoft(err) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the outer deadline: %v", err)
		}
		mine := errors.New("mine")
		cancelled, cause := context.WithCancelCause(t.Context())
		inner, cancel = harness.Soft(cancelled, time.Second)
		defer cancel()
		cause(mine)
		if _, err = s.WaitForNext(inner); isSoft(err) || !errors.Is(err, mine) {
			t.Errorf("the caller's cancel: %v", err)
		}
	})
}

func TestFor(t *testing.T) {
	errMine, errCaller := errors.New("mine"), errors.New("the caller's")
	wait := func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	isNil := func(err error) bool { return err == nil }
	is := func(target error) func(error) bool {
		return func(err error) bool { return errors.Is(err, target) && !isSoft(err) }
	}
	for name, c := range map[string]struct {
		block func(ctx context.Context) error
		outer func(ctx context.Context) (context.Context, context.CancelFunc)
		want  func(error) bool
		after time.Duration
	}{
		"ends by itself":               {block: func(context.Context) error { time.Sleep(ms); return nil }, want: isNil, after: ms},
		"fails":                        {block: func(context.Context) error { return errMine }, want: is(errMine)},
		"its own deadline":             {block: wait, want: isNil, after: time.Second},
		"a deadline as others tell it": {block: func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("dial: %w", ctx.Err()) }, want: isNil, after: time.Second},
		"a deadline inside that is not its own": {block: func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, ms)
			defer cancel()
			return wait(ctx)
		}, want: is(context.DeadlineExceeded), after: ms},
		"a deadline with another error beside it": {block: func(ctx context.Context) error { return errors.Join(wait(ctx), errMine) },
			want: func(err error) bool { return errors.Is(err, errMine) }, after: time.Second},
		"two waits ended by it": {block: func(ctx context.Context) error { return errors.Join(wait(ctx), fmt.Errorf("second: %w", wait(ctx))) }, want: isNil, after: time.Second},
		"ignores its deadline":  {block: func(context.Context) error { time.Sleep(time.Minute); return nil }, want: isNil, after: time.Minute},
		"ignores it and fails":  {block: func(context.Context) error { time.Sleep(time.Minute); return errMine }, want: is(errMine), after: time.Minute},
		"an inner one of its own": {block: func(ctx context.Context) error {
			return harness.For(ctx, ms, wait)
		}, want: isNil, after: ms},
		"the outer of two ends the inner": {block: func(ctx context.Context) error {
			if err := harness.For(ctx, time.Hour, wait); !isSoft(err) {
				return fmt.Errorf("the inner swallowed it: %v", err)
			}
			if err := harness.For(ctx, time.Hour, func(ctx context.Context) error { <-ctx.Done(); return nil }); !isSoft(err) {
				return fmt.Errorf("the inner with no error swallowed it: %v", err)
			}
			return context.Cause(ctx)
		}, want: isNil, after: time.Second},
		"somebody else's soft timeout": {block: func(context.Context) error {
			ctx, cancel := harness.Soft(context.Background(), ms)
			defer cancel()
			return wait(ctx)
		}, want: isSoft, after: ms},
		"a soft one inside, with the same length": {block: func(context.Context) error {
			ctx, cancel := harness.Soft(context.Background(), time.Second)
			defer cancel()
			return wait(ctx)
		}, want: isSoft, after: time.Second},
		"the caller cancels": {block: wait, outer: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(ms, func() { cancel(errCaller) })
			return ctx, func() {}
		}, want: is(errCaller), after: ms},
		"the caller's deadline": {block: wait, outer: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, ms)
		}, want: is(context.DeadlineExceeded), after: ms},
		"the caller cancels, the block has no error": {block: func(ctx context.Context) error { <-ctx.Done(); return nil }, outer: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, ms)
		}, want: is(context.DeadlineExceeded), after: ms},
		"both, and the block tells only of its own": {block: func(ctx context.Context) error { err := wait(ctx); time.Sleep(time.Minute); return err }, outer: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2*time.Second)
		}, want: is(context.DeadlineExceeded), after: time.Minute + time.Second},
		"the caller had ended before": {block: wait, outer: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(errCaller)
			return ctx, func() {}
		}, want: is(errCaller)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if c.outer != nil {
					ctx, cancel = c.outer(ctx)
				}
				defer cancel()
				began := time.Now()
				if err := harness.For(ctx, time.Second, c.block); !c.want(err) || time.Since(began) != c.after {
					t.Errorf("gave %v after %v, want after %v", err, time.Since(began), c.after)
				}
			})
		})
	}
}

// A block of reads, as it is written in a spec.
func TestForWithALoop(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		s, p := w.sub("/x"), w.pub("/x")
		stream := p.Every(100*ms, func(i int) string { return fmt.Sprint(i) })
		defer stream.Stop()
		n := 0
		err := harness.For(t.Context(), 950*ms, func(ctx context.Context) error {
			for _, err := range s.ListenReliable(ctx) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil || n < 9 || n > 10 {
			t.Errorf("%d messages, %v", n, err)
		}
	})
}
