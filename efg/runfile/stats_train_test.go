package runfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/efg-tools/efg/efg/mix"
)

// The examples are the statistics of the recordings in testdata/statistics, each as a block: the first one exact, the others rounded.
func TestStatisticsExamples(t *testing.T) {
	paths, err := filepath.Glob("testdata/statistics/*.efg")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	checkExamples(t, paths, "statistics.bin", statsExamples, &statsCoder{c: mix.NewEncoder(statsTable)})
	checkExamples(t, paths, "statistics_short.bin", shortExamples, &statsCoder{c: mix.NewEncoder(shortTable), short: true})
}

// checkExamples compares a file with the code that an encoder makes of the examples, or writes it anew.
func checkExamples(t *testing.T, paths []string, file string, want []byte, s *statsCoder) {
	t.Helper()
	s.left = 1 << 20
	s.number(numberExamples, uint64(len(paths)))
	for i, path := range paths {
		s.streams(exampleStreams(t, path, i > 0))
		s.forget()
	}
	code := s.c.Finish()
	if *updateExamples {
		if err := os.WriteFile(file, code, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(code, want) {
		t.Errorf("%s is not the code of testdata/statistics; other examples are a new version of the code of statistics", file)
	}
}

// exampleStreams returns the statistics of all streams of a file.
func exampleStreams(t *testing.T, path string, rounded bool) (list []*codedStream) {
	t.Helper()
	r, err := OpenRun(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	likes := newLikes()
	for i := range r.Procs {
		p, err := r.Process(i)
		if err != nil {
			t.Fatal(err)
		}
		for j := range p.Streams {
			list = append(list, streamStats(p.Streams[j].Nodes, p.Defs, statsOptions{rounded: rounded}, likes))
		}
	}
	return list
}
