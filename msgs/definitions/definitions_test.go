package definitions_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/msgs/definitions"
	"github.com/robospec/robospec/msgs/rosidl"
)

func embedded(t *testing.T) *rosidl.Set {
	t.Helper()
	set := new(rosidl.Set)
	if err := definitions.AddTo(set); err != nil {
		t.Fatal(err)
	}
	return set
}

// TestSameAsOnDisk compares with the wheels of ROS 2 Jazzy: what is embedded are
// the same definitions, with the same hashes.
func TestSameAsOnDisk(t *testing.T) {
	disk, err := rosidl.Load(testenv.ROSShare(t))
	if err != nil {
		t.Fatal(err)
	}
	set := embedded(t)
	packages := definitions.Packages()
	if !slices.Equal(packages, set.Packages()) {
		t.Errorf("packages %q, in the set %q", packages, set.Packages())
	}
	var names []string
	for _, name := range disk.Names() {
		if pkg, _, _ := strings.Cut(name, "/"); slices.Contains(packages, pkg) {
			names = append(names, name)
		}
	}
	if !slices.Equal(set.Names(), names) {
		t.Errorf("names (-on disk +embedded):\n%s", cmp.Diff(names, set.Names()))
	}
	for _, name := range names {
		want, err := disk.Hash(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := set.Hash(name); err != nil || got != want {
			t.Errorf("hash of %s: %s, %v; want %s", name, got, err, want)
		}
		if d := cmp.Diff(model(t, disk, name), model(t, set, name)); d != "" {
			t.Errorf("%s (-on disk +embedded):\n%s", name, d)
		}
	}
}

// model is what a definition says.
func model(t *testing.T, set *rosidl.Set, name string) any {
	t.Helper()
	var m any
	var err error
	switch strings.Split(name, "/")[1] {
	case "msg":
		m, err = set.Message(name)
	case "srv":
		m, err = set.Service(name)
	default:
		m, err = set.Action(name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDiskCountsMore(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "std_msgs", "msg")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "String.msg"), []byte("string text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := rosidl.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := definitions.AddTo(set); err != nil {
		t.Fatal(err)
	}
	m, err := set.Message("std_msgs/msg/String")
	if err != nil || m.Fields[0].Name != "text" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := set.Message("std_msgs/msg/Bool"); err == nil {
		t.Error("two versions of one package are mixed")
	}
	if _, err := set.Message("geometry_msgs/msg/Twist"); err != nil {
		t.Error(err)
	}
}

func BenchmarkAddTo(b *testing.B) {
	for b.Loop() {
		if err := definitions.AddTo(new(rosidl.Set)); err != nil {
			b.Fatal(err)
		}
	}
}
