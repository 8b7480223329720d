package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// depthCase is a command that shows callsites.
type depthCase struct {
	command string
	status  int
	list    bool   // shows whole call paths unless --site-depth says otherwise
	array   bool   // has paths as arrays, which shortened to one call are none
	api     string // the request with the same answer
}

// depthCases are commands about a run of testdata/c/paths.c, and stuckCases about one that ended in a call.
var (
	depthCases = []depthCase{
		{command: "report FILE --json", api: "report"}, {command: "report FILE --counters --json"},
		{command: "loops FILE --json", api: "loops"},
		{command: "phases FILE --json", api: "phases"}, {command: "waits FILE --json", api: "waits"}, {command: "whatif FILE --json", api: "whatif"},
		{command: "efficiency FILE --loops --phases --json", api: "efficiency?loops=true&phases=true"}, {command: "efficiency FILE FILE3 FILE4 --top 0 --wide"},
		{command: "diff FILE --json", api: "diff"}, {command: "diff FILE FILE3 --json", api: "diff?with=FILE3"}, {command: "diff FILE --ranks 0,1"},
		{command: "graph FILE"}, {command: "graph FILE --format json", api: "graph"},
		{command: "reconstruct FILE --format jsonl", list: true, array: true}, {command: "reconstruct FILE --format text"},
		{command: "query FILE SELECT~COUNT~GROUP~BY~PATH --format jsonl", list: true},
		{command: "sql FILE select~distinct~path~from~nodes --format json", list: true, array: true},
		{command: "sql FILE select~distinct~path~from~events --format json", list: true, array: true},
		{command: "export FILE --format csv --what events", list: true, array: true}, {command: "export FILE --format csv --what nodes", list: true, array: true},
	}
	stuckCases = []depthCase{
		{command: "check FILE --json", status: 1, api: "check"}, {command: "where FILE --json", api: "where"}, {command: "waits FILE --json", api: "waits"},
	}
)

// Every command that tells callsites apart does so by as many calls of their paths as --site-depth says.
func TestSiteDepthOfCommands(t *testing.T) {
	m := mpis[0]
	dir := t.TempDir()
	file, stuck := filepath.Join(dir, "FILE"), filepath.Join(dir, "stuck")
	program := compileMPI(t, m, "../../../testdata/c/paths.c")
	runOK(t, m, "-o", file, "--callpath", "--counters", "page-faults", program)
	for _, ranks := range []string{"3", "4"} {
		wider := m
		wider.launcher = append(slices.Clone(m.launcher[:len(m.launcher)-1]), ranks)
		runOK(t, wider, "-o", file+ranks, "--callpath", program)
	}
	hung := compileMPI(t, m, "../../../testdata/c/stuck.c")
	efgRun(t, nil, slices.Concat([]string{"run", "-o", stuck, "--callpath", "--"}, m.launcher, []string{hung, "exit", "0"})...)

	t.Chdir(dir)
	file, stuck = filepath.Base(file), filepath.Base(stuck)
	testDepths(t, depthCases, []string{file, file + "3", file + "4"}, "meet paths.c:18")
	testDepths(t, stuckCases, []string{stuck}, "receive stuck.c:33")
	hasDepth := map[string]bool{}
	for _, c := range slices.Concat(depthCases, stuckCases) {
		name, _, _ := strings.Cut(c.command, " ")
		hasDepth[name] = true
	}
	flagged := map[string]bool{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Flags().Lookup("site-depth") != nil {
			flagged[c.Name()] = true
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	if !maps.Equal(hasDepth, flagged) {
		t.Errorf("tested %v, with --site-depth %v", slices.Sorted(maps.Keys(hasDepth)), slices.Sorted(maps.Keys(flagged)))
	}
}

// testDepths compares the call paths in answers, which are those of calls in the function at, with shortened paths of
// all events.
func testDepths(t *testing.T, cases []depthCase, files []string, at string) {
	want := map[string]map[string]bool{"": {}, "0": {}, "1": {}, "2": {}, "3": {}}
	for _, f := range files {
		for _, e := range eventPaths(t, f) {
			for depth, paths := range want {
				paths[shortened(e.Path, depth)] = true
			}
		}
	}
	address, browser := viewing(t, &httpOptions{address: "127.0.0.1:0"}, files...)
	fetch(t, browser, address) // sets the token
	server, _, _ := strings.Cut(address, "/?")
	for _, c := range cases {
		for _, depth := range []string{"", "0", "1", "2", "3"} {
			args := strings.Fields(strings.ReplaceAll(c.command, "FILE", files[0]))
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "~", " ")
			}
			if depth != "" {
				args = append(args, "--site-depth", depth)
			}
			out, errOut, status := efgRun(t, nil, args...)
			if status != c.status {
				t.Errorf("%s, depth %s: status %d: %s%s", c.command, depth, status, out, errOut)
				continue
			}
			if c.api != "" {
				request := server + "/v1/runs/" + files[0] + "/" + c.api + map[bool]string{true: "&", false: "?"}[strings.Contains(c.api, "?")] + "site_depth=" + depth
				if got := string(fetch(t, browser, request)); got != out {
					t.Errorf("%s is\n%.2000s\nand %v\n%.2000s", request, got, args, out)
				}
			}
			effective := depth
			if depth == "" {
				effective = map[bool]string{true: "0", false: "1"}[c.list]
			}
			found := pathsIn(out)
			arrows := 0
			for path := range found {
				if !want[effective][path] {
					t.Errorf("%s, depth %q: path %q is not one of depth %s", c.command, depth, path, effective)
				}
				arrows += strings.Count(path, " ← ")
			}
			if none := effective == "1" && c.array; none != !slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(p string) bool { return strings.HasPrefix(p, at) }) {
				t.Errorf("%s, depth %q: want calls at %s: %v; there are %d paths:\n%.2000s", c.command, depth, at, !none, len(found), out)
			}
			if (arrows > 0) != (effective != "1") {
				t.Errorf("%s, depth %q: %d callers in paths", c.command, depth, arrows)
			}
		}
	}
}

