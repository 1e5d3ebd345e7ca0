package broker

import (
	"errors"
	"iter"
	"slices"
	"sync"
	"time"
)

// Kind is the kind of a message.
type Kind uint8

const (
	// Put and Delete are publications.
	Put Kind = iota + 1
	Delete
	// Query is a question, Reply and Refusal answer it, Final ends the answers of
	// one who was asked.
	Query
	Reply
	Refusal
	Final
	// Declare and Undeclare are of subscribers, queryables and tokens; Interest
	// asks for them. They go to the broker, not to another link.
	Declare
	Undeclare
	Interest
)

func (k Kind) String() string {
	names := [...]string{"", "put", "delete", "query", "reply", "refusal", "final", "declare", "undeclare", "interest"}
	if int(k) < len(names) {
		return names[k]
	}
	return ""
}

func (k Kind) disturbable() bool { return k >= Put && k <= Refusal }

// Entry is a message that passed, once for each reader.
type Entry struct {
	// At is when it was read from its sender.
	At time.Time
	// From sent it. To is who was to get it, nil if nobody was.
	From, To *Link
	Kind     Kind
	Key      string
	// Size is that of the payload in bytes. Payload is its beginning, up to
	// Recorder.Payload bytes.
	Size                int
	Payload, Attachment []byte
	// Note says what faults did to it, why it went to nobody, or what is declared.
	Note string
}

// Recorder says how much to keep. The zero value is 10,000 messages with the
// first 64 KiB of each.
type Recorder struct {
	// Messages is how many of the most recent are kept.
	Messages int
	// Payload is how many bytes of each payload are kept; negative is none.
	Payload int
}

// Recording is a record of all that passes. It may be read from any goroutine
// while it goes on.
type Recording struct {
	b    *Broker
	conf Recorder

	mu   sync.Mutex
	ring []Entry
	n    uint64 // entries so far
}

// Record begins a record. It ends with Close, or with the broker.
func (b *Broker) Record(c Recorder) (*Recording, error) {
	setDefault(&c.Messages, 10_000)
	setDefault(&c.Payload, 64<<10)
	if c.Messages < 0 {
		return nil, errors.New("broker: a record of fewer than no messages")
	}
	r := &Recording{b: b, conf: c}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		return nil, ErrClosed
	}
	h := b.hooks.Load().clone()
	h.recordings = append(h.recordings, r)
	b.hooks.Store(h)
	return r, nil
}

// Close ends the record, which can still be read. It is idempotent.
func (r *Recording) Close() error {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	h := r.b.hooks.Load().clone()
	h.recordings = slices.DeleteFunc(h.recordings, func(x *Recording) bool { return x == r })
	r.b.hooks.Store(h.orNil())
	return nil
}

// All are the entries kept at the time of the call, the oldest first.
func (r *Recording) All() iter.Seq[Entry] {
	r.mu.Lock()
	all := slices.Clone(r.ring)
	if len(all) == r.conf.Messages {
		at := int(r.n % uint64(len(all)))
		all = slices.Concat(all[at:], all[:at])
	}
	r.mu.Unlock()
	return slices.Values(all)
}

// Lost is how many older entries are not kept any more.
func (r *Recording) Lost() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n - uint64(len(r.ring))
}

func (r *Recording) add(e Entry) {
	e.Payload = slices.Clone(e.Payload[:min(len(e.Payload), max(r.conf.Payload, 0))])
	e.Attachment = slices.Clone(e.Attachment)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) < r.conf.Messages {
		r.ring = append(r.ring, e)
	} else {
		r.ring[r.n%uint64(len(r.ring))] = e
	}
	r.n++
}

// keep records a message.
func (h *hooks) keep(p *passing, note string) {
	if len(h.recordings) == 0 {
		return
	}
	e := Entry{At: p.at, From: p.from, To: p.to, Kind: p.kind, Key: p.key, Size: p.size,
		Payload: p.payload, Attachment: p.attached, Note: p.note}
	if note != "" {
		e.Note = note
	}
	for _, r := range h.recordings {
		r.add(e)
	}
}
