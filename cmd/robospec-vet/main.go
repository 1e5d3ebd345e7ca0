// Command robospec-vet finds Gomega assertions that assert nothing. It runs by
// itself, robospec-vet ./..., or as go vet -vettool=$(which robospec-vet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/robospec/robospec/internal/vet/asyncassert"
)

func main() { singlechecker.Main(asyncassert.Analyzer) }
