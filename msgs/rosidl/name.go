package rosidl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robospec/robospec/internal/edit"
)

// name is an interface name in its parts: "std_srvs", "srv", "SetBool" and the
// suffix of a message or service within, such as "_Request".
type name struct{ pkg, kind, base, suffix string }

func (n name) String() string { return n.definition() + n.suffix }

// definition is the name of the interface that the file defines.
func (n name) definition() string { return n.pkg + "/" + n.kind + "/" + n.base }

var kinds = []string{"msg", "srv", "action"}

// splitName takes the name of a definition apart, which has no suffix.
func splitName(s string) (name, error) {
	n, err := parseName(s)
	if err == nil && n.suffix != "" {
		err = noName(s)
	}
	return n, err
}

// parseName takes a name apart.
func parseName(s string) (name, error) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 {
		return name{}, noName(s)
	}
	base, suffix := parts[2], ""
	if i := strings.IndexByte(base, '_'); i >= 0 {
		base, suffix = base[:i], base[i:]
	}
	if !slices.Contains(kinds, parts[1]) || !snakeCase(parts[0]) || !typeName(base) {
		return name{}, noName(s)
	}
	return name{parts[0], parts[1], base, suffix}, nil
}

func noName(s string) error {
	return fmt.Errorf("rosidl: %q is no interface name, which is such as std_msgs/msg/String, std_srvs/srv/SetBool or nav2_msgs/action/Spin", s)
}

// nearest is the names most like s, at most three, and none if more than a few
// letters differ.
func nearest(s string, names []string) []string {
	type near struct {
		name     string
		distance int
	}
	var all []near
	for _, n := range names {
		if d := edit.Distance(strings.ToLower(s), strings.ToLower(n)); d <= 4 {
			all = append(all, near{n, d})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, n := range all[:min(3, len(all))] {
		if n.distance <= all[0].distance+1 {
			out = append(out, n.name)
		}
	}
	return out
}
