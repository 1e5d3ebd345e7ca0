package rosidl

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// ErrUnknown is in the errors about a name that a [Set] has no definition of.
var ErrUnknown = errors.New("rosidl: unknown interface")

// Set is a set of interface packages. Its definitions are read when first asked
// for, and kept. The zero value is an empty one. It may be used by several
// goroutines.
type Set struct {
	mu      sync.Mutex
	roots   []string
	sources map[string]string  // definition → its file
	parsed  map[string]*parsed // definition → what came of it
}

// parsed is a definition, or why there is none.
type parsed struct {
	message *Message
	service *Service
	action  *Action
	err     error
}

// Load finds the interface packages below roots. A root holds packages in
// folders, such as a share folder of ROS 2, or is a prefix with a share folder
// in it, such as /opt/ros/jazzy and all that AMENT_PREFIX_PATH names. Of a
// package found in several roots the first counts. No definition is read yet.
func Load(roots ...string) (*Set, error) {
	s := &Set{sources: map[string]string{}}
	from := map[string]string{}
	for _, root := range roots {
		if share := filepath.Join(root, "share"); isDir(share) {
			root = share
		}
		packages, err := os.ReadDir(root)
		if err != nil {
			return nil, fmt.Errorf("rosidl: read the packages of a root: %w", err)
		}
		s.roots = append(s.roots, root)
		for _, p := range packages {
			pkg := p.Name()
			for _, kind := range kinds {
				files, err := os.ReadDir(filepath.Join(root, pkg, kind))
				if err != nil {
					// Most packages have no interfaces, and a root has files, too.
					continue
				}
				for _, f := range files {
					base, ok := strings.CutSuffix(f.Name(), "."+kind)
					n, err := splitName(pkg + "/" + kind + "/" + base)
					if !ok || err != nil {
						continue
					}
					if first, ok := from[pkg]; ok && first != root {
						continue
					}
					from[pkg] = root
					s.sources[n.definition()] = filepath.Join(root, pkg, kind, f.Name())
				}
			}
		}
	}
	return s, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Add parses a definition and adds it, in place of one of the same name. file
// is for errors; fullName, such as "std_srvs/srv/SetBool", says what text is.
func (s *Set) Add(file, fullName string, text []byte) error {
	p := parseAny(file, fullName, text)
	if p.err != nil {
		return p.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parsed == nil {
		s.parsed = map[string]*parsed{}
	}
	s.parsed[fullName] = p
	return nil
}

// AddFile reads a .msg, .srv or .action file and adds it to package pkg, as
// [Set.Add] does. An empty pkg is the folder of its folder: arm_msgs of
// arm_msgs/msg/Joint.msg.
func (s *Set) AddFile(file, pkg string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("rosidl: %w", err)
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("rosidl: %w", err)
	}
	ext := filepath.Ext(abs)
	kind := strings.TrimPrefix(ext, ".")
	if !slices.Contains(kinds, kind) {
		return fmt.Errorf("rosidl: %s is no .msg, .srv or .action file", file)
	}
	if pkg == "" {
		pkg = filepath.Base(filepath.Dir(filepath.Dir(abs)))
	}
	return s.Add(file, pkg+"/"+kind+"/"+strings.TrimSuffix(filepath.Base(abs), ext), text)
}

func parseAny(file, fullName string, text []byte) *parsed {
	n, err := splitName(fullName)
	if err != nil {
		return &parsed{err: err}
	}
	p := &parsed{}
	switch n.kind {
	case "msg":
		p.message, p.err = ParseMessage(file, fullName, text)
	case "srv":
		p.service, p.err = ParseService(file, fullName, text)
	case "action":
		p.action, p.err = ParseAction(file, fullName, text)
	}
	return p
}

// Packages is the names of all packages, sorted.
func (s *Set) Packages() []string {
	packages := map[string]bool{}
	for _, n := range s.Names() {
		pkg, _, _ := strings.Cut(n, "/")
		packages[pkg] = true
	}
	return slices.Sorted(maps.Keys(packages))
}

// Names is the names of all messages, services and actions that have a
// definition of their own, sorted. Those they consist of, such as
// "std_srvs/srv/SetBool_Request", are not among them.
func (s *Set) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names()
}

