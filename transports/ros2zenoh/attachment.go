package ros2zenoh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robospec/robospec/measure"
)

// attachment goes with each message, request and reply (zenoh.md §7.5). One that
// is malformed makes rmw_zenoh abort its process, so append is the only place
// that writes one.
//
//	i64 LE sequence · i64 LE time of sending in ns · 0x10 · 16 bytes of GID
type attachment struct {
	seq  int64 // from 1
	sent int64 // ns since 1970
	gid  measure.PublisherID
}

const attachmentLen = 33

func (a *attachment) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(a.seq))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(a.sent))
	dst = append(dst, byte(len(a.gid)))
	return append(dst, a.gid[:]...)
}

func (a *attachment) time() time.Time {
	if a.sent == 0 {
		return time.Time{}
	}
	return time.Unix(0, a.sent)
}

var (
	errNoAttachment  = errors.New("it has no attachment, and ROS 2 nodes drop it")
	errOldAttachment = errors.New("its attachment has the form of rmw_zenoh before Jazzy 0.2.4 and Humble 0.1.2, which aborts newer nodes, as theirs abort it")
)

// errOldPeer is a counterpart that our attachment would abort.
var errOldPeer = errors.New("it runs rmw_zenoh before Jazzy 0.2.4 or Humble 0.1.2, whose attachments have another form; ours would abort it: update it")

// What stands before each value of the old form.
const (
	oldSequence  = "\x0fsequence_number"
	oldTimestamp = "\x10source_timestamp"
	oldGID       = "\x0asource_gid\x10"
)

// parseAttachment reads an attachment; more bytes may follow. Of the old form it
// gives what it holds and errOldAttachment.
func parseAttachment(b []byte) (a attachment, err error) {
	switch {
	case len(b) == 0:
		return a, errNoAttachment
	case strings.HasPrefix(string(b[:min(len(b), len(oldSequence))]), oldSequence):
		return parseOld(b), errOldAttachment
	case len(b) < attachmentLen:
		return a, fmt.Errorf("its attachment has %d bytes, want %d: it aborts ROS 2 nodes", len(b), attachmentLen)
	case int(b[16]) != len(a.gid):
		return a, fmt.Errorf("its attachment has a GID of %d bytes, want %d: it aborts ROS 2 nodes", b[16], len(a.gid))
	}
	a.seq = int64(binary.LittleEndian.Uint64(b))
	a.sent = int64(binary.LittleEndian.Uint64(b[8:]))
	copy(a.gid[:], b[17:])
	return a, nil
}

// parseOld reads the old form, or nothing of it when it is not whole.
func parseOld(b []byte) (a attachment) {
	const ts, gid = len(oldSequence) + 8, len(oldSequence) + 8 + len(oldTimestamp) + 8
	const end = gid + len(oldGID)
	if len(b) < end+len(a.gid) || string(b[ts:ts+len(oldTimestamp)]) != oldTimestamp || string(b[gid:end]) != oldGID {
		return a
	}
	a.seq = int64(binary.LittleEndian.Uint64(b[len(oldSequence):]))
	a.sent = int64(binary.LittleEndian.Uint64(b[ts+len(oldTimestamp):]))
	copy(a.gid[:], b[end:])
	return a
}
