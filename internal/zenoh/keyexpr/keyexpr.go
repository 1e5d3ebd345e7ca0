// Package keyexpr implements the key expressions of Zenoh (zenoh.md §5):
// slash-separated chunks in which "*" is any one chunk, "**" any number of
// chunks, and "$*" any text within a chunk. A chunk that begins with "@" is
// verbatim: only the identical chunk matches it, no wildcard does.
//
// Key expressions are plain strings. [Validate] and [Canon] are the doors for
// text from outside; the other functions expect canonical arguments. With
// others they still return, without meaning.
package keyexpr

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says which rule a text breaks, and where.
type Error struct {
	Key  string
	Pos  int    // byte position in Key
	Rule string // e.g. "empty chunk"
}

func (e *Error) Error() string {
	return fmt.Sprintf("key expression %q: %s at byte %d", e.Key, e.Rule, e.Pos)
}

const (
	wild       = "*"
	doubleWild = "**"
	subWild    = "$*"
	verbatim   = '@'
)

// Validate returns an [*Error] unless key is a key expression in canonical form,
// the only form allowed on the wire.
func Validate(key string) error {
	if err := check(key); err != nil {
		return err
	}
	afterDouble := false
	for pos := 0; pos <= len(key); {
		chunk := chunkAt(key, pos)
		rule := ""
		switch {
		case chunk == subWild:
			rule = `chunk "$*" is not canonical, want "*"`
		case afterDouble && chunk == doubleWild:
			rule = `"**/**" is not canonical, want "**"`
		case afterDouble && chunk == wild:
			rule = `"**/*" is not canonical, want "*/**"`
		}
		if rule != "" {
			return &Error{key, pos, rule}
		}
		if i := strings.Index(chunk, subWild+subWild); i >= 0 {
			return &Error{key, pos + i, `"$*$*" is not canonical, want "$*"`}
		}
		afterDouble = chunk == doubleWild
		pos += len(chunk) + 1
	}
	return nil
}

// Canon returns the canonical form of key, or an [*Error] if key is no key
// expression. It returns key itself if that is canonical.
func Canon(key string) (string, error) {
	if err := check(key); err != nil {
		return "", err
	}
	if Validate(key) == nil {
		return key, nil
	}
	out := make([]byte, 0, len(key)+1)
	double := false // a "**" is held back until the "*" after it are out
	for pos := 0; pos <= len(key); {
		chunk := chunkAt(key, pos)
		pos += len(chunk) + 1
		for strings.Contains(chunk, subWild+subWild) {
			chunk = strings.ReplaceAll(chunk, subWild+subWild, subWild)
		}
		if chunk == subWild {
			chunk = wild
		}
		if chunk == doubleWild {
			double = true
			continue
		}
		if double && chunk != wild {
			out = append(out, doubleWild+"/"...)
			double = false
		}
		out = append(append(out, chunk...), '/')
	}
	if double {
		out = append(out, doubleWild+"/"...)
	}
	return string(out[:len(out)-1]), nil
}

// check returns an error unless key is a key expression, canonical or not.
func check(key string) error {
	if key == "" {
		return &Error{key, 0, "empty key"}
	}
	for pos := 0; pos <= len(key); {
		chunk := chunkAt(key, pos)
		if chunk == "" {
			return &Error{key, pos, "empty chunk"}
		}
		if chunk != wild && chunk != doubleWild {
			if i, rule := badByte(chunk); rule != "" {
				return &Error{key, pos + i, rule}
			}
		}
		pos += len(chunk) + 1
	}
	for i, r := range key {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(key[i:]); n == 1 {
				return &Error{key, i, "invalid UTF-8"}
			}
		}
	}
	return nil
}

// badByte finds what may not stand in a chunk other than "*" and "**".
func badByte(chunk string) (pos int, rule string) {
	for i := 0; i < len(chunk); i++ {
		switch chunk[i] {
		case '#':
			return i, `"#" is forbidden`
		case '?':
			return i, `"?" is forbidden`
		case '*':
			return i, `"*" must be a whole chunk or follow "$"`
		case '$':
			if i+1 == len(chunk) || chunk[i+1] != '*' {
				return i, `"$" must be followed by "*"`
			}
			i++
		}
	}
	return 0, ""
}

// Join returns the canonical form of a + "/" + b.
func Join(a, b string) (string, error) { return Canon(a + "/" + b) }

// IsConcrete reports whether key has no wildcard, so that it names one key and
// not a set. (A verbatim chunk that contains "$*" counts as a wildcard.)
func IsConcrete(key string) bool { return strings.IndexByte(key, '*') < 0 }

// Intersects reports whether some key matches both a and b. It is symmetric. If
// one of them is concrete, it tells whether that key matches the other. It does
// not allocate unless both have wildcards and one is very long.
func Intersects(a, b string) bool {
	switch {
	case a == b:
		return true
	case IsConcrete(a):
		if IsConcrete(b) {
			return false
		}
		return Includes(b, a)
	case IsConcrete(b):
		return Includes(a, b)
	}
	return intersects(a, b)
}

