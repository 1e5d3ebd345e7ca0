package cases_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/fixtures"
)

// trial is the TB of a spec that is meant to fail: it keeps what it is told.
type trial struct {
	fixtures.TB

	mu      sync.Mutex
	said    []string
	cleanup []func()
}

// run runs a spec and its clean-up.
func (t *trial) run(body func()) {
	t.alone(body)
	for len(t.cleanup) > 0 {
		last := len(t.cleanup) - 1
		f := t.cleanup[last]
		t.cleanup = t.cleanup[:last]
		t.alone(f)
	}
}

// alone runs f on a goroutine that Fatalf may end.
func (t *trial) alone(f func()) {
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		f()
	}()
	<-done
}

func (t *trial) Cleanup(f func()) { t.cleanup = append(t.cleanup, f) }

func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.said) > 0
}

func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// Logf keeps the evidence to itself: it is of a failure that was wanted.
func (t *trial) Logf(string, ...any) {}

// expect compares what was said with what had to be.
func (t *trial) expect(want verdict) {
	GinkgoHelper()
	t.mu.Lock()
	said := slices.Clone(t.said)
	t.mu.Unlock()
	for _, text := range said {
		AddReportEntry("failure", ReportEntryVisibilityFailureOrVerbose, text)
	}
	Expect(said).To(HaveLen(1), "the spec has to fail, once")
	color := red
	if strings.HasPrefix(said[0], "inconclusive: ") {
		color = inconclusive
	}
	Expect(want.color).To(ContainSubstring(color), said[0])
	for _, text := range want.says {
		Expect(said[0]).To(MatchRegexp(text))
	}
}
