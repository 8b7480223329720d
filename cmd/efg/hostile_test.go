package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile contains characters that a terminal would obey or hide, and a line that pretends to
// be ours: quoted as in Go, and raw.
const (
	hostileQuoted = `\x1b]0;x\a\x1b[31m\nefg: forged\r\tA\u009b2JB\u202eC\u200bD\u007fE\xffF\U000e0041`
	hostile       = "\x1b]0;x\a\x1b[31m\nefg: forged\r\tA\u009b2JB\u202eC\u200bD\u007fE\xffF\U000e0041"
)

// hostileRun makes a run from a text of package text, or of this one, with hostile in each of its strings.
func hostileRun(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "efg", "text", "testdata", name+".txt"))
	if os.IsNotExist(err) {
		data, err = os.ReadFile(filepath.Join("testdata", name+".txt"))
	}
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "meta time ") && !strings.HasPrefix(line, "meta polls ") {
			line = quoted.ReplaceAllStringFunc(line, func(s string) string { return s[:len(s)-1] + hostileQuoted + `"` })
		}
		b.WriteString(line)
	}
	file := filepath.Join(t.TempDir(), name+".efg")
	if _, errOut, status := efgRun(t, strings.NewReader(b.String()), "assemble", "-", "-o", file); status != 0 {
		t.Fatal(errOut)
	}
	return file
}

// checkHarmless fails if a terminal would do anything but show a text, or if a line begins
// inside what was one string.
func checkHarmless(t *testing.T, command, text string) {
	t.Helper()
	for i, r := range text {
		_, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
			t.Errorf("%s: writes %U at %.60q", command, r, text[max(0, i-20):])
			return
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "efg: forged") {
			t.Errorf("%s: a line of its own: %.60q", command, line)
			return
		}
	}
}

// The content of a run file does nothing to the terminal, in whatever form it is shown;
// machine-readable output has it unchanged.
func TestHostileTexts(t *testing.T) {
	commands := []string{
		"info FILE", "info FILE --all", "report FILE", "report FILE --by rank", "report FILE --counters", "matrix FILE", "check FILE", "phases FILE", "waits FILE", "clocks FILE", "efficiency FILE --windows 3", "whatif FILE", "whatif FILE --compute all:2", "loops FILE", "timeline FILE", "fleet FILE", "fleet FILE --json",
		"diff FILE FILE", "diff FILE --ranks 0,1", "graph FILE --format json", "where FILE", "where FILE --all",
		"reconstruct FILE", "reconstruct FILE --format text", "reconstruct FILE --verify", "query FILE SELECT|SENDS --format text", "query FILE SELECT|SENDS",
		"query FILE COUNT|OF|SENDS|BY|callsite --format text", "query FILE COUNT|OF|SENDS|BY|callsite", "sql FILE select|*|from|nodes", "sql FILE select|*|from|nodes --format json", "sql FILE select|*|from|ranks", "sql FILE select|*|from|counters", "dump FILE",
		"info FILE --json", "report FILE --json", "report FILE --counters --json", "check FILE --json", "phases FILE --json", "waits FILE --json", "clocks FILE --json", "efficiency FILE --json", "whatif FILE --json", "loops FILE --json", "timeline FILE --json", "diff FILE FILE --json", "where FILE --json",
	}
	for _, name := range []string{"persistent", "spawn", "stuck", "waiting", "traced", "worlds", "counted"} {
		file := hostileRun(t, name)
		for _, command := range commands {
			args := strings.Fields(command)
			for i := range args {
				args[i] = strings.ReplaceAll(strings.ReplaceAll(args[i], "|", " "), "FILE", file)
			}
			out, errOut, _ := efgRun(t, nil, args...)
			checkHarmless(t, name+": "+command, out)
			checkHarmless(t, name+": "+command, errOut)
			if strings.HasSuffix(command, "json") && out != "" {
				checkJSON(t, name+": "+command, out)
			}
		}
		out, _, _ := efgRun(t, nil, "info", file, "--json")
		var doc struct{ Command []string }
		want := strings.ToValidUTF8(hostile, "\ufffd")
		if err := json.Unmarshal([]byte(out), &doc); err != nil || !strings.HasSuffix(doc.Command[0], want) {
			t.Errorf("%s: %q, %v", name, doc.Command, err)
		}
		out, _, _ = efgRun(t, nil, "sql", file, "select host from ranks limit 1", "--format", "csv")
		if !strings.Contains(out, hostile) {
			t.Errorf("%s: as CSV %q", name, out)
		}
	}
}

func checkJSON(t *testing.T, command, text string) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var x any
		if err := d.Decode(&x); err != nil {
			t.Errorf("%s: %v", command, err)
			return
		}
	}
}

// Names of files, and other arguments, are harmless in errors.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "x"+hostile)
	writeFile(t, broken, "hello\n")
	for _, args := range [][]string{
		{"info", broken}, {"info", broken + "y"}, {"where", broken}, {"merge", "-o", filepath.Join(dir, "out"), broken}, {"assemble", broken, "-o", filepath.Join(dir, "out")},
		{"check", hostile}, {"run", "--counters", hostile, "--", "true"}, {hostile}, {"info", "--" + hostile}, {"sql", broken, "select 1"}, {"diff", broken, broken}, {"view", broken}, {"top", broken}, {"where", dir},
	} {
		out, errOut, status := efgRun(t, nil, args...)
		checkHarmless(t, args[0], out)
		checkHarmless(t, args[0], errOut)
		if status == 0 || errOut == "" {
			t.Errorf("%q: status %d, %q", args, status, errOut)
		}
	}
}
