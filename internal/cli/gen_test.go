package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/robospec/robospec/internal/testenv"
)

// TestGen generates packages as a user does, in a module of its own, and runs a
// program that uses them.
func TestGen(t *testing.T) {
	share := testenv.ROSShare(t)
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/gen",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SHARE", share)
			e.Setenv("MODULE", module)
			// Scripts have a home of their own, and go is to find its caches.
			for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
				out, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				e.Setenv(name, strings.TrimSpace(string(out)))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code},
	})
}
