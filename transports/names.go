package transports

import (
	"fmt"
	"strings"
)

// Resolve gives a topic or service name its one spelling: "odom" and "/odom"
// are the same name, written "/odom". It refuses what no wire takes: an empty
// name, an empty token, a trailing slash.
func Resolve(name string) (string, error) {
	n := "/" + strings.TrimPrefix(name, "/")
	for token := range strings.SplitSeq(n[1:], "/") {
		if token == "" {
			return "", &NameError{Name: name, Reason: "a name is tokens separated by single slashes, none of them empty"}
		}
	}
	return n, nil
}

// CheckROSName reports what keeps a resolved name from being a ROS 2 name:
// tokens of letters, digits and underscores that do not begin with a digit and
// hold no two underscores in a row. Source: ROS 2 design, "Topic and Service
// name mapping to DDS".
func CheckROSName(name string) error {
	for token := range strings.SplitSeq(strings.TrimPrefix(name, "/"), "/") {
		for i, r := range token {
			if r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' && i > 0 {
				continue
			}
			return &NameError{Name: name, Reason: fmt.Sprintf("%q may not stand at place %d of %q in a ROS 2 name", r, i+1, token)}
		}
		if strings.Contains(token, "__") {
			return &NameError{Name: name, Reason: fmt.Sprintf("%q holds two underscores in a row, which ROS 2 forbids", token)}
		}
	}
	return nil
}
