// Package mcp answers questions about runs over the Model Context Protocol, with which assistants call
// tools. Each tool is a command of efg that only reads, and returns what that writes as JSON: the
// documents of docs/api.md. Answers are bounded.
package mcp

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Runner runs a command of efg and returns what it writes to out and errOut, and its exit status. An
// error means that it could not be run. Writing to out fails when there is enough.
type Runner func(ctx context.Context, args []string, out, errOut *Output) (status int, err error)

// tool is a command as a tool.
type tool struct {
	name, about string
	args        []string // of the command, before those of the call
	parameters  []parameter
	// rows: the answer is a line for each row, of which the first are returned if there are many.
	rows bool
	// findings: exit status 3 says that something was found.
	findings bool
}

// parameter is an argument of a tool, a text.
type parameter struct {
	name, about string
	flag        string // of the command; "" is a positional argument, which is required
}

var (
	file  = parameter{name: "file", about: "path of the run file (.efg)"}
	ranks = parameter{name: "rank", about: "ranks to include, as in 0-3,7; default all", flag: "--rank"}
)

var tools = []tool{
	{name: "info", about: "What was recorded: command, ranks, hosts, MPI library, number of calls, how the recording of each process ended. Start here.", args: []string{"info", "--json"}, parameters: []parameter{file}},
	{name: "report", about: "Where a run spends its time and what it communicates: findings in plain sentences, time and bytes by procedure, callsite and rank, imbalance.", args: []string{"report", "--json"}, parameters: []parameter{file, ranks}},
	{name: "waits", about: "Who waits for whom, where and how long, what causes the waiting, and the critical path. Needs the times of each call.", args: []string{"waits", "--json"}, parameters: []parameter{file, ranks}},
	{name: "efficiency", about: "Parallel efficiency and its factors (load balance, serialisation, transfer).", args: []string{"efficiency", "--json"}, parameters: []parameter{file}},
	{name: "diff", about: "What differs between two runs: which calls were added, removed or changed, and which take longer.", args: []string{"diff", "--json"}, parameters: []parameter{
		{name: "before", about: "path of the run file to compare with"}, {name: "after", about: "path of the other run file"},
	}},
	{name: "query", about: "Select or count operations and messages in the query language of the MPI Trace Format, for example SELECT COUNT(MESSAGES), SUM(SIZE) GROUP BY SENDER, RECEIVER, or SELECT SENDS FOR PROCESS(0) WHERE SIZE > 64 LIMIT 10.", args: []string{"query", "--format", "jsonl"}, parameters: []parameter{
		file, {name: "query", about: "the query"},
	}, rows: true},
	{name: "sql", about: "Rows of a read-only SQL statement (SQLite) over the tables events (rank, thread, seq, op, site, func, comm, peer, tag, count, bytes, t0, t1 in ns, args, out), nodes (equal calls together: visits, time, sent), edges, ranks and communicators. Sums are much faster from nodes than from events. Use LIMIT.", args: []string{"sql", "--format", "json", "--time-limit", "2m", "--memory", "256MiB"}, parameters: []parameter{
		file, {name: "statement", about: "the SQL statement"},
	}, rows: true},
	{name: "where", about: "Which call each rank is in, and whom it waits for, of a run that is running, hangs or was killed: names deadlocks.", args: []string{"where", "--json"}, parameters: []parameter{
		{name: "job", about: "a run file, a directory of segments, or the name of a job that efg daemon records"}, ranks,
	}, findings: true},
}

//go:generate go run ./schemas

//go:embed schemas.json
var schemas []byte

// answerSchemas are the JSON schemas of the documents with which tools answer, by the tools' names.
var answerSchemas = func() (byTool map[string]json.RawMessage) {
	if err := json.Unmarshal(schemas, &byTool); err != nil {
		panic(err)
	}
	return byTool
}()

// rowsSchema is that of answers of rows.
var rowsSchema = json.RawMessage(`{"type":"object","required":["rows","more"],"additionalProperties":false,"properties":{` +
	`"rows":{"type":"array","items":{"type":"object"}},"more":{"type":"boolean","description":"there are more rows than these"}}}`)

// MaxAnswer is the size of the longest answer in bytes.
const MaxAnswer = 256 << 10

