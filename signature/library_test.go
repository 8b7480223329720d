package signature_test

import (
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

var procedureName = regexp.MustCompile(`^MPIX?_[A-Z]`)

// exported are the MPI procedures that a library exports, with their _c.
func exported(t *testing.T, compiler string) map[string]bool {
	t.Helper()
	files, err := mpilib.Libraries(compiler)
	if err != nil {
		t.Fatal(err)
	}
	funcs, err := mpilib.Functions(files...)
	if err != nil {
		t.Fatal(err)
	}
	for name := range funcs {
		if !procedureName.MatchString(name) {
			delete(funcs, name)
		}
	}
	return funcs
}

// Every procedure that a library exports is in the table or excluded by name.
func TestCoversLibraries(t *testing.T) {
	excluded, err := mpilib.Exclusions("exclusions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, compiler := range mpilib.Compilers {
		funcs := exported(t, compiler)
		if want := []int{400, 600}[i]; len(funcs) < want {
			t.Errorf("%s: found only %d procedures", compiler, len(funcs))
		}
		for name := range funcs {
			p := signature.ProcByName(name)
			if p == nil {
				if small, ok := strings.CutSuffix(name, "_c"); ok {
					p = signature.ProcByName(small)
				}
			}
			if (p == nil) != excluded(name) {
				t.Errorf("%s: %s: in the table: %v, excluded: %v", compiler, name, p != nil, excluded(name))
			}
		}
	}
}

// The large-count twins are those of MPICH, apart from what it does not have.
func TestLargeCount(t *testing.T) {
	funcs := exported(t, "mpicc.mpich")
	for _, p := range signature.Procs() {
		if funcs[p.Name] && funcs[p.Name+"_c"] != p.HasLarge && p.Name != "MPI_Status_set_elements" {
			t.Errorf("%s_c: in the library: %v", p.Name, funcs[p.Name+"_c"])
		}
	}
}

var prototype = regexp.MustCompile(`(?s)\b\w+\s+(MPIX?_\w+)\s*\(([^;{}]*?)\)\s*(?:__attribute__[^;]*)?;`)

// The C types of the parameters are those of the libraries' own headers.
func TestPrototypes(t *testing.T) {
	for _, compiler := range mpilib.Compilers {
		found := 0
		for _, m := range prototype.FindAllStringSubmatch(preprocess(t, compiler), -1) {
			p, large := procedure(m[1])
			if p == nil || p.Class == signature.Pass || strings.Contains(m[2], "(") {
				continue
			}
			found++
			got := headerTypes(m[2])
			want := tableTypes(p, large)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s\n mpi.h %q\n table %q", compiler, m[1], got, want)
			}
		}
		if found < 300 {
			t.Errorf("%s: compared only %d prototypes", compiler, found)
		}
	}
}

func procedure(name string) (p *signature.Proc, large bool) {
	if p := signature.ProcByName(name); p != nil {
		return p, false
	}
	small, large := strings.CutSuffix(name, "_c")
	return signature.ProcByName(small), large
}

func preprocess(t *testing.T, compiler string) string {
	t.Helper()
	src := filepath.Join(t.TempDir(), "m.c")
	text := "#include <mpi.h>\n#ifdef OPEN_MPI\n#include <mpi-ext.h>\n#endif\n"
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(compiler, "-E", "-P", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", src).Output()
	if err != nil {
		t.Fatalf("%s -E: %v", compiler, err)
	}
	return string(out)
}

// headerTypes reduces a parameter list to types: "int", "int*" for arrays and
// outputs, handle names, "ptr" for buffers, strings, statuses and functions.
func headerTypes(params string) []string {
	params = strings.TrimSpace(params)
	if params == "void" || params == "" {
		return nil
	}
	var l []string
	for _, s := range strings.Split(params, ",") {
		stars := strings.Count(s, "*") + strings.Count(s, "[")
		f := strings.FieldsFunc(strings.SplitN(s, "[", 2)[0], func(r rune) bool { return r == ' ' || r == '*' || r == '\n' })
		f = slices.DeleteFunc(f, func(w string) bool { return w == "const" || w == "struct" })
		switch {
		case s == "..." || strings.TrimSpace(s) == "...":
			continue
		case f[0] == "void" || f[0] == "char" || f[0] == "MPI_Status" || strings.HasSuffix(f[0], "_function") ||
			strings.HasSuffix(f[0], "_function_c") || strings.HasSuffix(f[0], "_fn"):
			l = append(l, "ptr")
		case strings.Contains(params, "[][3]") && stars == 2:
			l = append(l, f[0]+"*")
		default:
			l = append(l, f[0]+strings.Repeat("*", min(stars, 1)))
		}
	}
	return l
}

func tableTypes(p *signature.Proc, large bool) []string {
	handles := map[signature.Kind]string{
		signature.Comm: "MPI_Comm", signature.Win: "MPI_Win", signature.File: "MPI_File",
		signature.Group: "MPI_Group", signature.Type: "MPI_Datatype", signature.Op: "MPI_Op",
		signature.Errh: "MPI_Errhandler", signature.Info: "MPI_Info", signature.Msg: "MPI_Message",
		signature.Req: "MPI_Request", signature.Sess: "MPI_Session", signature.Keyval: "int",
	}
	integers := map[signature.CType]string{
		signature.Int: "int", signature.Aint: "MPI_Aint", signature.Offset: "MPI_Offset", signature.Count: "MPI_Count",
	}
	var l []string
	for _, q := range p.Params {
		s := "ptr"
		ct := q.Small
		if large {
			ct = q.Large
		}
		if q.Kind.Integer() {
			if ct == signature.NoType {
				continue
			}
			s = integers[ct]
		} else if h, ok := handles[q.Kind]; ok {
			s = h
		} else if q.Name == "argc" {
			s = "int*"
		}
		if s != "ptr" && s != "int*" && (q.Len != nil || q.Dir != signature.In) {
			s += "*"
		}
		l = append(l, s)
	}
	return l
}
