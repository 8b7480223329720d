package groundtruth

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exported lists the defined dynamic symbols of a library.
func exported(t *testing.T, file string) []string {
	t.Helper()
	out, err := command(t.Context(), "", "nm", "-D", "--defined-only", file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range strings.Split(out, "\n") {
		if f := strings.Fields(line); len(f) == 3 && strings.Contains("TW", f[1]) {
			names = append(names, f[2])
		}
	}
	return names
}

// notLogged are exported names that no program calls as MPI procedures with a
// communication effect: conversions, predefined callbacks, local arithmetic.
var notLogged = regexp.MustCompile(`_[cf]2[cf]$|_(c2f08|f082c|f2f08|f082f)$|^MPI_T_|^MPI_Status_set_|^MPI_(Wtime|Wtick|Aint_add|Aint_diff)$`)

// TestLoggerCovers compares the logger's C wrappers with what each MPI library
// exports.
func TestLoggerCovers(t *testing.T) {
	procedure := regexp.MustCompile(`^MPI_[A-Z][a-z0-9]`)
	for _, b := range benches {
		logged := exported(t, b.Logger)
		count := 0
		for _, name := range exported(t, libraryPath(t, b.Library)) {
			if !procedure.MatchString(name) || notLogged.MatchString(name) {
				continue
			}
			count++
			if !slices.Contains(logged, name) {
				t.Errorf("%s: %s is not logged", b.Name, name)
			}
		}
		if count < 350 {
			t.Errorf("%s: only %d procedures found", b.Name, count)
		}
	}
}

func libraryPath(t *testing.T, soname string) string {
	t.Helper()
	out, err := command(t.Context(), "", "/sbin/ldconfig", "-p")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, soname+" (") && strings.Contains(line, "x86-64") {
			return line[strings.LastIndex(line, " ")+1:]
		}
	}
	t.Fatalf("%s is not installed", soname)
	return ""
}

// TestLoggerAlone runs programs with the logger and without efg: the logger
// itself must not change them.
func TestLoggerAlone(t *testing.T) {
	for _, b := range benches {
		for _, source := range []string{"c/jacobi.c", "c/threads.c", "c/errors.c", "fortran/all_f08.f90"} {
			t.Run(b.Name+"/"+filepath.Base(source), func(t *testing.T) {
				program, err := b.Build(t.Context(), source)
				if err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				line := []string{program}
				if strings.HasPrefix(source, "fortran") {
					line = append(line, dir)
				}
				plain, err := b.Plain(t.Context(), 4, line...)
				if err != nil {
					t.Fatal(err)
				}
				logged, err := b.Logged(t.Context(), dir, 4, line...)
				app{}.same(t, "under the logger", plain, logged, err)
				logs, err := ReadLogs(dir)
				if err != nil || len(logs) != 4 {
					t.Fatalf("%d logs: %v", len(logs), err)
				}
			})
		}
	}
}

// TestComparisonNotices alters a reconstruction in many ways, each of which the comparison must
// find: a test that cannot fail proves nothing.
func TestComparisonNotices(t *testing.T) {
	b := benches[0]
	program, err := b.Build(t.Context(), "c/jacobi.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	logs, file := filepath.Join(dir, "logs"), filepath.Join(dir, "run.efg")
	if err := os.Mkdir(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Both(t.Context(), file, logs, 4, program, "20"); err != nil || r.Status != 0 {
		t.Fatalf("status %d: %v", r.Status, err)
	}
	good, err := command(t.Context(), dir, b.Efg, "reconstruct", file, "--format", "jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(t, b, logs, good); d != "" {
		t.Fatalf("unspoilt: %s", d)
	}
	for name, spoil := range spoilers {
		t.Run(name, func(t *testing.T) {
			bad := spoil(t, good)
			if bad == good {
				t.Fatal("nothing spoilt")
			}
			d := differences(t, b, logs, bad)
			if d == "" {
				t.Error("not noticed")
			}
			t.Log(d)
		})
	}
}

func differences(t *testing.T, b *Bench, logs, jsonl string) string {
	t.Helper()
	c, err := NewComparison(b.Root, true)
	if err != nil {
		t.Fatal(err)
	}
	all, err := ReadLogs(logs)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Compare(all, strings.NewReader(jsonl)); err != nil {
		return err.Error()
	}
	return strings.Join(c.Differences, "\n")
}

// nth replaces the nth match of a pattern.
func nth(n int, pattern, with string) func(*testing.T, string) string {
	return func(t *testing.T, s string) string {
		t.Helper()
		re := regexp.MustCompile(pattern)
		all := re.FindAllStringSubmatchIndex(s, n)
		if len(all) < n {
			t.Fatalf("only %d times %s", len(all), pattern)
		}
		m := all[n-1]
		return s[:m[0]] + string(re.ExpandString(nil, with, s, m)) + s[m[1]:]
	}
}

var spoilers = map[string]func(*testing.T, string) string{
	"tag":             nth(9, `"tag":(\d)`, `"tag":9$1`),
	"source":          nth(5, `"source":(\d+)`, `"source":7$1`),
	"destination":     nth(7, `"dest":`, `"dest":1`),
	"count":           nth(6, `"count":24`, `"count":25`),
	"received count":  nth(3, `("index":\d+,"source":\d+,"tag":\d+,"count":)\d+`, `${1}5`),
	"status lost":     nth(4, `"statuses":\[[^]]*\],?`, ``),
	"datatype":        nth(8, `"MPI_DOUBLE"`, `"MPI_FLOAT"`),
	"own datatype":    nth(3, `"type:\w+"`, `"type:00000000"`),
	"communicator":    nth(20, `"comm:\w+"`, `"comm:00000000"`),
	"world":           nth(2, `"MPI_COMM_WORLD"`, `"MPI_COMM_SELF"`),
	"requests swap":   nth(3, `("array_of_requests":\[)("req:[^"]+"),("req:[^"]+")`, `$1$3,$2`),
	"request":         nth(12, `"request":"req:[^"]+"`, `"request":"req:1.0"`),
	"procedure":       nth(4, `"MPI_Irecv"`, `"MPI_Isend"`),
	"result lost":     nth(1, `"rank_source":`, `"other":`),
	"result":          nth(1, `"rank_dest":\d`, `"rank_dest":3`),
	"error":           nth(5, `"out":{}`, `"out":{"error":"MPI_ERR_TAG"}`),
	"argument added":  nth(5, `"args":{`, `"args":{"speed":1,`),
	"array element":   nth(1, `"dims":\[(\d),(\d)\]`, `"dims":[$1,1$2]`),
	"array shortened": nth(1, `"periods":\[(\d),(\d)\]`, `"periods":[$1]`),
	"last event lost": func(_ *testing.T, s string) string { return s[:strings.LastIndex(s[:len(s)-1], "\n")+1] },
	"rank lost":       func(_ *testing.T, s string) string { return s[:strings.Index(s, `{"rank":3`)] },
	"events swapped":  swapEvents,
}

// swapEvents exchanges events 20 and 21 of rank 1.
func swapEvents(t *testing.T, s string) string {
	lines := strings.SplitAfter(s, "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, `{"rank":1,"thread":0,"seq":20,`) })
	if at < 0 || at+1 >= len(lines) {
		t.Fatal("rank 1 has no event 20")
	}
	for i, n := range []int{21, 20} {
		lines[at+i] = strings.Replace(lines[at+i], fmt.Sprintf(`"seq":%d`, 20+i), fmt.Sprintf(`"seq":%d`, n), 1)
	}
	lines[at], lines[at+1] = lines[at+1], lines[at]
	return strings.Join(lines, "")
}