func (s *Set) names() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(s.sources)), maps.Keys(s.parsed))
	slices.Sort(names)
	return slices.Compact(names)
}

// definition is what the file of a definition says.
func (s *Set) definition(n name) (*parsed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	def := n.definition()
	p, ok := s.parsed[def]
	if !ok {
		file, ok := s.sources[def]
		if !ok {
			return nil, s.unknown(n)
		}
		if text, err := os.ReadFile(file); err != nil {
			p = &parsed{err: fmt.Errorf("rosidl: read the definition of %s: %w", def, err)}
		} else {
			p = parseAny(file, def, text)
		}
		if s.parsed == nil {
			s.parsed = map[string]*parsed{}
		}
		s.parsed[def] = p
	}
	return p, p.err
}

// lookUp is the parsed name and the definition that it belongs to.
func (s *Set) lookUp(fullName string) (name, *parsed, error) {
	n, err := parseName(fullName)
	if err != nil {
		return name{}, nil, err
	}
	p, err := s.definition(n)
	return n, p, err
}

// Message is the definition of a message: of one with a .msg file, and of those
// that a service or an action consists of, such as
// "std_srvs/srv/SetBool_Request", "…_Event", "nav2_msgs/action/Spin_Goal",
// "…_SendGoal_Response" or "…_FeedbackMessage". The caller must not change it.
//
// Of the messages that its fields hold, none is looked up:
// [Set.Dependencies] does.
func (s *Set) Message(fullName string) (*Message, error) {
	n, p, err := s.lookUp(fullName)
	if err != nil {
		return nil, err
	}
	if m := p.messageOf(n); m != nil {
		return m, nil
	}
	return nil, p.mismatch(n, "a message")
}

// Service is the definition of a service: of one with a .srv file, and of those
// of an action, such as "nav2_msgs/action/Spin_SendGoal" and "…_GetResult". The
// caller must not change it.
func (s *Set) Service(fullName string) (*Service, error) {
	n, p, err := s.lookUp(fullName)
	if err != nil {
		return nil, err
	}
	if srv := p.serviceOf(n); srv != nil {
		return srv, nil
	}
	return nil, p.mismatch(n, "a service")
}

// Action is the definition of an action. The caller must not change it.
func (s *Set) Action(fullName string) (*Action, error) {
	n, p, err := s.lookUp(fullName)
	if err != nil {
		return nil, err
	}
	if p.action != nil && n.suffix == "" {
		return p.action, nil
	}
	return nil, p.mismatch(n, "an action")
}

// unknown says that there is no definition, and what there is. The caller holds
// the lock.
func (s *Set) unknown(n name) error {
	names := s.names()
	why := "its package " + n.pkg + " is not"
	for _, other := range names {
		if strings.HasPrefix(other, n.pkg+"/") {
			why = "its package has no such definition"
			break
		}
	}
	where := "the set, which was loaded from no folder"
	if len(s.roots) > 0 {
		where = strings.Join(s.roots, ", ")
	}
	hint := ""
	if near := nearest(n.definition(), names); len(near) > 0 {
		hint = "; there is " + strings.Join(near, ", ")
	}
	return fmt.Errorf("%w %s: %s in %s%s", ErrUnknown, n.definition(), why, where, hint)
}

// mismatch says that n names another thing than was wanted.
func (p *parsed) mismatch(n name, wanted string) error {
	var is string
	switch {
	case p.messageOf(n) != nil:
		is = "a message"
	case p.serviceOf(n) != nil:
		is = "a service"
	case n.suffix == "":
		is = "an action"
	default:
		return n.noPart()
	}
	return fmt.Errorf("rosidl: %s is %s, not %s", n, is, wanted)
}

func (n name) noPart() error {
	return fmt.Errorf("%w %s: %s is defined, but has no such part", ErrUnknown, n, n.definition())
}
