package dial_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/robospec/robospec/internal/testenv"
	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/dial"
)

func TestEnviron(t *testing.T) {
	t.Setenv("ROS_DOMAIN_ID", "9")
	const listen = `;listen/endpoints=["tcp/127.0.0.1:0"]`
	router := testenv.StartZenohRouter(t, testenv.RouterConfig{TLS: true})
	for address, want := range map[string][]string{
		"inproc:x":                nil,
		"zenoh:?router=embedded":  nil,
		"ros2+zenoh://r?domain=x": nil,
		"://":                     nil,
		"zenoh://robot":           {`ZENOH_CONFIG_OVERRIDE=connect/endpoints=["tcp/robot:7447"]` + listen},
		"ros2+zenoh://[::1]:1":    {`ZENOH_CONFIG_OVERRIDE=connect/endpoints=["tcp/[::1]:1"]` + listen, "ROS_DOMAIN_ID=9", "RMW_IMPLEMENTATION=rmw_zenoh_cpp"},
		"ros2+zenoh+tls://r:1?node=x&namespace=/y&lease=5s&domain=0&ca=" + router.CAFile: {
			`ZENOH_CONFIG_OVERRIDE=connect/endpoints=["tls/r:1"]` + listen + `;transport/link/tls/root_ca_certificate="` + router.CAFile + `"`,
			"ROS_DOMAIN_ID=0", "RMW_IMPLEMENTATION=rmw_zenoh_cpp",
		},
	} {
		if got := dial.Environ(address); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// TestEnvironOfANode starts a node that knows nothing but its environment, on a
// router of our own and on a real one, with TLS, that others started.
func TestEnvironOfANode(t *testing.T) {
	own := open(t, "ros2+zenoh:?router=embedded&domain=5").(dial.Embedded)
	joins(t, own, own.URL())
	router := testenv.StartZenohRouter(t, testenv.RouterConfig{TLS: true})
	address := "ros2+zenoh+tls://" + strings.TrimPrefix(router.Endpoint, "tls/") + "?ca=" + router.CAFile
	joins(t, open(t, address), address)
}

func joins(t *testing.T, c transports.Conn, address string) {
	t.Helper()
	for _, e := range dial.Environ(address) {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	const node = `
import os, sys, zenoh_ros2_sdk as sdk
p = sdk.ROS2Publisher(topic="/chatter", msg_type="std_msgs/msg/String", msg_definition="string data", node_name="talker")
print("ready", flush=True)
sys.stdin.read()
os._exit(0)
`
	testenv.ROSPython(t)
	p := testenv.StartPython(t, node)
	if got := p.Line(); got != "ready" {
		t.Fatal(got)
	}
	ctx := testenv.Soon(t)
	for {
		g, changed := c.(transports.Grapher).Graph()
		if slices.Contains(g.Nodes, "/talker") {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("the node did not join: %q", g.Nodes)
		}
	}
}
