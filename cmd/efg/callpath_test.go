package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tables of callsites do not depend on whether call paths were recorded.
func TestCallPathsFold(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			program := compileMPI(t, m, "../../../testdata/c/paths.c")
			dir := t.TempDir()
			without, with := filepath.Join(dir, "without.efg"), filepath.Join(dir, "with.efg")
			runOK(t, m, "-o", without, program)
			runOK(t, m, "-o", with, "--callpath", program)
			want, got := callsiteRows(t, without), callsiteRows(t, with)
			if len(want) < 3 || !maps.Equal(got, want) {
				t.Errorf("callsites with call paths:\n%v\nwithout:\n%v", got, want)
			}
			if out, errOut, status := efgRun(t, nil, "diff", without, with, "--fail-on", "calls>0%"); status != 0 {
				t.Errorf("diff with and without call paths: status %d: %s\n%s", status, errOut, out)
			}
		})
	}
}

// --site-depth shortens paths to what recording them with that depth gives.
func TestSiteDepth(t *testing.T) {
	m := mpis[0]
	program := compileMPI(t, m, "../../../testdata/c/paths.c")
	dir := t.TempDir()
	full := filepath.Join(dir, "full.efg")
	runOK(t, m, "-o", full, "--callpath", program)
	whole := callsiteRows(t, full, "--site-depth", "0")
	for _, depth := range []string{"2", "3", "5"} {
		short := filepath.Join(dir, depth+".efg")
		runOK(t, m, "-o", short, "--callpath="+depth, program)
		want, got := callsiteRows(t, short, "--site-depth", "0"), callsiteRows(t, full, "--site-depth", depth)
		if !maps.Equal(got, want) || len(got) >= len(whole) {
			t.Errorf("depth %s:\n%v\nrecorded:\n%v\nof %d whole paths", depth, got, want, len(whole))
		}
		for _, command := range [][]string{{"loops"}, {"waits"}, {"phases"}, {"diff"}} {
			out, errOut, status := efgRun(t, nil, append(command, full, "--site-depth", depth)...)
			if status != 0 || command[0] != "diff" && !strings.Contains(out, " ← ") {
				t.Errorf("%v: status %d: %s\n%s", command, status, errOut, out)
			}
		}
	}
	for key := range whole {
		calls := strings.Split(key.site, " ← ")
		first, _, _ := strings.Cut(calls[len(calls)-1], " ")
		if !slices.Contains([]string{"main", "work", "at_exit"}, first) {
			t.Errorf("%v does not begin where the program or the thread does", key)
		}
	}
}

// efg info says how many nodes there would be without call paths.
func TestFoldedNodes(t *testing.T) {
	m := mpis[0]
	program := compileMPI(t, m, "../../../testdata/c/paths.c")
	info := func(options ...string) (doc struct{ Nodes, FoldedNodes uint64 }) {
		file := filepath.Join(t.TempDir(), "a.efg")
		runOK(t, m, append([]string{"-o", file}, append(options, program)...)...)
		out, errOut, status := efgRun(t, nil, "info", file, "--json")
		if err := json.Unmarshal([]byte(out), &doc); err != nil || status != 0 {
			t.Fatalf("status %d: %v: %s", status, err, errOut)
		}
		if text, _, _ := efgRun(t, nil, "info", file); strings.Contains(text, "times as many") != (len(options) > 0) {
			t.Errorf("%v:\n%s", options, text)
		}
		return doc
	}
	without, with := info(), info("--callpath")
	if with.FoldedNodes != without.Nodes || with.Nodes <= without.Nodes || without.FoldedNodes != 0 {
		t.Errorf("with call paths %+v, without %+v", with, without)
	}
}

// runOK records a program, the last argument, with the options before it.
func runOK(t *testing.T, m mpi, args ...string) {
	t.Helper()
	options, program := args[:len(args)-1], args[len(args)-1]
	if _, errOut, status := efgRun(t, nil, slices.Concat([]string{"run"}, options, []string{"--"}, m.launcher, []string{program})...); status != 0 {
		t.Fatalf("status %d: %s", status, errOut)
	}
}

type callsiteRow struct{ op, site string }

