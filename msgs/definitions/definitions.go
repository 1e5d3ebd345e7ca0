// Package definitions holds the interface definitions of the packages whose Go
// types are committed here, so that a tool decodes std_msgs and its like with no
// ROS installed: names, types, constants and defaults, without comments. The
// files are written by scripts/gen-definitions.
package definitions

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/robospec/robospec/msgs/rosidl"
)

//go:embed *.defs
var files embed.FS

// Head begins the first line of each definition in a file; its name follows.
const Head = "=== "

// Packages are the names of the packages, sorted.
func Packages() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".defs")
	}
	return names
}

// AddTo adds to the set the packages that it has nothing of: what was found on
// disk counts more.
func AddTo(set *rosidl.Set) error {
	there := set.Packages()
	for _, pkg := range Packages() {
		if slices.Contains(there, pkg) {
			continue
		}
		text, err := files.ReadFile(pkg + ".defs")
		if err != nil {
			return fmt.Errorf("definitions of %s: %w", pkg, err)
		}
		for definition := range strings.SplitSeq(string(text), Head) {
			name, body, ok := strings.Cut(definition, "\n")
			if !ok {
				continue // before the first head is nothing
			}
			if err := set.Add(pkg+".defs", name, []byte(body)); err != nil {
				return fmt.Errorf("definitions of %s: %w", pkg, err)
			}
		}
	}
	return nil
}
