package asyncassert_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/robospec/robospec/internal/vet/asyncassert"
)

// want names the call that a line's diagnostic has to name.
var want = regexp.MustCompile(`^// want (.+)$`)

// The specs are checked against the real Gomega, from its export data:
// analysistest would type-check all of it, and the standard library, from source.
func TestAnalyzer(t *testing.T) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes |
		packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule
	pkgs, err := packages.Load(&packages.Config{Mode: mode}, "./testdata/specs")
	if err != nil {
		t.Fatal(err)
	}
	if n := packages.PrintErrors(pkgs); n > 0 {
		t.Fatalf("%d errors in the specs", n)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{asyncassert.Analyzer}, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}

	var wants, got []string
	fset := pkgs[0].Fset
	for _, f := range pkgs[0].Syntax {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if m := want.FindStringSubmatch(c.Text); m != nil {
					wants = append(wants, fmt.Sprintf("line %3d: %s(…) asserts nothing: call Should, ShouldNot, To, ToNot or NotTo on it",
						fset.Position(c.Pos()).Line, strings.TrimSpace(m[1])))
				}
			}
		}
	}
	for _, root := range graph.Roots {
		if root.Err != nil {
			t.Fatal(root.Err)
		}
		for _, d := range root.Diagnostics {
			got = append(got, fmt.Sprintf("line %3d: %s", fset.Position(d.Pos).Line, d.Message))
		}
	}
	slices.Sort(got)
	slices.Sort(wants)
	if len(wants) == 0 {
		t.Fatal("the specs want nothing")
	}
	if diff := cmp.Diff(wants, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
