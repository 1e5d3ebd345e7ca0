// Package testenv knows which real peers are on this machine and runs them for
// tests. A missing peer skips the test on a laptop and fails it where CI=true.
// A peer ends with the test that started it, and, should the test program die,
// with its standard input.
package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Missing skips the test because what is not here, or fails it when CI=true.
// remedy says how to get it.
func Missing(tb testing.TB, what, remedy string) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("testenv: %s is missing, and CI=true allows no skip: %s", what, remedy)
	}
	tb.Skipf("testenv: SKIPPED since %s is missing: %s", what, remedy)
}

// findPython is the first Python that can import zenoh, "" when none can.
var findPython = sync.OnceValue(func() string {
	if p := os.Getenv("ROBOSPEC_PYTHON"); p != "" {
		if imports(p, "zenoh") {
			return p
		}
		return ""
	}
	for _, p := range []string{filepath.Join(moduleRoot(), ".venv", "bin", "python"), "python3"} {
		if imports(p, "zenoh") {
			return p
		}
	}
	return ""
})

func imports(python, module string) bool {
	return exec.Command(python, "-c", "import "+module).Run() == nil
}

func moduleRoot() string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "."
	}
	return strings.TrimSpace(string(out))
}

// Python is a Python interpreter that has eclipse-zenoh: ROBOSPEC_PYTHON, else
// .venv/bin/python at the module root, else python3.
func Python(tb testing.TB) string {
	tb.Helper()
	p := findPython()
	if p == "" {
		Missing(tb, "a Python with eclipse-zenoh",
			"python3 -m venv .venv && .venv/bin/pip install eclipse-zenoh at the module root, or point ROBOSPEC_PYTHON at one")
	}
	return p
}
