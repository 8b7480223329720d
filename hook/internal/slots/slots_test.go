package slots_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/hook/internal/slots"
	"github.com/efg-tools/efg/internal/testing/mpilib"
	"github.com/efg-tools/efg/signature"
)

var (
	fortranName = regexp.MustCompile(`^(p?mpix?_[a-z0-9_]+|pmpir_[a-z0-9_]+|P?MPIX?_[A-Z0-9_]+)$`)
	suffix      = regexp.MustCompile(`(_f08|_f08ts)?(_large)?_{0,2}$`)
)

var pmpi = regexp.MustCompile(`^[Pp](mpix?|MPIX?)r?_`)

// byMPI is the MPI_ name of a PMPI_ name.
func byMPI(symbol string) string { return pmpi.ReplaceAllString(symbol, "${1}_") }

// passes reports whether a Fortran name is that of a procedure that is never
// recorded.
func passes(symbol string) bool {
	name := suffix.ReplaceAllString(strings.ToLower(byMPI(symbol)), "")
	for _, p := range signature.Procs() {
		if p.Class == signature.Pass && strings.ToLower(p.Name) == name {
			return true
		}
	}
	return false
}

// Every Fortran name that a library exports has a slot, or is never recorded, or is excluded by
// name.
func TestCoversFortran(t *testing.T) {
	excluded, err := mpilib.Exclusions("exclusions.txt")
	if err != nil {
		t.Fatal(err)
	}
	symbols := map[string]bool{}
	for _, s := range slots.All() {
		for _, name := range slices.Concat(s.Symbols, s.PMPI) {
			symbols[name] = true
		}
	}
	for _, compiler := range mpilib.FortranCompilers {
		files, err := mpilib.Libraries(compiler)
		if err != nil {
			t.Fatal(err)
		}
		funcs, err := mpilib.Functions(files...)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for name := range funcs {
			if !fortranName.MatchString(name) {
				continue
			}
			found++
			if !symbols[name] && !passes(name) && !excluded(byMPI(name)) {
				t.Errorf("%s: no one knows %s", compiler, name)
			}
			if symbols[name] && excluded(byMPI(name)) {
				t.Errorf("%s: %s has a slot and is excluded", compiler, name)
			}
		}
		if found < 4000 {
			t.Errorf("%s: found only %d names", compiler, found)
		}
	}
}

// The C names with a slot are those of the table.
func TestCoversC(t *testing.T) {
	have := map[string]bool{}
	for i, s := range slots.All() {
		if s.ID != i {
			t.Errorf("%s has number %d at place %d", s.Name, s.ID, i)
		}
		if have[s.Name] {
			t.Errorf("%s has two slots", s.Name)
		}
		have[s.Name] = true
	}
	for _, p := range signature.Procs() {
		if have[p.Name] == (p.Class == signature.Pass) || have[p.Name+"_c"] != (p.HasLarge && p.Class != signature.Pass) {
			t.Errorf("%s: slots %v, %v", p.Name, have[p.Name], have[p.Name+"_c"])
		}
	}
}

func TestGeneratedFilesAreFresh(t *testing.T) {
	for name, want := range map[string][]byte{"slots.h": slots.Header(), "symbols.h": slots.Symbols()} {
		got, err := os.ReadFile("../../shim/gen/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("hook/shim/gen/%s is stale: run go generate ./hook", name)
		}
	}
}

var cPMPI = regexp.MustCompile(`^PMPIX?_[A-Z][a-z]`)

// Every PMPI_ name of C that a library exports belongs to a slot, or to a procedure that
// is never recorded, or is excluded by its MPI_ name.
func TestCoversPMPI(t *testing.T) {
	excluded, err := mpilib.Exclusions("../../../signature/exclusions.txt")
	if err != nil {
		t.Fatal(err)
	}
	slot := map[string]bool{}
	for _, s := range slots.All() {
		for _, name := range s.PMPI {
			slot[name] = true
		}
	}
	for _, compiler := range mpilib.Compilers {
		files, err := mpilib.Libraries(compiler)
		if err != nil {
			t.Fatal(err)
		}
		funcs, err := mpilib.Functions(files...)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for name := range funcs {
			if !cPMPI.MatchString(name) {
				continue
			}
			found++
			mpi := strings.TrimPrefix(name, "P")
			p := signature.ProcByName(strings.TrimSuffix(mpi, "_c"))
			if pass := p != nil && p.Class == signature.Pass; slot[name] == pass && !excluded(mpi) {
				t.Errorf("%s: %s has a slot: %v", compiler, name, slot[name])
			}
		}
		if found < 400 {
			t.Errorf("%s: found only %d names", compiler, found)
		}
	}
}
