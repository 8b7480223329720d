// Package account looks up users in the machine's name service (nsswitch.conf): in files, LDAP
// or other sources. A static program cannot query that itself; it runs getent, which is part of
// the C library.
package account

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Account is a user of the machine.
type Account struct {
	Name   string
	UID    uint32
	GID    uint32
	Groups []uint32 // all, GID among them
	Home   string   // need not exist
}

// ErrUnknown: there is no such user.
var ErrUnknown = errors.New("no such user")

// timeout bounds a query to a name service over the network.
const timeout = 20 * time.Second

// ByUID finds a user by number, with the groups.
func ByUID(ctx context.Context, uid uint32) (*Account, error) {
	a, err := find(ctx, strconv.FormatUint(uint64(uid), 10))
	if err == nil && a.UID != uid { // a name consisting of digits
		err = ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("user %d: %w", uid, err)
	}
	if a.Groups, err = groups(ctx, a); err != nil {
		return nil, fmt.Errorf("user %d: %w", uid, err)
	}
	return a, nil
}

// ByName finds a user by name, without the groups.
func ByName(ctx context.Context, name string) (*Account, error) {
	if !plain(name) {
		return nil, ErrUnknown
	}
	a, err := find(ctx, name)
	if err == nil && a.Name != name {
		err = ErrUnknown
	}
	return a, err
}

// plain reports whether a name is suitable as that of a user, and of a directory.
func plain(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "-") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '/' || r == ':' })
}

func find(ctx context.Context, key string) (*Account, error) {
	out, err := getent(ctx, "passwd", key)
	if err != nil {
		return nil, err
	}
	a, err := parsePasswd(out)
	if err != nil {
		return nil, fmt.Errorf("getent passwd %s: %w", key, err)
	}
	return a, nil
}

// parsePasswd reads name:password:uid:gid:gecos:home:shell.
func parsePasswd(line string) (*Account, error) {
	f := strings.Split(line, ":")
	if len(f) != 7 || !plain(f[0]) {
		return nil, fmt.Errorf("%q: not understood", line)
	}
	uid, err := parseID(f[2])
	gid, err2 := parseID(f[3])
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return &Account{Name: f[0], UID: uid, GID: gid, Home: f[5]}, nil
}

// invalidID is (uid_t)-1, which is no user to system calls.
const invalidID = 1<<32 - 1

func parseID(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err == nil && n == invalidID {
		err = fmt.Errorf("%s: no number of a user or a group", text)
	}
	return uint32(n), err
}

// groups asks for the groups of a user: "name 4 27 100".
func groups(ctx context.Context, a *Account) ([]uint32, error) {
	out, err := getent(ctx, "initgroups", a.Name)
	if err != nil && !errors.Is(err, ErrUnknown) {
		return nil, err
	}
	list := []uint32{a.GID}
	for i, f := range strings.Fields(out) {
		if i == 0 {
			continue
		}
		gid, err := parseID(f)
		if err != nil {
			return nil, fmt.Errorf("getent initgroups %s: %w", a.Name, err)
		}
		if !slices.Contains(list, gid) {
			list = append(list, gid)
		}
	}
	return list, nil
}

// PrivateGroup reports whether a group is private to a user: it has the user's name, it is the
// user's login group, and it has no other members.
func PrivateGroup(ctx context.Context, uid, gid uint32) bool {
	a, err := find(ctx, strconv.FormatUint(uint64(uid), 10))
	if err != nil || a.UID != uid || a.GID != gid {
		return false
	}
	line, err := getent(ctx, "group", strconv.FormatUint(uint64(gid), 10))
	f := strings.Split(line, ":") // name:password:gid:members
	return err == nil && len(f) == 4 && f[0] == a.Name && f[2] == strconv.FormatUint(uint64(gid), 10) && (f[3] == "" || f[3] == a.Name)
}

// getent returns the first line of the answer.
func getent(ctx context.Context, database, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "getent", "--", database, key)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	const notFound = 2
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == notFound {
		return "", ErrUnknown
	}
	if err != nil {
		return "", fmt.Errorf("getent %s %s: %w", database, key, err)
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return string(line), nil
}
