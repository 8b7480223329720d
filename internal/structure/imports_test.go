package structure

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/efg-tools/efg/"

// mayImport tells which of our packages a package may import, in tests too. A
// package that is not here may not be there.
var mayImport = map[string][]string{
	"signature":            {},
	"efg":                  {"signature", "internal/durable"},
	"reconstruct":          {"signature", "efg"},
	"text":                 {"signature", "efg"},
	"analysis":             {"signature", "efg", "reconstruct"},
	"export":               {"signature", "efg", "reconstruct"},
	"export/gxl":           {"signature", "efg", "reconstruct", "analysis", "text", "export"},
	"export/mtf":           {"signature", "efg", "reconstruct", "analysis", "export"},
	"merge":                {"efg", "hook/segment", "internal/durable", "internal/symbolize"},
	"daemon":               {"efg", "hook/segment", "internal/durable", "internal/procfs", "internal/peercred", "internal/service", "live", "merge"},
	"allusers":             {"internal/account", "internal/peercred", "internal/service"},
	"live":                 {"signature", "efg", "reconstruct", "analysis", "hook/segment", "internal/procfs", "internal/symbolize"},
	"analysis/diff":        {"signature", "efg", "reconstruct", "analysis"},
	"analysis/check":       {"signature", "efg", "reconstruct", "analysis"},
	"analysis/phases":      {"signature", "efg", "reconstruct", "analysis"},
	"analysis/timeline":    {"signature", "efg", "reconstruct"},
	"analysis/query":       {"signature", "efg", "reconstruct", "analysis", "analysis/topology"},
	"analysis/sql":         {"signature", "efg", "reconstruct", "analysis"},
	"analysis/topology":    {},
	"analysis/loops":       {"signature", "efg", "reconstruct", "analysis"},
	"export/graph":         {"efg", "reconstruct", "analysis", "analysis/loops", "export/layered"},
	"export/layered":       {},
	"document":             {"efg", "reconstruct", "analysis", "analysis/timeline", "analysis/check", "analysis/phases", "analysis/diff", "analysis/loops", "export/graph", "daemon"},
	"api":                  {"efg", "analysis", "analysis/timeline", "analysis/check", "analysis/phases", "analysis/diff", "analysis/loops", "export/graph", "daemon", "live", "merge", "signature", "document", "internal/rankset", "internal/peercred"},
	"hook":                 {},
	"hook/slots":           {"signature"},
	"hook/segment":         {"signature", "efg"},
	"hook/gen/slots":       {"hook/slots"},
	"hook/gen/layout":      {"hook/segment"},
	"hook/gen/wrap":        {"signature", "hook/slots"},
	"internal/durable":     {},
	"internal/rankset":     {"efg"},
	"internal/symbolize":   {"efg"},
	"internal/procfs":      {},
	"internal/mpilib":      {},
	"internal/peercred":    {},
	"internal/account":     {},
	"internal/service":     {"internal/account"},
	"internal/scramble":    {},
	"internal/groundtruth": {},
	"internal/testrun":     {"efg", "reconstruct", "bench/sim", "text", "internal/groundtruth"},
	"internal/structure":   {},
	"site":                 {},
	"web":                  {},
	"web/build":            {},
	"scripts/summary":      {},
	"bench":                {"signature", "efg", "reconstruct", "bench/sim", "internal/groundtruth"},
	"bench/sim":            {"signature", "efg"},
	"bench/simulate":       {"bench/sim"},
	"cmd/efg":              {"web", "site", "signature", "efg", "reconstruct", "analysis", "analysis/check", "analysis/phases", "analysis/diff", "analysis/loops", "analysis/timeline", "analysis/query", "analysis/sql", "text", "hook", "hook/segment", "internal/symbolize", "internal/durable", "merge", "live", "daemon", "allusers", "internal/service", "document", "api", "internal/rankset", "export", "export/graph", "export/gxl", "export/mtf"},
}

// mayImportInTests tells what the tests of a package may import besides.
var mayImportInTests = map[string][]string{
	"signature":         {"internal/mpilib"},
	"efg":               {"text", "bench/sim"},
	"bench/sim":         {"reconstruct", "hook/segment", "internal/groundtruth"},
	"analysis":          {"bench/sim", "internal/testrun"},
	"web":               {"bench/sim"},
	"api":               {"bench/sim"},
	"cmd/efg":           {"bench/sim"},
	"analysis/diff":     {"bench/sim", "internal/testrun"},
	"analysis/check":    {"bench/sim", "internal/testrun"},
	"analysis/query":    {"bench/sim", "internal/testrun"},
	"analysis/sql":      {"bench/sim", "internal/testrun"},
	"analysis/phases":   {"bench/sim", "internal/testrun"},
	"analysis/loops":    {"bench/sim", "internal/testrun"},
	"analysis/timeline": {"bench/sim", "internal/testrun"},
	"export/graph":      {"bench/sim", "internal/testrun", "document"},
	"merge":             {"bench/sim"},
	"export/gxl":        {"bench/sim", "internal/testrun"},
	"daemon":            {"bench/sim", "hook", "internal/groundtruth", "internal/scramble"},
	"live":              {"bench/sim", "hook", "internal/groundtruth", "internal/scramble"},
	"export/mtf":        {"bench/sim", "export/gxl", "text", "internal/testrun"},
	"hook":              {"signature", "hook/slots", "internal/mpilib"},
	"hook/slots":        {"internal/mpilib"},
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
	if len(list) < len(mayImport) {
		t.Fatalf("go list gives %d packages", len(list))
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
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		may, ok := mayImport[name]
		if !ok {
			t.Errorf("package %s: say in this test what it may import", name)
			continue
		}
		for _, i := range ours(p.Imports) {
			if !slices.Contains(may, i) {
				t.Errorf("package %s must not import %s", name, i)
			}
		}
		may = append(slices.Clone(may), mayImportInTests[name]...)
		may = append(may, name)
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