// callsiteRows are the numbers of calls and ranks in the report, by callsite.
func callsiteRows(t *testing.T, file string, options ...string) map[callsiteRow][2]uint64 {
	t.Helper()
	out, errOut, status := efgRun(t, nil, append([]string{"report", file, "--json"}, options...)...)
	var doc struct {
		Callsites []struct {
			Op, Site     string
			Calls, Ranks uint64
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || status != 0 {
		t.Fatalf("status %d: %v: %s", status, err, errOut)
	}
	rows := map[callsiteRow][2]uint64{}
	for _, r := range doc.Callsites {
		key := callsiteRow{r.Op, r.Site}
		before, twice := rows[key]
		if twice && len(options) == 0 {
			t.Errorf("%s: %v is listed twice", filepath.Base(file), key)
		}
		rows[key] = [2]uint64{before[0] + r.Calls, r.Ranks} // lines of a library may have several calls
	}
	return rows
}

type eventPath struct {
	Op   string
	Path []string
}

// eventPaths are the call paths of all events, and of calls that had not returned.
func eventPaths(t *testing.T, file string) (list []eventPath) {
	t.Helper()
	out, errOut, status := efgRun(t, nil, "reconstruct", file, "--format", "jsonl")
	if status != 0 {
		t.Fatal(errOut)
	}
	for line := range strings.Lines(out) {
		var e struct {
			eventPath
			Entered *eventPath
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Entered != nil {
			e.eventPath = *e.Entered
		}
		list = append(list, e.eventPath)
	}
	return list
}

// Conditions on call paths, and columns with them, are those of the events.
func TestPathQueries(t *testing.T) {
	m := mpis[0]
	file := filepath.Join(t.TempDir(), "a.efg")
	runOK(t, m, "-o", file, "--callpath", compileMPI(t, m, "../../../testdata/c/paths.c"))
	count := func(call func(text string) bool) (n int) {
		for _, e := range eventPaths(t, file) {
			if slices.ContainsFunc(e.Path, call) {
				n++
			}
		}
		return n
	}
	all := count(func(string) bool { return true })
	left := count(func(c string) bool { return strings.HasPrefix(c, "left ") })
	sides := count(func(c string) bool { return strings.HasPrefix(c, "left ") || strings.HasPrefix(c, "one ") })
	eighties := count(func(c string) bool { return strings.Contains(c, " paths.c:8") })
	if left == 0 || sides <= left || eighties == 0 || all <= sides {
		t.Fatalf("%d events: %d, %d, %d", all, left, sides, eighties)
	}
	for condition, want := range map[string]int{
		"PATH = left": left, "PATH = 'LEFT'": left, "PATH != 'left'": all - left, "PATH IN (left, one)": sides,
		"PATH ~ '^(left|one) '": sides, "PATH !~ '^left '": all - left, "PATH = 'paths.c:8*'": eighties, "PATH = nowhere": 0,
	} {
		out, errOut, status := efgRun(t, nil, "query", file, "SELECT COUNT OF OPERATIONS WHERE "+condition, "--format", "jsonl")
		if status != 0 || strings.TrimSpace(out) != fmt.Sprintf(`{"count":%d}`, want) {
			t.Errorf("%s: status %d, %s%s, want %d", condition, status, out, errOut, want)
		}
	}
	for statement, want := range map[string]int{
		"select count(*) from events where exists (select 1 from json_each(events.path) where value like 'left %')":  left,
		"select sum(visits) from nodes where exists (select 1 from json_each(nodes.path) where value like 'left %')": left,
	} {
		out, errOut, status := efgRun(t, nil, "sql", file, statement, "--format", "csv")
		if lines := strings.Fields(out); status != 0 || len(lines) < 2 || lines[len(lines)-1] != fmt.Sprint(want) {
			t.Errorf("%s: status %d, %s%s, want %d", statement, status, out, errOut, want)
		}
	}
	for depth, want := range map[string]bool{"1": false, "2": true} {
		out, errOut, status := efgRun(t, nil, "query", file, "SELECT COUNT GROUP BY PATH", "--format", "jsonl", "--site-depth", depth)
		if status != 0 || strings.Contains(out, "meet paths.c:18 ← left paths.c:89 ← ") != want {
			t.Errorf("depth %s: status %d, %s%s", depth, status, out, errOut)
		}
	}
	out, errOut, status := efgRun(t, nil, "query", file, "SELECT SENDS WHERE PATH ~ '('")
	if status != 2 || !strings.Contains(errOut, "regular expression") {
		t.Errorf("status %d: %s%s", status, out, errOut)
	}
}

// The tree of calls is what counting the events by their paths gives.
func TestCallTree(t *testing.T) {
	m := mpis[0]
	file := filepath.Join(t.TempDir(), "a.efg")
	runOK(t, m, "-o", file, "--callpath", compileMPI(t, m, "../../../testdata/c/paths.c"))
	want := map[string]uint64{}
	for _, e := range eventPaths(t, file) {
		key, at := "", ""
		for _, call := range e.Path {
			i := strings.LastIndex(call, " ")
			if i < 0 {
				t.Fatalf("no function in %q", call)
			}
			functions := strings.Split(call[:i], " in ")
			for k := len(functions) - 1; k >= 0; k-- {
				key += "/" + functions[k] + "@" + at
				want[key]++
				at = ""
			}
			at = call[i+1:]
		}
		want[key+"/"+e.Op+"@"+at]++
	}
	var doc struct {
		Total struct{ Calls uint64 }
		Nodes []struct {
			Number, Parent int
			Name, At       string
			Calls          uint64
			Waiting        *int64
		}
	}
	out, errOut, status := efgRun(t, nil, "report", file, "--tree", "--json")
	if err := json.Unmarshal([]byte(out), &doc); err != nil || status != 0 {
		t.Fatalf("status %d: %v: %s", status, err, errOut)
	}
	got, keys, roots := map[string]uint64{}, []string{}, uint64(0)
	for i, n := range doc.Nodes {
		key := "/" + n.Name + "@" + n.At
		if n.Parent >= 0 {
			key = keys[n.Parent] + key
		} else {
			roots += n.Calls
		}
		keys = append(keys, key)
		got[key] = n.Calls
		if n.Number != i || n.Waiting == nil {
			t.Errorf("node %d: %+v", i, n)
		}
	}
	if len(want) < 20 || !maps.Equal(got, want) || roots != doc.Total.Calls {
		t.Errorf("tree:\n%v\nevents:\n%v", got, want)
	}
	text, errOut, status := efgRun(t, nil, "report", file, "--tree", "--top", "4")
	if status != 0 || !strings.Contains(text, "\nmain ") || !strings.Contains(text, "--top 0 shows all") {
		t.Errorf("status %d: %s\n%s", status, errOut, text)
	}
}

// Paths of calls on other stacks than the thread's own, and through code that no table describes, end
// there, and say so.
func TestForeignStacks(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.efg")
			runOK(t, m, "-o", file, "--callpath", compileMPI(t, m, "../../../testdata/c/stacks.c"))
			got := map[string]int{}
			for _, e := range eventPaths(t, file) {
				var calls []string
				for _, call := range e.Path {
					call, _, _ = strings.Cut(call, "+0x")
					if f, _, ok := strings.Cut(call, " stacks.c:"); ok {
						call = f
					}
					calls = append(calls, call)
				}
				got[e.Op+": "+strings.Join(calls, "/")]++
			}
			ranks := got["MPI_Init: main"]
			want := map[string]int{
				"MPI_Init: main": ranks, "MPI_Finalize: main": ranks,
				"MPI_Barrier: unknown/in_coroutine": 8 * ranks, "MPI_Send: main/resume": 8 * ranks, "MPI_Send: unknown/from_generated": 4 * ranks,
				"MPI_Iprobe: unknown/from_handler":                           4 * ranks,
				"MPI_Iprobe: unknown/libc.so.6/on_thread_stack/from_handler": 4 * ranks,
			}
			if ranks == 0 || !maps.Equal(got, want) {
				t.Errorf("paths:\n%v\nwant:\n%v", got, want)
			}
		})
	}
}

