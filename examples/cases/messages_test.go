package cases_test

// The messages that several cases share, as plain structs. Those of geometry_msgs
// and the like come with package msgs.

type Vector3 struct{ X, Y, Z float64 }

type Twist struct{ Linear, Angular Vector3 }

func twist(x, y, turn float64) Twist { return Twist{Vector3{x, y, 0}, Vector3{0, 0, turn}} }
