// Package asyncassert finds Gomega assertions that assert nothing: an Expect,
// Eventually or Consistently whose result nobody asks anything of.
package asyncassert

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Analyzer reports them. It goes by the type of the discarded value, so it
// knows every way to begin an assertion: g.Expect, Ω, a helper that returns
// one, Eventually(x).WithTimeout(d).
var Analyzer = &analysis.Analyzer{
	Name: "asyncassert",
	Doc: "report Gomega assertions that assert nothing\n\n" +
		"Eventually(x), Consistently(x) and Expect(x) do nothing until Should, ShouldNot, To, ToNot or NotTo is called on them.",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	discarded := []ast.Node{(*ast.ExprStmt)(nil), (*ast.GoStmt)(nil), (*ast.DeferStmt)(nil), (*ast.AssignStmt)(nil)}
	in.Preorder(discarded, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.ExprStmt:
			check(pass, n.X)
		case *ast.GoStmt:
			check(pass, n.Call)
		case *ast.DeferStmt:
			check(pass, n.Call)
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if id, ok := left.(*ast.Ident); ok && id.Name == "_" && len(n.Lhs) == len(n.Rhs) {
					check(pass, n.Rhs[i])
				}
			}
		}
	})
	return nil, nil
}

func check(pass *analysis.Pass, x ast.Expr) {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || !isAssertion(pass.TypesInfo.TypeOf(call)) {
		return
	}
	pass.ReportRangef(call, "%s(…) asserts nothing: call Should, ShouldNot, To, ToNot or NotTo on it", beginning(pass, call))
}

func isAssertion(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != "github.com/onsi/gomega/types" {
		return false
	}
	name := named.Obj().Name()
	return name == "Assertion" || name == "AsyncAssertion"
}

// beginning names the call that began the assertion, under the calls that only
// adjusted it.
func beginning(pass *analysis.Pass, call *ast.CallExpr) string {
	for {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			break
		}
		inner, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok || !isAssertion(pass.TypesInfo.TypeOf(inner)) {
			return sel.Sel.Name
		}
		call = inner
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		return id.Name
	}
	return "this call"
}
