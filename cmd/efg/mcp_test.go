package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session connects the SDK's client to efg mcp in a process of its own.
func session(t *testing.T) *mcp.ClientSession {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "mcp")
	cmd.Env = append(os.Environ(), asMain+"=1")
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask calls a tool.
func ask(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (text string, failed bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%s: %d contents", tool, len(r.Content))
	}
	if !r.IsError {
		asDescribed(t, s, tool, r.StructuredContent)
	}
	c, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("%s: no text", tool)
	}
	return c.Text, r.IsError
}

// asDescribed checks that an answer is as the tool's schema says.
func asDescribed(t *testing.T, s *mcp.ClientSession, tool string, answer any) {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, described := range list.Tools {
		if described.Name != tool {
			continue
		}
		text, err := json.Marshal(described.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if err := resolved.Validate(answer); err != nil {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// Each tool answers with what the command writes.
func TestMCPAnswers(t *testing.T) {
	assembled(t, "traced")
	s := session(t)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || tool.Description == "" {
			t.Errorf("%s: not read only, or without a description", tool.Name)
		}
	}
	const statement = "select op, count(*) n from events group by op order by n"
	for tool, c := range map[string]struct {
		args    map[string]any
		command []string
	}{
		"info":       {map[string]any{"file": "a.efg"}, []string{"info", "a.efg", "--json"}},
		"report":     {map[string]any{"file": "a.efg", "rank": "0-1"}, []string{"report", "a.efg", "--json", "--rank", "0-1"}},
		"waits":      {map[string]any{"file": "a.efg"}, []string{"waits", "a.efg", "--json"}},
		"efficiency": {map[string]any{"file": "a.efg"}, []string{"efficiency", "a.efg", "--json"}},
		"diff":       {map[string]any{"before": "a.efg", "after": "a.efg"}, []string{"diff", "a.efg", "a.efg", "--json"}},
		"query":      {map[string]any{"file": "a.efg", "query": "SELECT COUNT(MESSAGES)"}, []string{"query", "a.efg", "SELECT COUNT(MESSAGES)", "--format", "jsonl"}},
		"sql":        {map[string]any{"file": "a.efg", "statement": statement}, []string{"sql", "a.efg", statement, "--format", "json"}},
	} {
		want, _, _ := efgRun(t, nil, c.command...)
		if got, failed := ask(t, s, tool, c.args); failed || got != want || got == "" {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
	if len(list.Tools) != 8 {
		t.Errorf("%d tools", len(list.Tools))
	}
}

// A deadlock is an answer, although the command's exit status says that one was found.
func TestMCPWhere(t *testing.T) {
	assembled(t, "stuck")
	s := session(t)
	want, _, status := efgRun(t, nil, "where", "a.efg", "--json")
	if got, failed := ask(t, s, "where", map[string]any{"job": "a.efg"}); failed || got != want || status != 3 {
		t.Errorf("%v, status %d, %q, want %q", failed, status, got, want)
	}
}

// Wrong questions are errors of the tool, and the next one is answered.
func TestMCPErrors(t *testing.T) {
	assembled(t, "farm")
	s := session(t)
	for want, c := range map[string]struct {
		tool string
		args map[string]any
	}{
		"argument file is missing":      {"report", nil},
		"there is no argument top":      {"report", map[string]any{"file": "a.efg", "top": "1"}},
		"missing.efg":                   {"info", map[string]any{"file": "missing.efg"}},
		"--help":                        {"info", map[string]any{"file": "--help"}},
		"the times of each call":        {"waits", map[string]any{"file": "a.efg"}},
		"syntax error":                  {"sql", map[string]any{"file": "a.efg", "statement": "selec"}},
		"ATTACH is refused":             {"sql", map[string]any{"file": "a.efg", "statement": "attach 'x' as y"}},
		"arguments: want texts by name": {"report", map[string]any{"file": 7}},
	} {
		if got, failed := ask(t, s, c.tool, c.args); !failed || !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s %v: %q, %v, want %q", c.tool, c.args, got, failed, want)
		}
	}
	if got, failed := ask(t, s, "info", map[string]any{"file": "a.efg"}); failed || !json.Valid([]byte(got)) {
		t.Errorf("%q", got)
	}
}

// Many rows are cut at the end of a line, and said to be.
func TestMCPBounds(t *testing.T) {
	assembled(t, "farm")
	s := session(t)
	got, failed := ask(t, s, "sql", map[string]any{"file": "a.efg", "statement": "select a.*, b.args from events a, events b"})
	if failed || len(got) > 257<<10 || len(got) < 100<<10 || !strings.Contains(got, "rows; there are more") {
		t.Errorf("%d bytes, %v, %.200s", len(got), failed, got[max(0, len(got)-200):])
	}
}
