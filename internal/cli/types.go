package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/definitions"
	"github.com/robospec/robospec/msgs/dynamic"
	"github.com/robospec/robospec/msgs/rosidl"
	"github.com/robospec/robospec/transports"
)

func addShare(cmd *cobra.Command, shares *[]string) {
	cmd.Flags().StringArrayVar(shares, "share", nil, "a `folder` of interface packages, such as /opt/ros/jazzy/share; may be repeated (default $AMENT_PREFIX_PATH, and what robospec brings)")
}

// library is the definitions there are.
type library struct {
	roots []string
	// disk is what was found on disk, completed by what robospec brings; own is
	// only the latter.
	disk, own *rosidl.Set
}

// openLibrary loads the definitions found below shares, or else below
// AMENT_PREFIX_PATH, and those that robospec brings.
func openLibrary(shares []string) (*library, error) {
	l := &library{own: new(rosidl.Set), roots: shares}
	if len(shares) == 0 {
		for _, prefix := range filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH")) {
			if info, err := os.Stat(prefix); err == nil && info.IsDir() {
				l.roots = append(l.roots, prefix)
			}
		}
	}
	var err error
	if l.disk, err = rosidl.Load(l.roots...); err != nil {
		return nil, misusef("--share: %v", err)
	}
	if err := definitions.AddTo(l.disk); err != nil {
		return nil, err
	}
	return l, definitions.AddTo(l.own)
}

// find is the set whose definition of an interface has the hash; "" is any.
func (l *library) find(name, hash string) (*rosidl.Set, error) {
	got, err := l.disk.Hash(name)
	if err == nil && (hash == "" || hash == got) {
		return l.disk, nil
	}
	if own, ownErr := l.own.Hash(name); ownErr == nil && hash == own {
		return l.own, nil
	}
	if errors.Is(err, rosidl.ErrUnknown) {
		if _, near, ok := strings.Cut(err.Error(), "; there is "); ok {
			name += " (but of " + near + ")"
		}
		return nil, fmt.Errorf("no definition of %s in %s; --share DIR says where others are",
			name, listed(append(slices.Clone(l.roots), "what robospec brings")))
	}
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("the definition of %s that was found has the hash %s, the graph's has %s; --share DIR says where the right one is", name, got, hash)
}

// typeName makes one spelling of the name of a message (kind "msg") or a
// service (kind "srv"): std_msgs/String is std_msgs/msg/String, too.
func typeName(s, kind string) (string, error) {
	parts := strings.Split(s, "/")
	if len(parts) == 2 {
		parts = []string{parts[0], kind, parts[1]}
	}
	if len(parts) != 3 || parts[0] == "" || parts[2] == "" {
		example := "std_msgs/msg/String"
		if kind == "srv" {
			example = "std_srvs/srv/SetBool"
		}
		return "", misusef("%q is no type; write one like %s", s, example)
	}
	return strings.Join(parts, "/"), nil
}

// definition is a message type that is known.
type definition struct {
	set   *rosidl.Set
	typ   transports.Type
	codec msgs.Codec[*dynamic.Message]
}

// message is the definition of a message type; without a hash it gets that of
// what was found.
func (l *library) message(typ transports.Type) (*definition, error) {
	set, err := l.find(typ.Name, typ.Hash)
	if err != nil {
		return nil, err
	}
	c, err := dynamic.Codec(set, typ.Name)
	if err != nil {
		return nil, err
	}
	return &definition{set, transports.Type{Name: typ.Name, Hash: c.TypeHash()}, c}, nil
}

// read makes a message of a YAML text.
func (d *definition) read(text string) (*dynamic.Message, error) {
	return messageOf(d.set, d.typ.Name, text)
}

func messageOf(set *rosidl.Set, name, text string) (*dynamic.Message, error) {
	m, err := dynamic.New(set, name)
	if err != nil {
		return nil, err
	}
	if err := m.SetYAML(text); err != nil {
		return nil, misusef("%q is no %s: %v", text, name, err)
	}
	return m, nil
}

// service is the definition of a service type.
func (l *library) service(typ transports.Type) (*serviceDefinition, error) {
	set, err := l.find(typ.Name, typ.Hash)
	if err != nil {
		return nil, err
	}
	def, err := set.Service(typ.Name)
	if err != nil {
		return nil, err
	}
	srv, err := dynamic.Service(set, typ.Name)
	if err != nil {
		return nil, err
	}
	return &serviceDefinition{set, def.Request.Name, def.Response.Name, srv}, nil
}

// headerStamps decodes the field header.stamp of messages.
func (s *session) headerStamps(topic string, types []transports.Type, typ transports.Type, shares []string) (func([]byte) (any, error), error) {
	if len(types) > 1 && typ.Name == "" {
		return nil, misusef("%s has %d types; pick one with --type: %s", topic, len(types), strings.Join(typeNames(types), ", "))
	}
	d, err := s.decoderOf(typ, shares)
	if err != nil {
		return nil, err
	}
	if d.why != nil {
		return nil, misusef("--stamp header: %v", d.why)
	}
	stamp := fieldPath{{field: "header"}, {field: "stamp"}}
	if d.message != nil {
		if err := stamp.check(d.message.set, typ.Name); err != nil {
			return nil, misusef("--stamp header: %v", err)
		}
	}
	return func(raw []byte) (any, error) {
		v, err := d.decode(raw)
		if err != nil {
			return nil, err
		}
		if v, err = stamp.in(v); err != nil {
			return nil, err
		}
		var parts [2]int64
		for i, field := range []string{"sec", "nanosec"} {
			part, err := fieldPath{{field: field}}.in(v)
			if err != nil {
				return nil, err
			}
			switch x := part.(type) {
			case int32:
				parts[i] = int64(x)
			case uint32:
				parts[i] = int64(x)
			case float64: // of JSON
				parts[i] = int64(x)
			default:
				return nil, fmt.Errorf("header.stamp.%s is %s", field, kindOf(part))
			}
		}
		return time.Unix(parts[0], parts[1]), nil
	}, nil
}
