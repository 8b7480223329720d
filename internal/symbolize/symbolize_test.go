package symbolize

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/runfile"
)

// build compiles the test program. extra are further compiler options.
func build(t *testing.T, extra ...string) string {
	t.Helper()
	dir := t.TempDir()
	exe := filepath.Join(dir, "calls")
	run(t, "gfortran", "-g", "-O1", "-fno-inline", "-c", "-J", dir, "-o", filepath.Join(dir, "halo.o"), "testdata/halo.f90")
	args := append([]string{"-g", "-O2", "-Wl,--build-id", "-o", exe, "testdata/calls.c", filepath.Join(dir, "halo.o"), "-lgfortran"}, extra...)
	run(t, "gcc", args...)
	return exe
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// symbols returns the addresses of an executable's symbols, and its build-id.
func symbols(t *testing.T, exe string) (map[string]elf.Symbol, string) {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]elf.Symbol{}
	for _, s := range syms {
		m[s.Name] = s
	}
	id := readBuildID(f)
	if id == "" {
		t.Fatal("no build-id")
	}
	return m, id
}

func TestResolveLines(t *testing.T) {
	want := map[string]Place{
		"mark_inner": {File: "calls.c", Line: 9, Func: "inner in outer"},
		"mark_far":   {File: "calls.c", Line: 15, Func: "far_away"},
		"mark_outer": {File: "calls.c", Line: 21, Func: "outer"},
	}
	for _, option := range []string{"-gdwarf-5", "-gdwarf-4", "-no-pie", "-gz"} {
		t.Run(option, func(t *testing.T) {
			exe := build(t, option)
			syms, id := symbols(t, exe)
			for name, w := range want {
				got, err := Resolve(exe, id, []uint64{0, syms[name].Value, 1 << 60})
				if err != nil {
					t.Fatal(err)
				}
				if filepath.Base(got[1].Path) != w.File {
					t.Errorf("%s: path %q", name, got[1].Path)
				}
				got[1].Path = ""
				if got[1] != w {
					t.Errorf("%s: %+v, want %+v", name, got[1], w)
				}
				if got[0].File != "" || got[2].File != "" {
					t.Errorf("places outside the code: %+v, %+v", got[0], got[2])
				}
			}
		})
	}
}

func TestResolveFortranModuleProcedure(t *testing.T) {
	exe := build(t)
	syms, id := symbols(t, exe)
	s := syms["__halo_MOD_exchange"]
	var offsets []uint64
	for o := s.Value; o < s.Value+s.Size; o++ {
		offsets = append(offsets, o)
	}
	got, err := Resolve(exe, id, offsets)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, p := range got {
		if p.Func != "exchange" || p.File != "halo.f90" {
			t.Fatalf("%+v in exchange", p)
		}
		found = found || p.Line == 6
	}
	if !found {
		t.Error("the call's line is not there")
	}
}

func TestResolveWithoutDebugInformation(t *testing.T) {
	exe := build(t, "-Wl,--strip-debug")
	syms, id := symbols(t, exe)
	got, err := Resolve(exe, id, []uint64{syms["outer"].Value + 1})
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != (Place{Func: "outer"}) {
		t.Errorf("%+v", got[0])
	}
}

// The names of C++ functions are those of the source, with and without debug
// information, inlined or not.
func TestResolveCPlusPlus(t *testing.T) {
	want := map[string]string{
		"mark_member":   "mesh::Halo::exchange",
		"mark_template": "mesh::pack<double>",
		"mark_inlined":  "mesh::Halo::wait in step", // the linker has no name for step
	}
	for _, option := range []string{"-g", "-gdwarf-4", "-Wl,--strip-debug"} {
		t.Run(option, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), "names")
			run(t, "g++", "-O1", option, "-Wl,--build-id", "-o", exe, "testdata/names.cc")
			syms, id := symbols(t, exe)
			for mark, name := range want {
				got, err := Resolve(exe, id, []uint64{syms[mark].Value})
				if err != nil {
					t.Fatal(err)
				}
				if option == "-Wl,--strip-debug" && mark == "mark_inlined" {
					name = "mesh::(anonymous namespace)::step"
				}
				if got[0].Func != name {
					t.Errorf("%s: in %q, want %q", mark, got[0].Func, name)
				}
			}
		})
	}
}

