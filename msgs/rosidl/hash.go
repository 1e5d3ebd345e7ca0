package rosidl

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Dependencies is all the messages that a message, a service or an action holds
// directly or through others, sorted by name, itself not included. A definition
// that is missing is an error, and so is one that holds itself.
func (s *Set) Dependencies(fullName string) ([]*Message, error) {
	_, all, err := s.reach(fullName)
	return all, err
}

// reach is the structure of an interface and those it holds.
func (s *Set) reach(fullName string) (top *Message, all []*Message, err error) {
	n, err := parseName(fullName)
	if err != nil {
		return nil, nil, err
	}
	top, err = s.structure(n)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	var path []string
	var visit func(m *Message) error
	visit = func(m *Message) error {
		path = append(path, m.Name)
		for _, f := range m.Fields {
			nested := f.Type.Nested
			if nested == "" {
				continue
			}
			if i := slices.Index(path, nested); i >= 0 {
				return fmt.Errorf("rosidl: %s holds itself: %s", nested, strings.Join(append(path[i:], nested), " → "))
			}
			if known[nested] {
				continue
			}
			known[nested] = true
			n, err := parseName(nested)
			if err != nil {
				return err
			}
			in, err := s.structure(n)
			if err != nil {
				return fmt.Errorf("field %s of %s: %w", f.Name, m.Name, err)
			}
			all = append(all, in)
			if err := visit(in); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		return nil
	}
	if err := visit(top); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(all, func(a, b *Message) int { return strings.Compare(a.Name, b.Name) })
	return top, all, nil
}

func (s *Set) structure(n name) (*Message, error) {
	p, err := s.definition(n)
	if err != nil {
		return nil, err
	}
	if m := p.structure(n); m != nil {
		return m, nil
	}
	return nil, n.noPart()
}

// Hash is the type hash of a message, a service or an action, or of a message or
// service that these consist of: "RIHS01_" and the SHA-256 of its
// [Set.Description] in hexadecimal digits (REP 2011).
func (s *Set) Hash(fullName string) (string, error) {
	d, err := s.Description(fullName)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(d))
	return "RIHS01_" + hex.EncodeToString(sum[:]), nil
}

// Description is the type description of what fullName names, in the JSON that
// its hash is taken of: a type_description_interfaces/msg/TypeDescription
// without default values.
func (s *Set) Description(fullName string) (string, error) {
	top, all, err := s.reach(fullName)
	if err != nil {
		return "", err
	}
	// encoding/json has no ", " and ": " between values, as the hash wants them.
	var b strings.Builder
	b.WriteString(`{"type_description": `)
	describe(&b, top)
	b.WriteString(`, "referenced_type_descriptions": [`)
	for i, m := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		describe(&b, m)
	}
	b.WriteString("]}")
	return b.String(), nil
}

func describe(b *strings.Builder, m *Message) {
	b.WriteString(`{"type_name": "` + m.Name + `", "fields": [`)
	fields := m.Fields
	if len(fields) == 0 {
		fields = []Field{{Name: "structure_needs_at_least_one_member", Type: Type{Kind: Uint8}}}
	}
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`{"name": "` + f.Name + `", "type": {"type_id": ` + strconv.Itoa(typeID(f.Type)) +
			`, "capacity": ` + strconv.Itoa(f.Type.Len) +
			`, "string_capacity": ` + strconv.Itoa(f.Type.StringBound) +
			`, "nested_type_name": "` + f.Type.Nested + `"}}`)
	}
	b.WriteString("]}")
}

// typeID is a constant of type_description_interfaces/msg/FieldType.
func typeID(t Type) int {
	id := int(t.Kind)
	if t.StringBound > 0 {
		id += 4 // FIELD_TYPE_BOUNDED_STRING, FIELD_TYPE_BOUNDED_WSTRING
	}
	return id + 48*int(t.Shape)
}
