package dial

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"

	"github.com/robospec/robospec/transports"
	"github.com/robospec/robospec/transports/ros2zenoh"
)

func openROS2Zenoh(ctx context.Context, u *url.URL, p parameters) (transports.Conn, error) {
	c, err := rosNode(p)
	if err != nil {
		return nil, err
	}
	r, err := routerOf(u, p)
	if err != nil {
		return nil, err
	}
	if err := p.done(); err != nil {
		return nil, err
	}
	o, err := r.start(ctx, u, p)
	if err != nil {
		return nil, err
	}
	c.Endpoint, c.TLS, c.Lease = r.endpoint, r.tls, r.lease
	conn, err := ros2zenoh.Dial(ctx, c)
	if err != nil {
		return nil, o.fail(fmt.Errorf("open %s: %w", p.address, err))
	}
	if o != nil {
		o.set("domain", strconv.Itoa(c.Domain))
		return &embeddedROS2{conn, o}, nil
	}
	return conn, nil
}

// rosNode takes the parameters that say who we are among ROS 2 nodes.
func rosNode(p parameters) (c ros2zenoh.Config, err error) {
	c.Node, c.Namespace = p.take("node"), p.take("namespace")
	switch distro := p.take("distro"); distro {
	case "":
	case "humble":
		c.Humble = true
	default:
		return c, bad(p.address, "distro=%s makes no difference; only humble does", distro)
	}
	from, domain := "domain", p.take("domain")
	if domain == "" {
		from, domain = "the environment variable ROS_DOMAIN_ID", os.Getenv("ROS_DOMAIN_ID")
	}
	if domain == "" {
		return c, nil
	}
	if c.Domain, err = strconv.Atoi(domain); err != nil || c.Domain < 0 || c.Domain > ros2zenoh.MaxDomain {
		return c, bad(p.address, "%s=%s is no ROS domain id, which are 0 to %d", from, domain, ros2zenoh.MaxDomain)
	}
	return c, nil
}
