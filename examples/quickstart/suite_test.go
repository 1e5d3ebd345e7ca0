package quickstart_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/robospec/robospec/fixtures"
)

func TestMain(m *testing.M) {
	ginkgosOwn := goleak.IgnoreAnyFunction("github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts.func2")
	goleak.VerifyTestMain(m, ginkgosOwn)
}

func TestQuickstart(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "quickstart", fixtures.Interruptible)
}
