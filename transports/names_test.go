package transports_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/robospec/robospec/transports"
)

func TestResolve(t *testing.T) {
	for name, want := range map[string]string{
		"odom":            "/odom",
		"/odom":           "/odom",
		"robot/odom":      "/robot/odom",
		"/robot/arm/grip": "/robot/arm/grip",
		"camera-1/image":  "/camera-1/image", // a Zenoh key, if no ROS 2 name
		"größe":           "/größe",
	} {
		if got, err := transports.Resolve(name); err != nil || got != want {
			t.Errorf("Resolve(%q) = (%q, %v), want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "/", "//", "//odom", "odom/", "/odom/", "a//b", "/a/b//c"} {
		got, err := transports.Resolve(name)
		var bad *transports.NameError
		if !errors.As(err, &bad) || bad.Name != name || got != "" {
			t.Errorf("Resolve(%q) = (%q, %v), want a NameError that names it", name, got, err)
		}
	}
}

func TestResolveIsStable(t *testing.T) {
	once, err := transports.Resolve("a/b")
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := transports.Resolve(once); err != nil || twice != once {
		t.Errorf("Resolve(%q) = (%q, %v)", once, twice, err)
	}
}

func TestCheckROSName(t *testing.T) {
	for _, name := range []string{"/odom", "odom", "/_hidden", "/robot/arm2/joint_states", "/A/b_/C9", "/r2d2", "/a/_b"} {
		if err := transports.CheckROSName(name); err != nil {
			t.Errorf("CheckROSName(%q): %v", name, err)
		}
	}
	for name, why := range map[string]string{
		"/1st":        `'1' may not stand at place 1 of "1st"`,
		"/a/2nd":      `'2' may not stand at place 1 of "2nd"`,
		"/camera-1":   `'-' may not stand at place 7 of "camera-1"`,
		"/a b":        `' ' may not stand at place 2`,
		"/größe":      `'ö' may not stand at place 3 of "größe"`,
		"/a/*":        `'*' may not stand at place 1`,
		"/a__b":       "two underscores in a row",
		"/ok/__inner": "two underscores in a row",
		"/~/private":  `'~' may not stand at place 1`,
	} {
		err := transports.CheckROSName(name)
		var bad *transports.NameError
		if !errors.As(err, &bad) || bad.Name != name || !strings.Contains(bad.Reason, why) {
			t.Errorf("CheckROSName(%q): %v, want a NameError that says %s", name, err, why)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"odom", "/odom", "", "a//b", "1", "a__b", "ä"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		resolved, err := transports.Resolve(name)
		if err != nil {
			return
		}
		if !strings.HasPrefix(resolved, "/") || strings.HasSuffix(resolved, "/") || strings.Contains(resolved, "//") {
			t.Errorf("Resolve(%q) = %q", name, resolved)
		}
		if again, err := transports.Resolve(resolved); err != nil || again != resolved {
			t.Errorf("Resolve(%q) = (%q, %v)", resolved, again, err)
		}
		if transports.CheckROSName(resolved) == nil && strings.ContainsFunc(resolved, func(r rune) bool { return r > 127 }) {
			t.Errorf("CheckROSName takes %q", resolved)
		}
	})
}
