package harness_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/transports/inproc"
)

func TestGraphTellsWhyItEndedBeforeItsWaitsDo(t *testing.T) {
	for range 300 {
		g := harness.New(inproc.NewNetwork().Join("spec"), harness.Config{})
		sub, err := harness.Subscribe[string](t.Context(), g, "/odom")
		if err != nil {
			t.Fatal(err)
		}
		next := sub.FromNow()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := next.WaitForNext(context.Background())
			if !errors.Is(err, harness.ErrClosed) || !errors.Is(g.Err(), harness.ErrClosed) {
				t.Errorf("the wait ended with %v, but the graph tells %v", err, g.Err())
			}
		})
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	}
}
