package apigolden

import (
	"bytes"
	"errors"
	"flag"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
)

var update = flag.Bool("update", false, "write the api.txt of each public package")

const (
	module  = "github.com/robospec/robospec"
	command = "go test ./internal/apigolden -update"
)

// private are the parts of the module that no user imports.
var private = []string{"cmd", "examples", "internal", "scripts"}

func TestAPI(t *testing.T) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes
	pkgs, err := packages.Load(&packages.Config{Mode: mode}, module+"/...")
	if err != nil {
		t.Fatal(err)
	}
	public := map[string]bool{}
	for _, p := range pkgs {
		rel := strings.TrimPrefix(p.PkgPath, module+"/")
		first, _, _ := strings.Cut(rel, "/")
		if slices.Contains(private, first) || slices.Contains(strings.Split(rel, "/"), "internal") || len(p.GoFiles) == 0 {
			continue
		}
		if generated(t, p.GoFiles) {
			continue // its definitions say already what it exports
		}
		file := filepath.Join(filepath.Dir(p.GoFiles[0]), "api.txt")
		public[file] = true
		t.Run(rel, func(t *testing.T) {
			for _, e := range p.Errors {
				t.Fatal(e)
			}
			compare(t, file, Render(p.Types))
		})
	}
	if len(public) == 0 {
		t.Fatal("no public package was found")
	}
	noStrays(t, public)
}

// generated reports whether all files of a package are.
func generated(t *testing.T, files []string) bool {
	for _, f := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(parsed) {
			return false
		}
	}
	return true
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no api.txt yet; write it with: %s", command)
	} else if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("the exported API changed (-api.txt +now); if it should, run: %s\n%s", command, diff)
	}
}

// noStrays fails for an api.txt beside no public package.
func noStrays(t *testing.T, public map[string]bool) {
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "../.." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if abs, err := filepath.Abs(path); err != nil {
			return err
		} else if d.Name() == "api.txt" && !public[abs] {
			t.Errorf("%s belongs to no public package", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRender(t *testing.T) {
	const source = `package p

import ("context"; "errors"; "iter"; "time")

// Doc is not rendered.
const A, b = 1, 2
const Text = "a long text that must be whole, however long it may be, so that a change in it is seen at its end, too"
const Enum E = 3
const Wait = 5 * time.Second
var ErrX = errors.New("x")
var Fn func(n int, s ...string) (ok bool, err error)
type E uint8
func (E) String() string { return "" }
type S[T any, U ~[]T] struct { B int; a int; Embedded; *time.Timer; C, D map[string]*T }
func (s *S[T, U]) Zed(ctx context.Context, v T) (U, error) { panic(0) }
func (s S[T, U]) All() iter.Seq2[T, error] { panic(0) }
func (s *S[T, U]) hidden() {}
type Embedded interface { Closer; Do(int) error; hidden() }
type Closer interface { Close() error }
type Other interface { ~int | ~string }
type Alias = time.Duration
type GenericAlias[T any] = S[T, []T]
type Func func(E) error
type hidden struct { X int }
func New[T any](opts ...Func) *hidden { return nil }
func unexported() {}
`
	const want = `const A untyped int = 1
type Alias = time.Duration
type Closer interface
type Closer interface, Close() error
type E uint8
method (E) String() string
type Embedded interface
type Embedded interface, Do(int) error
type Embedded interface, embeds Closer
type Embedded interface, unexported methods
const Enum E = 3
var ErrX error
var Fn func(n int, s ...string) (ok bool, err error)
type Func func(E) error
type GenericAlias[T any] = S[T, []T]
func New[T any](opts ...Func) *hidden
type Other interface
type Other interface, embeds ~int | ~string
type S[T any, U ~[]T] struct
type S struct, B int
type S struct, embeds Embedded
type S struct, embeds *time.Timer
type S struct, C map[string]*T
type S struct, D map[string]*T
method (S[T, U]) All() iter.Seq2[T, error]
method (*S[T, U]) Zed(ctx context.Context, v T) (U, error)
const Text untyped string = "a long text that must be whole, however long it may be, so that a change in it is seen at its end, too"
const Wait time.Duration = 5000000000
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.ForCompiler(fset, "source", nil)}).Check("p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(Render(pkg)), "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !bytes.Equal(Render(pkg), Render(pkg)) {
		t.Error("two renderings of one package differ")
	}
}
