package mtf

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/internal/export/gxl"
	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// all selects the whole run.
func all(r *runfile.Run) export.Selection {
	sel := export.Selection{Thread: -1}
	for i := range r.Procs {
		sel.Procs = append(sel.Procs, i)
	}
	return sel
}

func write(tb testing.TB, r *runfile.Run, sel export.Selection) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, sel, nil); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte) (*export.Run, error) {
	run := &export.Run{}
	return run, Read("file", bytes.NewReader(data), run.Add, nil)
}

// again is the run file made from what Write wrote.
func again(tb testing.TB, data []byte) []byte {
	tb.Helper()
	run, err := read(data)
	if err != nil {
		tb.Fatal(err)
	}
	return testrun.Encode(tb, run.Procs, run.Meta)
}

// Recorded programs are restored byte for byte, from files about as small as the columns.
func TestRecordedPrograms(t *testing.T) {
	for name, data := range testrun.Texts(t, "../../../efg/text/testdata") {
		r := testrun.Decode(t, data)
		file := write(t, r, all(r))
		if !bytes.Equal(again(t, file), data) {
			t.Errorf("%s: another run file", name)
		}
		var columns bytes.Buffer // parts have no event blocks
		if err := runfile.EncodePart(&columns, processes(t, r), r.Meta); err != nil {
			t.Fatal(err)
		}
		if len(file) > 2*columns.Len() {
			t.Errorf("%s: %d bytes, a run file without event blocks has %d", name, len(file), columns.Len())
		}
	}
}

func processes(t *testing.T, r *runfile.Run) (procs []*efg.Process) {
	t.Helper()
	for i := range r.Procs {
		p, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		procs = append(procs, p)
	}
	return procs
}

// Simulated runs come back, too, with sums in place of hashes if there are many processes.
func TestSimulatedPrograms(t *testing.T) {
	for _, c := range []sim.Config{
		{Program: "halo", Ranks: 8, Steps: 50, Stats: true},
		{Program: "mesh", Ranks: 4, Steps: 60, Seed: 3},
		{Program: "farm", Ranks: 5, Steps: 90, Seed: 4},
		{Program: "random", Ranks: 3, Steps: 3000, Seed: 5, Stats: true},
		{Program: "halo", Ranks: 300, Steps: 5, Null: true},
		{Program: "halo", Ranks: 343, Steps: 5, Periodic: true},
	} {
		t.Run(fmt.Sprintf("%s %d", c.Program, c.Ranks), func(t *testing.T) {
			data := testrun.SimulatedFile(t, c)
			r := testrun.Decode(t, data)
			file := write(t, r, all(r))
			if !bytes.Equal(again(t, file), data) {
				t.Error("another run file")
			}
			t.Logf("%d bytes, the run file has %d", len(file), len(data))
		})
	}
}

// A hundred times as many steps do not make the file larger.
func TestGrowth(t *testing.T) {
	size := func(steps int) int {
		r := testrun.Decode(t, testrun.SimulatedFile(t, sim.Config{Program: "halo", Ranks: 8, Steps: steps}))
		return len(write(t, r, all(r)))
	}
	if few, many := size(50), size(5000); many > few+few/10 {
		t.Errorf("%d bytes, with a hundred times the steps %d", few, many)
	}
}

// Windows are the same as in the other format.
func TestWindows(t *testing.T) {
	for name, data := range testrun.Texts(t, "../../../efg/text/testdata") {
		r := testrun.Decode(t, data)
		for _, w := range [][2]uint64{{0, 5}, {3, 40}, {17, 60}, {30, 0}, {1 << 40, 0}} {
			sel := all(r)
			sel.From, sel.To = w[0], w[1]
			var doc bytes.Buffer
			if err := gxl.Write(&doc, r, sel, nil); err != nil {
				t.Fatal(err)
			}
			var run export.Run
			if err := gxl.Read("doc", &doc, run.Add, nil); err != nil {
				t.Fatal(err)
			}
			if got, want := again(t, write(t, r, sel)), testrun.Encode(t, run.Procs, run.Meta); !bytes.Equal(got, want) {
				t.Errorf("%s %v: the window differs from that in GXL", name, w)
			}
		}
	}
}

