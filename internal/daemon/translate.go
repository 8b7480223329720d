package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/efg-tools/efg/internal/segment"
)

// translating bounds the time for which another version may read the segments of a job.
const translating = 10 * time.Minute

// translate lets the versions of efg that wrote them read the segments that this one cannot,
// and returns run files in their place.
func (c *collecting) translate(paths []string) ([]string, error) {
	var out []string
	others := map[uint64][]string{}
	for _, path := range paths {
		if layout := otherLayout(path); layout != 0 {
			others[layout] = append(others[layout], path)
		} else {
			out = append(out, path)
		}
	}
	if len(others) == 0 {
		return out, nil
	}
	dir := c.translations()
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, err
	}
	for layout, paths := range others {
		program, ok := c.reader(layout)
		if !ok {
			return nil, fmt.Errorf("the program that can read segments has been removed; layout %#x", layout)
		}
		made, err := c.readWith(program, filepath.Join(dir, fmt.Sprintf("%016x", layout)), paths)
		if err != nil {
			return nil, err
		}
		out = append(out, made...)
	}
	return out, nil
}

// readWith lets a program make one run file from segments, or otherwise one from each that it
// can read.
func (c *collecting) readWith(program, base string, paths []string) ([]string, error) {
	all := base + runExt
	err := mergeWith(program, all, paths...)
	if err == nil {
		return []string{all}, nil
	}
	var out []string
	for i, path := range paths {
		one := fmt.Sprintf("%s.%d%s", base, i, runExt)
		if err = mergeWith(program, one, path); err == nil {
			out = append(out, one)
			continue
		}
		if !errors.As(err, new(*exec.ExitError)) {
			return nil, err
		}
		c.leftOut = append(c.leftOut, err.Error())
		if err := c.putAside(path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func mergeWith(program, to string, paths ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), translating)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{"merge", "-o", to}, paths...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %s: %w", filepath.Base(paths[0]), bytes.TrimSpace(out), err)
	}
	return nil
}

// otherLayout is the layout of a segment that this program cannot read, 0 for other files.
func otherLayout(path string) uint64 {
	_, _, err := segment.Activities(path)
	var v *segment.VersionError
	if errors.As(err, &v) {
		return v.Layout
	}
	return 0
}
