package dial_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/dial"
)

var text = transports.Type{Name: "std_msgs/msg/String", Hash: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"}

// rosHear reports whether a publisher of one Conn and a subscription of another
// find each other; both know of a third one's afterwards.
func rosHear(t *testing.T, from, to transports.Conn) bool {
	t.Helper()
	ctx := testenv.Soon(t)
	got := make(chan string, 1)
	_, err := to.Subscribe(ctx, "chatter", text, transports.QoS{}, func(s transports.Sample) { got <- string(s.Payload) })
	testenv.Must(t, err)
	p, err := from.Advertise(ctx, "chatter", text, transports.QoS{})
	testenv.Must(t, err)
	// The router takes one link's declarations in order, so a subscription that
	// was there before is known when Advertise returns.
	if n, _ := p.(transports.Matched).Matched(); n == 0 {
		return false
	}
	testenv.Must(t, p.Publish(ctx, []byte("hello")))
	return testenv.Next(t, got) == "hello"
}

func TestROS2OverZenoh(t *testing.T) {
	u := "ros2+zenoh://" + strings.TrimPrefix(testenv.ZenohRouter(t), "tcp/")
	t.Setenv("ROS_DOMAIN_ID", "")
	one := open(t, u+"?domain=5&node=one&namespace=/robot&lease=5s")
	if !rosHear(t, one, open(t, u+"?domain=5")) {
		t.Error("nothing heard in one domain")
	}
	if rosHear(t, open(t, u+"?domain=6"), one) {
		t.Error("domain 5 hears domain 6")
	}
	if rosHear(t, open(t, u+"?domain=7&distro=humble"), open(t, u+"?domain=7")) {
		t.Error("a node with type hashes hears one without")
	}
	if !rosHear(t, open(t, u+"?domain=8&distro=humble"), open(t, u+"?domain=8&distro=humble")) {
		t.Error("nothing heard without type hashes")
	}
	g, _ := one.(transports.Grapher).Graph()
	if strings.Join(g.Nodes, " ") != "/robospec /robot/one" {
		t.Errorf("nodes %q", g.Nodes)
	}
	t.Setenv("ROS_DOMAIN_ID", "9")
	nine := open(t, u)
	if !rosHear(t, nine, open(t, u+"?domain=9")) {
		t.Error("ROS_DOMAIN_ID says nothing")
	}
	if rosHear(t, open(t, u+"?domain=0"), nine) {
		t.Error("ROS_DOMAIN_ID overrules the URL")
	}
	t.Setenv("ROS_DOMAIN_ID", "233")
	if _, err := dial.Open(t.Context(), u); !errors.Is(err, dial.ErrURL) || !strings.Contains(err.Error(), "ROS_DOMAIN_ID=233") {
		t.Error(err)
	}
}

func TestROS2OverZenohOverTLS(t *testing.T) {
	r := testenv.StartZenohRouter(t, testenv.RouterConfig{TLS: true})
	u := "ros2+zenoh+tls://" + strings.TrimPrefix(r.Endpoint, "tls/") + "?domain=1&ca=" + url.QueryEscape(r.CAFile)
	if !rosHear(t, open(t, u), open(t, u)) {
		t.Error("nothing heard")
	}
}

func TestRefusedROS2URLs(t *testing.T) {
	for u, part := range map[string]string{
		"ros2+zenoh:":                        "no host",
		"ros2+zenoh://h?domain=-1":           "domain=-1",
		"ros2+zenoh://h?domain=233":          "0 to 232",
		"ros2+zenoh://h?domain=x":            "domain=x",
		"ros2+zenoh://h?distro=jazzy":        "distro=jazzy",
		"ros2+zenoh://h?x=1":                 `"x"`,
		"ros2+zenoh://h?ca=f":                `"ca"`,
		"ros2+zenoh+tls://h?ca=/no/such.pem": "no such file",
	} {
		_, err := dial.Open(t.Context(), u)
		if !errors.Is(err, dial.ErrURL) || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), u) {
			t.Errorf("Open(%q): %v; want it to name %q", u, err, part)
		}
	}
	for u, part := range map[string]string{
		"ros2+zenoh://127.0.0.1:1?node=a/b":        "slash",
		"ros2+zenoh://127.0.0.1:1?node=1st":        "1st",
		"ros2+zenoh://127.0.0.1:1?namespace=a//b":  "a//b",
		"ros2+zenoh://127.0.0.1:1?namespace=/a%20": "a ",
		"ros2+zenoh://127.0.0.1:1?domain=0&node=x": "start a router",
	} {
		if _, err := dial.Open(t.Context(), u); err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), u) {
			t.Errorf("Open(%q): %v; want it to name %q", u, err, part)
		}
	}
}
