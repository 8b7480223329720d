package web_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// jobs tells page.mjs how to start jobs that the daemon records.
type jobs struct {
	Preload string `json:"preload"`
	Spool   string `json:"spool"`
	Launch  string `json:"launch"`
	Program string `json:"program"`
}

// Jobs appear while they run, and are followed until they become runs.
func TestLivePage(t *testing.T) {
	s := newStage(t)
	s.compile("stuck")
	spool := filepath.Join(t.TempDir(), "spool")
	s.start("daemon", "--store", s.path("store"), "--spool", spool, "--quiet", "1s", "--http", "127.0.0.1:0")
	page := ""
	for ; page == ""; time.Sleep(20 * time.Millisecond) { // it does so a moment later
		page = address(string(s.in(s.dir, s.efg, "runs", "--store", s.path("store")))) // with the token
	}
	preload := strings.TrimSpace(string(s.in(s.dir, s.efg, "hook", "path")))
	s.browse(setting{Address: page, Live: &jobs{Preload: preload, Spool: spool, Launch: "mpiexec.openmpi", Program: s.path("stuck")}})
}
