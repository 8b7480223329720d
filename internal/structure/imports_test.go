package structure

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/efg-tools/efg/"

// allowed says which of our packages a package may import, and which else its tests may.
type allowed struct{ imports, inTests []string }

// readAllowed reads imports.txt, which lists every package.
func readAllowed(t *testing.T) map[string]*allowed {
	t.Helper()
	text, err := os.ReadFile("imports.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]*allowed{}
	var names []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch name, below := strings.CutPrefix(line, "\t"); {
		case line == "" || line[0] == '#':
		case !below:
			names = append(names, line)
			list[line] = &allowed{}
		case len(names) == 0:
			t.Fatalf("imports.txt: %s is below no package", name)
		default:
			a := list[names[len(names)-1]]
			if inTests, ok := strings.CutPrefix(name, "test "); ok {
				a.inTests = append(a.inTests, inTests)
			} else {
				a.imports = append(a.imports, name)
			}
		}
	}
	sorted := [][]string{names}
	for _, a := range list {
		sorted = append(sorted, a.imports, a.inTests)
	}
	for _, names := range sorted {
		if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) < len(names) {
			t.Errorf("imports.txt: not in alphabetical order, or twice: %q", names)
		}
	}
	return list
}

type pkg struct {
	ImportPath   string
	Name         string
	Doc          string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// packages lists the packages of the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// ours keeps the packages of this module, without the module's name.
func ours(imports []string) []string {
	var list []string
	for _, i := range imports {
		if name, ok := strings.CutPrefix(i, module); ok {
			list = append(list, name)
		}
	}
	return list
}

func TestImports(t *testing.T) {
	list, found := readAllowed(t), packages(t)
	if len(found) < len(list) {
		t.Errorf("imports.txt has %d packages, go list gives %d", len(list), len(found))
	}
	for _, p := range found {
		name := strings.TrimPrefix(p.ImportPath, module)
		a, ok := list[name]
		if !ok {
			t.Errorf("package %s: say in imports.txt what it may import", name)
			continue
		}
		may := a.imports
		if slices.Contains(may, "efg") {
			may = append(slices.Clone(may), "efg/seq")
		}
		for _, i := range ours(p.Imports) {
			if !slices.Contains(may, i) {
				t.Errorf("package %s must not import %s", name, i)
			}
		}
		may = slices.Concat(may, a.inTests, []string{name})
		for _, i := range ours(append(p.TestImports, p.XTestImports...)) {
			if !slices.Contains(may, i) {
				t.Errorf("tests of package %s must not import %s", name, i)
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		if p.Doc == "" {
			t.Errorf("package %s has no package comment", p.ImportPath)
		}
	}
}
