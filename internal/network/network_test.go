package network

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// planted are the lines of a pair whose messages take latency + 2·overhead + (bytes-1)·perByte.
func planted(class string, latency, overhead, perByte float64, eager int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "efg-network pair %s 0 1\n", class)
	for bytes := 1; bytes <= 1<<22; bytes *= 2 {
		fmt.Fprintf(&b, "[1,0] efg-network half %d %.3f\n", bytes, latency+2*overhead+float64(bytes-1)*perByte) // as some launchers write it
	}
	fmt.Fprintf(&b, "noise\nefg-network send %g\nefg-network receive %g\nefg-network gap 300\nefg-network eager %d\n", overhead/2, 3*overhead/2, eager)
	return b.String()
}

const begun = "efg-network mpi Some MPI 1.2\nefg-network world 4 2\n"

// Parameters that are planted are found; of several pairs the median counts.
func TestParameters(t *testing.T) {
	n, err := results(strings.NewReader("hello\n" + begun + planted(SameHost, 200, 50, 0.1, 4096) + planted(SameHost, 900, 70, 0.3, 8192) +
		planted(SameHost, 250, 60, 0.2, 8192) + planted(OtherHost, 1500, 400, 0.5, -1) + "efg-network end\n"))
	if err != nil {
		t.Fatal(err)
	}
	same, other := n.Class(SameHost), n.Class(OtherHost)
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 0.001*want {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	near("latency", same.Latency, 250)
	near("overhead", same.Overhead, 60)
	near("time per byte", same.PerByte, 0.2)
	near("gap", same.Gap, 300)
	near("latency between hosts", other.Latency, 1500)
	near("overhead between hosts", other.Overhead, 400)
	near("time per byte between hosts", other.PerByte, 0.5)
	if same.Pairs != 3 || other.Pairs != 1 || *same.EagerLimit != 8192 || other.EagerLimit != nil || len(same.Times) != 23 || n.MPI != "Some MPI 1.2" || n.Ranks != 4 || n.Hosts != 2 {
		t.Errorf("%+v", n)
	}
}

func TestResultsThatAreNone(t *testing.T) {
	pair := planted(SameHost, 200, 50, 0.1, 4096)
	for text, want := range map[string]error{
		"": errCut, "hello\n": errCut, begun + pair: errCut, begun + "efg-network half 1 3\n": errCut, begun + pair + "efg-network half x\nefg-network end\n": errCut,
		"efg-network world 1 1\nefg-network end\nefg-network world 1 1\nefg-network end\n": errApart,
		"efg-network world 1 1\nefg-network end\n":                                         errAlone,
	} {
		if n, err := results(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want.Error()) {
			t.Errorf("%q: %v, %v; want %v", text, n, err, want)
		}
	}
}

// FuzzParse: what is no network is an error; what is one has parameters that can be used.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"schema":"efg-network/1","classes":[{"class":"same-host","latency":1,"overhead":2,"gap":3,"per_byte":0.1,"eager_limit":4}]}`))
	f.Add([]byte(`{"schema":"efg-network/1","classes":[{"class":"same-host","latency":-1}]}`))
	f.Add([]byte(`{"schema":"efg-network/2","classes":[{"class":"same-host"}]}`))
	f.Add([]byte(`{"schema":"efg-network/1","classes":[{"class":"rack"}]}`))
	f.Add([]byte(`{"schema":"efg-network/1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Parse(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := Parse(again); err != nil || len(m.Classes) != len(n.Classes) {
			t.Fatalf("%s: %v", again, err)
		}
		for _, c := range n.Classes {
			if c.Latency < 0 || c.Overhead < 0 || c.Gap < 0 || c.PerByte < 0 {
				t.Fatalf("%+v", c)
			}
		}
	})
}

// Both MPI libraries are measured: on one host, and between two, of which one only has another name.
func TestMeasure(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	for mpi, launch := range map[string][]string{
		"openmpi": {"mpirun.openmpi", "--oversubscribe", "-x", "LD_PRELOAD", "-x", "HOSTS_FROM", "-n", "3"}, "mpich": {"mpiexec.mpich", "-n", "3"},
	} {
		hosts := filepath.Join(t.TempDir(), "hosts.so")
		if out, err := exec.Command("mpicc."+mpi, "-shared", "-fPIC", "-o", hosts, "testdata/hosts.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		script := filepath.Join(t.TempDir(), "launch")
		if err := os.WriteFile(script, []byte(fmt.Sprintf("#!/bin/sh\nexport LD_PRELOAD=%s HOSTS_FROM=2\nexec %s \"$@\"\n", hosts, strings.Join(launch, " "))), 0o700); err != nil {
			t.Fatal(err)
		}
		var errOut bytes.Buffer
		n, err := Measure(t.Context(), &Options{Launcher: []string{script}, Compiler: "mpicc." + mpi, Pairs: 1, Stderr: &errOut})
		if err != nil {
			t.Fatalf("%s: %v\n%s", mpi, err, &errOut)
		}
		if n.Ranks != 3 || n.Hosts != 2 || len(n.Classes) != 2 || n.Class(SameHost).Pairs != 1 || n.Class(OtherHost).Pairs != 1 {
			t.Errorf("%s: %+v", mpi, n)
		}
		for _, c := range n.Classes {
			// All libraries have small messages that need no receiver, and large ones that do.
			if c.EagerLimit == nil || *c.EagerLimit < 16 || *c.EagerLimit >= 1<<20 || c.Latency < 0 || c.Overhead <= 0 || len(c.Times) != 23 || c.Times[22].Time <= 0 {
				t.Errorf("%s: %+v", mpi, c)
			}
		}
		data, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(data); err != nil {
			t.Errorf("%s: %v", mpi, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "efg", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The compiler belongs to the launcher, or is said to be wrong.
func TestCompilers(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for launcher, want := range map[string]string{"mpirun.openmpi": "mpicc.openmpi", "mpiexec.mpich": "mpicc.mpich"} {
		if got := filepath.Base(compilerOf(launcher)); got != want {
			t.Errorf("%s: %s, want %s", launcher, got, want)
		}
	}
	t.Setenv("MPICC", "other")
	if got := compilerOf("srun"); got != "other" {
		t.Errorf("srun: %s", got)
	}
	for want, opt := range map[string]Options{
		"each rank is alone":  {Launcher: []string{"mpiexec.mpich", "-n", "2"}, Compiler: "mpicc.openmpi"},
		"at least two":        {Launcher: []string{"mpiexec.mpich", "-n", "1"}},
		"exit status 1":       {Launcher: []string{"false"}, Compiler: "mpicc.mpich"},
		"come to its end":     {Launcher: []string{"true"}, Compiler: "mpicc.mpich"},
		"cannot compile":      {Launcher: []string{"mpiexec.mpich"}, Compiler: "false"},
		"executable file not": {Launcher: []string{"no-launcher"}, Compiler: "mpicc.mpich"},
	} {
		opt.Pairs, opt.Stderr = 1, &bytes.Buffer{}
		if _, err := Measure(t.Context(), &opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", opt.Launcher, err, want)
		}
	}
}
