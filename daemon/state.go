package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Served says where a daemon answers questions over HTTP.
type Served struct {
	HTTP      string `json:"http,omitempty"`   // address of the page, without the token
	TokenFile string `json:"token,omitempty"`  // path of the file with the token
	Socket    string `json:"socket,omitempty"` // path of the unix socket
}

// State is what a daemon tells of itself, in the store.
type State struct {
	Version  int      `json:"version"`
	PID      int      `json:"pid"`
	Spool    string   `json:"spool"`
	Problems []string `json:"problems"` // what it could not do so far, and why
	Foreign  int      `json:"foreign"`  // segments of other users in the spool, which it leaves alone
	Served
}

// writeState tells what is new. It is a help for people: nothing depends on it.
func (d *daemon) writeState() {
	s := State{Version: 1, PID: os.Getpid(), Spool: d.spool.Dir, Problems: append([]string{}, d.problems...), Foreign: d.tracker.foreign, Served: d.served}
	data, err := json.Marshal(s)
	if err != nil || string(data) == d.state {
		return
	}
	path := filepath.Join(d.store.Dir, stateFile)
	if os.WriteFile(path+".tmp", data, 0o600) == nil && os.Rename(path+".tmp", path) == nil {
		d.state = string(data)
	}
}

// State reads what the daemon of the store has told last.
func (s *Store) State() (*State, error) {
	data, err := os.ReadFile(filepath.Join(s.Dir, stateFile))
	if err != nil {
		return nil, err
	}
	x := &State{}
	return x, json.Unmarshal(data, x)
}
