// Package advanced is the part of zenoh-ext's advanced publishers and
// subscribers that late joiners need: a publisher keeps its last publications
// and answers for them under the key K/@adv/pub/<zid>/uhlc/_, and a subscriber
// asks for them (zenoh.md §7.8). It does not recover lost publications.
package advanced

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/internal/zenoh/session"
)

// Cache keeps the last publications of one publisher for late joiners.
type Cache struct {
	depth     int
	queryable *session.Queryable
	token     *session.Token

	mu   sync.Mutex
	kept []session.Sample // a ring once it is full
	next int              // where the next one goes then
}

// NewCache declares the cache of a publisher on key. Keep is to be the
// publisher's session.PublisherConfig.Sent, and its Timestamp is to be set.
func NewCache(ctx context.Context, s *session.Session, key string, depth int) (*Cache, error) {
	at, err := keyexpr.Join(key, "@adv/pub/"+s.ZID().String()+"/uhlc/_")
	if err != nil {
		return nil, err
	}
	c := &Cache{depth: depth}
	if c.queryable, err = s.Queryable(ctx, at, false, c.answer); err != nil {
		return nil, err
	}
	if c.token, err = s.Token(ctx, at); err != nil {
		c.queryable.Close()
		return nil, err
	}
	return c, nil
}

// Keep remembers a publication, and forgets the oldest beyond the depth.
func (c *Cache) Keep(x *session.Sample) {
	kept := *x
	kept.Payload, kept.Attachment = bytes.Clone(x.Payload), bytes.Clone(x.Attachment)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) < c.depth {
		c.kept = append(c.kept, kept)
		return
	}
	c.kept[c.next] = kept
	c.next = (c.next + 1) % c.depth
}

// last is the newest n, the oldest first.
func (c *Cache) last(n int) []session.Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = min(n, len(c.kept))
	out := make([]session.Sample, 0, n)
	for i := len(c.kept) - n; i < len(c.kept); i++ {
		out = append(out, c.kept[(c.next+i)%len(c.kept)])
	}
	return out
}

func (c *Cache) answer(r *session.Request) {
	defer r.Finish()
	for _, x := range c.last(most(r.Parameters)) {
		put := session.Put{Payload: x.Payload, Delete: x.Delete, Encoding: x.Encoding, Attachment: x.Attachment, Timestamp: x.Timestamp}
		if r.Reply(x.Key, put, x.Source) != nil {
			return // the session ended: nobody waits any more
		}
	}
}

// most is the parameter _max, or no limit.
func most(parameters string) int {
	for p := range strings.SplitSeq(parameters, ";") {
		if v, ok := strings.CutPrefix(p, "_max="); ok {
			if n, err := strconv.Atoi(v); err == nil && n >= 0 {
				return n
			}
		}
	}
	return int(^uint(0) >> 1)
}

// Close withdraws the cache.
func (c *Cache) Close() {
	c.token.Close()
	c.queryable.Close()
}
