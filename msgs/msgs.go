// Package msgs is what a message is in Go: codecs between Go values and the
// bytes of an encoding, and descriptors of services. It knows no transport.
//
// # Generated packages
//
// robospec gen writes Go packages from ROS 2 interface packages, and those of ROS
// 2 itself are below this one. Their types and services are named as follows.
//
//   - A package has the name of the ROS package, a message its own: the type
//     std_msgs.String.
//   - A field and a constant get Go's capitals, of words ID, IDs, URI, URL and
//     UUID all of them: frame_id is FrameID. A constant stands behind its message:
//     COVARIANCE_TYPE_UNKNOWN of NavSatFix is NavSatFixCovarianceTypeUnknown. One
//     whose name is taken keeps its spelling behind an underscore: NavSatFix_TYPE.
//   - A char is a uint8, a wstring a string; T[] and T[<=N] are []T, and nil is an
//     empty one; T[N] is [N]T.
//   - The service SetBool is the variable SetBool, a [Service], of the messages
//     SetBoolRequest and SetBoolResponse; SetBoolEvent is what service
//     introspection publishes.
//   - The action Spin has the messages SpinGoal, SpinResult and SpinFeedback, the
//     services SpinSendGoal and SpinGetResult, and SpinFeedbackMessage, which goes
//     over its feedback topic.
//   - A service with a name that a message has, too, gets Srv at its end, EmptySrv
//     and EmptySrvRequest, and an action Action.
//   - NewX is an X with the default values of its definition and of all messages
//     that it holds. It exists only where there are some; elsewhere the zero X is
//     the default.
//
// Two fields that would have one name in Go are an error.
package msgs

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Raw is the encoding of a wire that carries bytes as they are. A Go []byte or
// string needs no other codec there, and a ROS 2 message goes as its CDR.
const Raw = "raw"

// CDR is the encoding of ROS 2: XCDR1 behind a 4-byte encapsulation header.
const CDR = "cdr"

// Codec turns a T into bytes and back. Implementations are stateless and may
// be used by several goroutines.
type Codec[T any] interface {
	// Append appends the encoded v to dst and returns the extended slice.
	Append(dst []byte, v T) ([]byte, error)
	// Decode reads one T. The result may alias src, which nobody changes.
	Decode(src []byte) (T, error)
	// Encoding names the bytes: Raw, CDR, "json".
	Encoding() string
	// TypeName is the interface type in ROS 2 notation, such as
	// "std_msgs/msg/String", or "" where there is none.
	TypeName() string
	// TypeHash is the RIHS01 hash of that type, or "".
	TypeHash() string
}

// Message is a T that brings its own codec, as generated interface types do.
type Message[T any] interface {
	CDRCodec() Codec[T]
}

// CodecFor is the codec of T on a wire of the given encoding: a Message has one
// on CDR and on Raw, []byte and string have one on Raw. Any other T is an error
// that says what to do; no T is ever encoded as JSON unless JSON was asked for.
func CodecFor[T any](encoding string) (Codec[T], error) {
	if m, ok := any((*T)(nil)).(Message[T]); ok && (encoding == CDR || encoding == Raw) {
		return m.CDRCodec(), nil
	}
	if encoding == Raw {
		var c any
		switch any(*new(T)).(type) {
		case []byte:
			c = bytesCodec{}
		case string:
			c = stringCodec{}
		}
		if c, ok := c.(Codec[T]); ok {
			return c, nil
		}
	}
	t := reflect.TypeFor[T]()
	if encoding == Raw {
		return nil, fmt.Errorf("msgs: %s has no codec for the encoding %q; pass one, such as harness.JSON[%[1]s]()", t, encoding)
	}
	return nil, fmt.Errorf("msgs: %s has no codec for the encoding %q; use a type that has one or pass one", t, encoding)
}

type bytesCodec struct{}

func (bytesCodec) Append(dst, v []byte) ([]byte, error) { return append(dst, v...), nil }
func (bytesCodec) Decode(src []byte) ([]byte, error)    { return src, nil }
func (bytesCodec) Encoding() string                     { return Raw }
func (bytesCodec) TypeName() string                     { return "" }
func (bytesCodec) TypeHash() string                     { return "" }

type stringCodec struct{}

func (stringCodec) Append(dst []byte, v string) ([]byte, error) { return append(dst, v...), nil }
func (stringCodec) Decode(src []byte) (string, error)           { return string(src), nil }
func (stringCodec) Encoding() string                            { return Raw }
func (stringCodec) TypeName() string                            { return "" }
func (stringCodec) TypeHash() string                            { return "" }

// JSON is a codec of T by encoding/json, for wires that carry bytes as they
// are. As there, unknown fields are ignored and null decodes to the zero T;
// bytes after the value are an error.
func JSON[T any]() Codec[T] { return jsonCodec[T]{} }

type jsonCodec[T any] struct{}

func (jsonCodec[T]) Append(dst []byte, v T) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return dst, fmt.Errorf("encode %s as JSON: %w", reflect.TypeFor[T](), err)
	}
	return append(dst, b...), nil
}

func (jsonCodec[T]) Decode(src []byte) (T, error) {
	var v T
	if err := json.Unmarshal(src, &v); err != nil {
		return *new(T), &DecodeError{Type: reflect.TypeFor[T]().String(), Offset: jsonOffset(err, src), Err: err}
	}
	return v, nil
}

func jsonOffset(err error, src []byte) int64 {
	var syntax *json.SyntaxError
	// In valid JSON it is T's own UnmarshalJSON that found one and counts.
	if errors.As(err, &syntax) && !json.Valid(src) {
		return syntax.Offset
	}
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return mistyped.Offset
	}
	return -1
}

func (jsonCodec[T]) Encoding() string { return "json" }
func (jsonCodec[T]) TypeName() string { return "" }
func (jsonCodec[T]) TypeHash() string { return "" }

// DecodeError is a payload that is no T.
type DecodeError struct {
	// Type is what it was decoded as.
	Type string
	// Offset is how many bytes had been read when it went wrong, −1 when the
	// codec does not know.
	Offset int64
	// Field is the path of the field it went wrong in, such as
	// "pose.pose.position.x", and "" when the codec does not know.
	Field string
	Err   error
}

func (e *DecodeError) Error() string {
	where := ""
	if e.Offset >= 0 {
		where = fmt.Sprintf(" at byte %d", e.Offset)
	}
	if e.Field != "" {
		where += ", field " + e.Field
	}
	return fmt.Sprintf("not a %s%s: %v", e.Type, where, e.Err)
}

// Unwrap is the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// Service describes a service: its type name and both its message types.
type Service[Req, Resp any] struct {
	// Name is the service type in ROS 2 notation, such as "std_srvs/srv/SetBool".
	Name string
	// Hash is the RIHS01 hash of the service type, or "".
	Hash string
	// Request and Response are the codecs. A nil one is looked up with CodecFor.
	Request  Codec[Req]
	Response Codec[Resp]
}

// JSONService describes a service whose request and response are Go values
// sent as JSON. name is its type in ROS 2 notation.
func JSONService[Req, Resp any](name string) Service[Req, Resp] {
	return Service[Req, Resp]{Name: name, Request: JSON[Req](), Response: JSON[Resp]()}
}
