package dynamic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetYAML replaces the message by one in YAML or JSON, as the command lines of
// ROS take it: "{linear: {x: 1.5}}", "data: hello". Fields left out get their
// defaults; an empty text is a message of defaults. A string may go without
// quotes whatever it looks like. When there is an error, m is as it was.
func (m *Message) SetYAML(text string) error {
	v, err := m.parse(text)
	if err != nil {
		return err
	}
	if s, ok := v.(scalar); v == nil || ok && s.value == nil {
		v = map[string]any{}
	}
	return m.Set("", v)
}

func (m *Message) parse(text string) (any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		// JSON writes a character beyond 16 bits as two escapes, which the
		// YAML package does not know.
		if v, jsonErr := fromJSON(text); jsonErr == nil {
			return v, nil
		}
		return nil, fmt.Errorf("message in YAML: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return valueOf(doc.Content[0], m.t.name)
}

func fromJSON(text string) (any, error) {
	if !json.Valid([]byte(text)) {
		return nil, errors.New("not JSON")
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// valueOf is a YAML node as maps, slices and scalars.
func valueOf(n *yaml.Node, what string) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: a name of a field of %s is no text", key.Line, what)
			}
			if _, twice := m[key.Value]; twice {
				return nil, fmt.Errorf("line %d: field %s of %s is there twice", key.Line, key.Value, what)
			}
			v, err := valueOf(value, what)
			if err != nil {
				return nil, err
			}
			m[key.Value] = v
		}
		return m, nil
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, e := range n.Content {
			var err error
			if list[i], err = valueOf(e, what); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.ScalarNode:
		s := scalar{text: n.Value}
		// YAML 1.1, which ROS reads, has more words for these.
		switch {
		case n.Style == 0 && n.Tag == "!!str" && (n.Value == "yes" || n.Value == "on"):
			s.value = true
		case n.Style == 0 && n.Tag == "!!str" && (n.Value == "no" || n.Value == "off"):
			s.value = false
		case n.Tag == "!!binary":
			var b string
			if err := n.Decode(&b); err != nil {
				return nil, fmt.Errorf("line %d: %w", n.Line, err)
			}
			s.value = []byte(b)
		default:
			if err := n.Decode(&s.value); err != nil {
				return nil, fmt.Errorf("line %d: %w", n.Line, err)
			}
		}
		return s, nil
	}
	return nil, fmt.Errorf("line %d: *%s is a YAML alias, and a message has none", n.Line, n.Value)
}
