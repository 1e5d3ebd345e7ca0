// Command gen-definitions writes the files of msgs/definitions: the definitions
// of interface packages without their comments.
//
//	go run ./scripts/gen-definitions SHARE FOLDER PACKAGE...
//
// SHARE is a share folder of ROS 2, FOLDER where the files go. Files of packages
// that are not named are removed.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robospec/robospec/msgs/definitions"
	"github.com/robospec/robospec/msgs/rosidl"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: gen-definitions SHARE FOLDER PACKAGE...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen-definitions:", err)
		os.Exit(1)
	}
}

func run(share, folder string, packages []string) error {
	set, err := rosidl.Load(share)
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.defs"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if !slices.Contains(packages, strings.TrimSuffix(filepath.Base(file), ".defs")) {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	for _, pkg := range packages {
		var b strings.Builder
		for _, name := range set.Names() {
			if !strings.HasPrefix(name, pkg+"/") {
				continue
			}
			b.WriteString(definitions.Head + name + "\n")
			if err := define(&b, set, name); err != nil {
				return err
			}
		}
		if b.Len() == 0 {
			return fmt.Errorf("no package %s in %s", pkg, share)
		}
		if err := os.WriteFile(filepath.Join(folder, pkg+".defs"), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// define writes one definition.
func define(b *strings.Builder, set *rosidl.Set, name string) error {
	switch strings.Split(name, "/")[1] {
	case "msg":
		m, err := set.Message(name)
		if err != nil {
			return err
		}
		message(b, m)
	case "srv":
		s, err := set.Service(name)
		if err != nil {
			return err
		}
		message(b, s.Request)
		b.WriteString("---\n")
		message(b, s.Response)
	case "action":
		a, err := set.Action(name)
		if err != nil {
			return err
		}
		message(b, a.Goal)
		b.WriteString("---\n")
		message(b, a.Result)
		b.WriteString("---\n")
		message(b, a.Feedback)
	default:
		return fmt.Errorf("%s is no message, service or action", name)
	}
	return nil
}

func message(b *strings.Builder, m *rosidl.Message) {
	for _, c := range m.Constants {
		fmt.Fprintf(b, "%s %s=%s\n", typeText(c.Type), c.Name, literal(c.Value))
	}
	for _, f := range m.Fields {
		fmt.Fprintf(b, "%s %s", typeText(f.Type), f.Name)
		if f.Default != nil {
			b.WriteString(" " + literal(f.Default))
		}
		b.WriteByte('\n')
	}
}

func typeText(t rosidl.Type) string {
	s := map[rosidl.Kind]string{
		rosidl.Int8: "int8", rosidl.Uint8: "uint8", rosidl.Int16: "int16", rosidl.Uint16: "uint16",
		rosidl.Int32: "int32", rosidl.Uint32: "uint32", rosidl.Int64: "int64", rosidl.Uint64: "uint64",
		rosidl.Float32: "float32", rosidl.Float64: "float64", rosidl.Bool: "bool", rosidl.Byte: "byte",
		rosidl.String: "string", rosidl.WString: "wstring",
		rosidl.Nested: strings.Replace(t.Nested, "/msg/", "/", 1),
	}[t.Kind]
	if t.StringBound > 0 {
		s += fmt.Sprintf("<=%d", t.StringBound)
	}
	switch t.Shape {
	case rosidl.Array:
		s += fmt.Sprintf("[%d]", t.Len)
	case rosidl.Bounded:
		s += fmt.Sprintf("[<=%d]", t.Len)
	case rosidl.Sequence:
		s += "[]"
	}
	return s
}

func literal(v any) string {
	switch v := v.(type) {
	case string:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(v) + `"`
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = literal(x)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}
