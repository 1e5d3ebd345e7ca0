package rosidl_test

import (
	"testing"

	"github.com/robospec/robospec/msgs/rosidl"
)

// core is a few packages of ROS 2 Jazzy: their names and types, which is all
// that a hash is made of.
func core(t testing.TB) *rosidl.Set {
	t.Helper()
	s := new(rosidl.Set)
	for name, text := range map[string]string{
		"std_msgs/msg/String":                    "string data",
		"std_msgs/msg/Empty":                     "",
		"std_msgs/msg/Header":                    "builtin_interfaces/Time stamp\nstring frame_id",
		"builtin_interfaces/msg/Time":            "int32 sec\nuint32 nanosec",
		"geometry_msgs/msg/Vector3":              "float64 x\nfloat64 y\nfloat64 z",
		"geometry_msgs/msg/Point":                "float64 x\nfloat64 y\nfloat64 z",
		"geometry_msgs/msg/Quaternion":           "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1",
		"geometry_msgs/msg/Pose":                 "Point position\nQuaternion orientation",
		"geometry_msgs/msg/PoseWithCovariance":   "Pose pose\nfloat64[36] covariance",
		"geometry_msgs/msg/Twist":                "Vector3 linear\nVector3 angular",
		"geometry_msgs/msg/TwistWithCovariance":  "Twist twist\nfloat64[36] covariance",
		"nav_msgs/msg/Odometry":                  "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist",
		"sensor_msgs/msg/LaserScan":              "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\nfloat32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\nfloat32[] ranges\nfloat32[] intensities",
		"rcl_interfaces/msg/Log":                 "byte DEBUG=10\nbuiltin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\nstring function\nuint32 line",
		"rcl_interfaces/msg/Parameter":           "string name\nParameterValue value",
		"rcl_interfaces/msg/ParameterValue":      "uint8 type\nbool bool_value\nint64 integer_value\nfloat64 double_value\nstring string_value\nbyte[] byte_array_value\nbool[] bool_array_value\nint64[] integer_array_value\nfloat64[] double_array_value\nstring[] string_array_value",
		"rcl_interfaces/msg/SetParametersResult": "bool successful\nstring reason",
		"rcl_interfaces/srv/SetParameters":       "Parameter[] parameters\n---\nSetParametersResult[] results",
		"std_srvs/srv/SetBool":                   "bool data\n---\nbool success\nstring message",
		"std_srvs/srv/Trigger":                   "---\nbool success\nstring message",
		"service_msgs/msg/ServiceEventInfo":      "uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\nint64 sequence_number",
		"unique_identifier_msgs/msg/UUID":        "uint8[16] uuid",
		"action_msgs/msg/GoalInfo":               "unique_identifier_msgs/UUID goal_id\nbuiltin_interfaces/Time stamp",
		"action_msgs/msg/GoalStatus":             "GoalInfo goal_info\nint8 status",
		"action_msgs/msg/GoalStatusArray":        "GoalStatus[] status_list",
		"action_msgs/srv/CancelGoal":             "GoalInfo goal_info\n---\nint8 return_code\nGoalInfo[] goals_canceling",
		"test_msgs/action/Fibonacci":             "int32 order\n---\nint32[] sequence\n---\nint32[] sequence",
	} {
		if err := s.Add("", name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestHashesOfRealNodes has the hashes in the liveliness tokens of nodes of
// rmw_zenoh_cpp 0.2.10 on ROS 2 Jazzy.
func TestHashesOfRealNodes(t *testing.T) {
	s := core(t)
	for name, want := range map[string]string{
		"std_msgs/msg/String":                        "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
		"std_msgs/msg/Empty":                         "RIHS01_20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312",
		"geometry_msgs/msg/Twist":                    "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a",
		"sensor_msgs/msg/LaserScan":                  "RIHS01_64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828",
		"nav_msgs/msg/Odometry":                      "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0",
		"rcl_interfaces/msg/Log":                     "RIHS01_e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac",
		"rcl_interfaces/srv/SetParameters":           "RIHS01_56eed9a67e169f9cb6c1f987bc88f868c14a8fc9f743a263bc734c154015d7e0",
		"std_srvs/srv/SetBool":                       "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a",
		"std_srvs/srv/Trigger":                       "RIHS01_eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f",
		"action_msgs/srv/CancelGoal":                 "RIHS01_573d8b0a534451d7bc2ac8c5ffde8ac14b8593b7001175d0cd6516dcbeb8689a",
		"action_msgs/msg/GoalStatusArray":            "RIHS01_6c1684b00f177d37438febe6e709fc4e2b0d4248dca4854946f9ed8b30cda83e",
		"test_msgs/action/Fibonacci_SendGoal":        "RIHS01_d807633803e38e164276573cd97e9fbd71e109c290bbf4cc312a0a1c9da7bbd9",
		"test_msgs/action/Fibonacci_GetResult":       "RIHS01_5d30fdeb21d20e117aa5f36c7b4f0b6874f1a8cf7a9c038d58f1156c5737b209",
		"test_msgs/action/Fibonacci_FeedbackMessage": "RIHS01_37487bae8cea358366b97003c1ef1ca7ce7c08df36f9e8cca496624226aee64e",
	} {
		if got, err := s.Hash(name); got != want {
			t.Errorf("%s: hash %q, want %s; %v", name, got, want, err)
		}
	}
}

func TestDescription(t *testing.T) {
	const want = `{"type_description": {"type_name": "std_msgs/msg/Empty", "fields": [{"name": "structure_needs_at_least_one_member", "type": {"type_id": 3, "capacity": 0, "string_capacity": 0, "nested_type_name": ""}}]}, "referenced_type_descriptions": []}`
	if got, err := core(t).Description("std_msgs/msg/Empty"); got != want {
		t.Errorf("%s, %v", got, err)
	}
}