// shortened is the text of a path, which begins with the outermost call, with so many of its calls.
func shortened(path []string, depth string) string {
	calls := slices.Clone(path)
	slices.Reverse(calls)
	n := map[string]int{"": len(calls), "0": len(calls), "1": 1, "2": 2, "3": 3}[depth]
	switch whole := len(calls) <= n; {
	case depth == "1":
		calls = calls[:1]
	case !whole:
		calls = append(calls[:n], "...")
	}
	return strings.Join(calls, " ← ")
}

var (
	arrowPath = regexp.MustCompile(`(?:\w+ in )*\w+ (?:paths|stuck)\.c:\d+(?: ← (?:\.\.\.|unknown|(?:\S+ in )*(?:\S+ )?[^\s"]+(?:\.c:\d+|\+0x[0-9a-f]+)))*`)
	arrayPath = regexp.MustCompile(`\["[^\[\]]*"\]`)
)

// pathsIn are the call paths in an answer, the last call first: as text, or as arrays.
func pathsIn(out string) map[string]bool {
	found := map[string]bool{}
	out = strings.NewReplacer(`\"`, `"`, `""`, `"`, `\l`, "\n").Replace(out)
	for _, list := range arrayPath.FindAllString(out, -1) {
		var path []string
		if json.Unmarshal([]byte(list), &path) == nil && strings.Contains(path[len(path)-1], ".c:") {
			slices.Reverse(path)
			found[strings.Join(path, " ← ")] = true
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, p := range arrowPath.FindAllString(out, -1) {
		found[p] = true
	}
	return found
}

// The tree of calls, and the flame graph, of shortened paths are those of paths that were recorded like that.
func TestSiteDepthOfTrees(t *testing.T) {
	m := mpis[0]
	program := compileMPI(t, m, "../../../testdata/c/paths.c")
	file := func(options ...string) string {
		name := filepath.Join(t.TempDir(), "a.efg")
		runOK(t, m, slices.Concat([]string{"-o", name}, options, []string{program})...)
		return name
	}
	calls := func(args ...string) map[string]uint64 {
		out, errOut, status := efgRun(t, nil, append(args, "--tree", "--json")...)
		var doc struct {
			Nodes []struct {
				Parent         int
				Kind, Name, At string
				Calls          uint64
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || status != 0 {
			t.Fatalf("status %d: %v: %s", status, err, errOut)
		}
		sums, keys := map[string]uint64{}, []string{}
		for _, n := range doc.Nodes {
			key := n.Kind + " " + n.Name + "@" + n.At
			if n.Parent >= 0 {
				key = keys[n.Parent] + "/" + key
			}
			keys = append(keys, key)
			sums[key] = n.Calls
		}
		return sums
	}
	flame := func(args ...string) string {
		svg := filepath.Join(t.TempDir(), "a.svg")
		_, errOut, status := efgRun(t, nil, append(args, "--flame", svg, "--of", "calls")...)
		picture, err := os.ReadFile(svg)
		if status != 0 || err != nil {
			t.Fatalf("status %d: %v: %s", status, err, errOut)
		}
		return string(picture)
	}
	full := file("--callpath")
	for _, depth := range []string{"2", "4"} {
		short := file("--callpath=" + depth)
		got, want := calls("report", full, "--site-depth", depth), calls("report", short)
		if !maps.Equal(got, want) || len(got) >= len(calls("report", full)) {
			t.Errorf("depth %s: tree\n%v\nrecorded:\n%v", depth, got, want)
		}
		if got, want := flame("report", full, "--site-depth", depth), flame("report", short); got != want || got == flame("report", full) {
			t.Errorf("depth %s: flame graph\n%s\nrecorded:\n%s", depth, got, want)
		}
	}
	one, without := calls("report", full, "--site-depth", "1"), calls("report", file())
	if !maps.Equal(one, without) {
		t.Errorf("without call paths:\n%v\nrecorded:\n%v", one, without)
	}
}
