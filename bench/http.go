package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/internal/testing/sim"
)

const (
	storedRuns = 10_000
	manyAsked  = 1024 // ranks of the large runs
)

// httpPart measures requests to a daemon about what it has stored.
func httpPart(b *bench) error {
	store, err := os.MkdirTemp(b.dir, "store-")
	if err != nil {
		return err
	}
	j, err := b.sleepingJob()
	if err != nil {
		return err
	}
	for i := range storedRuns {
		if err := put(store, i); err != nil {
			return err
		}
	}
	s, err := b.serve(store)
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.until(func(l *runList) bool { return l.Daemon }); err != nil {
		return err
	}
	fmt.Printf("\n## Asking the daemon\n\nA store of %d runs. Aim: listed in 50 ms.\n\n| listed | ms | | processor time of the daemon, ms |\n|---|---:|---|---:|\n", storedRuns)
	for _, c := range []struct {
		name string
		ask  func(i int) error
	}{
		{"over HTTP, one has been added", func(i int) error { return s.addAndList(i) }},
		{"over HTTP, as before", func(int) error { return s.get("/v1/runs") }},
		{"`efg runs --json`", func(int) error { _, err := s.command(s.efg, "runs", "--json").Output(); return err }},
	} {
		var ms []float64
		var used time.Duration
		for i := range 1 + 2*b.pairs {
			before, err := processorTime(s.daemon.Process.Pid)
			if err != nil {
				return err
			}
			start := time.Now()
			if err := c.ask(i); err != nil {
				return err
			}
			took := time.Since(start)
			after, err := processorTime(s.daemon.Process.Pid)
			if err != nil {
				return err
			}
			if i > 0 { // the first one reads everything
				ms, used = append(ms, float64(took.Microseconds())/1000), used+after-before
			}
			time.Sleep(300 * time.Millisecond)
		}
		fmt.Printf("| %s | %.1f | %s | %.0f |\n", c.name, median(ms), met(median(ms) <= 50), float64(used.Milliseconds())/float64(len(ms)))
	}
	if err := s.largeQuestions(); err != nil {
		return err
	}
	fmt.Print("\nThe same daemon with live processes.\n\n", jobHead)
	return s.jobRow(j, liveRanks[len(liveRanks)-1], storedRuns+1+2*b.pairs)
}

// put adds a run to a store, of which only the summary exists.
func put(store string, i int) error {
	name := fmt.Sprintf("20260101-%06d-solver", i)
	text := fmt.Sprintf(`{"version":1,"name":%q,"command":["./solver","--input","/scratch/case-%d.in"],"mpi":"Open MPI v4.1.4","host":"node%d",`+
		`"started":"2026-01-01T10:00:00.%09dZ","ended":"2026-01-01T11:00:00Z","ranks":128,"size":128,"events":%d,"dropped":0,"bytes":123456,"complete":true}`, name, i, i%50, i, i*1000)
	for ext, data := range map[string]string{".efg": "", ".json": text} {
		if err := os.WriteFile(filepath.Join(store, name+ext), []byte(data), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (s *served) addAndList(i int) error {
	if err := put(s.store, storedRuns+i); err != nil {
		return err
	}
	return s.get("/v1/runs")
}

// get sends a request and reads the answer.
func (s *served) get(path string) error {
	answer, err := s.client().Get("http://localhost" + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %.200s: %w", path, answer.Status, text, err)
	}
	return nil
}

// largeQuestions sends requests about runs of many ranks.
func (s *served) largeQuestions() error {
	fmt.Printf("\nRuns of %d simulated ranks: s a question, and what the daemon had resident at most. Aim: 150 MiB.\n\n"+
		"| run | info | report | matrix | ranks | diff | check | daemon, MiB | |\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n", manyAsked)
	for _, program := range []string{"halo", "random", "mesh"} {
		parts, err := os.MkdirTemp(s.dir, "parts-")
		if err != nil {
			return err
		}
		files, err := (&sim.Config{Program: program, Ranks: manyAsked, Steps: 100, Seed: 1, Stats: true}).WriteNodes(parts, 2)
		if err != nil {
			return err
		}
		if err := put(s.store, 0); err != nil { // its summary
			return err
		}
		if err := runfile.MergeRuns(filepath.Join(s.store, "20260101-000000-solver.efg"), files); err != nil {
			return err
		}
		fmt.Printf("| %s |", program)
		for _, q := range []string{"", "/report", "/matrix", "/ranks", "/diff", "/check"} {
			start := time.Now()
			if err := s.get("/v1/runs/20260101-000000-solver" + q); err != nil {
				return err
			}
			fmt.Printf(" %.2f |", time.Since(start).Seconds())
		}
		memory, err := peakOf(s.daemon.Process.Pid)
		if err != nil {
			return err
		}
		fmt.Printf(" %d | %s |\n", memory>>20, met(memory <= 150<<20))
	}
	return nil
}
