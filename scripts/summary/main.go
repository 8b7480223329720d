// Command summary reads the output of `go test -json` and writes a human-readable summary: a
// line for each package, the output of the tests that failed, and at the end how many passed
// and failed. Its exit status is 1 if anything failed, or if no test ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// summary counts tests. A package that fails outside its tests (it does not compile, panics,
// times out) counts as one failure.
type summary struct {
	out             io.Writer
	passed, failed  int
	skipped         int
	output          map[string]*strings.Builder // by test, until the test has ended
	failedInPackage map[string]bool
}

func main() {
	s := newSummary(os.Stdout)
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
	s.close()
	if !s.ok() {
		os.Exit(1)
	}
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[string]*strings.Builder{}, failedInPackage: map[string]bool{}}
}

// ok is false too if no test ran.
func (s *summary) ok() bool { return s.failed == 0 && s.passed > 0 }

func (s *summary) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			s.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line handles one line of input; a line that is not JSON is passed on.
func (s *summary) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		s.out.Write(line)
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		if s.output[key] == nil {
			s.output[key] = &strings.Builder{}
		}
		s.output[key].WriteString(e.Output)
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e, key)
		}
		delete(s.output, key)
	}
}

func (s *summary) endTest(e event, key string) {
	switch e.Action {
	case "pass":
		s.passed++
		return
	case "skip":
		s.skipped++
	case "fail":
		s.failed++
		s.failedInPackage[e.Package] = true
	}
	s.printOutput(key)
}

func (s *summary) endPackage(e event) {
	word := map[string]string{"pass": "ok", "fail": "FAIL", "skip": "none"}[e.Action]
	fmt.Fprintf(s.out, "%-4s %7.1fs  %s\n", word, e.Elapsed, e.Package)
	if e.Action != "fail" {
		return
	}
	if !s.failedInPackage[e.Package] {
		s.failed++
	}
	// Tests that were cut off by a panic or the time limit have not ended.
	for key := range s.output {
		if strings.HasPrefix(key, e.Package+" ") {
			s.printOutput(key)
			delete(s.output, key)
		}
	}
}

func (s *summary) printOutput(key string) {
	if b := s.output[key]; b != nil {
		fmt.Fprint(s.out, b.String())
	}
}

func (s *summary) close() {
	fmt.Fprintf(s.out, "%d passed, %d failed", s.passed, s.failed)
	if s.skipped > 0 {
		fmt.Fprintf(s.out, ", %d skipped", s.skipped)
	}
	fmt.Fprintln(s.out)
}