// A call in an artificial inlined function is at the line that calls that function.
func TestResolveArtificial(t *testing.T) {
	const inline = "static inline __attribute__((always_inline, artificial)) void"
	source := inline + " inner(void) { __asm__(\".globl mark\\nmark: nop\"); }\n" +
		inline + " outer(void) {\n inner(); }\n" +
		"int main(void) {\n\n outer();\n return 0; }\n"
	for _, option := range []string{"-gdwarf-4", "-gdwarf-5"} {
		dir := t.TempDir()
		src, exe := filepath.Join(dir, "notes.c"), filepath.Join(dir, "notes")
		if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, "gcc", option, "-O0", "-Wl,--build-id", "-o", exe, src)
		syms, id := symbols(t, exe)
		got, err := Resolve(exe, id, []uint64{syms["mark"].Value})
		if err != nil {
			t.Fatal(err)
		}
		if want := (Place{File: "notes.c", Path: src, Line: 6, Func: "main"}); got[0] != want {
			t.Errorf("%s: %+v, want %+v", option, got[0], want)
		}
	}
}

func TestFunctionName(t *testing.T) {
	for symbol, want := range map[string]string{
		"main":                        "main",
		"solve_":                      "solve_",
		"_ZN4mesh4Halo8exchangeEv":    "mesh::Halo::exchange",
		"_Z4packIdEvPT_":              "pack<double>",
		"_ZN4mesh4HaloC2ERKS0_":       "mesh::Halo::Halo",
		"_Z4waitv.constprop.0":        "wait",
		"_Znonsense":                  "_Znonsense",
		"_Z":                          "_Z",
		"__halo_MOD_exchange":         "exchange",
		"halo_MOD_exchange":           "halo_MOD_exchange",
		"_ZNSt6vectorIdSaIdEE4sizeEv": "std::vector<double, std::allocator<double> >::size",
		"_Z1fISt6vectorIS0_IS0_IS0_IS0_IdSaIdEESaIS2_EESaIS4_EESaIS6_EESaIS8_EEEvv": "f",
	} {
		if got := functionName(symbol); got != want {
			t.Errorf("%s: %q, want %q", symbol, got, want)
		}
	}
}

func TestResolveRefusesOtherBuild(t *testing.T) {
	exe := build(t)
	_, err := Resolve(exe, "00112233", []uint64{0})
	var other *BuildIDError
	if !errors.As(err, &other) || other.Path != exe {
		t.Errorf("got %v", err)
	}
}

func TestSites(t *testing.T) {
	exe := build(t)
	syms, id := symbols(t, exe)
	procs := []*efg.Process{{Defs: []efg.Def{
		{Kind: efg.DefModule, Word: 3, Data: []byte(exe + "\x00" + id)},
		{Kind: efg.DefModule, Word: 4, Data: []byte("/nowhere/libgone.so\x0011")},
		{Kind: efg.DefSite, Word: 9, Words: []uint64{3, syms["mark_far"].Value}},
		{Kind: efg.DefSite, Word: 8, Words: []uint64{4, 0x1234}},
		{Kind: efg.DefSite, Word: 7, Words: []uint64{5, 0x10}},
	}}}
	procs = append(procs, procs[0])
	want := []runfile.Site{
		{Word: 7, Place: "unknown+0x10"},
		{Word: 8, Place: "libgone.so+0x1234"},
		{Word: 9, Place: "calls.c:15", Func: "far_away"},
	}
	got := Sites(procs)
	if len(got) != len(want) {
		t.Fatalf("%d sites, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}
