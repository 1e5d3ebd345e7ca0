package link

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Locator says where a Zenoh peer listens, such as "tcp/127.0.0.1:7447",
// "tls/robot:7447" or "tcp/[::1]:7447".
type Locator struct {
	// Proto is "tcp" or "tls".
	Proto string
	// Host is a name or an address, an IPv6 address without brackets.
	Host string
	Port uint16
}

// ParseLocator reads the text form. What this package cannot do (other
// protocols, "?metadata", "#config") is an error.
func ParseLocator(s string) (Locator, error) {
	bad := func(format string, args ...any) (Locator, error) {
		return Locator{}, fmt.Errorf("zenoh locator %q: %s; write it like tcp/127.0.0.1:7447 or tls/robot:7447", s, fmt.Sprintf(format, args...))
	}
	proto, address, ok := strings.Cut(s, "/")
	switch {
	case !ok:
		return bad("no protocol before a slash")
	case proto != "tcp" && proto != "tls":
		return bad("protocol %q is not spoken here", proto)
	}
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		return bad("%q is not supported", address[i:])
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return bad("%v", err)
	}
	if host == "" {
		return bad("no host")
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil || p == 0 {
		return bad("port %q is no number from 1 to 65535", port)
	}
	return Locator{Proto: proto, Host: host, Port: uint16(p)}, nil
}

// String is the text form that ParseLocator reads.
func (l Locator) String() string { return l.Proto + "/" + l.address() }

func (l Locator) address() string {
	return net.JoinHostPort(l.Host, strconv.Itoa(int(l.Port)))
}
