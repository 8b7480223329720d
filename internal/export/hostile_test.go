package export_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/arrow"
	"github.com/efg-tools/efg/internal/export/chrome"
	"github.com/efg-tools/efg/internal/export/csv"
	"github.com/efg-tools/efg/internal/export/extrap"
	"github.com/efg-tools/efg/internal/export/hdtrace"
	"github.com/efg-tools/efg/internal/export/otf2"
	"github.com/efg-tools/efg/internal/export/paje"
	"github.com/efg-tools/efg/internal/export/paraver"
	"github.com/efg-tools/efg/internal/export/parquet"
	"github.com/efg-tools/efg/internal/export/perfetto"
	"github.com/efg-tools/efg/internal/export/simulate"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// writer is an export to a file, or to a directory.
type writer struct {
	what []string
	file func(out io.Writer, job *export.Job) error
	dir  func(dir string, job *export.Job) error
}

// drawn is an export that draws calls.
func drawn(write func(out io.Writer, job *export.Job, most uint64) (int64, error)) func(io.Writer, *export.Job) error {
	return func(out io.Writer, job *export.Job) error {
		_, err := write(out, job, 1000)
		return err
	}
}

var writers = []writer{
	{file: csv.Write}, {file: csv.Write, what: []string{"messages"}}, {file: arrow.Write}, {file: extrap.Write},
	{file: drawn(paje.Write)}, {file: drawn(perfetto.Write)}, {file: drawn(chrome.Write)},
	{dir: otf2.Write}, {dir: otf2.Write, what: []string{otf2.Arguments, otf2.Callsites}}, {dir: parquet.Write}, {dir: paraver.Write}, {dir: hdtrace.Write},
	{file: simulate.WriteGOAL, what: []string{simulate.Supported}}, {dir: simulate.WriteLiballprof, what: []string{simulate.Supported}},
	{dir: simulate.WriteSimGrid, what: []string{simulate.Supported}},
}

func (w *writer) write(t *testing.T, job *export.Job) error {
	job.What = w.what
	if w.file != nil {
		return w.file(io.Discard, job)
	}
	return w.dir(t.TempDir(), job)
}

// FuzzWrite changes words, definitions and the places of recorded processes at random: if the result still is a run
// file, it is exported in each format, or an error says why not.
func FuzzWrite(f *testing.F) {
	files := testrun.Texts(f, "../../efg/text/testdata")
	names := []string{"traced", "waiting", "persistent", "spawn", "farm", "stuck"}
	for i := range names {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"))
		f.Add(uint8(i), bytes.Repeat([]byte{1, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0x80}, 5))
		f.Add(uint8(i), bytes.Repeat([]byte{7, 0, 8, 255, 255, 255, 255, 255, 255, 255, 255}, 5))
	}
	f.Fuzz(func(t *testing.T, file uint8, changes []byte) {
		r := testrun.Decode(t, files[names[int(file)%len(names)]])
		var procs []*efg.Process
		for i := range r.Procs {
			p, err := r.Process(i)
			if err != nil {
				t.Fatal(err)
			}
			for k := range p.Streams {
				if err := p.Streams[k].LoadTimes(); err != nil {
					t.Fatal(err)
				}
			}
			procs = append(procs, p)
		}
		for n := 0; len(changes) >= 11; n++ {
			change(procs[n%len(procs)], binary.LittleEndian.Uint16(changes), changes[2], binary.LittleEndian.Uint64(changes[3:]))
			changes = changes[11:]
		}
		var b bytes.Buffer
		if runfile.EncodeRun(&b, procs, runfile.Meta{Time: r.Meta.Time}) != nil {
			return
		}
		for i := range writers {
			// An export may correct the clocks of a run.
			r, err := runfile.NewRun(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				return
			}
			job := &export.Job{Run: r, Selection: export.Selection{Thread: -1}}
			for k := range r.Procs {
				job.Procs = append(job.Procs, k)
			}
			if err := writers[i].write(t, job); err != nil && (err.Error() == "" || strings.Contains(err.Error(), "\n")) {
				t.Errorf("format %d: %q", i, err)
			}
		}
	})
}

// change sets a word of a node, or of a definition, the procedure of a node, the place of a process, or the length of
// its calls.
func change(p *efg.Process, at uint16, where byte, v uint64) {
	if len(p.Streams) == 0 || len(p.Streams[0].Nodes) == 0 {
		return
	}
	s := &p.Streams[0]
	node := &s.Nodes[int(at)%len(s.Nodes)]
	k := int(where / 5)
	switch where % 5 {
	case 0:
		node.Words[k%len(node.Words)] = v
	case 1:
		if len(p.Defs) == 0 {
			return
		}
		d := &p.Defs[int(at)%len(p.Defs)]
		if len(d.Words) > 0 {
			d.Words[k%len(d.Words)] = v
		}
		d.Kind = efg.DefKind(v % 12)
	case 2:
		node.Words[0] = node.Words[0]&^0xffff | v&0x3ff
	case 3:
		p.Size, p.Rank = int(int32(v)), int(int16(v>>32))
	case 4:
		if node.Times == nil {
			return
		}
		var t efg.Times
		for range node.Times.Gap.Len() {
			t.Gap.Append(v)
			t.Dur.Append(v >> (k % 64))
		}
		node.Times = &t
	}
}
