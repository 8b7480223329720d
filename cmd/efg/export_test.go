package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// assembled makes a.efg from the text of a recorded program, in a directory of its own.
func assembled(t *testing.T, name string) []byte {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("..", "..", "efg", "text", "testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if _, errOut, status := efgRun(t, nil, "assemble", source, "-o", "a.efg"); status != 0 {
		t.Fatal(errOut)
	}
	data, err := os.ReadFile("a.efg")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// An exported run is imported as the same file, through files and pipes, and its events are
// verified.
func TestExportAndImport(t *testing.T) {
	want := assembled(t, "farm")
	for _, format := range []string{"gxl", "mtf"} {
		doc := "doc." + format
		if _, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", doc); status != 0 || errOut != "" {
			t.Fatalf("%s: %d, %s", format, status, errOut)
		}
		out, _, _ := efgRun(t, nil, "export", "a.efg", "--format", format)
		if data, _ := os.ReadFile(doc); string(data) != out {
			t.Errorf("%s: the standard output differs from the file", format)
		}
		for _, args := range [][]string{{"import", doc, "-o", "b.efg"}, {"import", "-", "--format", format, "-o", "b.efg"}} {
			if _, errOut, status := efgRun(t, strings.NewReader(out), args...); status != 0 || errOut != "" {
				t.Fatalf("%s: %d, %s", format, status, errOut)
			}
			if got, _ := os.ReadFile("b.efg"); !bytes.Equal(got, want) {
				t.Errorf("%s: efg %s: another file", format, strings.Join(args, " "))
			}
		}
		if _, _, status := efgRun(t, nil, "reconstruct", "b.efg", "--verify"); status != 0 {
			t.Errorf("%s: not as recorded", format)
		}
	}
}

