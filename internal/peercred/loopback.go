package peercred

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OfLoopback returns the user of the other end of a connection over TCP within this
// machine.
func OfLoopback(c net.Conn) (uid uint32, err error) {
	here, ok := c.LocalAddr().(*net.TCPAddr)
	there, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if !ok || !ok2 {
		return 0, errors.New("not a connection over TCP")
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	kernel := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	if err := unix.Sendto(fd, question(there, here), 0, kernel); err != nil {
		return 0, os.NewSyscallError("sendto", err)
	}
	b := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, b, 0)
	if err != nil {
		return 0, os.NewSyscallError("recvfrom", err)
	}
	return answer(b[:n])
}

// Layouts of linux/inet_diag.h.
const (
	headerSize   = unix.SizeofNlMsghdr
	questionSize = headerSize + 8 + 48
	stateOffset  = headerSize + 1
	userOffset   = headerSize + 4 + 48 + 12
	answerSize   = userOffset + 8

	tcpEstablished = 1
)

// question requests the socket with exactly these ends, of which from is its own.
func question(from, to *net.TCPAddr) []byte {
	b := make([]byte, questionSize)
	h := (*unix.NlMsghdr)(unsafe.Pointer(&b[0]))
	h.Len, h.Type, h.Flags = questionSize, unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_REQUEST
	q := b[headerSize:]
	family, source, target := byte(unix.AF_INET6), from.IP.To16(), to.IP.To16()
	if from.IP.To4() != nil {
		family, source, target = unix.AF_INET, from.IP.To4(), to.IP.To4()
	}
	q[0], q[1] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(q[4:], 1<<tcpEstablished)
	id := q[8:]
	binary.BigEndian.PutUint16(id, uint16(from.Port))
	binary.BigEndian.PutUint16(id[2:], uint16(to.Port))
	copy(id[4:], source)
	copy(id[20:], target)
	for i := 40; i < 48; i++ { // any cookie
		id[i] = 0xff
	}
	return b
}

// answer reads the user. For a socket that is not established, or no longer, the kernel reports
// root.
func answer(b []byte) (uid uint32, err error) {
	if len(b) < headerSize+4 {
		return 0, errors.New("the kernel's answer is cut")
	}
	if h := (*unix.NlMsghdr)(unsafe.Pointer(&b[0])); h.Type == unix.NLMSG_ERROR {
		return 0, fmt.Errorf("socket of the other side: %w", unix.Errno(-int32(binary.NativeEndian.Uint32(b[headerSize:]))))
	}
	if len(b) < answerSize {
		return 0, errors.New("the kernel's answer is cut")
	}
	if b[stateOffset] != tcpEstablished {
		return 0, errors.New("the other side has closed")
	}
	return binary.NativeEndian.Uint32(b[userOffset:]), nil
}
