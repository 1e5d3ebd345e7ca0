package dial

import (
	"net/url"
	"strconv"
	"strings"
)

// Environ is what a program needs in its environment to join the graph that the
// URL names, as NAME=VALUE: ZENOH_CONFIG_OVERRIDE, and on ROS 2 ROS_DOMAIN_ID and
// RMW_IMPLEMENTATION. It is nil for a graph in memory and for what Open refuses.
// Of an embedded router it takes the URL that the Conn has.
func Environ(address string) []string {
	u, err := url.Parse(address)
	if err != nil || !strings.Contains(u.Scheme, "zenoh") {
		return nil
	}
	p := parameters{address: address, query: u.Query()}
	ca := p.query.Get("ca")
	r, err := routerOf(u, p)
	if err != nil || r.embedded {
		return nil
	}
	override := `connect/endpoints=["` + r.endpoint + `"];listen/endpoints=["tcp/127.0.0.1:0"]`
	if ca != "" {
		override += `;transport/link/tls/root_ca_certificate=` + strconv.Quote(ca)
	}
	env := []string{"ZENOH_CONFIG_OVERRIDE=" + override}
	if !strings.HasPrefix(u.Scheme, "ros2") {
		return env
	}
	c, err := rosNode(p)
	if err != nil {
		return nil
	}
	return append(env, "ROS_DOMAIN_ID="+strconv.Itoa(c.Domain), "RMW_IMPLEMENTATION=rmw_zenoh_cpp")
}