// A selected thread of a selected rank.
func TestSelection(t *testing.T) {
	r := testrun.Decode(t, testrun.Texts(t, "../../../efg/text/testdata")["threads"])
	sel := all(r)
	sel.Procs, sel.Thread = []int{1}, 0
	part := testrun.Decode(t, again(t, write(t, r, sel)))
	if len(part.Procs) != 1 || len(part.Procs[0].Streams) != 1 || part.Procs[0].Rank != 1 {
		t.Fatalf("%+v", part.Procs)
	}
}

// Truncated or modified files are rejected; one line says where.
func TestBrokenFiles(t *testing.T) {
	r := testrun.Decode(t, testrun.Texts(t, "../../../efg/text/testdata")["farm"])
	good := write(t, r, all(r))
	check := func(what string, data []byte) {
		_, err := read(data)
		var e *Error
		if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for n := range len(good) {
		check(fmt.Sprintf("%d bytes", n), good[:n])
	}
	plain := unzip(t, good)
	for n := 0; n < len(plain); n += 7 {
		check(fmt.Sprintf("%d bytes of content", n), zip(t, plain[:n]))
	}
	check("more content", zip(t, append(plain, 0x91, 0)))
	check("a bomb", zip(t, append(plain[:len(plain)-2:len(plain)-2], bytes.Repeat([]byte{0x92, 5, 0x90}, 64<<20)...)))
}

func unzip(tb testing.TB, file []byte) []byte {
	tb.Helper()
	dec, err := zstd.NewReader(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer dec.Close()
	plain, err := dec.DecodeAll(file[len(magic):], nil)
	if err != nil {
		tb.Fatal(err)
	}
	return plain
}

func zip(tb testing.TB, plain []byte) []byte {
	tb.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer enc.Close()
	return enc.EncodeAll(plain, []byte(magic))
}

// FuzzRead changes content: it is rejected, with its position, or yields a valid run file whose
// export yields the same file.
func FuzzRead(f *testing.F) {
	files := testrun.Texts(f, "../../../efg/text/testdata")
	var bases [][]byte
	for _, name := range []string{"fail", "farm", "polls", "traced", "threads"} {
		r := testrun.Decode(f, files[name])
		bases = append(bases, unzip(f, write(f, r, all(r))))
	}
	for b, base := range bases {
		for i := 0; i < len(base); i += 97 {
			f.Add(uint8(b), uint16(i), uint8(1), []byte{base[i] + 1})
		}
	}
	maxEvents = 1 << 16
	f.Fuzz(func(t *testing.T, base uint8, at uint16, drop uint8, insert []byte) {
		plain := bases[int(base)%len(bases)]
		from := int(at) % len(plain)
		changed := append([]byte{}, plain[:from]...)
		changed = append(changed, insert...)
		changed = append(changed, plain[min(len(plain), from+int(drop)):]...)
		run, err := read(zip(t, changed))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		data := testrun.Encode(t, run.Procs, run.Meta)
		r := testrun.Decode(t, data)
		if err := runfile.Validate(r); err != nil {
			t.Fatalf("read, but: %v", err)
		}
		if !bytes.Equal(again(t, write(t, r, all(r))), data) {
			t.Error("the file makes another run file")
		}
	})
}

var exampleLine = regexp.MustCompile(`(?m)^    +((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)`)

// The page shows the content of a file.
func TestPageShowsAFile(t *testing.T) {
	page, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "## Example")
	r := testrun.Decode(t, testrun.Texts(t, "../../../efg/text/testdata")["farm"])
	content := fmt.Sprintf("% x", unzip(t, write(t, r, all(r))))
	var record string
	for _, m := range exampleLine.FindAllStringSubmatch(example, -1) {
		if m[1][0] == '9' && strings.Index(example, m[1])-strings.LastIndex(example[:strings.Index(example, m[1])], "\n") == 5 {
			record = "" // a record begins in the first column
		}
		record = strings.TrimSpace(record + " " + m[1])
		if !strings.Contains(content, record) {
			t.Errorf("the file does not have %q", record)
		}
	}
	if record == "" {
		t.Error("no example")
	}
}
