package hook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// phasesPython does what the programs in other languages do, and what only Python has.
const phasesPython = `import ctypes, sys, threading
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)
import efg
mpi.MPI_Init(None, None)
with efg.region("assembly"):
    efg.attribute("step", 17)
    efg.attribute("residual", 0.5)
    efg.attribute("kind", "implicit")
    efg.attribute("true", True)
    efg.attribute("large", 1 << 70)
    efg.attribute("none", None)
@efg.region("solve")
def solve(x):
    "doc"
    return x + 1
assert solve(1) == 2 and solve.__name__ == "solve" and solve.__doc__ == "doc"
try:
    with efg.region("raises"):
        raise ValueError
except ValueError:
    pass
efg.region_begin("na\u00efve")
efg.region_end()
efg.region_begin("b")
efg.region_end("b")
t = threading.Thread(target=solve, args=(1,))
t.start()
t.join()
mpi.MPI_Finalize()
print("ok", efg._recorded)
`

const pythonRecorded = `0 "op":"MPI_Init","args":{},"out":{}
0 "op":"efg_region_begin","args":{"name":"assembly"},"out":{}
0 "op":"efg_attribute_int","args":{"name":"step","value":17},"out":{}
0 "op":"efg_attribute_double","args":{"name":"residual","value":0.5},"out":{}
0 "op":"efg_attribute_string","args":{"name":"kind","value":"implicit"},"out":{}
0 "op":"efg_attribute_int","args":{"name":"true","value":1},"out":{}
0 "op":"efg_attribute_string","args":{"name":"large","value":"1180591620717411303424"},"out":{}
0 "op":"efg_attribute_string","args":{"name":"none","value":"None"},"out":{}
0 "op":"efg_region_end","args":{"name":"assembly"},"out":{}
0 "op":"efg_region_begin","args":{"name":"solve"},"out":{}
0 "op":"efg_region_end","args":{"name":"solve"},"out":{}
0 "op":"efg_region_begin","args":{"name":"raises"},"out":{}
0 "op":"efg_region_end","args":{"name":"raises"},"out":{}
0 "op":"efg_region_begin","args":{"name":"naïve"},"out":{}
0 "op":"efg_region_end","args":{},"out":{}
0 "op":"efg_region_begin","args":{"name":"b"},"out":{}
0 "op":"efg_region_end","args":{"name":"b"},"out":{}
0 "op":"MPI_Finalize","args":{},"out":{}
1 "op":"efg_region_begin","args":{"name":"solve"},"out":{}
1 "op":"efg_region_end","args":{"name":"solve"},"out":{}
`

// functionsPython has functions that are regions: methods, generators, in threads; those of another module,
// and what has no name, are none.
const functionsPython = `import ctypes, sys, threading
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)
import efg, other
mpi.MPI_Init(None, None)
class Solver:
    def step(self, n):
        return sum([x for x in range(n)]) + (lambda: 1)()
def numbers():
    yield 1
    yield 2
def fails():
    raise ValueError
def main():
    def inner():
        return Solver().step(3)
    efg.functions()
    for _ in numbers(): pass
    try:
        fails()
    except ValueError:
        pass
    other.helps(inner)
    t = threading.Thread(target=inner)
    t.start()
    t.join()
main()
sys.setprofile(None)
sys.setprofile(lambda *a: None)
efg.functions()
sys.setprofile(None)
efg.functions("other")
other.helps(numbers)
sys.setprofile(None)
mpi.MPI_Finalize()
print("ok", efg._recorded)
`

const otherPython = `def helps(call):
    return call()
`

const functionsRecorded = `0 begin numbers
0 end numbers
0 begin numbers
0 end numbers
0 begin numbers
0 end numbers
0 begin fails
0 end fails
0 begin main.<locals>.inner
0 begin Solver.step
0 end Solver.step
0 end main.<locals>.inner
0 begin other.helps
0 end other.helps
1 begin main.<locals>.inner
1 begin Solver.step
1 end Solver.step
1 end main.<locals>.inner
`

// Functions of a Python program are regions if it wants that.
func TestPythonFunctions(t *testing.T) {
	efg := buildEfg(t)
	regions := regexp.MustCompile(`(?m)^{"rank":-?\d+,"thread":(\d+),"seq":\d+,"op":"efg_region_(begin|end)","args":{"name":"([^"]*)"}.*$`)
	for name, library := range map[string]string{"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			command(t, dir, efg, "hook", "include", ".")
			for file, content := range map[string]string{"phases.py": functionsPython, "other.py": otherPython} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if out := command(t, dir, "python3", "-W", "error", "phases.py", library); out != "ok False\n" {
				t.Errorf("alone it printed %q", out)
			}
			command(t, dir, efg, "run", "-o", "phases.efg", "--", "python3", "phases.py", library)
			got := ""
			for _, m := range regions.FindAllStringSubmatch(command(t, dir, efg, "reconstruct", "--format", "jsonl", "phases.efg"), -1) {
				got += m[1] + " " + m[2] + " " + m[3] + "\n"
			}
			if got != functionsRecorded {
				t.Errorf("recorded\n%swant\n%s", got, functionsRecorded)
			}
		})
	}
}

// The package for Python has the same functions.
func TestPythonPackage(t *testing.T) {
	module, err := os.ReadFile("include/efg.py")
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile("../python/efg/_regions.py")
	if err != nil || string(copied) != string(module) {
		t.Errorf("python/efg/_regions.py is not a copy of include/efg.py: %v", err)
	}
}

// A Python program that names regions runs alone, and is recorded.
func TestPythonModule(t *testing.T) {
	efg := buildEfg(t)
	rest := regexp.MustCompile(`(?m)^{"rank":-?\d+,"thread":(\d+),"seq":\d+,(.*),"site":"[^"]*".*$`)
	for name, library := range map[string]string{"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			command(t, dir, efg, "hook", "include", ".")
			if err := os.WriteFile(filepath.Join(dir, "phases.py"), []byte(phasesPython), 0o644); err != nil {
				t.Fatal(err)
			}
			if out := command(t, dir, "python3", "phases.py", library); out != "ok False\n" {
				t.Errorf("alone it printed %q", out)
			}
			command(t, dir, efg, "run", "-o", "phases.efg", "--", "python3", "phases.py", library)
			got := rest.ReplaceAllString(command(t, dir, efg, "reconstruct", "--format", "jsonl", "phases.efg"), "$1 $2")
			if got != pythonRecorded {
				t.Errorf("recorded\n%swant\n%s", got, pythonRecorded)
			}
		})
	}
}
