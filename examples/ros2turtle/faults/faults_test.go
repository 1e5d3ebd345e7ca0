// Package faults runs the suite of the turtle against a turtle with one fault
// after the other.
package faults_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/robospec/robospec/examples/internal/faulty"
	"github.com/robospec/robospec/internal/testenv"
)

// found is, for each fault of turtle.py, what the specs that fail say.
var found = map[string]map[string]string{
	"slow-rate": {
		"tells where it is 62.5 times a second":    `HaveRate\(62.5 ± 1\): it is (4\d|50)\b`,
		"publishes as often as its parameter says": `it is (4\d|50)\b.* Hz`,
	},
	"drift": {
		"stands until it is told to move": `Pose.Pose.Position: got \(5\.54444, 5\.5\d+, 0\), want .* away \(x \+0, y \+0\.0`,
	},
	"whole-angle": {
		"turns, past the angle where yaw wraps": `the last that did not: Pose\.Pose\.Orientation: got yaw .*, want yaw 3\.5 ± 0\.2 rad`,
	},
	"no-timeout": {
		"turns, past the angle where yaw wraps": `the last that did not: Pose\.Pose\.Orientation: got yaw .*, want yaw 3\.5 ± 0\.2 rad`,
		"forgets a command after a second":      `closest: .* got 1, want 0`,
	},
	"bumps-on": {
		"tells that it bumps into a wall, until it is stopped": `\d+ messages, never silent for 500ms`,
	},
	"reset-hangs": {
		"goes back to the middle": `/turtlesim serves /reset, but has not answered`,
	},
	"reset-crashes": {
		"goes back to the middle": `nobody serves /reset any more: /turtlesim, which served it, is gone from the graph`,
	},
	"deaf-set": {
		"publishes as often as its parameter says": `it is [56]\d\b.* Hz`,
	},
	"any-rate": {
		"refuses a rate of 0": `Results\[0\].Successful: got true, want false`,
	},
	"other-name": {
		"stands until it is told to move":                      `inconclusive: (?s:.*)nobody publishes /turtle1/bump; there is /turtle/bump, the same name in another namespace`,
		"tells that it bumps into a wall, until it is stopped": `inconclusive: (?s:.*)nobody publishes /turtle1/bump; there is /turtle/bump, the same name in another namespace`,
	},
	"other-frame": {
		"tells where it is 62.5 times a second": `Header.FrameID: got "world", want "odom"`,
	},
}

func TestEachFaultIsFound(t *testing.T) {
	faulty.Suite[string]{
		Package:  "github.com/robospec/robospec/examples/ros2turtle",
		Dir:      "..",
		Variable: "TURTLE_FAULT",
		AtOnce:   2,
		Focus:    true,
		Faults:   append(faults(t), ""),
		Found:    found,
	}.Run(t)
}

// faults asks turtle.py which it has.
func faults(t *testing.T) []string {
	ask := exec.Command(testenv.ROSPython(t), "../turtle.py")
	ask.Env = append(os.Environ(), "TURTLE_FAULT=?")
	said, err := ask.CombinedOutput()
	_, list, ok := strings.Cut(strings.TrimSpace(string(said)), "there is ")
	if err == nil || !ok {
		t.Fatalf("turtle.py does not tell its faults: %v\n%s", err, said)
	}
	return strings.Split(list, ", ")
}