func TestExportAndImportErrors(t *testing.T) {
	assembled(t, "fail")
	if err := os.WriteFile("cut.gxl", []byte("<gxl>\n<graph id=\"a\">"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("cut.mtf", []byte("\x89MTF\r\n\x1a\n\x28\xb5\x2f\xfd"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"import cut.mtf -o b.efg", "efg: cut.mtf: record 0 (unknown): the file ends early\n"},
		{"export", "efg: efg export: accepts 1 arg(s), received 0\n"},
		{"export a.efg", "efg: --format : want "},
		{"export a.efg -o a.xyz", "efg: --format xyz: want "},
		{"export none.efg --format gxl", "efg: none.efg: no such file or directory\n"},
		{"export cut.gxl --format gxl", "efg: cut.gxl: not an efg run file\n"},
		{"export a.efg --format gxl --rank 99", "efg: no rank 99: the run has "},
		{"export a.efg --format gxl --thread 9", "efg: no thread 9: rank 0 has 1 recorded threads\n"},
		{"export a.efg --format gxl --from 9 --to 3", "efg: --to 3: lies before --from 9\n"},
		{"export a.efg --format gxl --from x", "efg: --from x: want the number of an event, or a time as in 1.5s, 300ms or 20us\n"},
		{"export a.efg --format gxl --to 20ms", "efg: --format gxl: --from and --to are numbers of events, not times\n"},
		{"export a.efg --format otf2", "efg: --format otf2 is a directory: -o DIRECTORY is missing\n"},
		{"export a.efg -o a.otf2 --what x", "efg: --what x: want arguments, callsites or numbers\n"},
		{"export a.efg -o a.otf2 --from 20ms --to 7", "efg: --from 20ms --to 7: want two times or two numbers of events\n"},
		{"export a.efg -o a.otf2 --from 20ms --to 7ms", "efg: --to 7ms: lies before --from 20ms\n"},
		{"export a.efg -o a.otf2 --clock x", "efg: --clock x: want corrected or raw\n"},
		{"export a.efg -o a.gxl --compat", "efg: --compat: not with --format gxl\n"},
		{"export a.efg -o a.gxl --slices 9", "efg: --slices: not with --format gxl\n"},
		{"export a.efg -o a.otf2", "efg: --format otf2: the times of each call were not recorded"},
		{"export a.efg --format paraver", "efg: --format paraver is a directory: -o DIRECTORY is missing\n"},
		{"export a.efg -o a.paraver --what x", "efg: --what x: want states, calls or messages\n"},
		{"export a.efg -o a.paraver", "efg: --format paraver: "},
		{"export a.efg --format hdtrace", "efg: --format hdtrace is a directory: -o DIRECTORY is missing\n"},
		{"export a.efg -o a.hdtrace --what x", "efg: --what x: want attributes or requests\n"},
		{"export a.efg -o a.hdtrace", "efg: --format hdtrace: "},
		{"export a.efg --format simgrid", "efg: --format simgrid is a directory: -o DIRECTORY is missing\n"},
		{"export a.efg -o a.simgrid --what x", "efg: --what x: want supported\n"},
		{"export a.efg -o a.simgrid --from 2ms", "efg: --format simgrid: --from and --to are numbers of events, not times\n"},
		{"export a.efg -o a.simgrid --from 2", "efg: --format simgrid: part of a run cannot be simulated: messages to and from the rest would be missing\n"},
		{"export a.efg -o a.simgrid", "efg: --format simgrid: "},
		{"export a.efg --format liballprof", "efg: --format liballprof is a directory: -o DIRECTORY is missing\n"},
		{"export a.efg -o a.goal --what x", "efg: --what x: want supported\n"},
		{"export a.efg -o a.goal --rank 0", "efg: --format goal: part of a run cannot be simulated: messages to and from the rest would be missing\n"},
		{"export a.efg -o a.goal", "efg: --format goal: "},
		{"export a.efg --format gxl --what x", "efg: --what x: --format gxl has no optional parts\n"},
		{"import cut.gxl", "efg: efg import: -o FILE is missing\n"},
		{"import none.gxl -o b.efg", "efg: open none.gxl: no such file or directory\n"},
		{"import a.efg -o b.efg", "efg: a.efg: neither written by efg export, nor an OTF2 archive, nor a list of calls\n"},
		{"import cut.gxl -o b.efg --format xyz", "efg: --format xyz: want "},
		{"import cut.gxl -o b.efg", "efg: cut.gxl:2:15: not XML: unexpected EOF\n"},
	} {
		_, errOut, status := efgRun(t, nil, strings.Fields(c.args)...)
		if status != 2 || !strings.Contains(errOut, c.want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("efg %s: status %d, %q, want %q", c.args, status, errOut, c.want)
		}
	}
	if _, err := os.Stat("b.efg"); err == nil {
		t.Error("b.efg was made of nothing")
	}
}

// The user is warned before a very large GXL document is written.
func TestLargeExport(t *testing.T) {
	defer func(old uint64) { largeExport = old }(largeExport)
	largeExport = 40_000
	assembled(t, "traced") // of 34 calls
	for args, want := range map[string]string{
		"export a.efg --format gxl":          "efg: about 60.9 KiB of GXL will be written; --rank, --thread, --from and --to select a part, --format mtf is compact\n",
		"export a.efg --format gxl --rank 1": "",
		"export a.efg --format mtf -o a.mtf": "",
		"export a.efg --format gxl --to 2":   "",
	} {
		if _, errOut, status := efgRun(t, nil, strings.Fields(args)...); status != 0 || errOut != want {
			t.Errorf("efg %s: status %d, %q, want %q", args, status, errOut, want)
		}
	}
}

// A document that far exceeds the free space is rejected before anything is written.
func TestExportFits(t *testing.T) {
	defer func(old uint64) { largeExport = old }(largeExport)
	defer func(old func(string) (uint64, bool)) { freeSpace = old }(freeSpace)
	largeExport = 1
	assembled(t, "traced")
	for _, c := range []struct {
		free  uint64
		known bool
		want  int
	}{{10_000, true, 2}, {10_000, false, 0}, {1 << 40, true, 0}} {
		freeSpace = func(string) (uint64, bool) { return c.free, c.known }
		os.Remove("b.gxl")
		_, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", "b.gxl")
		if status != c.want || c.want == 2 && !strings.Contains(errOut, "do not fit: only 9.77 KiB are free in .;") {
			t.Errorf("%+v: status %d, %q", c, status, errOut)
		}
		if _, err := os.Stat("b.gxl"); (err == nil) != (c.want == 0) {
			t.Errorf("%+v: %v", c, err)
		}
		if _, _, status := efgRun(t, nil, "export", "a.efg", "-o", "b.mtf"); status != 0 {
			t.Errorf("%+v: mtf: status %d", c, status)
		}
	}
}

// Runs of many processes are assembled from parts.
func TestImportInParts(t *testing.T) {
	defer func(old int) { partSize = old }(partSize)
	for _, name := range []string{"farm", "worlds", "traced"} {
		t.Run(name, func(t *testing.T) {
			want := assembled(t, name)
			t.Setenv("TMPDIR", t.TempDir())
			for _, partSize = range []int{1, 3} {
				for _, format := range []string{"gxl", "mtf"} {
					out, _, _ := efgRun(t, nil, "export", "a.efg", "--format", format)
					if _, errOut, status := efgRun(t, strings.NewReader(out), "import", "-", "-o", "b.efg"); status != 0 || errOut != "" {
						t.Fatalf("%s: %d, %s", format, status, errOut)
					}
					if got, _ := os.ReadFile("b.efg"); !bytes.Equal(got, want) {
						t.Errorf("%s, parts of %d: another file", format, partSize)
					}
				}
			}
			run := importedRun{}
			defer run.close()
			partSize = 1
			if err := run.add(&runfile.Meta{}, &efg.Process{Size: 1}); err != nil || len(run.parts) != 1 {
				t.Fatalf("%d parts: %v", len(run.parts), err)
			}
			if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 { // while parts exist, too

				t.Errorf("%v is left", left)
			}
		})
	}
}

// An archive replaces another one, and nothing else.
func TestExportDirectory(t *testing.T) {
	assembled(t, "traced")
	for range 2 {
		if _, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", "a.otf2"); status != 0 || errOut != "" {
			t.Fatalf("%d, %s", status, errOut)
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	writeFile(t, filepath.Join("a.otf2", "notes"), "mine")
	_, errOut, status := efgRun(t, nil, "export", "a.efg", "-o", "a.otf2")
	if want := "efg: a.otf2: exists, and is something else: not replaced by --format otf2\n"; status != 2 || errOut != want {
		t.Errorf("%d, %q", status, errOut)
	}
}
