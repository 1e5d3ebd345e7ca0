package matchers_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/robospec/robospec/harness"
	"github.com/robospec/robospec/internal/testenv"
	. "github.com/robospec/robospec/matchers"
	"github.com/robospec/robospec/msgs"
	"github.com/robospec/robospec/msgs/std_msgs"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/ros2zenoh"
	"github.com/robospec/robospec/transports/zenoh/broker"
)

// hashed is a codec with another type hash, as of another version of the
// definition.
type hashed struct{ msgs.Codec[std_msgs.String] }

func (hashed) TypeHash() string { return hashB }

// The ladder and the words on the graph over ROS 2, with nodes of
// zenoh-ros2-sdk in a process that is killed.
func TestGraphOfROS2(t *testing.T) {
	b, err := broker.Listen(testenv.Soon(t), broker.Config{})
	testenv.Must(t, err)
	defer func() { testenv.Must(t, b.Close()) }()
	conn, err := ros2zenoh.Dial(testenv.Soon(t), ros2zenoh.Config{Endpoint: b.Endpoint(), Domain: 7, Node: "spec"})
	testenv.Must(t, err)
	rig := harness.New(conn, harness.Config{})
	defer func() { testenv.Must(t, rig.Close()) }()

	peer := testenv.StartROSPeer(t, b.Endpoint(), 7)
	sub, err := harness.Subscribe[std_msgs.String](testenv.Soon(t), rig, "/chatter")
	testenv.Must(t, err)
	c, text := to(rig, HaveNode("/robot/talker"))
	want(t, c, text, red, "there is no node /robot/talker")
	peer.Do("publish", "/chatter", "node", "talker", "namespace", "/robot", "qos", "2::,5:,:,:,,")
	peer.Do("serve", "/set", "node", "arm")
	c, text = to(rig, Within(20*time.Second, And(HaveNode("/robot/talker"), HavePublishers("/chatter", 1), HaveSubscribers("/chatter", 1),
		HaveService("/set", "std_srvs/srv/SetBool"))))
	want(t, c, text, green)
	chatter := transports.Endpoint{Node: "/robot/talker", Name: "/chatter", QoS: transports.QoS{Reliability: transports.BestEffort},
		Type: transports.Type{Name: "std_msgs/msg/String", Hash: hashA}}
	c, text = to(rig, MatchGraph([]transports.Endpoint{chatter, {Kind: transports.ServerEndpoint, Name: "/set"}}, NothingElse()))
	want(t, c, text, green)
	chatter.QoS.Reliability = transports.Reliable
	c, text = to(rig, MatchGraph([]transports.Endpoint{chatter}, NothingElse()))
	want(t, c, text, red, "incompatible: publisher /chatter by /robot/talker: reliability: want reliable, is best effort", "extra: server /set")

	testenv.Must(t, sub.WaitForPublishers(testenv.Soon(t), 1))
	c, text = to(sub, ReceiveWithin(100*ms))
	want(t, c, text, red, "/robot/talker publishes /chatter, but no message has ever arrived")
	other, err := harness.Subscribe[std_msgs.String](testenv.Soon(t), rig, "/robot/chatter")
	testenv.Must(t, err)
	c, text = to(other, ReceiveWithin(100*ms))
	want(t, c, text, inconclusive, "nobody publishes /robot/chatter; there is /chatter, the same name in another namespace")
	reliable, err := harness.Subscribe[std_msgs.String](testenv.Soon(t), rig, "/chatter", harness.Reliable(5))
	testenv.Must(t, err)
	c, text = to(reliable, ReceiveWithin(100*ms))
	want(t, c, text, inconclusive, "/robot/talker publishes /chatter, but cannot be heard by /spec: reliability: asked reliable, offered best effort")
	old, err := harness.Subscribe[std_msgs.String](testenv.Soon(t), rig, "/chatter", harness.Using[std_msgs.String](hashed{new(std_msgs.String).CDRCodec()}))
	testenv.Must(t, err)
	c, text = to(old, ReceiveWithin(100*ms))
	want(t, c, text, inconclusive, "/robot/talker publishes /chatter, but cannot be heard by /spec: type hash of std_msgs/msg/String: asked RIHS01_b6578ded3c58…, offered RIHS01_df668c740482…")

	peer.Do("send", "/chatter", "data", "hello")
	c, text = to(sub, ReceiveWithin(20*time.Second, Field("Data", "hello")))
	want(t, c, text, green)
	rig.Mark("kill the talker")
	peer.Kill()
	c, text = to(rig, Within(20*time.Second, Not(HaveNode("/robot/talker"))))
	want(t, c, text, green)
	c, text = to(sub, ReceiveWithin(100*ms))
	want(t, c, text, inconclusive, "nobody publishes /chatter any more: /robot/talker, which published it, is gone from the graph since")
	c, text = to(rig, Over(100*ms, HavePublishers("/chatter", 0)))
	want(t, c, text, green)
	c, text = to(rig, HaveService("/set"))
	want(t, c, text, red, "nobody serves /set any more: /arm, which served it, is gone from the graph since", "server /set of std_srvs/srv/SetBool by /arm left")
}
