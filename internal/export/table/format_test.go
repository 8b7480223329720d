package table

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite FORMAT.md")

// FORMAT.md has the columns as they are defined.
func TestFormat(t *testing.T) {
	const begin, end = "<!-- begin tables -->\n", "<!-- end tables -->\n"
	data, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatal("no place for the tables")
	}
	want := head + begin + documentation() + end + tail
	if want == string(data) {
		return
	}
	if !*update {
		t.Fatal("the tables are others; -update rewrites them")
	}
	if err := os.WriteFile("FORMAT.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func documentation() string {
	var b strings.Builder
	for _, s := range Schemas() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n| column | type | |\n|---|---|---|\n", s.Name, s.Doc)
		for _, c := range s.Columns {
			kind := c.Type.String()
			if c.Unit != "" {
				kind += ", " + c.Unit
			}
			if c.Nullable {
				kind += "; or NULL"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, kind, c.Doc)
		}
	}
	return b.String() + "\n"
}

// Names of columns are unique in a table, and columns by which rows are sorted have values.
func TestSchemas(t *testing.T) {
	for _, s := range Schemas() {
		for i, c := range s.Columns {
			if s.Column(c.Name) != i || c.Doc == "" {
				t.Errorf("%s.%s", s.Name, c.Name)
			}
			if i < s.Order && (c.Nullable || c.Type != Integer) {
				t.Errorf("%s.%s: cannot be sorted by", s.Name, c.Name)
			}
		}
		if ByName(s.Name) != s {
			t.Errorf("%s is not found", s.Name)
		}
	}
}

// The Python package has the types of the columns.
func TestPythonTypes(t *testing.T) {
	const name = "../../../python/efg/_tables.py"
	var b strings.Builder
	b.WriteString("# Written by go test ./internal/export/table -update; do not edit.\n\nCOLUMNS = {\n")
	for _, s := range Schemas() {
		fmt.Fprintf(&b, "    %q: {\n", s.Name)
		for _, c := range s.Columns {
			fmt.Fprintf(&b, "        %q: %q,\n", c.Name, c.Type.String())
		}
		b.WriteString("    },\n")
	}
	b.WriteString("}\n")
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != b.String() {
		t.Errorf("%v, or the types are others; -update rewrites them", err)
	}
}
