package network

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed source/measure.c
var source []byte

// Options say how to measure.
type Options struct {
	Launcher []string // starts a program that is appended to it
	Compiler string   // "": the one that belongs to the launcher
	Pairs    int      // of each class
	Stderr   io.Writer
}

// Measure measures the network between the ranks that the launcher starts. The program that does so is
// compiled into the user's cache, because other hosts may have to see it, and removed at the end.
func Measure(ctx context.Context, opt *Options) (*Network, error) {
	compiler := opt.Compiler
	if compiler == "" {
		compiler = compilerOf(opt.Launcher[0])
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(base, "efg"), 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Join(base, "efg"), "measure-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "measure-network")
	if err := os.WriteFile(program+".c", source, 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, compiler, "-O2", "-std=gnu11", "-o", program, program+".c").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s cannot compile the program that measures: %w\n%s", compiler, err, bytes.TrimSpace(out))
	}
	args := append(append([]string{}, opt.Launcher[1:]...), program, strconv.Itoa(opt.Pairs))
	cmd := exec.CommandContext(ctx, opt.Launcher[0], args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, opt.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(opt.Launcher, " "), err)
	}
	n, err := results(&out)
	if err != nil {
		return nil, fmt.Errorf("%s, with %s: %w", strings.Join(opt.Launcher, " "), compiler, err)
	}
	n.Measured, n.Launcher = time.Now().UTC().Truncate(time.Second), opt.Launcher
	return n, nil
}

// compilerOf is the compiler that belongs to a launcher: mpicc.mpich to mpiexec.mpich, in the same
// directory if the launcher's is given or it is found there; else $MPICC, or mpicc.
func compilerOf(launcher string) string {
	name := filepath.Base(launcher)
	for _, prefix := range []string{"mpiexec", "mpirun"} {
		if suffix, ok := strings.CutPrefix(name, prefix); ok {
			path, err := exec.LookPath(launcher)
			if err != nil {
				path = launcher
			}
			if beside := filepath.Join(filepath.Dir(path), "mpicc"+suffix); executable(beside) {
				return beside
			}
		}
	}
	if cc := os.Getenv("MPICC"); cc != "" {
		return cc
	}
	return "mpicc"
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// errAlone: there is nothing to measure.
var (
	errAlone = errors.New("started one rank: at least two are needed")
	errApart = errors.New("each rank is alone: launcher and compiler belong to different MPI libraries; --mpicc names the compiler")
	errCut   = errors.New("the measurement did not come to its end")
)

// results reads what the program wrote.
func results(r io.Reader) (*Network, error) {
	n := &Network{Schema: Schema, Classes: []Class{}}
	var pairs []pair
	worlds, ended := 0, 0
	for lines := bufio.NewScanner(r); lines.Scan(); {
		_, line, ok := strings.Cut(lines.Text(), "efg-network ")
		if !ok {
			continue
		}
		what, rest, _ := strings.Cut(line, " ")
		var err error
		switch what {
		case "mpi":
			n.MPI = rest
		case "world":
			worlds++
			_, err = fmt.Sscan(rest, &n.Ranks, &n.Hosts)
		case "pair":
			class, _, _ := strings.Cut(rest, " ")
			pairs = append(pairs, pair{class: class})
		case "end":
			ended++
		default:
			err = errCut
			if len(pairs) > 0 {
				err = pairs[len(pairs)-1].read(what, rest)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, errCut)
		}
	}
	switch {
	case worlds > 1:
		return nil, errApart
	case worlds == 0 || ended == 0:
		return nil, errCut
	case n.Ranks < 2:
		return nil, errAlone
	}
	for _, name := range []string{SameHost, OtherHost} {
		if c, ok := classOf(name, pairs); ok {
			n.Classes = append(n.Classes, c)
		}
	}
	return n, nil
}

// read reads a line about a pair.
func (p *pair) read(what, rest string) (err error) {
	switch what {
	case "half":
		var t Time
		_, err = fmt.Sscan(rest, &t.Bytes, &t.Time)
		p.times = append(p.times, t)
	case "send":
		_, err = fmt.Sscan(rest, &p.send)
	case "receive":
		_, err = fmt.Sscan(rest, &p.receive)
	case "gap":
		_, err = fmt.Sscan(rest, &p.gap)
	case "eager":
		_, err = fmt.Sscan(rest, &p.eager)
	}
	return err
}
