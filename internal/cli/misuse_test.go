package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMisuse holds what a wrong command line is answered with: exit code 2, and
// what to write instead.
func TestMisuse(t *testing.T) {
	t.Setenv("ROBOSPEC_GRAPH", "")
	t.Setenv("ROS_DOMAIN_ID", "")
	var out strings.Builder
	for _, line := range []string{
		"",
		"topi",
		"topic",
		"topic hz",
		"topic hz /odom",
		"topic hz /odom -g inproc:cell",
		"topic hz /odom -g ros2+zenoh:?router=embedded",
		"topic hz /odom -g zenoh:host",
		"topic hz /odom -g tcp://host",
		"topic hz /odom -g host:7447",
		"topic hz /odom -g ros2+zenoh://h?domain=500",
		"topic hz /odom -g zenoh://h --timeout 0s",
		"topic hz /odom -g zenoh://h --timeout 5",
		"topic hz /odom/ -g zenoh://h",
		"topic hz /a /b -g zenoh://h",
		"topic hz /odom -g zenoh://h --expect 50±1",
		"topic hz /odom -g zenoh://h --for 1s --expect 50",
		"topic hz /odom -g zenoh://h --for 1s --expect delay<5ms",
		"topic hz /odom -g zenoh://h --for 1s --expect p95<5ms",
		"topic hz /odom -g zenoh://h --for 1s --expect max-gap<5",
		"topic hz /odom -g zenoh://h --for -1s",
		"topic hz /odom -g zenoh://h --for soon",
		"topic hz /odom -g zenoh://h --count -1",
		"topic hz /odom -g zenoh://h --type String",
		"topic hz /odom -g zenoh://h --hertz 5",
		"topic bw /odom -g zenoh://h --for 1s --expect <5ms",
		"topic delay /odom -g zenoh://h --for 1s --expect <20",
		"topic delay /odom -g zenoh://h --for 1s --expect p0<20ms",
		"topic delay /odom -g zenoh://h --stamp wall",
		"topic echo /odom -g zenoh://h --for 1s --expect x",
		"topic echo /odom -g zenoh://h --for 1s --expect x=5",
		"topic echo /odom -g zenoh://h --for 1s --expect x[0>5",
		"topic echo /odom -g zenoh://h --for 1s --expect x[a]>5",
		"topic echo /odom -g zenoh://h --for 1s --expect x..y>5",
		"topic echo /odom -g zenoh://h --for 1s --expect [0]>5",
		"topic echo /odom -g zenoh://h --for 1s --expect x[0]y>5",
		"topic echo /odom -g zenoh://h --expect x>5",
		"topic echo /odom -g zenoh://h --field a..b",
		"topic info /odom -g zenoh://h --expect >=1x",
		"topic info /odom -g zenoh://h --expect nodes>=1",
		"topic pub /cmd -g zenoh://h",
		"topic pub /cmd Twist {} -g zenoh://h",
		"topic pub /cmd {} --rate -1 -g zenoh://h",
		"topic pub /cmd {} --count 5 -g zenoh://h",
		"topic pub /cmd {} --count -5 -g zenoh://h",
		"topic pub /cmd {} --subscriptions -1 -g zenoh://h",
		"topic pub /cmd {} --for -1s -g zenoh://h",
		"service",
		"service call",
		"service call /arm a/b/c/d {} -g zenoh://h",
		"service call /arm {} --for 0s -g zenoh://h",
		"service call /arm {} --expect <20 -g zenoh://h",
		"service call /arm {} --expect ok= -g zenoh://h",
		"service info /arm --expect servers -g zenoh://h",
		"node info",
		"node info a//b -g zenoh://h",
		"node list --expect 3 -g zenoh://h",
	} {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), strings.Fields(line), &stdout, &stderr)
		if code != Misuse {
			t.Errorf("robospec %s: exit code %d, want %d\n%s", line, code, Misuse, &stderr)
		}
		if stdout.Len() > 0 {
			t.Errorf("robospec %s prints %s", line, &stdout)
		}
		out.WriteString("$ robospec " + line + "\n" + stderr.String())
	}
	golden := filepath.Join("testdata", "misuse.txt")
	if *update {
		must(t, os.WriteFile(golden, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if d := cmp.Diff(string(want), out.String()); d != "" {
		t.Errorf("answers differ from %s (-want +got); go test ./internal/cli -run TestMisuse -update rewrites it:\n%s", golden, d)
	}
}
