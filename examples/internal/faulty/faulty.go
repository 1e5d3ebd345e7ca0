// Package faulty runs a Ginkgo suite against a robot with one fault after the
// other: each has to be found, by the specs that are about it and by no others,
// for the right reason.
package faulty

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
)

// Suite is a suite that finds faults of type F.
type Suite[F ~string] struct {
	// Package is its import path.
	Package string
	// Dir is where it runs.
	Dir string
	// Variable of the environment names the fault. ROBOSPEC_GRAPH is unset.
	Variable string
	// AtOnce is how many run at the same time; they mostly wait.
	AtOnce int
	// Faults are those there are. "" is none, with which nothing fails.
	Faults []F
	// Focus runs, with a fault, only the specs that are to find it: for a suite that
	// takes long.
	Focus bool
	// Found has, for each fault, what the specs that fail say, as patterns by the
	// text of the spec.
	Found map[F]map[string]string
}

// Run runs the suite with each fault.
func (s Suite[F]) Run(t *testing.T) {
	for fault := range s.Found {
		if !slices.Contains(s.Faults, fault) {
			t.Errorf("there is no fault %q", fault)
		}
	}
	binary := filepath.Join(t.TempDir(), "suite.test")
	build := exec.Command("go", "test", "-c", "-o", binary, s.Package)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the suite: %v\n%s", err, out)
	}
	var running sync.WaitGroup
	outcomes := make([]outcome, len(s.Faults))
	free := make(chan struct{}, s.AtOnce)
	for i, fault := range s.Faults {
		running.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			outcomes[i] = s.run(t, binary, fault)
		})
	}
	running.Wait()
	for i, fault := range s.Faults {
		t.Run("fault="+string(fault), func(t *testing.T) { outcomes[i].check(t, s.Found[fault]) })
	}
}

// outcome is what a run of the suite said.
type outcome struct {
	passed bool
	said   map[string]string // by the specs that failed
	output string
	err    error // there is no report
}

func (s Suite[F]) run(t *testing.T, binary string, fault F) (o outcome) {
	report := filepath.Join(t.TempDir(), "report.json")
	args := []string{"-ginkgo.no-color", "-ginkgo.json-report=" + report}
	if s.Focus {
		for spec := range s.Found[fault] {
			args = append(args, "-ginkgo.focus="+regexp.QuoteMeta(spec)+"$")
		}
	}
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), s.Variable+"="+string(fault), "ROBOSPEC_GRAPH=")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	o.passed = cmd.Run() == nil
	o.output = out.String()
	text, err := os.ReadFile(report)
	if err != nil {
		o.err = err
		return o
	}
	var suites []types.Report
	if o.err = json.Unmarshal(text, &suites); o.err != nil {
		return o
	}
	if len(suites) != 1 {
		o.err = fmt.Errorf("the report is of %d suites", len(suites))
		return o
	}
	o.said = map[string]string{}
	for _, spec := range suites[0].SpecReports {
		if spec.Failed() {
			o.said[spec.LeafNodeText] = spec.Failure.Message
		}
	}
	return o
}

// check compares what was said with the patterns it has to match.
func (o outcome) check(t *testing.T, wanted map[string]string) {
	t.Helper()
	if o.err != nil {
		t.Fatalf("%v; the suite said:\n%s", o.err, o.output)
	}
	if o.passed != (len(wanted) == 0) {
		t.Errorf("the suite passes: %v\n%s", o.passed, o.output)
	}
	for spec, pattern := range wanted {
		text, failed := o.said[spec]
		switch {
		case !failed:
			t.Errorf("%q does not fail", spec)
		case !regexp.MustCompile(pattern).MatchString(text):
			t.Errorf("%q does not fail for the right reason, %s, but:\n%s", spec, pattern, text)
		}
	}
	for spec, text := range o.said {
		if _, ok := wanted[spec]; !ok {
			t.Errorf("%q is not about this fault, but fails:\n%s", spec, text)
		}
	}
}
