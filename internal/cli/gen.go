package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/robospec/robospec/internal/gen"
	"github.com/robospec/robospec/msgs/rosidl"
)

const genLong = `Gen writes Go packages for ROS 2 interface packages: struct types with their
constants, default values and CDR codecs, and descriptors of services.

Without arguments it generates every package found below the share folders that
robospec does not bring itself. An argument is the name of a package, or a .msg,
.srv or .action file, whose package is the folder of its folder.

The Go package of arm_msgs is written to OUT/arm_msgs/arm_msgs.gen.go. It imports
other generated packages from the import path of OUT, and std_msgs, geometry_msgs
and so on from robospec.`

const genExample = `  robospec gen --share install/arm_msgs/share --out msgs
  robospec gen --out msgs arm_msgs gripper_msgs
  robospec gen --out msgs src/arm_msgs/msg/*.msg`

func genCommand() *cobra.Command {
	var g generation
	c := &cobra.Command{
		Use:     "gen [PACKAGE | FILE]...",
		Short:   "Write Go packages from ROS 2 interface definitions",
		Long:    genLong,
		Example: genExample,
		RunE:    g.run,
	}
	flags := c.Flags()
	flags.StringArrayVar(&g.share, "share", nil, "folder of interface packages, such as /opt/ros/jazzy/share; may be repeated (default $AMENT_PREFIX_PATH)")
	flags.StringVar(&g.out, "out", "", "folder to write the packages to")
	flags.StringVar(&g.module, "module", "", "import path of OUT (default from the go.mod above it)")
	_ = c.MarkFlagRequired("out") // it exists
	return c
}

var errNoShare = misusef("AMENT_PREFIX_PATH is empty; name the folder of the interface packages with --share, or a definition by its file")

// generation is a run of robospec gen.
type generation struct {
	share       []string
	out, module string

	set   *rosidl.Set
	names map[string][]string // ROS package → its definitions to generate
}

func (g *generation) run(cmd *cobra.Command, args []string) error {
	if err := g.choose(args); err != nil {
		return err
	}
	if g.module == "" {
		var err error
		if g.module, err = importPathOf(g.out); err != nil {
			return err
		}
	}
	// Nothing is written unless all of it can be.
	sources := map[string][]byte{}
	for _, pkg := range slices.Sorted(maps.Keys(g.names)) {
		source, err := gen.Package(g.set, pkg, g.names[pkg], g.importPath)
		if err != nil {
			return err
		}
		sources[pkg] = source
	}
	for _, pkg := range slices.Sorted(maps.Keys(sources)) {
		file := filepath.Join(g.out, pkg, pkg+".gen.go")
		if err := write(file, sources[pkg]); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), file)
	}
	return nil
}

// choose loads the definitions and picks what to generate.
func (g *generation) choose(args []string) error {
	roots := g.share
	if len(roots) == 0 {
		for _, prefix := range filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH")) {
			if prefix != "" {
				roots = append(roots, prefix)
			}
		}
	}
	var err error
	if g.set, err = rosidl.Load(roots...); err != nil {
		return err
	}
	found := map[string][]string{}
	for _, name := range g.set.Names() {
		pkg, _, _ := strings.Cut(name, "/")
		found[pkg] = append(found[pkg], name)
	}
	g.names = map[string][]string{}
	for _, arg := range args {
		if ext := filepath.Ext(arg); ext == "" {
			if len(roots) == 0 {
				return errNoShare
			}
			if found[arg] == nil {
				return misusef("no package %s with interface definitions below %s", arg, strings.Join(roots, ", "))
			}
			g.names[arg] = found[arg]
			continue
		}
		if err := g.addFile(arg); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		return nil
	}
	if len(roots) == 0 {
		return errNoShare
	}
	for pkg, names := range found {
		if !gen.Brings(pkg) {
			g.names[pkg] = names
		}
	}
	if len(g.names) == 0 {
		return misusef("no interface package below %s that robospec does not bring already", strings.Join(roots, ", "))
	}
	return nil
}

func (g *generation) addFile(file string) error {
	if err := g.set.AddFile(file, ""); err != nil {
		return err
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	ext := filepath.Ext(abs)
	pkg := filepath.Base(filepath.Dir(filepath.Dir(abs)))
	g.names[pkg] = append(g.names[pkg], pkg+"/"+ext[1:]+"/"+strings.TrimSuffix(filepath.Base(abs), ext))
	return nil
}

func (g *generation) importPath(message string) (string, error) {
	pkg, _, _ := strings.Cut(message, "/")
	if g.names[pkg] != nil {
		return path.Join(g.module, pkg), nil
	}
	return gen.Brought(g.set, message)
}

// importPathOf is the import path of a folder, which need not exist yet, from
// the go.mod in it or above it.
func importPathOf(folder string) (string, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	for root := abs; ; root = filepath.Dir(root) {
		text, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			rel, err := filepath.Rel(root, abs)
			if err != nil {
				return "", err
			}
			module := modfile.ModulePath(text)
			if module == "" {
				return "", fmt.Errorf("%s names no module", filepath.Join(root, "go.mod"))
			}
			return path.Join(module, filepath.ToSlash(rel)), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if root == filepath.Dir(root) {
			return "", misusef("no go.mod in %s or above it; name the import path of OUT with --module", folder)
		}
	}
}

const generated = "// Code generated by robospec gen; DO NOT EDIT."

// write replaces a file that robospec generated, and no other.
func write(file string, source []byte) error {
	old, err := os.ReadFile(file)
	if err == nil && !bytes.HasPrefix(old, []byte(generated)) {
		return fmt.Errorf("%s is there and was not generated by robospec; move it away", file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, source, 0o644)
}
