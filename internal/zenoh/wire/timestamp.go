package wire

import (
	"math"
	"time"

	raw "github.com/robospec/robospec/internal/wire"
)

// NTP64 is a time as Zenoh stamps it: Unix seconds in the upper 32 bits, a
// binary fraction of a second in the lower 32.
type NTP64 uint64

// NTP64FromTime converts t. The fraction is rounded up, so that [NTP64.Time]
// gives t back to the nanosecond. Times before 1970 become 0, times after 2106
// the largest value.
func NTP64FromTime(t time.Time) NTP64 {
	sec := t.Unix()
	switch {
	case sec < 0:
		return 0
	case sec > math.MaxUint32:
		return math.MaxUint64
	}
	frac := (uint64(t.Nanosecond())<<32 + 999_999_999) / 1_000_000_000
	return NTP64(uint64(sec)<<32 | frac)
}

// Time converts to a local time, fractions of a nanosecond dropped.
func (n NTP64) Time() time.Time {
	ns := (uint64(n) & math.MaxUint32 * 1_000_000_000) >> 32
	return time.Unix(int64(n>>32), int64(ns))
}

// Timestamp is a time with the id of the clock that gave it. The zero value
// means absent; a timestamp on the wire always has an id.
type Timestamp struct {
	Time NTP64
	ID   ZenohID
}

// IsZero reports whether t is absent.
func (t Timestamp) IsZero() bool { return t.ID.IsZero() }

func (t Timestamp) len() int { return VLELen(uint64(t.Time)) + 1 + t.ID.Len() }

func (t Timestamp) append(dst []byte) []byte {
	dst = AppendVLE(dst, uint64(t.Time))
	return append(append(dst, t.ID.n), t.ID.b[:t.ID.n]...)
}

func (t *Timestamp) parse(c *raw.Cursor) {
	t.Time = NTP64(VLE(c, "timestamp"))
	t.ID = readZID(c, int(vleMax(c, "timestamp id length", 16)))
}
