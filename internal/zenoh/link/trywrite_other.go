//go:build !unix

package link

import "net"

// tryWriter takes nothing where sockets have no write that never waits.
type tryWriter struct{}

func (*tryWriter) init(net.Conn)             {}
func (*tryWriter) write([]byte) (int, error) { return 0, nil }
