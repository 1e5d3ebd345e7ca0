package zenoh

import (
	"strconv"
	"strings"
	"sync"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/session"
	"github.com/robospec/robospec/internal/zenoh/wire"
	"github.com/robospec/robospec/transports"
)

// Kinds of tokens; see the package's documentation.
const (
	pubTokens = "@robospec/pub/"
	subTokens = "@robospec/sub/"
	srvTokens = "@robospec/srv/"
)

// token is what a liveliness token says.
type token struct {
	id  wire.EntityID // zero in a foreign one with ids of its own
	qos transports.QoS
	key string
}

func (t token) text(kind string) string {
	s := kind + t.id.ZID.String() + "/" + strconv.FormatUint(uint64(t.id.EID), 10)
	letters := ""
	switch {
	case kind == pubTokens && t.qos.Reliability == transports.BestEffort:
		letters = "b"
	case kind == subTokens && t.qos.Reliability == transports.Reliable:
		letters = "r"
	}
	if t.qos.Durability == transports.TransientLocal {
		letters += "l"
	}
	if letters != "" {
		s += ":" + letters
	}
	return s + "/" + t.key
}

// parseToken reads a token of a kind. Unknown letters are passed over.
func parseToken(kind, s string) (t token, ok bool) {
	rest, ok := strings.CutPrefix(s, kind)
	if !ok {
		return t, false
	}
	chunks := strings.SplitN(rest, "/", 3)
	if len(chunks) < 3 {
		return t, false
	}
	eid, letters, _ := strings.Cut(chunks[1], ":")
	zid, err := wire.ParseZenohID(chunks[0])
	n, err2 := strconv.ParseUint(eid, 10, 32)
	if err == nil && err2 == nil {
		t.id = wire.EntityID{ZID: zid, EID: uint32(n)}
	}
	t.key = chunks[2]
	for _, l := range letters {
		switch l {
		case 'b':
			t.qos.Reliability = transports.BestEffort
		case 'r':
			t.qos.Reliability = transports.Reliable
		case 'l':
			t.qos.Durability = transports.TransientLocal
		}
	}
	return t, true
}

// tokensOn is the key expression of all tokens of a kind for a key expression.
func tokensOn(kind, key string) (string, error) { return keyexpr.Join(kind+"*/*", key) }

// counterparts counts who is at the other end of a topic or service.
type counterparts struct {
	kind  string           // of their tokens
	own   wire.ZenohID     // whose tokens do not count: its endpoints are counted in local
	suits func(token) bool // as far as QoS lets them meet

	mu       sync.Mutex
	declared map[string]bool  // the keys on which Zenoh shows them; nil where it shows none
	tokens   map[string]token // of others, by their text
	local    int
	n        int
	changed  chan struct{}
}

func (c *counterparts) init(kind string, own wire.ZenohID, suits func(token) bool) {
	c.kind, c.own, c.suits = kind, own, suits
	c.tokens, c.changed = map[string]token{}, make(chan struct{})
}

// Matched implements transports.Matched.
func (c *counterparts) Matched() (int, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n, c.changed
}

// others is the number of those that are not of this Conn.
func (c *counterparts) others() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n - c.local
}

// shown takes what Zenoh shows itself.
func (c *counterparts) shown(e session.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Gone {
		delete(c.declared, e.Key)
	} else {
		c.declared[e.Key] = true
	}
	c.recount()
}

// toldBy takes a token.
func (c *counterparts) toldBy(e session.Event) (t token, foreign bool) {
	t, ok := parseToken(c.kind, e.Key)
	if !ok || t.id.ZID == c.own {
		return t, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Gone {
		delete(c.tokens, e.Key)
	} else {
		c.tokens[e.Key] = t
	}
	c.recount()
	return t, true
}

func (c *counterparts) addLocal(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.local += n
	c.recount()
}

func (c *counterparts) recount() {
	n := c.local
	if c.declared == nil {
		for _, t := range c.tokens {
			if c.suits(t) {
				n++
			}
		}
	} else {
		named := map[string]bool{}
		for _, t := range c.tokens {
			if !c.declared[t.key] {
				continue // it is about to be declared, or gone
			}
			named[t.key] = true
			if c.suits(t) {
				n++
			}
		}
		n += len(c.declared) - len(named)
	}
	if n != c.n {
		c.n = n
		close(c.changed)
		c.changed = make(chan struct{})
	}
}
