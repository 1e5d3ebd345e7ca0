// Package deptest holds the import rules of this module, each with its reason.
// Its test checks them against the tree.
package deptest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const module = "github.com/robospec/robospec"

// Graph is the imports of every package, by import path, without those of test
// files. It holds what the packages of the module import, too, so that a chain
// of imports can be followed to its end.
type Graph map[string][]string

// layer says which packages of this module a package may import. A pattern is a
// path below the module, and P/... means P and all below it. The first layer
// that matches a package binds it.
type layer struct {
	of, may []string
	reason  string
}

// foundation is what everything may stand on.
var foundation = append([]string{"measure/...", "msgs/..."}, helpers...)

// helpers stand alone.
var helpers = []string{"internal/wire/...", "internal/ring/...", "internal/stack/...", "internal/oneline/...", "internal/edit/..."}

var layers = []layer{
	{
		of:     []string{"measure/..."},
		may:    []string{"measure/..."},
		reason: "arithmetic on arrivals means the same live and on a recording only if it knows neither",
	},
	{
		of:     []string{"msgs/..."},
		may:    append([]string{"msgs/..."}, helpers...),
		reason: "a codec knows no transport: any wire may carry its bytes",
	},
	{
		of:     helpers,
		reason: "helpers of the lowest layer stand alone",
	},
	{
		of:     []string{"internal/zenoh/wire/...", "internal/zenoh/keyexpr/...", "internal/zenoh/link/..."},
		may:    []string{"internal/zenoh/wire/...", "internal/zenoh/keyexpr/...", "internal/zenoh/link/...", "internal/wire/..."},
		reason: "the lower layers of the protocol are bytes and keys; what they mean to a spec is no business of theirs",
	},
	{
		of:     []string{"internal/zenoh/..."},
		may:    []string{"internal/zenoh/...", "internal/wire/...", "transports"},
		reason: "a session ends with the errors of the seam, and knows nothing above it",
	},
	{
		of:     []string{"transports"},
		may:    foundation,
		reason: "the seam is bytes and stamps: it knows no wire above it and no harness",
	},
	{
		of:     []string{"transports/..."},
		may:    slices.Concat([]string{"transports/...", "internal/zenoh/..."}, foundation),
		reason: "a transport moves bytes for whoever asks; it never imports the harness, so none has semantics of its own",
	},
	{
		of:     []string{"harness/..."},
		may:    slices.Concat([]string{"harness/...", "transports"}, foundation),
		reason: "the harness knows the seam and no concrete transport, as database/sql knows no driver: a spec means the same on each",
	},
	{
		of:     []string{"matchers/..."},
		may:    slices.Concat([]string{"matchers/...", "harness/...", "transports"}, foundation),
		reason: "the words judge what the harness holds; what a spec starts from is no business of theirs",
	},
	{
		of:     []string{"fixtures/...", "hil/...", "containers/..."},
		may:    slices.Concat([]string{"fixtures/...", "hil/...", "containers/...", "matchers/...", "harness/...", "transports/..."}, foundation),
		reason: "what a spec starts from stands on harness and matchers, never on a report, an example or a command",
	},
	{
		of:     []string{"report/..."},
		may:    slices.Concat([]string{"report/...", "harness/...", "transports"}, foundation),
		reason: "a report is written from what was measured, without the words of a spec",
	},
	{
		of:     []string{"examples/...", "cmd/...", "scripts/...", "internal/cli/..."},
		may:    []string{"..."},
		reason: "the top may use all that is below it",
	},
	{
		of:     []string{"internal/gen/..."},
		may:    []string{"internal/gen/...", "msgs/rosidl/..."},
		reason: "what writes the message packages cannot stand on them",
	},
	{
		of:     []string{"internal/vet/...", "internal/deptest/...", "internal/apigolden/...", "internal/testenv/...", "internal/tbrecord/..."},
		reason: "what checks the project does not stand on it",
	},
}

