package ros2zenoh

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/robospec/robospec/internal/zenoh/keyexpr"
	"github.com/robospec/robospec/transports"
)

// NoTypeHash stands in keys and tokens where the type hash would: ROS 2 Humble
// has none.
const NoTypeHash = "TypeHashNotSupported"

// ddsType is a type name as it stands in keys: "std_msgs/msg/String" becomes
// "std_msgs::msg::dds_::String_".
func ddsType(name string) (string, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[1] != "msg" && parts[1] != "srv" && parts[1] != "action" {
		return "", fmt.Errorf("%q is no ROS 2 type: write it as std_msgs/msg/String", name)
	}
	for _, p := range parts {
		if p == "" || strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			return "", fmt.Errorf("%q is no ROS 2 type: %q may hold only letters, digits and underscores", name, p)
		}
	}
	return parts[0] + "::" + parts[1] + "::dds_::" + parts[2] + "_", nil
}

// rosType is the inverse of ddsType. What is not of that form comes back as it
// is.
func rosType(dds string) string {
	pkg, name, _ := strings.Cut(dds, "::dds_::")
	ros := strings.ReplaceAll(pkg, "::", "/") + "/" + strings.TrimSuffix(name, "_")
	if again, err := ddsType(ros); err != nil || again != dds {
		return dds
	}
	return ros
}

// dataKey is the key of what is sent on a topic or asked of a service. Chunks of
// a type that is not known are "*".
func dataKey(domain int, name string, t transports.Type) (string, error) {
	dds, hash := "*", "*"
	if t.Name != "" {
		var err error
		if dds, err = ddsType(t.Name); err != nil {
			return "", err
		}
	}
	if t.Hash != "" {
		if hash = t.Hash; keyexpr.Validate(hash) != nil || strings.ContainsAny(hash, "/*") {
			return "", fmt.Errorf("%q is no type hash: write it as RIHS01_ and 64 hex digits", hash)
		}
	}
	return strconv.Itoa(domain) + name + "/" + dds + "/" + hash, nil
}

// mangle writes a name into one chunk of a key.
func mangle(name string) string { return strings.ReplaceAll(name, "/", "%") }

func demangle(chunk string) string { return strings.ReplaceAll(chunk, "%", "/") }
