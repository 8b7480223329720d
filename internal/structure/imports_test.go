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

// mayImport says which of our packages a package may import, in tests too. Every package must
// be listed. Packages that may import efg may also import efg/seq.
var mayImport = map[string][]string{
	"signature":                    {},
	"efg":                          {"efg/block", "efg/seq", "internal/scc", "signature"},
	"efg/runfile":                  {"efg", "efg/block", "efg/mix", "efg/mix", "efg/seq", "internal/durable", "internal/token", "internal/worlds", "signature"},
	"efg/block":                    {"efg/mix"},
	"efg/mix":                      {},
	"efg/seq":                      {"efg/block"},
	"reconstruct":                  {"signature", "efg", "efg/runfile", "internal/printable"},
	"efg/text":                     {"signature", "efg", "efg/runfile", "efg/block", "internal/token"},
	"internal/analysis":            {"signature", "efg", "efg/runfile", "reconstruct"},
	"internal/export":              {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis"},
	"internal/export/gxl":          {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "efg/text", "internal/export"},
	"internal/export/otf2":         {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/clocks", "internal/analysis/match", "internal/export", "internal/export/otf2/names"},
	"internal/export/otf2/names":   {},
	"internal/export/simgrid":      {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/export"},
	"internal/export/mtf":          {"signature", "efg", "efg/runfile", "efg/block", "internal/token", "reconstruct", "internal/analysis", "internal/export"},
	"internal/export/table":        {"signature", "internal/analysis/regions", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/eventrow", "internal/analysis/match", "internal/analysis/waits", "internal/export"},
	"internal/export/arrow":        {"internal/export", "internal/export/table"},
	"internal/export/csv":          {"internal/export", "internal/export/table"},
	"internal/export/extrap":       {"internal/export", "internal/export/table"},
	"internal/export/slices":       {"internal/analysis/regions", "efg", "efg/runfile", "internal/analysis", "internal/analysis/eventrow", "internal/analysis/match", "internal/export", "internal/export/table", "reconstruct"},
	"internal/export/perfetto":     {"internal/export", "internal/export/slices"},
	"internal/export/chrome":       {"internal/export", "internal/export/slices"},
	"internal/export/parquet":      {"internal/durable", "internal/export", "internal/export/table"},
	"internal/importer":            {"signature", "efg", "efg/runfile", "reconstruct", "internal/printable"},
	"internal/importer/jsonl":      {"signature", "efg", "efg/runfile", "internal/export", "internal/importer"},
	"internal/importer/otf2":       {"signature", "efg", "efg/runfile", "internal/export", "internal/export/otf2/names", "internal/importer", "internal/printable"},
	"internal/mcp":                 {},
	"internal/merge":               {"efg", "efg/runfile", "internal/segment", "internal/durable", "internal/symbolize", "internal/worlds"},
	"internal/daemon":              {"efg", "efg/runfile", "internal/trusted", "internal/segment", "internal/durable", "internal/procfs", "internal/peercred", "internal/service", "internal/live", "internal/merge"},
	"internal/daemon/multiuser":    {"internal/account", "internal/peercred", "internal/service"},
	"internal/live":                {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/waitfor", "internal/segment", "internal/procfs", "internal/symbolize", "internal/worlds"},
	"internal/analysis/diff":       {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/generate"},
	"internal/analysis/regions":    {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/printable"},
	"internal/analysis/check":      {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/regions", "internal/analysis/waitfor"},
	"internal/analysis/waitfor":    {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/rankset"},
	"internal/analysis/phases":     {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis"},
	"internal/analysis/match":      {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis"},
	"internal/analysis/clocks":     {"efg", "efg/runfile", "internal/analysis/match"},
	"internal/analysis/whatif":     {"signature", "efg/runfile", "internal/analysis", "internal/analysis/match", "internal/analysis/waits", "internal/rankset"},
	"internal/analysis/findings":   {"internal/analysis/unfinished", "efg/runfile", "internal/analysis", "internal/analysis/loops", "internal/analysis/sections", "internal/analysis/match", "internal/analysis/efficiency", "internal/analysis/waits", "internal/analysis/whatif", "internal/rankset", "internal/units"},
	"internal/analysis/efficiency": {"signature", "internal/analysis/regions", "efg/runfile", "internal/analysis", "internal/analysis/loops", "internal/analysis/match", "internal/analysis/phases", "internal/analysis/whatif"},
	"internal/analysis/unfinished": {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/waitfor"},
	"internal/analysis/waits":      {"signature", "internal/analysis/regions", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/loops", "internal/analysis/match", "internal/analysis/sections", "internal/analysis/unfinished"},
	"internal/analysis/sections":   {"efg/runfile", "internal/analysis/regions", "internal/analysis/loops", "internal/analysis/match", "internal/analysis/phases"},
	"internal/analysis/calltree":   {"efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/match", "internal/analysis/waits"},
	"internal/analysis/flame":      {"efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/calltree", "internal/analysis/match", "internal/analysis/waits"},
	"internal/analysis/flows":      {"signature", "efg/runfile", "reconstruct", "internal/analysis/match", "internal/analysis/waits"},
	"internal/analysis/timeline":   {"signature", "efg", "efg/runfile", "reconstruct", "internal/palette"},
	"internal/analysis/query":      {"signature", "internal/analysis/regions", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/topology"},
	"internal/analysis/sql":        {"signature", "internal/analysis/regions", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/eventrow", "internal/units"},
	"internal/analysis/eventrow":   {"signature", "efg", "reconstruct", "internal/analysis"},
	"internal/analysis/topology":   {},
	"internal/analysis/loops":      {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/scc"},
	"internal/units":               {},
	"internal/network":             {},
	"internal/printable":           {},
	"internal/terminal":            {"internal/printable"},
	"internal/generate":            {"signature", "efg", "efg/runfile", "reconstruct"},
	"internal/palette":             {"signature"},
	"internal/draw/raster":         {},
	"internal/draw/heatmap":        {"internal/analysis", "internal/draw/raster", "internal/units"},
	"internal/draw/timeline":       {"internal/analysis/flows", "internal/analysis/timeline", "internal/draw/raster", "internal/palette", "internal/units"},
	"internal/draw/graph":          {"efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/loops", "internal/draw/layered"},
	"internal/draw/layered":        {},
	"internal/jsondoc":             {"internal/palette", "internal/analysis/calltree", "internal/analysis/regions", "internal/analysis/flame", "internal/symbolize", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/timeline", "internal/analysis/check", "internal/analysis/phases", "internal/analysis/clocks", "internal/analysis/efficiency", "internal/analysis/findings", "internal/analysis/flows", "internal/analysis/waits", "internal/analysis/whatif", "internal/analysis/diff", "internal/analysis/loops", "internal/draw/graph", "internal/daemon", "internal/analysis/unfinished"},
	"internal/httpapi":             {"internal/analysis/flame", "internal/symbolize", "efg", "efg/runfile", "internal/analysis", "internal/analysis/clocks", "internal/analysis/match", "internal/analysis/efficiency", "internal/analysis/findings", "internal/analysis/flows", "internal/analysis/waits", "internal/analysis/whatif", "internal/analysis/timeline", "internal/analysis/check", "internal/analysis/phases", "internal/analysis/diff", "internal/analysis/loops", "internal/draw/graph", "internal/daemon", "internal/live", "internal/merge", "signature", "internal/jsondoc", "internal/rankset", "internal/peercred"},
	"hook":                         {"internal/trusted"},
	"hook/internal/slots":          {"signature"},
	"internal/segment":             {"signature", "efg", "internal/cstruct"},
	"internal/cstruct":             {},
	"internal/replay":              {"signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/cstruct"},
	"hook/internal/gen/slots":      {"hook/internal/slots"},
	"hook/internal/gen/layout":     {"internal/replay", "internal/segment"},
	"hook/internal/gen/wrap":       {"signature", "hook/internal/slots"},
	"internal/durable":             {},
	"internal/token":               {"signature"},
	"internal/scc":                 {},
	"internal/rankset":             {"efg", "efg/runfile"},
	"internal/worlds":              {"signature"},
	"internal/recording":           {"efg", "efg/runfile", "internal/segment", "internal/merge"},
	"internal/symbolize":           {"efg", "efg/runfile"},
	"internal/procfs":              {},
	"internal/testing/mpilib":      {},
	"internal/peercred":            {},
	"internal/account":             {},
	"internal/service":             {"internal/account"},
	"internal/trusted":             {"internal/account"},
	"internal/testing/scramble":    {},
	"internal/testing/groundtruth": {},
	"internal/testing/readers":     {},
	"internal/testing/testrun":     {"signature", "efg", "efg/runfile", "reconstruct", "internal/testing/sim", "efg/text", "internal/testing/groundtruth"},
	"internal/structure":           {},
	"internal/site":                {},
	"internal/web":                 {},
	"internal/web/build":           {},
	"scripts/summary":              {},
	"bench":                        {"signature", "efg", "efg/runfile", "reconstruct", "internal/jsondoc", "internal/testing/sim", "internal/testing/groundtruth"},
	"internal/testing/sim":         {"signature", "efg", "efg/runfile"},
	"bench/simulate":               {"internal/testing/sim"},
	"cmd/efg":                      {"internal/web", "internal/analysis/calltree", "internal/analysis/regions", "internal/site", "internal/network", "signature", "efg", "efg/runfile", "reconstruct", "internal/analysis", "internal/analysis/sections", "internal/analysis/check", "internal/analysis/waitfor", "internal/analysis/phases", "internal/analysis/match", "internal/analysis/clocks", "internal/analysis/efficiency", "internal/analysis/findings", "internal/analysis/flows", "internal/analysis/waits", "internal/analysis/whatif", "internal/analysis/diff", "internal/analysis/loops", "internal/analysis/timeline", "internal/analysis/query", "internal/analysis/sql", "efg/text", "hook", "internal/segment", "internal/symbolize", "internal/durable", "internal/merge", "internal/recording", "internal/live", "internal/daemon", "internal/daemon/multiuser", "internal/service", "internal/jsondoc", "internal/httpapi", "internal/rankset", "internal/export", "internal/draw/graph", "internal/draw/heatmap", "internal/draw/timeline", "internal/units", "internal/printable", "internal/terminal", "internal/export/gxl", "internal/export/mtf", "internal/export/parquet", "internal/export/csv", "internal/export/extrap", "internal/export/arrow", "internal/export/table", "internal/export/perfetto", "internal/export/chrome", "internal/export/slices", "internal/export/otf2", "internal/export/simgrid", "internal/importer", "internal/importer/jsonl", "internal/importer/otf2", "internal/mcp", "internal/generate", "internal/analysis/unfinished", "internal/replay"},
}

// mayImportInTests says what else the tests of a package may import.
var mayImportInTests = map[string][]string{
	"internal/analysis/regions":    {"internal/testing/testrun"},
	"internal/generate":            {"internal/analysis/diff", "internal/testing/groundtruth"},
	"internal/replay":              {"internal/testing/groundtruth"},
	"internal/importer/jsonl":      {"internal/testing/testrun", "reconstruct"},
	"internal/importer/otf2":       {"internal/analysis/diff", "internal/export/otf2", "internal/testing/testrun", "reconstruct"},
	"reconstruct":                  {"efg/text"},
	"signature":                    {"internal/testing/mpilib"},
	"efg/runfile":                  {"efg/text", "internal/testing/sim"},
	"efg":                          {"efg/text", "internal/testing/sim", "efg/runfile"},
	"internal/segment":             {"efg/runfile"},
	"internal/testing/groundtruth": {"signature", "efg", "efg/runfile", "reconstruct"},
	"internal/testing/sim":         {"reconstruct", "internal/segment", "internal/testing/groundtruth"},
	"internal/analysis":            {"internal/analysis/check", "internal/analysis/diff", "internal/testing/sim", "internal/testing/testrun"},
	"internal/web":                 {"internal/testing/sim"},
	"internal/httpapi":             {"internal/testing/sim"},
	"cmd/efg":                      {"internal/testing/sim", "internal/draw/raster", "internal/palette"},
	"internal/analysis/diff":       {"internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/check":      {"internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/query":      {"internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/sql":        {"internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/phases":     {"internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/loops":      {"internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/match":      {"internal/analysis/check", "internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/clocks":     {"reconstruct", "internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/efficiency": {"internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/whatif":     {"efg", "internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/findings":   {"internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/flame":      {"efg", "internal/testing/sim"},
	"internal/analysis/flows":      {"internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/unfinished": {"internal/testing/testrun"},
	"internal/analysis/waits":      {"internal/analysis/phases", "internal/testing/groundtruth", "internal/testing/sim", "internal/testing/testrun"},
	"internal/analysis/timeline":   {"internal/testing/sim", "internal/testing/testrun"},
	"internal/units":               {},
	"internal/draw/raster":         {},
	"internal/draw/heatmap":        {"internal/analysis", "internal/draw/raster", "internal/units"},
	"internal/draw/timeline":       {"internal/analysis/timeline", "internal/draw/raster", "internal/units"},
	"internal/draw/graph":          {"internal/testing/sim", "internal/testing/testrun", "internal/jsondoc"},
	"internal/merge":               {"internal/testing/sim"},
	"internal/export/gxl":          {"internal/testing/sim", "internal/testing/testrun"},
	"internal/export/perfetto":     {"efg/runfile", "internal/testing/sim", "internal/testing/testrun", "reconstruct"},
	"internal/export/chrome":       {"internal/testing/testrun", "reconstruct"},
	"internal/export/arrow":        {"efg/runfile", "internal/export/csv", "internal/export/parquet", "internal/testing/readers", "internal/testing/testrun"},
	"internal/export/parquet":      {"efg/runfile", "internal/testing/readers", "internal/testing/sim", "internal/testing/testrun", "reconstruct"},
	"internal/daemon":              {"internal/testing/sim", "hook", "internal/testing/groundtruth", "internal/testing/scramble"},
	"internal/live":                {"internal/analysis/check", "internal/testing/sim", "hook", "internal/testing/groundtruth", "internal/testing/scramble"},
	"internal/export/otf2":         {"internal/importer/otf2", "internal/testing/sim", "internal/testing/testrun"},
	"internal/export/simgrid":      {"internal/testing/sim", "internal/testing/testrun"},
	"internal/export/mtf":          {"internal/testing/sim", "internal/export/gxl", "efg/text", "internal/testing/testrun"},
	"hook":                         {"signature", "hook/internal/slots", "internal/testing/mpilib"},
	"hook/internal/slots":          {"internal/testing/mpilib"},
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
		if slices.Contains(may, "efg") {
			may = append(slices.Clone(may), "efg/seq")
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