// Paths of a program without symbols are places in it, as many as with symbols.
func TestStrippedPaths(t *testing.T) {
	m := mpis[0]
	program := compileMPI(t, m, "../../../testdata/c/paths.c")
	stripped := filepath.Join(t.TempDir(), "stripped")
	if out, err := exec.Command("strip", "-s", "-o", stripped, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lengths := func(program string) (n map[int]int, unnamed int) {
		file := filepath.Join(t.TempDir(), "a.efg")
		runOK(t, m, "-o", file, "--callpath", program)
		n = map[int]int{}
		for _, e := range eventPaths(t, file) {
			n[len(e.Path)]++
			for _, call := range e.Path {
				if strings.HasPrefix(call, "stripped+0x") {
					unnamed++
				}
			}
		}
		return n, unnamed
	}
	want, _ := lengths(program)
	got, unnamed := lengths(stripped)
	if len(want) < 4 || !maps.Equal(got, want) || unnamed == 0 {
		t.Errorf("lengths of paths: %v, %d of the program; with symbols %v", got, unnamed, want)
	}
}

// Nodes that differ in their call paths alone are marked, as their extremes are those of all of them.
func TestSharedTimes(t *testing.T) {
	m := mpis[0]
	program := compileMPI(t, m, "../../../testdata/c/paths.c")
	for _, options := range [][]string{{"--time", "stats"}, {"--time", "stats", "--callpath"}} {
		file := filepath.Join(t.TempDir(), "a.efg")
		runOK(t, m, slices.Concat([]string{"-o", file}, options, []string{program})...)
		query := func(statement string) string {
			out, errOut, status := efgRun(t, nil, "sql", file, statement, "--format", "csv")
			if lines := strings.Fields(out); status == 0 && len(lines) == 2 {
				return lines[1]
			}
			t.Fatalf("status %d: %s%s", status, out, errOut)
			return ""
		}
		marked := query("select count(*) from nodes where shared = 1")
		// Nodes of one rank and thread with one callsite, procedure and arguments differ in their paths alone.
		alike := "(select count(*) as n, count(distinct time_min||' '||time_max) as extremes, sum(shared) as marked from nodes group by rank, thread, op, site, args)"
		if query("select count(*) from "+alike+" where n > 1 and (extremes <> 1 or marked <> n) or n = 1 and marked > 0") != "0" {
			t.Errorf("%v: %s nodes are marked", options, marked)
		}
		graph, errOut, status := efgRun(t, nil, "graph", file, "--format", "json")
		if with := slices.Contains(options, "--callpath"); status != 0 || (marked != "0") != with || strings.Contains(graph, `"shared": true`) != with {
			t.Errorf("%v: %s nodes are marked: %s", options, marked, errOut)
		}
	}
}

// Two builds of a program compare by their call paths although its lines have moved; one more call is found on its path.
func TestDiffOfMovedLines(t *testing.T) {
	for _, m := range mpis {
		t.Run(m.name, func(t *testing.T) {
			source, err := os.ReadFile("../../testdata/c/paths.c")
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			build := func(name string, edit ...string) string {
				text := strings.NewReplacer(edit...).Replace(string(source))
				if text == string(source) && edit != nil {
					t.Fatalf("%s: nothing to edit", name)
				}
				header, err1 := filepath.Abs("../../testdata/c/check.h")
				from, err2 := filepath.Abs("testdata")
				file := filepath.Join(dir, name, "paths.c")
				relative, err3 := filepath.Rel(from, file)
				err4 := os.Mkdir(filepath.Dir(file), 0o755)
				err5 := os.WriteFile(file, []byte(strings.Replace(text, `"check.h"`, `"`+header+`"`, 1)), 0o644)
				if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
					t.Fatal(err)
				}
				run := filepath.Join(dir, name+".efg")
				runOK(t, m, "-o", run, "--callpath", compileMPI(t, m, relative))
				return run
			}
			first := build("first")
			moved := build("moved", "#include", "/* moved */\n\n#include", "static HERE void meet", "\n\nstatic HERE void meet", "        right(n - 1);", "\n        right(n - 1);", "int main", "\n\n\nint main")
			for _, depth := range []string{"0", "2", "1"} {
				out, errOut, status := efgRun(t, nil, "diff", first, moved, "--site-depth", depth, "--fail-on", "calls>0%,structure")
				if status != 0 || !strings.Contains(out, "The runs are identical") {
					t.Errorf("depth %s: status %d: %s%s", depth, status, errOut, out)
				}
			}
			more := build("more", "#include", "\n\n#include", "        right(n - 1);\n", "        right(n - 1);\n    if (n == 0)\n        meet();\n")
			out, errOut, status := efgRun(t, nil, "diff", first, more, "--site-depth", "2", "--fail-on", "calls>0%")
			if status != 1 || !strings.Contains(out, "left paths.c") {
				t.Errorf("one more call: status %d: %s%s", status, errOut, out)
			}
		})
	}
}
