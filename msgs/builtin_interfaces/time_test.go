package builtin_interfaces_test

import (
	"math"
	"testing"
	"time"

	"github.com/robospec/robospec/msgs/builtin_interfaces"
)

func TestTimeAndBack(t *testing.T) {
	for _, tt := range []struct {
		ros   builtin_interfaces.Time
		goes  time.Time
		exact bool // both ways
	}{
		{builtin_interfaces.Time{}, time.Time{}, true},
		{builtin_interfaces.Time{Sec: 1, Nanosec: 2}, time.Unix(1, 2), true},
		{builtin_interfaces.Time{Sec: -2, Nanosec: 999_999_999}, time.Unix(-1, -1), true},
		{builtin_interfaces.Time{Sec: math.MaxInt32, Nanosec: 999_999_999}, time.Date(2038, 1, 19, 3, 14, 7, 999_999_999, time.UTC), true},
		{builtin_interfaces.Time{Sec: math.MaxInt32, Nanosec: 999_999_999}, time.Date(2039, 1, 1, 0, 0, 0, 0, time.UTC), false},
		{builtin_interfaces.Time{Sec: math.MinInt32}, time.Date(1901, 12, 13, 20, 45, 52, 0, time.UTC), true},
		{builtin_interfaces.Time{Sec: math.MinInt32}, time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), false},
		{builtin_interfaces.Time{}, time.Unix(0, 0), false}, // no time in ROS
	} {
		if got := builtin_interfaces.TimeOf(tt.goes); got != tt.ros {
			t.Errorf("TimeOf(%v) is %v, want %v", tt.goes, got, tt.ros)
		}
		if got := tt.ros.Time(); tt.exact && !got.Equal(tt.goes) {
			t.Errorf("time of %v is %v, want %v", tt.ros, got, tt.goes)
		}
	}
}

func TestDurationAndBack(t *testing.T) {
	const longest = math.MaxInt32*time.Second + 999_999_999
	for _, tt := range []struct {
		ros   builtin_interfaces.Duration
		goes  time.Duration
		exact bool // both ways
	}{
		{builtin_interfaces.Duration{}, 0, true},
		{builtin_interfaces.Duration{Sec: 1, Nanosec: 500_000_000}, 1500 * time.Millisecond, true},
		{builtin_interfaces.Duration{Sec: -1, Nanosec: 999_999_999}, -1, true},
		{builtin_interfaces.Duration{Sec: -2, Nanosec: 500_000_000}, -1500 * time.Millisecond, true},
		{builtin_interfaces.Duration{Sec: -1}, -time.Second, true},
		{builtin_interfaces.Duration{Sec: math.MaxInt32, Nanosec: 999_999_999}, longest, true},
		{builtin_interfaces.Duration{Sec: math.MaxInt32, Nanosec: 999_999_999}, math.MaxInt64, false},
		{builtin_interfaces.Duration{Sec: math.MinInt32}, math.MinInt32 * time.Second, true},
		{builtin_interfaces.Duration{Sec: math.MinInt32}, math.MinInt64, false},
	} {
		if got := builtin_interfaces.DurationOf(tt.goes); got != tt.ros {
			t.Errorf("DurationOf(%v) is %+v, want %+v", tt.goes, got, tt.ros)
		}
		if got := tt.ros.Duration(); tt.exact && got != tt.goes {
			t.Errorf("duration of %+v is %v, want %v", tt.ros, got, tt.goes)
		}
	}
}
