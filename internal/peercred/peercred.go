// Package peercred asks the kernel for the process and user at the other end of a unix socket.
package peercred

import (
	"net"

	"golang.org/x/sys/unix"
)

// Of returns the process and the user that made the connection, at that time.
func Of(c *net.UnixConn) (*unix.Ucred, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		return nil, e
	}
	return cred, err
}
