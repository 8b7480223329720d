package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A run file may have at most this fraction of the size that the better compressor achieves for
// the trace, plus this many bytes.
const (
	sizePart  = 0.4
	sizeBytes = 4096
)

// smallTrace is the size of a trace from which the limit holds.
const smallTrace = 1 << 20

// recording is a program and how to record it.
type recording struct {
	name    string
	mpi     string // "" for the first that exists
	ranks   int    // 0 means 4
	input   string // file that the program needs in its working directory
	packed  string // likewise, stored with gzip
	source  string // of testdata; "" for an installed program
	command []string
	options []string // of efg run
}

// melt is an example in Debian's lammps-examples.
const melt = "/usr/share/lammps/examples/melt/in.melt"

// realPrograms are widely used programs.
var realPrograms = []recording{
	{name: "LAMMPS melt, 250 steps", ranks: 8, input: melt, command: []string{"lmp", "-in", "in.melt"}},
	{name: "HPCC", ranks: 4, input: "testdata/real/hpccinf.txt", command: []string{"hpcc"}},
	{name: "pw.x, silicon", ranks: 4, input: "testdata/real/si.in", packed: siliconPotential, command: []string{"pw.x", "-in", "si.in"}},
}

// siliconPotential is the potential of silicon in Debian's quantum-espresso-data.
const siliconPotential = "/usr/share/doc/quantum-espresso/examples/atomic/pseudo-LDA-0.5/Si.pz-vbc.UPF.gz"

// miniApps are the programs of testdata that can run for a long time.
func miniApps() []recording {
	var l []recording
	for _, line := range []string{
		"jacobi 160", "halo3d 140", "grid 110 periodic", "grid 110 null", "lists 290", "amr 300", "farm 1900",
		"polling 80", "polls 30", "loops 150", "persistent 190", "eager 80", "coll 70", "icoll 50", "neigh 100",
		"intercoll 130", "rma 22", "types 60", "comms 800", "inter 600", "probes 500", "threads 100", "growing 600",
		"errors 180", "grequest 400", "attrs 90", "userops 370", "mpi1 120",
	} {
		f := strings.Fields(line)
		l = append(l, recording{name: strings.Join(f, " "), source: "c/" + f[0] + ".c", command: f})
	}
	for _, line := range []string{"blocklu 24", "planewave 12", "mesh 40", "amr 100", "jacobi 100"} {
		f := strings.Fields(line)
		l = append(l, recording{name: line, ranks: 16, source: "c/" + f[0] + ".c", command: f})
	}
	for _, line := range []string{"pcoll 100", "partitioned 5", "large 200", "sessions 400"} {
		f := strings.Fields(line)
		l = append(l, recording{name: strings.Join(f, " "), mpi: "MPICH", source: "c/" + f[0] + ".c", command: f})
	}
	return l
}

