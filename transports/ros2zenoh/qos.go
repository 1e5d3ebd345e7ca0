package ros2zenoh

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/robospec/robospec/transports"
)

// rmwDepth is the depth that rmw_zenoh leaves out.
const rmwDepth = 42

// The seconds and nanoseconds of a duration without end, which rmw_zenoh leaves
// out.
const (
	endlessSec  = math.MaxInt64 / uint64(time.Second)
	endlessNsec = math.MaxInt64 % uint64(time.Second)
)

// offered is what a publisher offers that leaves something open.
func offered(q transports.QoS) transports.QoS {
	if q.Reliability == transports.ReliabilityDefault {
		q.Reliability = transports.Reliable
	}
	return q
}

// asked is what a subscription asks for that leaves something open: as little as
// can be, to hear everyone.
func asked(q transports.QoS) transports.QoS {
	if q.Reliability == transports.ReliabilityDefault {
		q.Reliability = transports.BestEffort
	}
	return q
}

// qosText is a QoS as it stands in tokens (zenoh.md §7.3):
//
//	<reliability>:<durability>:<history>,<depth>:<deadline s>,<ns>:<lifespan s>,<ns>:<liveliness>,<lease s>,<ns>
//
// What rmw_zenoh has by default is left out.
func qosText(q transports.QoS) string {
	var b []byte
	if q.Reliability == transports.BestEffort {
		b = append(b, '2')
	}
	b = append(b, ':')
	if q.Durability == transports.TransientLocal {
		b = append(b, '1')
	}
	b = append(b, ':')
	if q.History == transports.KeepAll {
		b = append(b, '2')
	}
	b = append(b, ',')
	if d := q.HistoryDepth(); d != rmwDepth {
		b = strconv.AppendInt(b, int64(d), 10)
	}
	b = appendDuration(append(b, ':'), q.Deadline)
	b = appendDuration(append(b, ':'), q.Lifespan)
	b = append(b, ':')
	if q.Liveliness == transports.ManualByTopic {
		b = append(b, '3')
	}
	return string(appendDuration(append(b, ','), q.Lease))
}

func appendDuration(b []byte, d time.Duration) []byte {
	if d <= 0 {
		d = math.MaxInt64
	}
	if sec := uint64(d / time.Second); sec != endlessSec {
		b = strconv.AppendUint(b, sec, 10)
	}
	b = append(b, ',')
	if ns := uint64(d % time.Second); ns != endlessNsec {
		b = strconv.AppendUint(b, ns, 10)
	}
	return b
}

// parseQoS reads the QoS of a token. The defaults of history and liveliness,
// keep last and automatic, come out as HistoryDefault and LivelinessDefault.
func parseQoS(s string) (q transports.QoS, err error) {
	parts := strings.Split(s, ":")
	if len(parts) < 6 {
		return q, fmt.Errorf("%d fields, want 6", len(parts))
	}
	p := qosParser{}
	q.Reliability = transports.Reliable
	if p.choice("reliability", parts[0], 2) == 2 {
		q.Reliability = transports.BestEffort
	}
	q.Durability = transports.Volatile
	if p.choice("durability", parts[1], 2) == 1 {
		q.Durability = transports.TransientLocal
	}
	history := p.split("history", parts[2], 2)
	if p.choice("history", history[0], 2) == 2 {
		q.History = transports.KeepAll
	}
	if q.Depth = int(p.number("depth", history[1], rmwDepth, math.MaxInt)); q.Depth == 0 {
		q.Depth = rmwDepth
	}
	q.Deadline = p.duration("deadline", p.split("deadline", parts[3], 2))
	q.Lifespan = p.duration("lifespan", p.split("lifespan", parts[4], 2))
	liveliness := p.split("liveliness", parts[5], 3)
	// 2 is the manual by node of old, which ROS 2 has no more: it promises less
	// than manual by topic.
	if p.choice("liveliness", liveliness[0], 3) == 3 {
		q.Liveliness = transports.ManualByTopic
	}
	q.Lease = p.duration("lease", liveliness[1:])
	if p.err != nil {
		return transports.QoS{}, p.err
	}
	return q, nil
}

// qosParser keeps the first error.
type qosParser struct{ err error }

func (p *qosParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *qosParser) split(what, s string, n int) []string {
	parts := strings.Split(s, ",")
	if len(parts) < n {
		p.fail("%s %q has %d parts, want %d", what, s, len(parts), n)
		return make([]string, n)
	}
	return parts
}

// number is a value up to most, or what stands for nothing.
func (p *qosParser) number(what, s string, nothing, most uint64) uint64 {
	if s == "" {
		return nothing
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > most {
		p.fail("%s %q is no number up to %d", what, s, most)
		return nothing
	}
	return n
}

// choice is one of the values of a policy, 0 being the default.
func (p *qosParser) choice(what, s string, most uint64) uint64 { return p.number(what, s, 0, most) }

// duration is 0 for one without end, which rmw_zenoh takes 0 for, too.
func (p *qosParser) duration(what string, parts []string) time.Duration {
	sec := p.number(what, parts[0], endlessSec, math.MaxUint64)
	ns := p.number(what, parts[1], endlessNsec, math.MaxUint64)
	if sec > endlessSec || ns >= uint64(time.Second) || sec == endlessSec && ns >= endlessNsec {
		return 0
	}
	return time.Duration(sec)*time.Second + time.Duration(ns)
}
