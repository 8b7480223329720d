package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/efg-tools/efg/efg"
)

func newInfo() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "Show what is in a run file",
		Long: `Show what is in a run file: processes, threads, events, the size of the graphs,
and which streams of events are complete.`,
		Example: "  efg info jacobi.efg",
		Args:    argCount(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return info(args[0], asJSON, all, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().BoolVar(&all, "all", false, "list every stream, also of a large run")
	return cmd
}

func info(path string, asJSON, all bool, out io.Writer) error {
	r, err := openRun(path)
	if err != nil {
		return err
	}
	defer r.Close()
	streams := 0
	for i := range r.Procs {
		streams += len(r.Procs[i].Streams)
	}
	list := all || streams <= fewStreams
	s := summarize(path, r, list || asJSON)
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(s)
	}
	return s.write(out, list)
}

// fewStreams is how many streams are listed without being asked for.
const fewStreams = 64

// summary is what efg info tells. Its JSON form is documented in docs/info.md.
type summary struct {
	File       string          `json:"file"`
	Bytes      uint64          `json:"bytes"`
	Tool       string          `json:"tool"`
	Command    []string        `json:"command"`
	Started    time.Time       `json:"started"`
	Seconds    float64         `json:"seconds"`
	Status     int             `json:"status"`
	Time       string          `json:"time"`
	Polls      string          `json:"polls,omitempty"`
	Queries    bool            `json:"queries"`
	Buffers    bool            `json:"buffers"`
	Programs   []string        `json:"programs"`
	MPI        []string        `json:"mpi"`
	Hosts      []string        `json:"hosts"`
	Processes  int             `json:"processes"`
	Missing    []int           `json:"missing"` // ranks
	Threads    int             `json:"threads"`
	Events     uint64          `json:"events"`
	Dropped    uint64          `json:"dropped"`
	Nodes      uint64          `json:"nodes"`
	Edges      uint64          `json:"edges"`
	Graphs     int             `json:"shapes"` // of graphs: equal but for arguments and weights
	Ratio      float64         `json:"ratio"`
	Complete   int             `json:"complete"`
	Streams    []streamSummary `json:"streams"`
	linearSize uint64
}

type streamSummary struct {
	Rank     int    `json:"rank"`
	PID      int    `json:"pid"`
	Thread   uint32 `json:"thread"`
	Events   uint64 `json:"events"`
	Nodes    uint64 `json:"nodes"`
	Edges    uint64 `json:"edges"`
	Bytes    uint64 `json:"bytes"`
	Dropped  uint64 `json:"dropped"`
	End      string `json:"end"`
	Complete bool   `json:"complete"`
}

var endTexts = map[efg.End]string{
	efg.EndOpen: "killed or running", efg.EndThread: "thread ended",
	efg.EndFinalized: "finalized", efg.EndExit: "exit without MPI_Finalize",
}

// summarize sums up a run; list asks for each stream.
func summarize(path string, r *efg.Run, list bool) *summary {
	m := &r.Meta
	s := &summary{
		File: path, Bytes: r.Size(), Tool: m.Tool, Command: m.Command, Started: time.Unix(0, m.Started).UTC(),
		Seconds: float64(m.Ended-m.Started) / 1e9, Status: m.Status, Time: m.Time,
		Polls: m.Polls, Queries: m.Queries, Buffers: m.Buffers, Processes: len(r.Procs), Missing: missing(r),
		Streams: []streamSummary{},
	}
	graphs := map[int]bool{}
	hosts := map[string]bool{}
	last, graph := &efg.ProcInfo{}, -1 // most processes are like the one before
	for i := range r.Procs {
		p := &r.Procs[i]
		if !slices.Equal(p.Command, last.Command) || p.MPI != last.MPI {
			s.Programs = addOnce(s.Programs, strings.Join(p.Command, " "))
			s.MPI = addOnce(s.MPI, p.MPI)
		}
		if p.Host != last.Host && !hosts[p.Host] && p.Host != "" {
			hosts[p.Host] = true
			s.Hosts = append(s.Hosts, p.Host)
		}
		for j := range p.Streams {
			t := &p.Streams[j]
			s.add(t)
			if t.Class != graph {
				graph = t.Class
				graphs[graph] = true
			}
			if list || !t.Complete() {
				s.Streams = append(s.Streams, summaryOf(p, t))
			}
		}
		last = p
	}
	s.Graphs = len(graphs)
	if s.Bytes > 0 {
		s.Ratio = float64(s.linearSize) / float64(s.Bytes)
	}
	return s
}

func (s *summary) add(t *efg.StreamInfo) {
	s.Threads++
	s.Events += t.Events
	s.Dropped += t.Dropped
	s.Nodes += t.Nodes
	s.Edges += t.Edges
	s.linearSize += 8 * t.Words
	if t.Complete() {
		s.Complete++
	}
}

