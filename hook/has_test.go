package hook

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/internal/testing/mpilib"
	"github.com/efg-tools/efg/signature"
)

// hidden are names of all kinds that only some mpi.h have: constants that are macros,
// enumerators and handles, of each group, procedures, and a type.
var hidden = []string{
	"MPI_HOST", "MPI_TYPECLASS_INTEGER", "MPI_COMBINER_HINDEXED_BLOCK", "MPI_COMBINER_DUP", "MPI_THREAD_SERIALIZED",
	"MPI_COMM_TYPE_SHARED", "MPI_ORDER_FORTRAN", "MPI_DISTRIBUTE_CYCLIC", "MPI_SEEK_END", "MPI_LOCK_SHARED", "MPI_SIMILAR",
	"MPI_MODE_NOCHECK", "MPI_MODE_SEQUENTIAL", "MPI_ERR_CONVERSION", "MPI_ERR_RMA_FLAVOR", "MPI_MAXLOC",
	"MPI_CXX_BOOL", "MPI_INTEGER16", "MPI_INFO_ENV", "MPI_ERRORS_RETURN", "MPI_MESSAGE_NO_PROC",
	"PMPI_Type_size_x", "PMPI_Type_get_envelope_c",
	"PMPI_Type_get_contents_c", "PMPI_Group_from_session_pset", "PMPI_Session_f2c", "MPI_Session",
}

// An mpi.h that lacks what others have still gets a back end.
func TestLackingHeader(t *testing.T) {
	overlay, dir := t.TempDir(), filepath.Join(t.TempDir(), "shim")
	header := "#include_next <mpi.h>\n"
	for _, name := range hidden {
		header += "#undef " + name + "\n#define " + name + " nobody_has_" + name + "\n"
	}
	// MPI-4's replacement for a procedure that is hidden.
	header += "extern int PMPI_Type_size_c(MPI_Datatype, MPI_Count *);\n"
	if err := os.WriteFile(filepath.Join(overlay, "mpi.h"), []byte(header), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := extract(dir); err != nil {
		t.Fatal(err)
	}
	for _, mpi := range mpilib.Compilers {
		c := compiler{path: filepath.Join(overlay, mpi)}
		script := fmt.Sprintf("#!/bin/sh\nexec %s -I%s \"$@\"\n", mpi, overlay)
		if err := os.WriteFile(c.path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		lacks, err := lackingFlags(t.Context(), c, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range hidden {
			if !slices.Contains(lacks, "-DBK_NO_"+name) {
				t.Errorf("%s: %s is not missed", mpi, name)
			}
		}
		files, err := matching("back*.c", "gen/constants.c", "gen/wrappers_f_env.c")
		if err != nil {
			t.Fatal(err)
		}
		args := slices.Concat([]string{"-fsyntax-only", "-I."}, mpiFlags, commonFlags, lacks, files)
		if err := c.run(t.Context(), dir, args...); err != nil {
			t.Error(err)
		}
	}
}

// What an mpi.h has is what a preprocessor leaves of it, except for macros that stand for
// something removed.
func TestHasWhatTheHeaderHas(t *testing.T) {
	for _, mpi := range mpilib.Compilers {
		lacks, err := lackingFlags(t.Context(), compiler{path: mpi}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		declared := declared(t, mpi)
		for _, c := range signature.Constants() {
			has := !slices.Contains(lacks, "-DBK_NO_"+c.Name)
			asked := strings.HasPrefix(c.Name, "MPI") || strings.HasPrefix(c.Name, "OMPI")
			if asked && has != declared[c.Name] && c.Group != "array" && c.Group != "buf" && c.Group != "int" {
				t.Errorf("%s: has %s: %v", mpi, c.Name, has)
			}
		}
	}
}

var (
	quoted     = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	identifier = regexp.MustCompile(`\w+`)
	removed    = regexp.MustCompile(`^#define \w+ (THIS_\w+_WAS_REMOVED|MPIR_REMOVED)\w*`)
)

// declared are the words of a compiler's mpi.h outside strings and values of macros.
func declared(t *testing.T, mpi string) map[string]bool {
	t.Helper()
	cmd := exec.Command(mpi, "-E", "-dD", "-x", "c", "-")
	cmd.Stdin = strings.NewReader("#include <mpi.h>\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := identifier.FindAllString(quoted.ReplaceAllString(line, ""), -1)
		switch {
		case strings.HasPrefix(line, "#define") && len(words) > 1:
			names[words[1]] = !removed.MatchString(line)
		case strings.HasPrefix(line, "#undef"):
			delete(names, words[1])
		case !strings.HasPrefix(line, "#"):
			for _, w := range words {
				names[w] = true
			}
		}
	}
	return names
}