// ban says what a package must not import, be it of this module (a path below
// it), of the standard library or of another module.
type ban struct {
	name   string
	of     []string // the packages it binds, "!P" for those it does not
	never  []string
	chain  bool // also through what they import
	reason string
}

var bans = []ban{
	{
		name:   "no test framework in the heart",
		of:     []string{"measure/...", "msgs/...", "internal/wire/...", "internal/ring/...", "internal/stack/...", "internal/oneline/...", "internal/edit/...", "internal/zenoh/...", "transports/...", "harness/...", "!transports/transporttest/..."},
		never:  []string{"testing/...", "github.com/onsi/..."},
		chain:  true,
		reason: "a tool that is no test uses the heart too, and a verdict must not depend on the framework around it",
	},
	{
		name:   "Ginkgo is a choice",
		of:     []string{"...", "!fixtures/...", "!examples/..."},
		never:  []string{"github.com/onsi/ginkgo/..."},
		reason: "specs run under plain testing too: only the fixtures speak to Ginkgo's reports, and the examples show its use",
	},
	{
		name:   "a top nobody stands on",
		of:     []string{"..."},
		never:  []string{module + "/examples/...", module + "/cmd/...", module + "/scripts/..."},
		reason: "an example, a command and a script are the end of the chain",
	},
	{
		name:   "only tests test",
		of:     []string{"..."},
		never:  []string{module + "/internal/testenv/...", module + "/internal/tbrecord/..."},
		reason: "no user's program starts our routers and Python peers or records our specs: only test files do",
	},
	{
		name:   "no cgo",
		of:     []string{"..."},
		never:  []string{"C"},
		reason: "one static binary speaks the wires itself, with no C library installed",
	},
}

// Check returns what breaks the rules, one line each, sorted.
func Check(g Graph) []string {
	var broken []string
	for _, pkg := range slices.Sorted(maps.Keys(g)) {
		rel, ours := below(pkg)
		if !ours {
			continue
		}
		i := slices.IndexFunc(layers, func(l layer) bool { return matches(l.of, rel) })
		if i < 0 {
			broken = append(broken, fmt.Sprintf("%s: no layer: say in internal/deptest what it may import, and why", rel))
			continue
		}
		for _, imported := range g[pkg] {
			if r, ok := below(imported); ok && !matches(layers[i].may, r) {
				broken = append(broken, fmt.Sprintf("%s imports %s: %s", rel, r, layers[i].reason))
			}
		}
		for _, b := range bans {
			if !matches(b.of, rel) {
				continue
			}
			if c := chain(g, pkg, b); c != nil {
				broken = append(broken, fmt.Sprintf("%s imports %s: %s: %s", rel, strings.Join(c, ", which imports "), b.name, b.reason))
			}
		}
	}
	slices.Sort(broken)
	return broken
}

// chain is the shortest chain of imports from pkg to what b forbids, nil when
// there is none.
func chain(g Graph, pkg string, b ban) []string {
	type link struct {
		path string
		from *link
	}
	seen := map[string]bool{}
	for queue := []*link{{path: pkg}}; len(queue) > 0; queue = queue[1:] {
		for _, imported := range g[queue[0].path] {
			if seen[imported] {
				continue
			}
			seen[imported] = true
			next := &link{path: imported, from: queue[0]}
			if matches(b.never, imported) {
				var c []string
				for ; next.from != nil; next = next.from {
					c = append(c, next.path)
				}
				slices.Reverse(c)
				return c
			}
			if b.chain {
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// below is a path below the module, and whether it is one.
func below(pkg string) (string, bool) {
	if pkg == module {
		return ".", true
	}
	return strings.CutPrefix(pkg, module+"/")
}

// matches reports whether a pattern matches and none with "!" does.
func matches(patterns []string, path string) bool {
	found := false
	for _, p := range patterns {
		p, not := strings.CutPrefix(p, "!")
		prefix, deep := strings.CutSuffix(p, "...")
		hit := path == p
		if deep {
			hit = strings.HasPrefix(path+"/", prefix)
		}
		if hit && not {
			return false
		}
		found = found || hit
	}
	return found
}
