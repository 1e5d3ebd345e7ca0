package deptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestTree(t *testing.T) {
	g := load(t)
	for _, must := range []string{"measure", "msgs", "transports"} {
		if _, ok := g[module+"/"+must]; !ok {
			t.Errorf("package %s was not found: the rules would hold for nothing", must)
		}
	}
	for _, b := range Check(g) {
		t.Error(b)
	}
}

// load asks the go command for the imports of this module's packages and of
// all they stand on.
func load(t *testing.T) Graph {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Imports", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	g := Graph{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir string
			Imports         []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return g
		} else if err != nil {
			t.Fatalf("output of go list: %v", err)
		}
		g[p.ImportPath] = p.Imports
		// Reading the folder here tells go test's cache what the answer hangs on.
		if _, ours := below(p.ImportPath); ours {
			if _, err := os.ReadDir(p.Dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPlantedViolations(t *testing.T) {
	tests := []struct {
		name string
		// plant is "package: imports …", a path with a dot in its first element or
		// named in std being left as it is.
		plant []string
		// want is what each line of the answer holds, in order.
		want []string
	}{
		{name: "nothing wrong", plant: []string{
			"measure: time fmt", "msgs: internal/wire", "transports: measure", "transports/zenoh: transports internal/zenoh/session internal/wire", "internal/zenoh/session: transports internal/zenoh/wire",
			"transports/transporttest: testing transports", "harness: transports measure msgs internal/ring", "matchers: harness measure github.com/onsi/gomega/types",
			"fixtures: harness matchers transports/dial github.com/onsi/ginkgo/v2 testing", "transports/dial: transports/zenoh transports/inproc",
			"examples/quickstart: fixtures matchers harness github.com/onsi/ginkgo/v2", "cmd/robospec: internal/cli", "internal/cli: harness report", "report: measure harness",
			"internal/testenv: testing",
		}},
		{name: "measure knows a transport", plant: []string{"measure: transports"}, want: []string{"measure imports transports: arithmetic"}},
		{name: "measure knows codecs", plant: []string{"measure/deep: msgs"}, want: []string{"measure/deep imports msgs"}},
		{name: "a codec knows a transport", plant: []string{"msgs/std_msgs: transports"}, want: []string{"msgs/std_msgs imports transports"}},
		{name: "a helper knows messages", plant: []string{"internal/wire: msgs"}, want: []string{"internal/wire imports msgs"}},
		{name: "the protocol knows the seam", plant: []string{"internal/zenoh/wire: transports"}, want: []string{"internal/zenoh/wire imports transports"}},
		{name: "a session knows messages", plant: []string{"internal/zenoh/session: msgs"}, want: []string{"internal/zenoh/session imports msgs"}},
		{name: "the seam knows a wire", plant: []string{"transports: transports/zenoh"}, want: []string{"transports imports transports/zenoh"}},
		{name: "a transport knows the harness", plant: []string{"transports/zenoh: harness"}, want: []string{"transports/zenoh imports harness: a transport"}},
		{name: "the harness knows a transport", plant: []string{"harness: transports/inproc"}, want: []string{"harness imports transports/inproc: the harness knows the seam"}},
		{name: "the harness knows matchers", plant: []string{"harness: matchers"}, want: []string{"harness imports matchers"}},
		{name: "matchers know fixtures", plant: []string{"matchers: fixtures"}, want: []string{"matchers imports fixtures"}},
		{name: "matchers know a transport", plant: []string{"matchers: transports/inproc"}, want: []string{"matchers imports transports/inproc"}},
		{name: "fixtures know a report", plant: []string{"fixtures: report"}, want: []string{"fixtures imports report"}},
		{name: "a report knows matchers", plant: []string{"report: matchers"}, want: []string{"report imports matchers"}},
		{name: "the generator stands on what it wrote", plant: []string{"internal/gen: msgs/std_msgs"}, want: []string{"internal/gen imports msgs/std_msgs"}},
		{name: "checks stand on the project", plant: []string{"internal/testenv: harness"}, want: []string{"internal/testenv imports harness"}},
		{name: "a stranger", plant: []string{"utils: fmt"}, want: []string{"utils: no layer"}},
		{name: "the heart knows testing", plant: []string{"harness: testing"}, want: []string{"harness imports testing: no test framework in the heart"}},
		{name: "the heart knows synctest", plant: []string{"transports/inproc: testing/synctest"}, want: []string{"transports/inproc imports testing/synctest: no test framework"}},
		{name: "the heart knows Gomega through others",
			plant: []string{"measure: example.org/a", "example.org/a: example.org/b", "example.org/b: github.com/onsi/gomega/format"},
			want:  []string{"measure imports example.org/a, which imports example.org/b, which imports github.com/onsi/gomega/format: no test framework"}},
		{name: "matchers know Ginkgo", plant: []string{"matchers: github.com/onsi/ginkgo/v2/types"}, want: []string{"matchers imports github.com/onsi/ginkgo/v2/types: Ginkgo is a choice"}},
		{name: "a command knows an example", plant: []string{"cmd/robospec: examples/quickstart"}, want: []string{"cmd/robospec imports " + module + "/examples/quickstart: a top nobody stands on"}},
		{name: "a program starts test peers", plant: []string{"cmd/robospec: internal/testenv"}, want: []string{"cmd/robospec imports " + module + "/internal/testenv: only tests test"}},
		{name: "a program records specs", plant: []string{"cmd/robospec: internal/tbrecord"}, want: []string{"cmd/robospec imports " + module + "/internal/tbrecord: only tests test"}},
		{name: "cgo", plant: []string{"transports/zenoh: C"}, want: []string{"transports/zenoh imports C: no cgo"}},
	}
	planted := map[string]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Check(graph(tt.plant))
			if len(got) != len(tt.want) {
				t.Fatalf("got %q, want %d lines", got, len(tt.want))
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %q, want it to begin with %q", got[i], want)
				}
			}
			for _, line := range got {
				for _, r := range reasons() {
					if strings.HasSuffix(line, r) {
						planted[r] = true
					}
				}
			}
		})
	}
	for _, r := range reasons() {
		if !planted[r] && r != top {
			t.Errorf("no violation is planted of the rule with the reason %q", r)
		}
	}
}

// top is the reason of the one layer that cannot be broken.
const top = "the top may use all that is below it"

func reasons() []string {
	var all []string
	for _, l := range layers {
		all = append(all, l.reason)
	}
	for _, b := range bans {
		all = append(all, b.reason)
	}
	return all
}

var std = []string{"C", "fmt", "time", "testing", "testing/synctest"}

func graph(plant []string) Graph {
	full := func(p string) string {
		if first, _, _ := strings.Cut(p, "/"); slices.Contains(std, p) || strings.Contains(first, ".") {
			return p
		}
		return module + "/" + p
	}
	g := Graph{}
	for _, line := range plant {
		pkg, imports, _ := strings.Cut(line, ":")
		for i := range strings.FieldsSeq(imports) {
			g[full(pkg)] = append(g[full(pkg)], full(i))
		}
	}
	return g
}

func TestMatches(t *testing.T) {
	tests := map[string]bool{
		"transports": true, "transports/zenoh": true, "transports/transporttest": false, "transports/transporttest/x": false,
		"transportsx": false, "exact": true, "exact/below": false,
	}
	for _, path := range slices.Sorted(maps.Keys(tests)) {
		if got := matches([]string{"transports/...", "exact", "!transports/transporttest/..."}, path); got != tests[path] {
			t.Errorf("matches(%q) = %v, want %v", path, got, tests[path])
		}
	}
}
