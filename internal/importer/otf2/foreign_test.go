package otf2

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/importer"
	"github.com/efg-tools/efg/reconstruct"
)

var update = flag.Bool("update", false, "rewrite testdata/scorep.txt")

// An archive that OTF2's library wrote, as Score-P would, becomes the calls in testdata/scorep.txt.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "scorep")
	for _, args := range [][]string{
		{"gcc", "-o", program, "testdata/scorep.c", "-lotf2"}, {program, filepath.Join(dir, "out")},
		{"otf2-print", "-Werror", "--silent", filepath.Join(dir, "out", "traces.otf2")},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	run, notes := imported(t, filepath.Join(dir, "out", "traces.otf2"))
	got := append(text(t, run), strings.Join(notes, "\n")+"\n"...)
	if *update {
		if err := os.WriteFile("testdata/scorep.txt", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/scorep.txt")
	if err != nil {
		t.Fatal(err)
	}
	compareLines(t, got, want)
	if run.Meta.Started != 1_700_000_000_000_000_000 || run.Procs[1].Host != "host" {
		t.Errorf("began %d on %q", run.Meta.Started, run.Procs[1].Host)
	}
}

// text writes the calls of a run as text.
func text(t *testing.T, run *runfile.Run) (b []byte) {
	t.Helper()
	source, err := reconstruct.NewRun(run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range run.Procs {
		p, err := source.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range p.Events(0, reconstruct.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			b = e.AppendText(b)
		}
	}
	return b
}

// What is wrong with an archive is reported in one line, with its place.
func TestRefused(t *testing.T) {
	whole := written(t)
	substrate := 2 + 5 + 5 + 8 + 8
	for _, x := range []struct {
		file  int
		spoil func(b []byte) []byte
		want  string
	}{
		{0, func(b []byte) []byte { return b[:1] }, "traces.otf2: byte 0x0: not the anchor file of an OTF2 archive"},
		{0, func(b []byte) []byte { b[1] = bigEndian; return b }, "traces.otf2: byte 0x0: not supported: written by a big-endian machine"},
		{0, func(b []byte) []byte { b[7] = 4; return b }, "traces.otf2: byte 0xc: not supported: version 4 of the trace format"},
		{0, func(b []byte) []byte { b[substrate] = 2; return b }, "traces.otf2: byte 0x1e: not supported: the archive is in SION containers"},
		{0, func(b []byte) []byte { b[substrate+1] = 2; return b }, "traces.otf2: byte 0x1e: not supported: the archive is compressed (2)"},
		{1, func([]byte) []byte { return nil }, "traces.def: file does not exist"},
		{1, func(b []byte) []byte { return b[:50] }, "traces.def: byte 0x2d: the file ends early: 5 bytes are left of 9"},
		{1, func(b []byte) []byte { return replaced(b, "MPI Rank 1\x00", "MPI Rank 0\x00") }, ""},
		{3, func(b []byte) []byte { return b[:20] }, "traces/0.evt: byte 0x13: the file ends early: 1 bytes are left of 8"},
		{3, func(b []byte) []byte { return append(b[:headerSize:headerSize], endOfFile, endOfBuffer) }, "traces/0.evt: 0 events, not 13 as the definitions say"},
		{3, func(b []byte) []byte {
			return append(b[:headerSize:headerSize], byte(Leave), 1, 1, endOfFile, endOfBuffer)
		}, "traces/0.evt: byte 0x12: region 1 is left, but not the last one that was entered"},
		{3, func(b []byte) []byte {
			head := append(b[:headerSize:headerSize], timestampMark)
			return append(binary.LittleEndian.AppendUint64(head, 1<<63), byte(Enter), 1, 1, endOfFile, endOfBuffer)
		}, "traces/0.evt: byte 0x1b: a time that is too far from the first one"},
	} {
		files := whole
		files[x.file] = x.spoil(bytes.Clone(whole[x.file]))
		anchor := put(t, t.TempDir(), files)
		if files[x.file] == nil {
			os.Remove(filepath.Join(filepath.Dir(anchor), fileNames[x.file]))
		}
		var notes []string
		err := Read(anchor, Options{Note: func(line string) { notes = append(notes, line) }}, new(export.Run).Add)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%s: %v, want %s", fileNames[x.file], err, x.want)
		}
		if want := "no events of 1 locations: their files are missing"; err == nil && (len(notes) == 0 || notes[0] != want) {
			t.Errorf("%q, want %s", notes, want)
		}
	}
}

// replaced replaces a text that a file has.
func replaced(b []byte, old, text string) []byte {
	return bytes.Replace(b, []byte(old), []byte(text), 1)
}

// Any files become a run, or an error of one line.
func FuzzRead(f *testing.F) {
	whole := written(f)
	f.Add(whole[0], whole[1], whole[2], whole[3])
	plain := writtenWith(f, nil)
	f.Add(plain[0], plain[1], plain[2], plain[3])
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, anchor, definitions, local, events []byte) {
		err := Read(put(t, dir, [4][]byte{anchor, definitions, local, events}), Options{Times: importer.Times{Each: true}}, new(export.Run).Add)
		if err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q", err)
		}
	})
}
