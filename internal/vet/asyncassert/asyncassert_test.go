package asyncassert_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/robospec/robospec/internal/vet/asyncassert"
)

func TestAnalyzer(t *testing.T) {
	// The module's root makes analysistest load the specs against the real Gomega.
	analysistest.Run(t, "../../..", asyncassert.Analyzer, "./internal/vet/asyncassert/testdata/specs")
}
