package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Several machines may share a store. Each has a name in it and, in the directory ".nodes", the
// files NODE.lock, which its daemon keeps locked, and NODE.state.
const (
	nodesDir = ".nodes"
	lockExt  = ".lock"
	stateExt = ".state"
)

// NodeName is this machine's name in a store.
func NodeName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "node"
	}
	return plainName(host)
}

// plainName replaces what must not be in the name of a file or a run.
func plainName(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_') {
			return r
		}
		return '-'
	}, text)
}

func (s *Store) nodeFile(node, ext string) string {
	return filepath.Join(s.Dir, nodesDir, node+ext)
}

// lock makes this process the only daemon of a machine that uses the store, until it ends.
func (s *Store) lock(node string) (*os.File, error) {
	if err := os.Mkdir(filepath.Join(s.Dir, nodesDir), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	f, err := lockFile(s.nodeFile(node, lockExt))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, &InUseError{fmt.Sprintf("%s: another daemon of %s works with this store", s.Dir, node)}
	}
	return f, err
}

// lockFile locks a file until it is closed. On file systems without locks it does nothing: the
// spool's lock still exists.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil && !errors.Is(err, syscall.ENOSYS) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.ENOLCK) {
		f.Close()
		return nil, err
	}
	return f, nil
}

// locked reports whether a process holds a lock.
func locked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// Serving lists the machines whose daemons use the store, if the file system shows locks of
// other machines.
func (s *Store) Serving() []string {
	files, err := filepath.Glob(filepath.Join(s.Dir, nodesDir, "*"+lockExt))
	if err != nil {
		return nil
	}
	var nodes []string
	for _, f := range files {
		if locked(f) {
			nodes = append(nodes, strings.TrimSuffix(filepath.Base(f), lockExt))
		}
	}
	return nodes
}

// Served reports whether a daemon is using the store.
func (s *Store) Served() bool { return len(s.Serving()) > 0 }

// Served says where a daemon listens for HTTP.
type Served struct {
	HTTP      string `json:"http,omitempty"`   // address of the page, without the token
	TokenFile string `json:"token,omitempty"`  // path of the file with the token
	Socket    string `json:"socket,omitempty"` // path of the unix socket
}

// State is what a daemon publishes about itself in the store.
type State struct {
	Version  int      `json:"version"`
	Node     string   `json:"node"`
	PID      int      `json:"pid"`
	Spool    string   `json:"spool"`
	Problems []string `json:"problems"` // what failed so far, and why
	Foreign  int      `json:"foreign"`  // segments of other users in the spool, which it leaves alone
	Served
}

// writeState writes the state if it has changed. It is only informative: nothing depends on it.
func (d *daemon) writeState() {
	s := State{
		Version: 1, Node: d.opt.Node, PID: os.Getpid(), Spool: d.spool.Dir,
		Problems: append([]string{}, d.problems...), Foreign: d.tracker.foreign, Served: d.served,
	}
	data, err := json.Marshal(s)
	if err != nil || string(data) == d.state {
		return
	}
	path := d.store.nodeFile(d.opt.Node, stateExt)
	if os.WriteFile(path+".tmp", data, 0o600) == nil && os.Rename(path+".tmp", path) == nil {
		d.state = string(data)
	}
}

// State reads the last state of this machine's daemon or, if there is none, that of another
// machine's.
func (s *Store) State() (*State, error) {
	x, err := s.stateOf(NodeName())
	if !errors.Is(err, os.ErrNotExist) {
		return x, err
	}
	files, _ := filepath.Glob(filepath.Join(s.Dir, nodesDir, "*"+stateExt))
	for _, f := range files {
		if x, err := s.stateOf(strings.TrimSuffix(filepath.Base(f), stateExt)); err == nil {
			x.Spool = "" // is on another machine
			return x, nil
		}
	}
	return nil, err
}

func (s *Store) stateOf(node string) (*State, error) {
	data, err := os.ReadFile(s.nodeFile(node, stateExt))
	if err != nil {
		return nil, err
	}
	x := &State{}
	return x, json.Unmarshal(data, x)
}
