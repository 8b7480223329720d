package simulate_test

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/export/simulate"
)

// The lines of traces as Schedgen reads them: its fields are what is between colons and commas.
var traceLines = map[string]*regexp.Regexp{
	"MPI_Init":      pattern("T:0:0:T"),
	"MPI_Finalize":  pattern("T:T"),
	"MPI_Send":      pattern("T:0:N:0,1,1:N:N:C:T"),
	"MPI_Recv":      pattern("T:0:N:0,1,1:N:N:C:0:T"),
	"MPI_Isend":     pattern("T:0:N:0,1,1:N:N:C:N:T"),
	"MPI_Irecv":     pattern("T:0:N:0,1,1:N:N:C:N:T"),
	"MPI_Sendrecv":  pattern("T:0:N:0,1,1:N:N:0:N:0,1,1:N:N:C:0:T"),
	"MPI_Wait":      pattern("T:N:0:T"),
	"MPI_Waitall":   pattern("T:N:N:0:T"),
	"MPI_Barrier":   pattern("T:C:T"),
	"MPI_Bcast":     pattern("T:0:N:0,1,1:N:C:T"),
	"MPI_Reduce":    pattern("T:0:0:N:0,1,1:0:N:C:T"),
	"MPI_Allreduce": pattern("T:0:0:N:0,1,1:0:C:T"),
	"MPI_Allgather": pattern("T:0:N:0,1,1:0:N:0,1,1:C:T"),
	"MPI_Alltoall":  pattern("T:0:N:0,1,1:0:N:0,1,1:C:T"),
}

func pattern(fields string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.NewReplacer("T", `([0-9]+\.[0-9]{3})`, "N", "([0-9]+)", "C", "([0-9]+),([0-9]+),([0-9]+)").Replace(fields) + "$")
}

// traceReader makes a schedule from the trace of a rank. Collective calls that traces name are messages
// from and to rank 0.
type traceReader struct {
	t        *testing.T
	rank     int
	ranks    int
	list     []*operation
	last     *operation
	requests map[uint64]*operation
	named    []string // collective calls
	computed uint64   // ns
}

func (r *traceReader) add(o *operation, after ...*operation) *operation {
	o.rank = r.rank
	for _, of := range after {
		if of != nil {
			o.waits++
			of.after = append(of.after, o)
		}
	}
	r.list = append(r.list, o)
	return o
}

func (r *traceReader) message(kind string, bytes, peer, tag, comm uint64) *operation {
	if tag >= 1<<23 || comm > 255 || comm == 0 && tag >= 1_000_000 || bytes >= 1<<31 || int(peer) >= r.ranks {
		r.t.Fatalf("rank %d: tag %d, communicator %d, %d bytes, peer %d", r.rank, tag, comm, bytes, peer)
	}
	return r.add(&operation{kind: kind, size: bytes, peer: int(peer), tag: int64(comm<<24 | tag)}, r.last)
}

// line reads a call; f are its numbers without the times.
func (r *traceReader) line(name string, f []uint64) {
	done := func(of ...*operation) { r.last = r.add(&operation{kind: "calc"}, append(of, r.last)...) }
	switch name {
	case "MPI_Send":
		r.last = r.message("send", f[0], f[1], f[2], f[3])
	case "MPI_Recv":
		r.last = r.message("recv", f[0], f[1], f[2], f[3])
	case "MPI_Isend":
		r.requests[f[6]] = r.message("send", f[0], f[1], f[2], f[3])
	case "MPI_Irecv":
		r.requests[f[6]] = r.message("recv", f[0], f[1], f[2], f[3])
	case "MPI_Sendrecv": // the tag of the receive is not read
		done(r.message("send", f[0], f[1], f[2], f[6]), r.message("recv", f[3], f[4], f[2], f[6]))
	case "MPI_Wait":
		r.wait(1, f[0])
	case "MPI_Waitall":
		r.wait(f[0], f[1])
	case "MPI_Init", "MPI_Finalize":
	default:
		r.collective(name, f)
	}
}

