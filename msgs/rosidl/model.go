// Package rosidl reads ROS 2 interface definitions (.msg, .srv, .action) and
// computes what rosidl derives from them: the types a service or an action
// consists of, type descriptions and RIHS01 type hashes. It knows nothing of
// any encoding.
package rosidl

// Kind is what a Type is made of. Its values are the type ids of
// type_description_interfaces/msg/FieldType for a single value.
type Kind uint8

const (
	Nested  Kind = 1
	Int8    Kind = 2
	Uint8   Kind = 3
	Int16   Kind = 4
	Uint16  Kind = 5
	Int32   Kind = 6
	Uint32  Kind = 7
	Int64   Kind = 8
	Uint64  Kind = 9
	Float32 Kind = 10
	Float64 Kind = 11
	Bool    Kind = 15
	Byte    Kind = 16
	String  Kind = 17
	WString Kind = 18
)

// Shape is how many values of its Kind a Type holds.
type Shape uint8

const (
	Single   Shape = iota
	Array          // [N]: always Len values
	Bounded        // [<=N]: at most Len values
	Sequence       // []
)

// Type is the type of a field or a constant.
type Type struct {
	Kind Kind
	// Nested is the full name of the message, such as "geometry_msgs/msg/Point",
	// when Kind is Nested, and empty otherwise.
	Nested string
	// StringBound is N of string<=N and wstring<=N, 0 for none.
	StringBound int
	Shape       Shape
	// Len is N of Array and Bounded, 0 otherwise.
	Len int
}

// Field is a field of a message.
type Field struct {
	Name string
	Type Type
	// Default is nil without one. Else it is a bool, int64, uint64, float64 or
	// string (of a wstring, too), or, unless Shape is Single, a []any of these.
	// Byte and unsigned types have a uint64.
	Default any
}

// Constant is a named value in a message. Value is as Field.Default.
type Constant struct {
	Name  string
	Type  Type
	Value any
}

// Message is the definition of one structure. An empty one has no Fields; the
// byte that rosidl puts there is a matter of hashes and encodings.
type Message struct {
	// Name is the full name, such as "std_msgs/msg/Header",
	// "std_srvs/srv/SetBool_Request" or "nav2_msgs/action/Spin_Goal".
	Name      string
	Fields    []Field
	Constants []Constant
}

// Service is the definition of a service. Its Name is such as
// "std_srvs/srv/SetBool", and those of its messages end in _Request and
// _Response.
type Service struct {
	Name              string
	Request, Response *Message
}

// Action is the definition of an action. Its Name is such as
// "nav2_msgs/action/Spin", and those of its messages end in _Goal, _Result and
// _Feedback.
type Action struct {
	Name                   string
	Goal, Result, Feedback *Message
}