func summaryOf(p *efg.ProcInfo, t *efg.StreamInfo) streamSummary {
	return streamSummary{
		Rank: p.Rank, PID: p.PID, Thread: t.Thread, Events: t.Events, Nodes: t.Nodes, Edges: t.Edges, Bytes: t.Bytes,
		Dropped: t.Dropped, End: endTexts[t.End], Complete: t.Complete(),
	}
}

// addOnce appends v unless it is empty or there.
func addOnce(list []string, v string) []string {
	if v == "" {
		return list
	}
	for _, l := range list {
		if l == v {
			return list
		}
	}
	return append(list, v)
}

// missing returns the ranks that the worlds have and the file has not. The ranks
// of a world follow those of the one before.
func missing(r *efg.Run) []int {
	const most = 1000
	list := []int{}
	next, end := 0, 0 // rank to come, end of the current world
	for _, p := range r.Procs {
		if p.Rank < 0 {
			break
		}
		for ; next < p.Rank && len(list) < most; next++ {
			list = append(list, next)
		}
		if p.Rank >= end {
			end += p.Size
		}
		next = p.Rank + 1
	}
	for ; next < end && len(list) < most; next++ {
		list = append(list, next)
	}
	return list
}

func (s *summary) write(out io.Writer, streams bool) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "file\t%s, %d bytes\n", s.File, s.Bytes)
	fmt.Fprintf(w, "command\t%s\n", strings.Join(s.Command, " "))
	for _, p := range s.Programs {
		fmt.Fprintf(w, "program\t%s\n", p)
	}
	for _, m := range s.MPI {
		fmt.Fprintf(w, "MPI\t%s\n", shorten(m, 60))
	}
	fmt.Fprintf(w, "run\t%s, %.3f s, exit status %d\n", s.Started.Format("2006-01-02 15:04:05 UTC"), s.Seconds, s.Status)
	fmt.Fprintf(w, "recorded\t%s\n", s.recorded())
	fmt.Fprintf(w, "ranks\t%d%s\n", s.Processes, s.missingText())
	fmt.Fprintf(w, "threads\t%d\n", s.Threads)
	fmt.Fprintf(w, "events\t%d\n", s.Events)
	fmt.Fprintf(w, "graph\t%d nodes, %d edges; %s\n", s.Nodes, s.Edges, plural(s.Graphs, "shape"))
	fmt.Fprintf(w, "ratio\t%.1f (%d bytes as a list of events)\n", s.Ratio, s.linearSize)
	fmt.Fprintf(w, "complete\t%d of %d streams\n", s.Complete, s.Threads)
	if err := w.Flush(); err != nil {
		return err
	}
	if streams {
		return s.writeStreams(out)
	}
	return s.writeIncomplete(out)
}

// shorten cuts a text down to at most n bytes.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " ..."
}

func (s *summary) recorded() string {
	text := "times: " + s.Time
	if s.Time == "" {
		text = "times: unknown"
	}
	if percent, ok := strings.CutPrefix(s.Time, "trace="); ok {
		text = "times: trace, within " + percent + " %"
	}
	if s.Polls == efg.PollTotals {
		text += "; polls that found nothing: totals"
	}
	if s.Queries {
		text += ", local queries"
	}
	if s.Buffers {
		text += ", buffers"
	}
	return text
}

func (s *summary) missingText() string {
	if len(s.Missing) == 0 {
		return ""
	}
	return fmt.Sprintf(" (missing: %s)", rangesText(s.Missing))
}

// rangesText writes ascending numbers as --rank takes them: 0-3,7.
func rangesText(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i]+n {
			n++
		}
		part := fmt.Sprint(list[i])
		if n > 1 {
			part += fmt.Sprintf("-%d", list[i]+n-1)
		}
		parts = append(parts, part)
		i += n
	}
	return strings.Join(parts, ",")
}

func (s *summary) writeStreams(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nrank\tthread\tevents\tnodes\tedges\tbytes\t  end\n")
	for _, t := range s.Streams {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", t.Rank, t.Thread, t.Events, t.Nodes, t.Edges, t.Bytes, t.endText())
	}
	return w.Flush()
}

// writeIncomplete lists only the streams that are not complete.
func (s *summary) writeIncomplete(out io.Writer) error {
	for _, t := range s.Streams {
		if t.Complete {
			continue
		}
		if _, err := fmt.Fprintf(out, "incomplete: rank %d, thread %d, %d events: %s\n", t.Rank, t.Thread, t.Events, t.endText()); err != nil {
			return err
		}
	}
	return nil
}

func (t *streamSummary) endText() string {
	text := t.End
	if t.Dropped > 0 {
		text += fmt.Sprintf(", %d events not recorded for lack of space", t.Dropped)
	}
	if !t.Complete {
		text += " (incomplete)"
	}
	return text
}

// plural is a number of things with their name.
func plural(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", n, name)
}
