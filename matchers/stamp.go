package matchers

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// stamp is a time or a duration: that of ROS, which has seconds and nanoseconds,
// or Go's.
type stamp struct{ sec, nsec int64 }

var (
	goTime     = reflect.TypeFor[time.Time]()
	goDuration = reflect.TypeFor[time.Duration]()
)

// isTime reports whether t is a time or a duration: ROS 2 has Sec and Nanosec,
// ROS 1 Sec and Nsec.
func isTime(t reflect.Type) bool {
	if t == goTime || t == goDuration {
		return true
	}
	if t.Kind() != reflect.Struct || t.NumField() != 2 || t.Field(0).Name != "Sec" {
		return false
	}
	name := t.Field(1).Name
	return isInteger(t.Field(0).Type) && isInteger(t.Field(1).Type) && (name == "Nanosec" || name == "Nsec")
}

func isInteger(t reflect.Type) bool { return isNumber(t) && t.Kind() < reflect.Float32 }

// stampOf reads what isTime.
func stampOf(v reflect.Value) stamp {
	switch v.Type() {
	case goTime:
		t := v.Interface().(time.Time)
		return stamp{t.Unix(), int64(t.Nanosecond())}
	case goDuration:
		return stamp{0, v.Int()}.carried()
	}
	return stamp{integer(v.Field(0)), integer(v.Field(1))}.carried()
}

func integer(v reflect.Value) int64 {
	if v.CanInt() {
		return v.Int()
	}
	return int64(min(v.Uint(), math.MaxInt64))
}

// carried has 0 ≤ nsec < 1e9.
func (s stamp) carried() stamp {
	sec, nsec := s.sec+s.nsec/1e9, s.nsec%1e9
	if nsec < 0 {
		sec, nsec = sec-1, nsec+1e9
	}
	return stamp{sec, nsec}
}

func (s stamp) zero() bool { return s == stamp{} || s == zeroTime }

var zeroTime = stamp{sec: time.Time{}.Unix()}

// secondsSince is s − t.
func (s stamp) secondsSince(t stamp) float64 {
	return float64(s.sec) - float64(t.sec) + float64(s.nsec-t.nsec)/1e9
}

// since is s − t, at most what a Duration holds.
func (s stamp) since(t stamp) time.Duration {
	const most = float64(math.MaxInt64 / time.Second)
	switch d := float64(s.sec) - float64(t.sec); {
	case d >= most:
		return math.MaxInt64
	case d <= -most:
		return math.MinInt64 + 1 // whose opposite is one too
	}
	return time.Duration(s.sec-t.sec)*time.Second + time.Duration(s.nsec-t.nsec)
}

// String is in seconds, as ROS prints it: "1700000000.25s".
func (s stamp) String() string {
	sign := ""
	if s.sec < 0 {
		sign = "-"
		s = stamp{-s.sec, -s.nsec}.carried()
	}
	text := fmt.Sprintf("%s%d.%09d", sign, s.sec, s.nsec)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "s"
}
