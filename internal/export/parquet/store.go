package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/efg-tools/efg/internal/durable"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/table"
)

// marker is the file that says that a directory is a dataset. Readers of datasets ignore files
// whose names begin with an underscore.
const marker = "_efg.json"

// description is the content of the marker.
type description struct {
	Tables int `json:"tables"` // table.Version
}

func mark(dir string) error {
	text, err := json.Marshal(description{table.Version})
	if err != nil {
		return err
	}
	return durable.Write(filepath.Join(dir, marker), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// Owned reports whether a directory is a dataset.
func Owned(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, marker))
	return err == nil
}

// ErrNotDataset reports that a directory is not a dataset, or one of another version.
var ErrNotDataset = errors.New("is not a directory of these tables")

// Append adds a run to a dataset, which is created if the directory is empty or does not exist. A
// run that is in it is left as it is; added is then false.
//
// A run is written beside the tables, in a hidden directory, and moved when it is complete, the
// table run last. If that is interrupted, the next Append completes it.
func Append(dir string, job *export.Job) (added bool, err error) {
	if err := prepare(dir); err != nil {
		return false, err
	}
	id, err := table.RunID(job.Run)
	if err != nil {
		return false, err
	}
	pending := filepath.Join(dir, ".pending")
	if err := os.MkdirAll(pending, 0o755); err != nil {
		return false, err
	}
	if err := publishAll(dir, pending); err != nil {
		return false, err
	}
	if _, err := os.Stat(filepath.Join(dir, "run", "run="+id)); err == nil {
		return false, nil
	}
	staged := filepath.Join(pending, id)
	own := func(string) bool { return true }
	if err := durable.WriteDir(staged, own, func(tmp string) error { return writeRun(tmp, id, job) }); err != nil {
		return false, err
	}
	return true, publish(dir, staged)
}

// prepare makes an empty dataset, or checks that there is one.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, marker))
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("%s: %w", dir, ErrNotDataset)
		}
		return mark(dir)
	}
	if err != nil {
		return err
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil || d.Tables != table.Version {
		return fmt.Errorf("%s: %w: its version is %d, this is %d", dir, ErrNotDataset, d.Tables, table.Version)
	}
	return nil
}

// publishAll moves the complete runs that were not moved.
func publishAll(dir, pending string) error {
	entries, err := os.ReadDir(pending)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") { // not complete
			continue
		}
		if err := publish(dir, filepath.Join(pending, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// publish moves the partitions of a complete run to their tables. Others may do so, too: what is
// gone has been moved.
func publish(dir, staged string) error {
	names := slices.DeleteFunc(table.Names(), func(name string) bool { return name == "run" })
	for _, name := range append(names, "run") {
		partitions, err := os.ReadDir(filepath.Join(staged, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, p := range partitions {
			if err := move(filepath.Join(staged, name, p.Name()), filepath.Join(dir, name, p.Name())); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(staged)
}

// move renames a directory, unless it is gone.
func move(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return errors.Join(err, durable.SyncDir(filepath.Dir(to)))
}
