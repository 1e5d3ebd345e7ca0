package builtin_interfaces //nolint:revive,staticcheck // the generated file has the package comment, and ROS the name

import (
	"fmt"
	"math"
	"time"
)

// TimeOf is the stamp of t, in seconds and nanoseconds since the Unix epoch. The
// zero time.Time, which means no time in Go, is the zero Time, which means none
// in ROS. Before 1901 and after 2038 a Time cannot be; such a t becomes the
// nearest that can.
func TimeOf(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	switch s := t.Unix(); {
	case s < math.MinInt32:
		return Time{Sec: math.MinInt32}
	case s > math.MaxInt32:
		return Time{Sec: math.MaxInt32, Nanosec: 999_999_999}
	default:
		return Time{Sec: int32(s), Nanosec: uint32(t.Nanosecond())}
	}
}

// Time is the instant of a stamp, in UTC and without a monotonic clock. A stamp
// of simulated time counts from the start of the simulation, and its instant is
// one of early 1970. The zero Time, which means none, is the zero time.Time.
func (m Time) Time() time.Time {
	if m == (Time{}) {
		return time.Time{}
	}
	return time.Unix(int64(m.Sec), int64(m.Nanosec)).UTC()
}

// String is the stamp in seconds.
func (m Time) String() string { return fmt.Sprintf("%d.%09d", m.Sec, m.Nanosec) }

// DurationOf is d in seconds and nanoseconds, the nanoseconds never negative. A
// d of over 68 years becomes the nearest Duration that can be.
func DurationOf(d time.Duration) Duration {
	s, ns := d/time.Second, d%time.Second
	if ns < 0 {
		s, ns = s-1, ns+time.Second
	}
	switch {
	case s < math.MinInt32:
		return Duration{Sec: math.MinInt32}
	case s > math.MaxInt32:
		return Duration{Sec: math.MaxInt32, Nanosec: 999_999_999}
	default:
		return Duration{Sec: int32(s), Nanosec: uint32(ns)}
	}
}

// Duration is d as Go has it.
func (m Duration) Duration() time.Duration {
	return time.Duration(m.Sec)*time.Second + time.Duration(m.Nanosec)
}

// String is the duration as Go prints it.
func (m Duration) String() string { return m.Duration().String() }