// NewServer returns a server whose tools are run by a runner.
func NewServer(version string, run Runner) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "efg", Title: "efg, a profiler of MPI programs", Version: version}, &mcp.ServerOptions{
		Instructions: "Tools about recorded runs of MPI programs. Times are nanoseconds unless a name says otherwise; ranks are those in MPI_COMM_WORLD.",
	})
	for i := range tools {
		t := &tools[i]
		s.AddTool(&mcp.Tool{
			Name: t.name, Description: t.about, InputSchema: t.schema(), OutputSchema: t.answerSchema(),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true},
		}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, more, err := t.call(ctx, run, r.Params.Arguments)
			if err != nil {
				return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
			}
			return t.result(text, more), nil
		})
	}
	return s
}

// schema is the JSON schema of the arguments.
func (t *tool) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range t.parameters {
		properties[p.name] = map[string]any{"type": "string", "description": p.about}
		if p.flag == "" {
			required = append(required, p.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// answerSchema is the JSON schema of the answers.
func (t *tool) answerSchema() json.RawMessage {
	if t.rows {
		return rowsSchema
	}
	return answerSchemas[t.name]
}

// result is an answer as text, as the command writes it, and as a document.
func (t *tool) result(text string, more bool) *mcp.CallToolResult {
	r := &mcp.CallToolResult{StructuredContent: json.RawMessage(text)}
	if t.rows {
		lines := []json.RawMessage{}
		for line := range strings.Lines(text) {
			lines = append(lines, json.RawMessage(line))
		}
		r.StructuredContent = map[string]any{"rows": lines, "more": more}
		if more {
			text += fmt.Sprintf("(the first %d rows; there are more: use LIMIT, WHERE or aggregates)\n", len(lines))
		}
	}
	r.Content = []mcp.Content{&mcp.TextContent{Text: text}}
	return r
}

// command returns the command line for arguments. Positional arguments are never taken for flags.
func (t *tool) command(arguments json.RawMessage) ([]string, error) {
	values := map[string]string{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &values); err != nil {
			return nil, fmt.Errorf("arguments: want texts by name: %w", err)
		}
	}
	args, positional := slices.Clone(t.args), []string{"--"}
	for _, p := range t.parameters {
		v, given := values[p.name]
		delete(values, p.name)
		switch {
		case p.flag == "" && v == "":
			return nil, fmt.Errorf("argument %s is missing: %s", p.name, p.about)
		case p.flag == "":
			positional = append(positional, v)
		case given:
			args = append(args, p.flag+"="+v)
		}
	}
	for name := range values {
		return nil, fmt.Errorf("there is no argument %s", name)
	}
	return append(args, positional...), nil
}

// call runs the command. more reports whether there are more rows.
func (t *tool) call(ctx context.Context, run Runner, arguments json.RawMessage) (text string, more bool, err error) {
	args, err := t.command(arguments)
	if err != nil {
		return "", false, err
	}
	out, errOut := &Output{}, &Output{}
	status, err := run(ctx, args, out, errOut)
	switch {
	case ctx.Err() != nil:
		return "", false, context.Cause(ctx)
	case out.cut && t.rows:
		return out.wholeLines(), true, nil
	case out.cut:
		return "", false, fmt.Errorf("the answer is longer than %d KiB: ask for fewer ranks, or use sql or query", MaxAnswer>>10)
	case err != nil:
		return "", false, err
	case status == 0 || t.findings && status == 3:
		return out.buffer.String(), false, nil
	}
	return "", false, fmt.Errorf("%s", strings.TrimPrefix(strings.TrimSpace(errOut.buffer.String()), "efg: "))
}

// Output keeps the first bytes that are written.
type Output struct {
	buffer bytes.Buffer
	cut    bool
}

// errEnough reports that an answer is too long.
var errEnough = fmt.Errorf("more than %d KiB", MaxAnswer>>10)

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	room := MaxAnswer - o.buffer.Len()
	if len(b) > room {
		o.buffer.Write(b[:room])
		o.cut = true
		return room, errEnough
	}
	return o.buffer.Write(b)
}

// wholeLines returns the lines that are complete.
func (o *Output) wholeLines() string {
	text := o.buffer.String()
	return text[:strings.LastIndexByte(text, '\n')+1]
}
