// Package service defines how programs, users' commands and root's service for all users of a
// machine find each other.
//
// The service has a directory, which only root can write to. In it
//
//	hook    tells the hook that there is a service, and how to record (hook/shim/setting.h);
//	        it is gone when the service has been stopped
//	site    tells users' commands where spools and stores are; it stays
//	socket  whoever connects to it gets a daemon; the connection is closed when the spool is
//	        his
//	http    answers questions
package service

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/efg-tools/efg/internal/account"
)

// DefaultDir is the directory of a service. The hook uses the same name.
const DefaultDir = "/run/efg"

// DefaultSpools is where users have their spools, as with daemons of their own.
const DefaultSpools = "/dev/shm"

// Names in the directory, and of settings in its files.
const (
	HookFile   = "hook"
	SiteFile   = "site"
	SocketFile = "socket"
	HTTPFile   = "http"

	SpoolsName = "EFG_SPOOLS"
	StoreName  = "EFG_STORE"
	BackName   = "EFG_BACK"
	// BuildingName is 1 while back ends are being built; then BackName is published again.
	BuildingName = "EFG_BUILDING"
)

// Service describes a service.
type Service struct {
	Dir    string
	Spools string // the directory of all spools
	Store  string // where runs are; see Expand
	Back   string // where the hook finds its back ends
	// Building reports whether more back ends are being built.
	Building bool
}

// DirName is the environment variable that names the service's directory.
const DirName = "EFG_SERVICE"

// Dir is where to look for the service: $EFG_SERVICE, or DefaultDir.
func Dir() string {
	if dir := os.Getenv(DirName); filepath.IsAbs(dir) {
		return dir
	}
	return DefaultDir
}

// Find reads what the service of this machine publishes. ok is false if there is none: only
// files created by root count.
func Find() (s *Service, ok bool) {
	dir := Dir()
	if OnlyRootWrites(dir) != nil {
		return nil, false
	}
	f, err := os.OpenFile(filepath.Join(dir, SiteFile), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || checkRoots(fi) != nil {
		return nil, false
	}
	const limit = 16 << 10
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, false
	}
	s = &Service{Dir: dir}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		switch name, value, _ := strings.Cut(lines.Text(), "="); name {
		case SpoolsName:
			s.Spools = value
		case StoreName:
			s.Store = value
		case BackName:
			s.Back = value
		case BuildingName:
			s.Building = value == "1"
		}
	}
	return s, filepath.IsAbs(s.Spools) && s.Store != ""
}

// OnlyRootWrites checks that a directory belongs to root and that no one else can change its
// contents.
func OnlyRootWrites(dir string) error {
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() || checkRoots(fi) != nil {
		return fmt.Errorf("%s: is not a directory that only root can write to", dir)
	}
	return nil
}

func checkRoots(fi fs.FileInfo) error {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || st.Uid != 0 || fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s: others than root can write to it", fi.Name())
	}
	return nil
}

// Spool is the spool of a user.
func (s *Service) Spool(uid uint32) string { return filepath.Join(s.Spools, SpoolName(uid)) }

// SpoolName is the name of a user's spool in the directory of all spools.
func SpoolName(uid uint32) string { return "efg-" + strconv.FormatUint(uint64(uid), 10) }

// StoreOf is the store of a user.
func (s *Service) StoreOf(a *account.Account) (string, error) { return Expand(s.Store, a) }

// MyStore is the store of the user of this process.
func (s *Service) MyStore() (string, error) {
	a := &account.Account{UID: uint32(os.Getuid())}
	if strings.Contains(s.Store, "%u") || strings.Contains(s.Store, "%h") {
		var err error
		if a, err = account.ByUID(context.Background(), a.UID); err != nil {
			return "", err
		}
	}
	return s.StoreOf(a)
}

// Expand puts a user into a path, as systemd does: %u is the name, %U the number, %h the home
// directory, %% a percent sign.
func Expand(path string, a *account.Account) (string, error) {
	var b strings.Builder
	for rest := path; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		b.WriteString(before)
		if !found {
			break
		}
		if after == "" {
			return "", errors.New("% at the end")
		}
		switch after[0] {
		case 'u':
			b.WriteString(a.Name)
		case 'U':
			b.WriteString(strconv.FormatUint(uint64(a.UID), 10))
		case 'h':
			if !filepath.IsAbs(a.Home) {
				return "", fmt.Errorf("%s: has no home directory", a.Name)
			}
			b.WriteString(a.Home)
		case '%':
			b.WriteByte('%')
		default:
			return "", fmt.Errorf("%%%c: want %%u, %%U, %%h or %%%%", after[0])
		}
		rest = after[1:]
	}
	return filepath.Clean(b.String()), nil
}

// Wake asks the service for a daemon for the user of this process. The daemon starts after Wake
// has returned.
func (s *Service) Wake() error {
	c, err := net.DialTimeout("unix", filepath.Join(s.Dir, SocketFile), time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
