// Package readers reads exported tables with the programs of others, for tests: DuckDB, hyparquet
// and Apache Arrow for JavaScript, as package-lock.json has them and scripts/setup.sh installs them.
package readers

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

//go:embed tables.mjs
var script string

//go:embed package-lock.json
var lock []byte

// Reader is a program that reads tables.
type Reader string

const (
	DuckDB    Reader = "duckdb"    // inputs are SQL statements
	Hyparquet Reader = "hyparquet" // inputs are files
	Arrow     Reader = "arrow"     // inputs are files
)

// Row is a row. Integers are texts, absent values nil.
type Row []any

// Text is a value as text, "" if it is absent.
func (r Row) Text(i int) string {
	switch v := r[i].(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// Read returns the rows that a reader finds in each input.
func Read(t testing.TB, by Reader, inputs ...string) [][]Row {
	t.Helper()
	request, err := json.Marshal(map[string]any{"reader": by, "inputs": inputs})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tables.mjs")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", file, modules(t))
	cmd.Stdin = bytes.NewReader(request)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", by, err, errOut.String())
	}
	tables := make([][]Row, len(inputs))
	d := json.NewDecoder(bytes.NewReader(out))
	for d.More() {
		var r Row
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		i, err := strconv.Atoi(r.Text(0))
		if err != nil {
			t.Fatal(err)
		}
		tables[i] = append(tables[i], r[1:])
	}
	return tables
}

// modules is where scripts/setup.sh installs the npm packages.
func modules(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "efg", "readers-"+hex.EncodeToString(sum[:6]), "node_modules")
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("%v: scripts/setup.sh test installs it", err)
	}
	return dir
}
