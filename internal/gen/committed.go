package gen

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/robospec/robospec/msgs/rosidl"
)

// Robospec is where the packages that robospec brings are imported from.
const Robospec = "github.com/robospec/robospec/msgs"

// committed is the messages of the packages that robospec brings, a name and its
// type hash each line. scripts/gen-msgs writes it.
//
//go:embed committed.txt
var committed string

// Brings reports whether robospec brings the Go package of a ROS package.
func Brings(pkg string) bool { return strings.Contains("\n"+committed, "\n"+pkg+"/") }

// Brought is the import path of a message that robospec brings. It is an error
// when it brings none of that name, or one of another definition than set has.
func Brought(set *rosidl.Set, message string) (string, error) {
	pkg, _, _ := split(message)
	if !Brings(pkg) {
		return "", fmt.Errorf("%s is needed, and robospec brings no package %s: generate it, too", message, pkg)
	}
	hash, err := set.Hash(message)
	if err != nil {
		return "", err
	}
	if !strings.Contains("\n"+committed, "\n"+message+" "+hash+"\n") {
		return "", fmt.Errorf("%s is not as robospec brings it, its definition differs: generate package %s, too", message, pkg)
	}
	return Robospec + "/" + pkg, nil
}
