// Package gen writes Go packages from ROS 2 interface definitions. It reads no
// definition and writes no file: the model goes in and Go source comes out. What
// gets which name in Go stands in package msgs, for those who use them.
package gen

import (
	"bytes"
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"

	"github.com/robospec/robospec/msgs/rosidl"
)

// Package is the Go source of a ROS package: of those of its definitions that
// are named, such as "std_srvs/srv/SetBool". importPath tells where the Go
// package of a message of another ROS package, such as "std_msgs/msg/Header",
// is imported from. The result is formatted as gofmt does it and is the same
// for the same definitions.
func Package(set *rosidl.Set, pkg string, names []string, importPath func(message string) (string, error)) ([]byte, error) {
	if keywords[pkg] || pkg == "cdr" || pkg == "msgs" || pkg == "math" {
		return nil, fmt.Errorf("package %s: Go code needs this name for something else; rename the ROS package", pkg)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("package %s has no interface definitions", pkg)
	}
	g := &generator{set: set, pkg: pkg, importPath: importPath, taken: map[string]string{}, imports: map[string]string{}}
	if err := g.plan(names); err != nil {
		return nil, err
	}
	g.emit()
	if g.err != nil {
		return nil, g.err
	}
	source, err := format.Source(g.file())
	if err != nil {
		return nil, fmt.Errorf("format package %s: %w", pkg, err)
	}
	return source, nil
}

// generator makes one package. The first error sticks.
type generator struct {
	set        *rosidl.Set
	pkg        string
	importPath func(message string) (string, error)

	messages []message
	services []service
	suffixed map[string]string // definition that gives way to a message → what its Go names have behind its own
	taken    map[string]string // Go name → what has it

	imports  map[string]string // ROS package → import path
	needMath bool
	out      bytes.Buffer
	err      error
}

// message is one struct type to write.
type message struct {
	*rosidl.Message
	goName string
}

type service struct {
	*rosidl.Service
	goName string
}

func (g *generator) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// parts are the messages and services that a definition consists of.
type parts struct {
	messages, services []string
	names              []string // all that get a Go name
}

func partsOf(definition string) parts {
	var p parts
	ofService := func(s string) {
		p.services = append(p.services, s)
		p.messages = append(p.messages, s+"_Request", s+"_Response", s+"_Event")
	}
	switch _, kind, _ := split(definition); kind {
	case "srv":
		ofService(definition)
	case "action":
		p.messages = append(p.messages, definition+"_Goal", definition+"_Result", definition+"_Feedback")
		ofService(definition + "_SendGoal")
		ofService(definition + "_GetResult")
		p.messages = append(p.messages, definition+"_FeedbackMessage")
		p.names = []string{definition} // kept free for what describes an action
	default:
		p.messages = []string{definition}
	}
	p.names = slices.Concat(p.names, p.messages, p.services)
	return p
}

// plan looks everything up and gives each message and service its Go name.
func (g *generator) plan(names []string) error {
	// Messages come first: it is they that keep their names.
	order := map[string]int{"msg": 0, "srv": 1, "action": 2}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	slices.SortStableFunc(names, func(a, b string) int {
		_, kindA, _ := split(a)
		_, kindB, _ := split(b)
		return order[kindA] - order[kindB]
	})
	g.suffixed = map[string]string{}
	for _, n := range names {
		if _, err := g.set.Dependencies(n); err != nil {
			return err
		}
		p := partsOf(n)
		if clash := g.clash(p); clash != "" {
			_, kind, _ := split(n)
			if g.suffixed[n] = map[string]string{"srv": "Srv", "action": "Action"}[kind]; g.suffixed[n] != "" {
				clash = g.clash(p)
			}
			if clash != "" {
				return fmt.Errorf("%s and %s would have one name in Go", clash, n)
			}
		}
		for _, part := range p.names {
			g.taken[g.goName(part)] = part
		}
		for _, name := range p.messages {
			m, err := g.set.Message(name)
			if err != nil {
				return err
			}
			g.messages = append(g.messages, message{m, g.goName(name)})
		}
		for _, name := range p.services {
			s, err := g.set.Service(name)
			if err != nil {
				return err
			}
			g.services = append(g.services, service{s, g.goName(name)})
		}
	}
	return nil
}

// clash is what has a Go name of p already, or "".
func (g *generator) clash(p parts) string {
	for _, part := range p.names {
		if other, ok := g.taken[g.goName(part)]; ok {
			return other
		}
	}
	return ""
}

// goName is the Go name of a message or service of this package.
func (g *generator) goName(fullName string) string {
	pkg, kind, rest := split(fullName)
	definition, suffix := base(rest)
	return definition + g.suffixed[pkg+"/"+kind+"/"+definition] + strings.ReplaceAll(suffix, "_", "")
}

// goType is the Go name of a message as this package calls it.
func (g *generator) goType(fullName string) string {
	pkg, _, rest := split(fullName)
	if pkg == g.pkg {
		name := g.goName(fullName)
		if g.taken[name] != fullName {
			g.fail(fmt.Errorf("%s is needed in package %s and is not among what is generated; name it, too, or its whole package", fullName, g.pkg))
		}
		return name
	}
	path, err := g.importPath(fullName)
	if err != nil {
		g.fail(fmt.Errorf("package %s: %w", g.pkg, err))
	}
	g.imports[pkg] = path
	return pkg + "." + rest
}

// reserve takes a Go name for something in this package, and says whether it
// was free.
func (g *generator) reserve(name, what string) bool {
	if _, ok := g.taken[name]; ok {
		return false
	}
	g.taken[name] = what
	return true
}

// file is the package around what was emitted.
func (g *generator) file() []byte {
	var f bytes.Buffer
	fmt.Fprintf(&f, "// Code generated by robospec gen; DO NOT EDIT.\n// Source: the ROS 2 package %s\n\n", g.pkg)
	fmt.Fprintf(&f, "// Package %s holds the interface types of the ROS 2 package of that name.\npackage %[1]s\n\nimport (\n", g.pkg)
	if g.needMath {
		f.WriteString("\"math\"\n\n")
	}
	paths := slices.Collect(maps.Values(g.imports))
	paths = append(paths, Robospec, Robospec+"/cdr")
	slices.Sort(paths)
	for _, p := range paths {
		fmt.Fprintf(&f, "%q\n", p)
	}
	f.WriteString(")\n")
	f.Write(g.out.Bytes())
	return f.Bytes()
}
