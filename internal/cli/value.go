package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/robospec/robospec/msgs/dynamic"
)

// structure is a part of a message that has fields: a *dynamic.Message, or an
// object of JSON.
type structure interface {
	Get(field string) (any, error)
	Fields() []string
}

// structureOf is v as one, false when it is none.
func structureOf(v any) (structure, bool) {
	switch v := v.(type) {
	case *dynamic.Message:
		return v, true
	case map[string]any:
		return jsonObject(v), true
	}
	return nil, false
}

type jsonObject map[string]any

func (o jsonObject) Fields() []string { return slices.Sorted(maps.Keys(o)) }

func (o jsonObject) Get(field string) (any, error) {
	v, ok := o[field]
	if !ok {
		return nil, fmt.Errorf("no field %q; there is %s", field, orNone(strings.Join(o.Fields(), ", "), "none"))
	}
	return v, nil
}

// listOf is v as a list, false when it is none.
func listOf(v any) (reflect.Value, bool) {
	r := reflect.ValueOf(v)
	return r, r.Kind() == reflect.Slice
}

func kindOf(v any) string {
	if _, ok := structureOf(v); ok {
		return "a message"
	}
	if _, ok := listOf(v); ok {
		return "a list"
	}
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "a truth value"
	case nil:
		return "null"
	}
	return "a number"
}

// partJSON is a part of a message in JSON. Numbers that JSON has not are texts,
// as in a message as a whole.
func partJSON(v any) ([]byte, error) {
	switch x := v.(type) {
	case float32:
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return partJSON(f)
		}
	case float64:
		switch {
		case math.IsNaN(x):
			return []byte(`"NaN"`), nil
		case math.IsInf(x, 1):
			return []byte(`"Infinity"`), nil
		case math.IsInf(x, -1):
			return []byte(`"-Infinity"`), nil
		}
	}
	list, ok := listOf(v)
	if !ok {
		return json.Marshal(v)
	}
	b := []byte{'['}
	for i := range list.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		one, err := partJSON(list.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		b = append(b, one...)
	}
	return append(b, ']'), nil
}

// most is how many elements of a list are shown to people, as of a message.
const most = 128

// partText is a part of a message for people, in YAML.
func partText(v any, full bool) string {
	switch v := v.(type) {
	case *dynamic.Message:
		if full {
			return strings.TrimRight(v.YAML(), "\n")
		}
		return strings.TrimRight(v.String(), "\n")
	case map[string]any, []any:
		b, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(b)
	case string:
		return v
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	list, ok := listOf(v)
	if !ok {
		return fmt.Sprint(v)
	}
	var parts []string
	n := list.Len()
	for i := range n {
		if i == most && !full {
			parts = append(parts, fmt.Sprintf("# and %d more; --full shows them", n-most))
			break
		}
		one := partText(list.Index(i).Interface(), full)
		parts = append(parts, "- "+strings.ReplaceAll(one, "\n", "\n  "))
	}
	if n == 0 {
		return "[]"
	}
	return strings.Join(parts, "\n")
}