// Includes reports whether a covers b: every key that matches b matches a. With
// wildcards in b it is decided chunk by chunk as the reference implementation
// does: "**" in b is covered by "**" only. It does not allocate.
func Includes(a, b string) bool {
	// Greedy matching with one point to return to suffices: if a later "**" of a
	// cannot reach the end, an earlier one that absorbs more cannot either, as
	// neither absorbs a verbatim chunk.
	ai, bi := 0, 0
	star, starB := -1, 0 // behind the last "**" of a, and the first chunk of b it has not absorbed
	for bi <= len(b) {
		bc := chunkAt(b, bi)
		if ai <= len(a) {
			ac := chunkAt(a, ai)
			if ac == doubleWild {
				ai += len(ac) + 1
				star, starB = ai, bi
				continue
			}
			if chunkIncludes(ac, bc) {
				ai += len(ac) + 1
				bi += len(bc) + 1
				continue
			}
		}
		if star < 0 {
			return false
		}
		bc = chunkAt(b, starB)
		if isVerbatim(bc) {
			return false
		}
		starB += len(bc) + 1
		ai, bi = star, starB
	}
	for ai <= len(a) {
		ac := chunkAt(a, ai)
		if ac != doubleWild {
			return false
		}
		ai += len(ac) + 1
	}
	return true
}

// chunkAt returns the chunk of key that begins at pos ≤ len(key).
func chunkAt(key string, pos int) string {
	key = key[pos:]
	if i := strings.IndexByte(key, '/'); i >= 0 {
		return key[:i]
	}
	return key
}

func isVerbatim(chunk string) bool { return chunk != "" && chunk[0] == verbatim }

// chunkIncludes is Includes for single chunks; a is not "**".
func chunkIncludes(a, b string) bool {
	switch {
	case a == b:
		return true
	case b == doubleWild || isVerbatim(a) || isVerbatim(b):
		return false
	case a == wild:
		return true
	}
	return globIncludes(a, b)
}

// globIncludes matches b against a with "$*" as the wildcard of a. A "$*" of b
// needs no care: no literal of a contains its bytes, so only a "$*" covers it.
func globIncludes(a, b string) bool {
	ai, bi := 0, 0
	star, starB := -1, 0
	for bi < len(b) {
		switch {
		case strings.HasPrefix(a[ai:], subWild):
			ai += len(subWild)
			star, starB = ai, bi
		case ai < len(a) && a[ai] == b[bi]:
			ai++
			bi++
		case star >= 0:
			starB++
			ai, bi = star, starB
		default:
			return false
		}
	}
	for strings.HasPrefix(a[ai:], subWild) {
		ai += len(subWild)
	}
	return ai == len(a)
}

// rowLen is the row that fits the stack in the tables below; longer ones are
// allocated.
const rowLen = 128

// intersects decides the case of wildcards on both sides. row[j] says whether
// the chunks of a so far and the first j chunks of b can stand for the same
// keys. A table instead of backtracking keeps hostile input at O(len(a)·len(b)).
func intersects(a, b string) bool {
	var buf [rowLen]bool
	row := buf[:]
	if n := strings.Count(b, "/") + 2; n > len(row) {
		row = make([]bool, n)
	}

	// No chunk of a: b so far must be all "**".
	row[0] = true
	for j, bi := 0, 0; bi <= len(b) && chunkAt(b, bi) == doubleWild; j++ {
		row[j+1] = true
		bi += len(doubleWild) + 1
	}
	var last bool
	for ai := 0; ai <= len(a); {
		ac := chunkAt(a, ai)
		ai += len(ac) + 1
		diag := row[0] // of the row before, one to the left
		row[0] = row[0] && ac == doubleWild
		j := 0
		for bi := 0; bi <= len(b); j++ {
			bc := chunkAt(b, bi)
			bi += len(bc) + 1
			above := row[j+1]
			switch {
			case ac == doubleWild:
				row[j+1] = above || row[j] && !isVerbatim(bc)
			case bc == doubleWild:
				row[j+1] = row[j] || above && !isVerbatim(ac)
			default:
				row[j+1] = diag && chunkIntersects(ac, bc)
			}
			diag = above
		}
		last = row[j]
	}
	return last
}

// chunkIntersects is Intersects for single chunks other than "**".
func chunkIntersects(a, b string) bool {
	switch {
	case a == b:
		return true
	case isVerbatim(a) || isVerbatim(b):
		return false
	case a == wild || b == wild:
		return true
	}
	aSub, bSub := strings.IndexByte(a, '$') >= 0, strings.IndexByte(b, '$') >= 0
	switch {
	case aSub && bSub:
		return globIntersects(a, b)
	case aSub:
		return globIncludes(a, b)
	case bSub:
		return globIncludes(b, a)
	}
	return false
}

// globIntersects decides whether two chunks that both have "$*" share a text,
// with the same table as intersects, over bytes.
func globIntersects(a, b string) bool {
	var buf [rowLen]bool
	row := buf[:]
	if n := len(b) + 1; n > len(row) {
		row = make([]bool, n)
	}
	row[0] = true
	for j := 0; strings.HasPrefix(b[j:], subWild); j += len(subWild) {
		row[j+len(subWild)] = true
	}
	for ai := 0; ai < len(a); {
		aSub := strings.HasPrefix(a[ai:], subWild)
		ac := a[ai]
		ai++
		if aSub {
			ai++
		}
		diag := row[0]
		row[0] = row[0] && aSub
		for j := 0; j < len(b); {
			bSub := strings.HasPrefix(b[j:], subWild)
			next := j + 1
			if bSub {
				next++
			}
			above := row[next]
			switch {
			case aSub, bSub:
				row[next] = above || row[j]
			default:
				row[next] = diag && ac == b[j]
			}
			diag = above
			j = next
		}
	}
	return row[len(b)]
}
