// Package site contains the files with which a site offers efg to its users: units for systemd,
// scripts and a plugin for Slurm, and a dashboard for Grafana.
package site

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed systemd slurm grafana
var files embed.FS

// installed is where the files expect the program.
const installed = "/usr/local/bin/efg"

// plainPath matches paths that need no quotes in units and scripts.
var plainPath = regexp.MustCompile(`^/[A-Za-z0-9._/+-]+$`)

// Write writes the files to a directory, which it creates; they start the given program.
func Write(dir, program string) error {
	if !plainPath.MatchString(program) {
		return fmt.Errorf("%s: want a path without blanks and signs to start efg by", program)
	}
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if path.Ext(name) == ".sh" {
			mode = 0o755
		}
		return os.WriteFile(to, []byte(strings.ReplaceAll(string(text), installed, program)), mode)
	})
}
