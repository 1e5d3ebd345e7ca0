// Package apigolden renders the exported API of a package, one declaration a
// line, so that a golden api.txt in each public package shows its growth in
// review.
package apigolden

import (
	"bytes"
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// Render is what pkg exports: constants, variables, functions, types with
// their exported fields, and methods, sorted by name, without documentation.
func Render(pkg *types.Package) []byte {
	r := renderer{pkg: pkg}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if obj := scope.Lookup(name); obj.Exported() {
			r.object(obj)
		}
	}
	return r.out.Bytes()
}

type renderer struct {
	pkg *types.Package
	out bytes.Buffer
}

func (r *renderer) line(format string, args ...any) {
	fmt.Fprintf(&r.out, format+"\n", args...)
}

// qualifier writes names of this package bare and those of others with the
// name of their package.
func (r *renderer) qualifier(p *types.Package) string {
	if p == r.pkg {
		return ""
	}
	return p.Name()
}

func (r *renderer) typ(t types.Type) string { return types.TypeString(t, r.qualifier) }

func (r *renderer) object(obj types.Object) {
	switch obj := obj.(type) {
	case *types.Const:
		r.line("const %s %s = %s", obj.Name(), r.typ(obj.Type()), obj.Val().ExactString())
	case *types.Var:
		r.line("var %s %s", obj.Name(), r.typ(obj.Type()))
	case *types.Func:
		r.line("func %s%s", obj.Name(), r.signature(obj))
	case *types.TypeName:
		r.typeName(obj)
	}
}

func (r *renderer) signature(f *types.Func) string {
	return strings.TrimPrefix(r.typ(f.Type()), "func")
}

func (r *renderer) typeName(obj *types.TypeName) {
	if obj.IsAlias() {
		t := obj.Type()
		if a, ok := t.(*types.Alias); ok {
			r.line("type %s%s = %s", obj.Name(), r.typeParams(a.TypeParams()), r.typ(a.Rhs()))
			return
		}
		r.line("type %s = %s", obj.Name(), r.typ(t))
		return
	}
	named := obj.Type().(*types.Named)
	name := obj.Name()
	head := name + r.typeParams(named.TypeParams())
	switch u := named.Underlying().(type) {
	case *types.Struct:
		r.line("type %s struct", head)
		for f := range u.Fields() {
			switch {
			case !f.Exported():
			case f.Embedded():
				r.line("type %s struct, embeds %s", name, r.typ(f.Type()))
			default:
				r.line("type %s struct, %s %s", name, f.Name(), r.typ(f.Type()))
			}
		}
	case *types.Interface:
		r.line("type %s interface", head)
		var lines []string
		for m := range u.ExplicitMethods() {
			if m.Exported() {
				lines = append(lines, m.Name()+r.signature(m))
			} else {
				lines = append(lines, "unexported methods")
			}
		}
		for e := range u.EmbeddedTypes() {
			lines = append(lines, "embeds "+r.typ(e))
		}
		slices.Sort(lines)
		for _, l := range slices.Compact(lines) {
			r.line("type %s interface, %s", name, l)
		}
	default:
		r.line("type %s %s", head, r.typ(u))
	}
	r.methods(named)
}

func (r *renderer) methods(named *types.Named) {
	methods := slices.SortedFunc(named.Methods(), func(a, b *types.Func) int { return strings.Compare(a.Name(), b.Name()) })
	for _, m := range methods {
		if m.Exported() {
			r.line("method (%s) %s%s", r.typ(m.Signature().Recv().Type()), m.Name(), r.signature(m))
		}
	}
}

func (r *renderer) typeParams(list *types.TypeParamList) string {
	if list.Len() == 0 {
		return ""
	}
	var params []string
	for p := range list.TypeParams() {
		params = append(params, p.Obj().Name()+" "+r.typ(p.Constraint()))
	}
	return "[" + strings.Join(params, ", ") + "]"
}