func (r *traceReader) wait(n, first uint64) {
	of := []*operation{r.last}
	for at := first; at < first+8*n; at += 8 {
		if r.requests[at] == nil {
			r.t.Fatalf("rank %d waits for a request that there is not: %d", r.rank, at)
		}
		of = append(of, r.requests[at])
		delete(r.requests, at)
	}
	r.last = r.add(&operation{kind: "calc"}, of...)
}

func (r *traceReader) collective(name string, f []uint64) {
	if members := f[len(f)-1]; f[len(f)-3] != 0 || int(f[len(f)-2]) != r.rank || int(members) != r.ranks {
		r.t.Fatalf("%s of rank %d of %d as %d", name, r.rank, r.ranks, f)
	}
	text := name
	for _, n := range f[:len(f)-3] {
		text += " " + strconv.FormatUint(n, 10)
	}
	tag := int64(1<<40 + len(r.named))
	r.named = append(r.named, text)
	var of []*operation
	for i := range r.ranks {
		if (r.rank == 0) != (i == 0) {
			of = append(of, r.add(&operation{kind: "send", peer: i, tag: tag}, r.last), r.add(&operation{kind: "recv", peer: i, tag: tag}, r.last))
		}
	}
	r.last = r.add(&operation{kind: "calc"}, append(of, r.last)...)
}

// readTraces reads the traces of all ranks, which make the same named collective calls.
func readTraces(t *testing.T, dir string, ranks int) (s *schedule, computed []uint64) {
	t.Helper()
	s = &schedule{}
	var named []string
	for rank := range ranks {
		text, err := os.ReadFile(filepath.Join(dir, "trace-rank-"+strconv.Itoa(rank)+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		r := &traceReader{t: t, rank: rank, ranks: ranks, requests: map[uint64]*operation{}}
		last := 0.0
		for line := range strings.Lines(string(text)) {
			name, fields, _ := strings.Cut(strings.TrimSpace(line), ":")
			p := traceLines[name]
			if p == nil || !p.MatchString(fields) {
				t.Fatalf("rank %d: %q", rank, line)
			}
			var numbers []uint64
			var times []float64
			for _, f := range p.FindStringSubmatch(fields)[1:] {
				if n, err := strconv.ParseUint(f, 10, 64); err == nil {
					numbers = append(numbers, n)
				} else if at, err := strconv.ParseFloat(f, 64); err == nil {
					times = append(times, at)
				}
			}
			if times[0] < last || times[1] < times[0] {
				t.Fatalf("rank %d: %q after %v", rank, line, last)
			}
			if name != "MPI_Finalize" {
				r.computed += uint64(math.Round((times[0] - last) * 1e3))
			}
			last = times[1]
			r.line(name, numbers)
		}
		if rank == 0 {
			named = r.named
		} else if strings.Join(named, "\n") != strings.Join(r.named, "\n") {
			t.Errorf("rank %d calls %q, rank 0 %q", rank, r.named, named)
		}
		s.ranks, computed = append(s.ranks, r.list), append(computed, r.computed)
	}
	return s, computed
}

// checkTraces: what traces say can be executed to the end, too, with the recorded messages, and the
// computation of a schedule.
func checkTraces(t *testing.T, run *runfile.Run, of *schedule) {
	dir := t.TempDir()
	job, _ := whole(run, simulate.Supported)
	err := simulate.WriteLiballprof(dir, job)
	t.Helper()
	if len(run.Procs[0].Streams) > 1 {
		if !errors.Is(err, simulate.ErrUnsuitable) || !strings.Contains(err.Error(), "several threads") {
			t.Error(err)
		}
		return
	}
	if err != nil || !simulate.OwnsLiballprof(dir) {
		t.Fatal(err)
	}
	s, computed := readTraces(t, dir, len(run.Procs))
	s.execute(t, 1<<62)
	for rank, ns := range computed {
		if want := of.computed(rank); ns != want {
			t.Errorf("rank %d computes %d ns, not %d", rank, ns, want)
		}
	}
	// Communicator 1 has the messages of collective calls.
	found := s.cells(func(tag int64) bool { return tag>>24 != 1 && tag < 1<<40 })
	if want := recorded(t, run); !maps.Equal(found, want) {
		t.Errorf("%v\nnot %v", found, want)
	}
}
