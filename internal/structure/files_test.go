package structure

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxLines is the maximum length of a hand-written file.
const maxLines = 600

// unwanted matches what files must not contain. The words are split so that this file does not
// match itself.
var unwanted = map[string]*regexp.Regexp{
	"a path of one machine":       regexp.MustCompile(`(^|[\s"'=(:])/(wor[k]|hom[e]|roo[t])/[a-z.]`),
	"a marker of unfinished work": regexp.MustCompile(`\b(TOD[O]|FIXM[E]|XX[X])\b`),
}

var skipping = regexp.MustCompile(`\bt\.Skip(f|Now)?\(`)

func TestPatterns(t *testing.T) {
	finds := []string{"cd /wor" + "k/main", `"/roo` + `t/x.c"`, "// TOD" + "O: later", "t.Ski" + "p()"}
	passes := []string{"network/main", "https://a.b/home", "a TODOLIST", "t.Skipped()"}
	match := func(line string) bool {
		for _, re := range unwanted {
			if re.MatchString(line) {
				return true
			}
		}
		return skipping.MatchString(line)
	}
	for _, line := range finds {
		if !match(line) {
			t.Errorf("does not find %q", line)
		}
	}
	for _, line := range passes {
		if match(line) {
			t.Errorf("finds %q", line)
		}
	}
}

// files lists the files that are under version control or about to be.
func files(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, name := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
		if _, err := os.Stat(filepath.Join("../..", name)); err == nil {
			list = append(list, name)
		}
	}
	if len(list) < 50 {
		t.Fatalf("git knows %d files", len(list))
	}
	return list
}

func TestFiles(t *testing.T) {
	for _, name := range files(t) {
		data, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".png") || strings.Contains(name, "testdata/fuzz/") || strings.HasPrefix(name, "internal/web/dist/") { // of internal/web/build
			continue
		}
		for n, line := range bytes.Split(data, []byte("\n")) {
			for what, re := range unwanted {
				if re.Match(line) {
					t.Errorf("%s:%d: %s: %s", name, n+1, what, line)
				}
			}
			if strings.HasSuffix(name, "_test.go") && skipping.Match(line) {
				t.Errorf("%s:%d: a test that may be skipped", name, n+1)
			}
		}
		if lines := bytes.Count(data, []byte("\n")); lines > maxLines && isCode(name) {
			t.Errorf("%s has %d lines, more than %d", name, lines, maxLines)
		}
	}
}

// isCode reports whether a file is a hand-written source file.
func isCode(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".c", ".h", ".S", ".f", ".f90", ".py", ".sh", ".js", ".jsx", ".mjs", ".css":
		return !strings.HasPrefix(name, "hook/shim/gen/") && !strings.HasPrefix(name, "internal/web/dist/")
	}
	return false
}

// A statically linked program runs everywhere; efg itself must not need C.
func TestNoCgo(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if .CgoFiles}}{{if not .Standard}}{{.ImportPath}}{{end}}{{end}}", "./cmd/efg")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("efg needs cgo for %s", out)
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)

// Links between pages have targets.
func TestLinks(t *testing.T) {
	for _, name := range files(t) {
		if filepath.Ext(name) != ".md" {
			continue
		}
		data, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(data, -1) {
			to := string(m[1])
			if strings.Contains(to, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(name), to)); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", name, to)
			}
		}
	}
}
