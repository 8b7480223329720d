package web_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/efg-tools/efg/internal/testing/sim"
	"github.com/efg-tools/efg/internal/testing/testrun"
)

// The page is tested as people use it: efg records programs, efg view and efg daemon serve
// them, and a browser is driven by internal/web/test/page.mjs, which compares what is drawn
// with what the commands of efg say. Pictures of the views go to screenshots in $CI_OUTPUT, or
// in the module's directory.

// margin is the part of a test's time that is reserved for reporting what hangs.
const margin = 20 * time.Second

// setting is the input of page.mjs.
type setting struct {
	Address  string `json:"address"`
	Modules  string `json:"modules"` // directory of npm packages
	Chromium string `json:"chromium"`
	Efg      string `json:"efg"`
	Runs     string `json:"runs"` // directory of run files
	Shots    string `json:"shots"`
	Only     string `json:"only"` // a pattern for names of checks
	// References is a directory of pictures that views are compared with; Update: they are written.
	References string `json:"references"`
	Update     bool   `json:"update"`
	Live       *jobs  `json:"live,omitempty"`
}

// stage is a directory with efg and its recordings.
type stage struct {
	t         *testing.T
	ctx       context.Context
	dir, root string
	efg       string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	ctx, cancel := t.Context(), context.CancelFunc(func() {})
	if end, ok := t.Deadline(); ok { // end whatever hangs before that
		ctx, cancel = context.WithDeadline(ctx, end.Add(-margin))
	}
	t.Cleanup(cancel)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, ctx: ctx, dir: t.TempDir(), root: root}
	s.efg = filepath.Join(s.dir, "efg")
	s.in(root, "go", "build", "-o", s.efg, "./cmd/efg")
	if os.Geteuid() == 0 { // otherwise Open MPI does not run
		t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
		t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	}
	return s
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// in runs a command in a directory.
func (s *stage) in(dir, name string, args ...string) []byte {
	s.t.Helper()
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.Bytes())
	}
	return out
}

// compile builds a program of testdata/c.
func (s *stage) compile(name string) {
	s.t.Helper()
	source := filepath.Join(s.root, "testdata", "c", name+".c")
	s.in(s.dir, "mpicc.openmpi", "-O1", "-g", "-I", filepath.Join(s.root, "hook", "include"), "-o", name, source, "-lm", "-lpthread")
}

// record records a program of testdata/c as a run.
func (s *stage) record(run, times, ranks, program string, args ...string) {
	s.t.Helper()
	s.recordWith([]string{"--time", times}, run, ranks, program, args...)
}

// recordWith does so with options.
func (s *stage) recordWith(options []string, run, ranks, program string, args ...string) {
	s.t.Helper()
	if _, err := os.Stat(s.path(program)); err != nil {
		s.compile(program)
	}
	s.in(s.dir, s.efg, slices.Concat([]string{"run"}, options, []string{"-o", run + ".efg", "--",
		"mpiexec.openmpi", "--oversubscribe", "-n", ranks, "./" + program}, args)...)
}

