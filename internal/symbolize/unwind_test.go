package symbolize

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// stripped returns a program without symbols, and the functions that it had.
func stripped(t *testing.T, whole string) (exe string, functions []elf.Symbol) {
	t.Helper()
	exe = filepath.Join(t.TempDir(), "app")
	run(t, "strip", "-s", "-o", exe, whole)
	syms, _ := symbols(t, whole)
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && s.Section != elf.SHN_UNDEF {
			functions = append(functions, s)
		}
	}
	return exe, functions
}

// buildNames compiles the program in C++, which has exceptions.
func buildNames(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "names")
	run(t, "g++", "-O1", "-Wl,--build-id", "-o", exe, "testdata/names.cc")
	return exe
}

// Functions of a program without symbols are named by where they begin, from their first byte to their last.
func TestStripped(t *testing.T) {
	for name, whole := range map[string]string{"C and Fortran": build(t), "without PIE": build(t, "-no-pie", "-O0"), "C++": buildNames(t)} {
		t.Run(name, func(t *testing.T) {
			exe, functions := stripped(t, whole)
			if len(functions) < 2 {
				t.Fatalf("%d functions", len(functions))
			}
			offsets := []uint64{0, 1 << 60}
			for _, s := range functions {
				offsets = append(offsets, s.Value, s.Value+s.Size-1)
			}
			got, err := Resolve(exe, "", offsets)
			if err != nil {
				t.Fatal(err)
			}
			if got[0] != (Place{}) || got[1] != (Place{}) {
				t.Errorf("places outside the code: %+v, %+v", got[0], got[1])
			}
			for i, s := range functions {
				if want := (Place{Func: fmt.Sprintf("app+%#x", s.Value)}); got[2+2*i] != want || got[3+2*i] != want {
					t.Errorf("%s: %+v and %+v, want %+v", s.Name, got[2+2*i], got[3+2*i], want)
				}
			}
		})
	}
}

// Damaged tables are read without harm.
func TestDamagedUnwindTable(t *testing.T) {
	exe, functions := stripped(t, buildNames(t))
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := rand.New(rand.NewPCG(1, 2))
	good := newUnwindTable(f)
	for range 20_000 {
		x := *good
		x.entries, x.records = damaged(r, good.entries, entrySize), damaged(r, good.records, 1)
		for _, s := range functions {
			x.function(s.Value)
		}
	}
}

// damaged cuts bytes off, to a multiple of unit, and changes some.
func damaged(r *rand.Rand, b []byte, unit int) []byte {
	out := append([]byte{}, b[:(len(b)-r.IntN(2)*r.IntN(len(b)))/unit*unit]...)
	for range r.IntN(4) {
		if len(out) > 0 {
			out[r.IntN(len(out))] = byte(r.Uint32())
		}
	}
	return out
}
