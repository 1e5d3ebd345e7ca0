package rosidl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/msgs/rosidl"
)

// TestHashesOfTheWheels compares every type hash in the interface files of the
// ROS 2 Jazzy wheels, which rosidl_generator_type_description wrote.
func TestHashesOfTheWheels(t *testing.T) {
	share := testenv.ROSShare(t)
	files, err := filepath.Glob(filepath.Join(share, "*", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := rosidl.Load(share)
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var described struct {
			TypeHashes []struct {
				TypeName   string `json:"type_name"`
				HashString string `json:"hash_string"`
			} `json:"type_hashes"`
		}
		if err := json.Unmarshal(b, &described); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, h := range described.TypeHashes {
			hashes[h.TypeName] = h.HashString
		}
	}
	for name, want := range hashes {
		if got, err := set.Hash(name); got != want {
			t.Errorf("%s: hash %q, want %s; %v", name, got, want, err)
		}
	}
	t.Logf("%d hashes compared", len(hashes))
	if len(hashes) < 268 {
		t.Errorf("only %d hashes in %s, want 268 at least", len(hashes), share)
	}
	for _, name := range set.Names() {
		if _, ok := hashes[name]; !ok {
			t.Errorf("%s: no hash to compare with", name)
		}
	}
}