// countEnergy gives the machine an energy counter that stands still.
func (s *stage) countEnergy() {
	s.t.Helper()
	zone := filepath.Join(s.path("powercap"), "intel-rapl:0")
	if err := os.MkdirAll(zone, 0o700); err != nil {
		s.t.Fatal(err)
	}
	for name, text := range map[string]string{"name": "package-0", "energy_uj": "5000000"} {
		if err := os.WriteFile(filepath.Join(zone, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.t.Setenv("EFG_POWERCAP", filepath.Dir(zone))
}

// simulate makes a run of many ranks.
func (s *stage) simulate(run string, c sim.Config) {
	s.t.Helper()
	parts := s.path(run + ".parts")
	if err := os.Mkdir(parts, 0o700); err != nil {
		s.t.Fatal(err)
	}
	list, err := c.WriteNodes(parts, 2)
	if err != nil {
		s.t.Fatal(err)
	}
	s.in(s.dir, s.efg, append([]string{"merge", "-o", run + ".efg"}, list...)...)
}

// trace makes a run of many ranks with the times of each call; it is the same each time.
func (s *stage) trace(run string, c sim.Config) {
	s.t.Helper()
	parts := s.path(run + ".parts")
	if err := os.Mkdir(parts, 0o700); err != nil {
		s.t.Fatal(err)
	}
	list, err := c.TracedNodes(parts, 2)
	if err != nil {
		s.t.Fatal(err)
	}
	s.in(s.dir, s.efg, append([]string{"merge", "-o", run + ".efg"}, list...)...)
}

// script makes a run of ranks with regions in each other, which wait for the last one of them.
func (s *stage) script(run string, ranks int) {
	s.t.Helper()
	script := testrun.NewScript(s.t, ranks)
	script.Each(func(r *testrun.ScriptRank, rank int) {
		at := int64(0)
		call := func(lasts int64, proc string, args testrun.Args) {
			r.Call(at, at+lasts, proc, args)
			at += lasts
		}
		world := testrun.Args{"comm": "MPI_COMM_WORLD"}
		for step := range int64(6) {
			call(1, "efg_region_begin", testrun.Args{"name": "step"})
			for k, name := range []string{"assembly", "solve", "output"}[:2+step/5] {
				call(1, "efg_region_begin", testrun.Args{"name": name})
				at += 2000 + 1000*int64(k) + 10*int64(rank)
				call(500-10*int64(rank%50), "MPI_Barrier", world)
				call(1, "efg_region_end", testrun.Args{"name": name})
			}
			call(1, "efg_region_end", testrun.Args{"name": "step"})
			at = (step + 1) * 12_000
		}
	})
	if err := os.WriteFile(s.path(run+".efg"), script.File(), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// copy takes an existing run file that takes long to make.
func (s *stage) copy(run, file string) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(s.path(run+".efg"), data, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// spoil makes a run whose texts are markup.
func (s *stage) spoil(run, from string) {
	s.t.Helper()
	text := s.in(s.dir, s.efg, "dump", from+".efg")
	for _, r := range [][2]string{
		{`"400"`, `"<script>hacked=1</script>\u202e\u009b\x1b\n"`},
		{`"jacobi.c:42"`, `"<img src=x onerror=hacked=1>.c:42"`},
		{`"main"`, `"</title><svg onload=hacked=1>"`},
		{`host "`, `host "<b>\u202e`},
	} {
		if !bytes.Contains(text, []byte(r[0])) {
			s.t.Fatalf("there is no %s in the dump", r[0])
		}
		text = bytes.ReplaceAll(text, []byte(r[0]), []byte(r[1]))
	}
	if err := os.WriteFile(s.path(run+".txt"), text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.in(s.dir, s.efg, "assemble", run+".txt", "-o", run+".efg")
}

// address finds the address of a page in efg's output; "" if there is none.
func address(text string) string {
	return regexp.MustCompile(`http://127\.0\.0\.1:[^\s"]+`).FindString(text)
}

// start starts efg in the background until the test ends, and returns the address of its page,
// which efg prints.
func (s *stage) start(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.ctx, s.efg, args...)
	cmd.Dir = s.dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGINT)
		cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if found := address(lines.Text()); found != "" {
			go func() {
				for lines.Scan() { // later output must not block it
				}
			}()
			return found
		}
	}
	s.t.Fatalf("efg %s: no address: %s", strings.Join(args, " "), strings.Join(said, "\n"))
	return ""
}

// browse makes page.mjs run its checks; each is a subtest.
func (s *stage) browse(c setting) {
	s.t.Helper()
	c.Efg, c.Runs, c.Shots, c.Modules, c.Only = s.efg, s.dir, shots(s.t, s.root), modules(s.t), os.Getenv("EFG_PAGE_CHECKS")
	c.References, c.Update = filepath.Join(s.root, "internal", "web", "testdata", "reference"), os.Getenv("EFG_PAGE_UPDATE") != ""
	var err error
	if c.Chromium, err = exec.LookPath("chromium"); err != nil {
		s.t.Fatalf("%v; scripts/setup.sh test installs it", err)
	}
	data, err := json.Marshal(c)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path("page.json"), data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	out := s.in(s.root, "node", filepath.Join("internal", "web", "test", "page.mjs"), s.path("page.json"))
	n := 0
	for line := range strings.Lines(string(out)) {
		var r struct{ Name, Error string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			s.t.Fatalf("page.mjs: %v: %s", err, line)
		}
		n++
		s.t.Run(r.Name, func(t *testing.T) {
			if r.Error != "" {
				t.Error(r.Error)
			}
		})
	}
	if n == 0 {
		s.t.Fatal("page.mjs has checked nothing")
	}
}

// shots is the directory for pictures.
func shots(t *testing.T, root string) string {
	dir := os.Getenv("CI_OUTPUT")
	if dir == "" {
		dir = root
	}
	dir = filepath.Join(dir, "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// modules is the directory of npm packages that scripts/setup.sh fills.
func modules(t *testing.T) string {
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	return filepath.Join(cache, "efg", "web-"+hex.EncodeToString(sum[:6]), "node_modules")
}

func TestPage(t *testing.T) {
	s := newStage(t)
	s.record("jacobi", "stats", "4", "jacobi", "400")
	s.record("again", "stats", "4", "jacobi", "400")
	s.record("traced", "trace", "4", "jacobi", "200")
	s.record("delays", "trace", "4", "delays", ".", "30")
	s.record("nest", "stats", "4", "nest")
	s.countEnergy()
	s.recordWith([]string{"--counters", "page-faults,task-clock,energy"}, "regions", "4", "regions")
	s.record("named", "trace", "4", "regions")
	s.script("steps", 64)
	s.recordWith([]string{"--callpath"}, "paths", "2", "paths")
	s.record("farm", "off", "5", "farm")
	s.record("faults", "stats", "4", "faults", "lost")
	s.spoil("hostile", "jacobi")
	s.simulate("halo", sim.Config{Program: "halo", Ranks: 1024, Steps: 20, Seed: 1, Stats: true})
	s.trace("ring", sim.Config{Program: "halo", Ranks: 64, Steps: 12, Seed: 3, Periodic: true})
	s.copy("huge", "testdata/halo131072.efg") // of bench/simulate -ranks 131072 -steps 5
	s.browse(setting{Address: s.start("view", "ring.efg", "jacobi.efg", "again.efg", "traced.efg", "delays.efg", "nest.efg", "farm.efg", "faults.efg", "regions.efg", "named.efg", "steps.efg", "paths.efg", "hostile.efg", "halo.efg", "huge.efg")})
}
