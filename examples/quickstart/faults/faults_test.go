// Package faults runs the quickstart suite against a robot with one fault after
// the other: each has to be found, by the specs that are about it, for the right
// reason.
package faults_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/robospec/robospec/examples/quickstart/robot"
)

// found is, for each fault, what the specs that fail say.
var found = map[robot.Fault]map[string]string{
	robot.SlowRamp: {
		"reaches the commanded speed":                     `a message matched, but \d+\.?\d*ms late`,
		"keeps the commanded speed":                       `a message matched, but \d+\.?\d*ms late`,
		"settles":                                         `the longest run that matched spans 0s`,
		"is never faster than it may be":                  `Twist.Twist.Linear.X: got 0\.4\d*, want 1`,
		"leaves the motors alone after an emergency stop": `a message matched, but \d+\.?\d*ms late`,
		"covers the ground that its speed says":           `a message matched, but \d+\.?\d*ms late`,
	},
	robot.Wobble: {
		"keeps the commanded speed": `it is 0\.4[78]\d*, of \d+ messages`,
		"settles":                   `the longest run that matched spans \d+`,
	},
	robot.Overspeed: {
		"keeps the commanded speed":      `it is 0\.5[2-6]\d*, of \d+ messages`,
		"is never faster than it may be": `Always on /odom .* was violated by \d of \d+ messages, first by {.* Twist:{Twist:{Linear:{X:1\.5 `,
	},
	robot.SlowOdom: {
		"gives odometry at 40 Hz at least, without a gap": `HaveRate\(> 40\): it is (2[5-9]|30)\b`,
	},
	robot.LateArm: {
		"answers when the arm is up": `\d+\.?\d*ms late: the reply was {Success:true Message:up}`,
	},
	robot.DisorderlyArm: {
		"moves the arm before it says that it is up": `2 messages, 1 of 2 in order, then none that matched Data = "up"`,
	},
	robot.Runaway: {
		"does not move the arm while the emergency stop is pressed": `\d+ messages, never silent for 100ms`,
		"leaves the motors alone after an emergency stop": `message 1 arrived, .* after the start: {Name:\[left right\] Velocity:\[0 0\]}`,
	},
	robot.RenamedState: {
		"tells its state to those who come late": `inconclusive: (?s:.*)nothing arrived on /state and nobody was there to publish: no publisher in the graph`,
	},
}

func TestEachFaultIsFound(t *testing.T) {
	suite := filepath.Join(t.TempDir(), "quickstart.test")
	build := exec.Command("go", "test", "-c", "-o", suite, "github.com/robospec/robospec/examples/quickstart")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the suite: %v\n%s", err, out)
	}
	runs := map[robot.Fault]func() map[string]string{}
	for _, fault := range robot.Faults { // at the same time: they mostly wait
		runs[fault] = start(t, suite, fault)
	}
	for _, fault := range robot.Faults {
		said := runs[fault]()
		t.Run(string(fault), func(t *testing.T) { check(t, said, found[fault]) })
	}
}

// start starts the suite on a graph of its own. The result waits for its end
// and returns what each spec that failed said.
func start(t *testing.T, suite string, fault robot.Fault) func() map[string]string {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), suite, "-ginkgo.json-report="+report)
	cmd.Env = append(os.Environ(), "ROBOSPEC_FAULT="+string(fault), "ROBOSPEC_GRAPH=")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() map[string]string {
		if cmd.Wait() == nil {
			t.Errorf("%s: the suite passes:\n%s", fault, &out)
		}
		text, err := os.ReadFile(report)
		if err != nil {
			t.Fatalf("%s: %v; the suite said:\n%s", fault, err, &out)
		}
		var suites []types.Report
		if err := json.Unmarshal(text, &suites); err != nil {
			t.Fatal(err)
		}
		failed := map[string]string{}
		for _, spec := range suites[0].SpecReports {
			if spec.Failed() {
				failed[spec.LeafNodeText] = spec.Failure.Message
			}
		}
		return failed
	}
}

// check compares what was said with the patterns it has to match.
func check(t *testing.T, said, wanted map[string]string) {
	t.Helper()
	for spec, pattern := range wanted {
		text, failed := said[spec]
		switch {
		case !failed:
			t.Errorf("%q does not fail", spec)
		case !regexp.MustCompile(pattern).MatchString(text):
			t.Errorf("%q does not fail for the right reason, %s, but:\n%s", spec, pattern, text)
		}
	}
	for spec, text := range said {
		if _, ok := wanted[spec]; !ok {
			t.Errorf("%q is not about this fault, but fails:\n%s", spec, text)
		}
	}
}