// size compares run files with linear traces compressed by general compressors.
func size(b *bench) error {
	fmt.Printf("\n## Size\n\nBytes of the run file (`--time off`) against the JSON Lines of all ranks through `xz -9e` and "+
		"`zstd -19 --long=27`: as they are, and without the members `rank`, `thread` and `seq`, which the order of the lines "+
		"implies and no compressor can do without. Limit, for traces over 1 MB as they are: %.1f times the smaller, and %d bytes. "+
		"Mini-apps (`testdata`) with 4 ranks.\n\n", sizePart, sizeBytes)
	fmt.Println("| program | MPI | ranks | events | run file | JSON Lines | xz | zstd | file / smaller | limit | without numbers | xz | zstd | file / smaller |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|")
	for _, r := range slices.Concat(realPrograms, miniApps()) {
		if err := b.sizeRow(r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (b *bench) sizeRow(r recording) error {
	m, ok := b.mpi(r.mpi)
	if !ok {
		return nil
	}
	for _, file := range []string{r.input, r.packed} {
		if _, err := os.Stat(file); file != "" && err != nil {
			fmt.Printf("| %s | | | | | | | | | | | | | %s is not there |\n", r.name, file)
			return nil
		}
	}
	file, err := b.record(r, "off")
	if err != nil {
		return err
	}
	t, err := b.trace(file)
	if err != nil {
		return err
	}
	limit := "met"
	switch {
	case t.full.bytes < smallTrace:
		limit = "–"
	case float64(t.file) > sizePart*float64(t.full.smaller())+sizeBytes:
		limit = "✗"
	}
	fmt.Printf("| %s | %s | %d | %d | %d | %s | %s | %s |\n", r.name, m.name, r.size(), t.events, t.file, t.full.columns(t.file), limit, t.bare.columns(t.file))
	return nil
}

func (r *recording) size() int {
	if r.ranks == 0 {
		return 4
	}
	return r.ranks
}

// mpi finds an MPI by its name.
func (b *bench) mpi(name string) (mpi, bool) {
	if name == "" {
		return b.mpis[0], true
	}
	i := slices.IndexFunc(b.mpis, func(m mpi) bool { return m.name == name })
	if i < 0 {
		return mpi{}, false
	}
	return b.mpis[i], true
}

// record records a program and returns the run file.
func (b *bench) record(r recording, time string) (string, error) {
	m, _ := b.mpi(r.mpi)
	if r.input != "" {
		data, err := os.ReadFile(r.input)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(b.dir, filepath.Base(r.input)), data, 0o644); err != nil {
			return "", err
		}
	}
	if r.packed != "" {
		if err := unpack(r.packed, filepath.Join(b.dir, strings.TrimSuffix(filepath.Base(r.packed), ".gz"))); err != nil {
			return "", err
		}
	}
	command := slices.Clone(r.command)
	if r.source != "" {
		exe, err := b.build(m, filepath.Join("testdata", r.source), "-lm", "-lpthread")
		if err != nil {
			return "", err
		}
		command[0] = exe
	}
	command = slices.Concat([]string{m.run}, m.flags, []string{"-n", strconv.Itoa(r.size())}, command)
	if m.name == "MPICH" {
		if err := b.buildYield(); err != nil {
			return "", err
		}
		b.preload = b.yield
		defer func() { b.preload = "" }()
	}
	if _, err := b.output(withOptions(b.recorded(time, command...), r.options...)...); err != nil {
		return "", err
	}
	return filepath.Join(b.dir, "x.efg"), nil
}

// unpack expands a file that is stored with gzip.
func unpack(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// buildYield builds testdata/yield once: MPICH polls busily, and with more ranks than cores it
// would take almost all of the time.
func (b *bench) buildYield() error {
	if b.yield != "" {
		return nil
	}
	yield := filepath.Join(b.dir, "yield.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", yield, "testdata/yield/yield.c", "-ldl").CombinedOutput()
	if err != nil {
		return fmt.Errorf("yield.c: %w\n%s", err, out)
	}
	b.yield = yield
	return nil
}

// traced holds the sizes of a run file and of its trace, in full and without what the order of
// the lines implies.
type traced struct {
	file, events int64
	full, bare   squeezed
}

// squeezed holds the sizes of a trace and of its compressed forms.
type squeezed struct{ bytes, xz, zstd int64 }

func (s *squeezed) smaller() int64 { return min(s.xz, s.zstd) }

// columns are the columns of the table, with the ratio of a run file to the smaller compressed
// form.
func (s *squeezed) columns(file int64) string {
	return fmt.Sprintf("%d | %d | %d | %.2f", s.bytes, s.xz, s.zstd, float64(file)/float64(s.smaller()))
}

// trace measures the linear trace of a run file.
func (b *bench) trace(file string) (traced, error) {
	var t traced
	info, err := os.Stat(file)
	if err != nil {
		return t, err
	}
	t.file = info.Size()
	full, bare := filepath.Join(b.dir, "trace.jsonl"), filepath.Join(b.dir, "bare.jsonl")
	defer os.Remove(full)
	defer os.Remove(bare)
	if err := b.reconstruct(file, full); err != nil {
		return t, err
	}
	if err := withoutNumbers(full, bare); err != nil {
		return t, err
	}
	if t.events, t.full, err = squeeze(full); err != nil {
		return t, err
	}
	_, t.bare, err = squeeze(bare)
	return t, err
}

// squeeze compresses a trace.
func squeeze(trace string) (events int64, s squeezed, err error) {
	if events, s.bytes, err = count(trace); err != nil {
		return 0, s, err
	}
	var xzErr, zstdErr error
	var wg sync.WaitGroup
	wg.Go(func() { s.xz, xzErr = compressed(trace, "xz", "-9e", "-c") })
	wg.Go(func() { s.zstd, zstdErr = compressed(trace, "zstd", "-19", "--long=27", "-q", "-c") })
	wg.Wait()
	return events, s, errors.Join(xzErr, zstdErr)
}

// numbers matches the members of a line that follow from its position among the others.
var numbers = regexp.MustCompile(`^\{"rank":\d+,"thread":\d+,"seq":\d+,`)

// withoutNumbers copies a trace without them.
func withoutNumbers(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	r, w := bufio.NewReaderSize(in, 1<<16), bufio.NewWriter(out)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return errors.Join(w.Flush(), out.Close())
		}
		if err != nil {
			return err
		}
		at := numbers.FindIndex(line)
		if at == nil {
			return fmt.Errorf("%s:%d: does not begin with rank, thread and seq", from, n)
		}
		w.WriteByte('{')
		w.Write(line[at[1]:])
	}
}

func (b *bench) reconstruct(file, trace string) error {
	f, err := os.Create(trace)
	if err != nil {
		return err
	}
	defer f.Close()
	var errText bytes.Buffer
	cmd := exec.Command(b.efg, "reconstruct", file, "--format", "jsonl")
	cmd.Stdout, cmd.Stderr = f, &errText
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("efg reconstruct: %w\n%s", err, errText.String())
	}
	return f.Close()
}

// count counts the lines and bytes of a file.
func count(file string) (lines, size int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		switch err {
		case nil:
			lines++
		case io.EOF:
			return lines, size, nil
		case bufio.ErrBufferFull:
		default:
			return 0, 0, err
		}
	}
}

// compressed returns the size of a file after compression.
func compressed(file string, args ...string) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = f
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, out)
	if err != nil {
		return 0, err
	}
	return n, cmd.Wait()
}
