package groundtruth

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Event is one line of `efg reconstruct --format jsonl`. Entered, if set, is a call that had
// not returned when the recording ended; the line is then not an event.
type Event struct {
	Rank    int
	Thread  int
	Seq     uint64
	Op      string
	Depth   int
	Args    map[string]any
	Out     map[string]any
	Site    string
	Entered *Event
	line    string
}

// ReadEvents calls each with the events of every process, by thread, in order of appearance.
// The events of a process must be consecutive.
func ReadEvents(r io.Reader, each func(rank int, threads [][]Event) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 1<<16), 1<<28)
	rank := 0
	var threads [][]Event
	for n := 1; sc.Scan(); n++ {
		var e Event
		d := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		d.UseNumber()
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("line %d of the reconstruction: %w: %s", n, err, sc.Bytes())
		}
		e.line = sc.Text()
		if e.Rank != rank && threads != nil {
			if err := each(rank, threads); err != nil {
				return err
			}
			threads = nil
		}
		rank = e.Rank
		for e.Thread >= len(threads) {
			threads = append(threads, nil)
		}
		if want := uint64(len(threads[e.Thread])); e.Seq != want && e.Entered == nil {
			return fmt.Errorf("rank %d thread %d: event number %d where %d follows", e.Rank, e.Thread, e.Seq, want)
		}
		if k := len(threads[e.Thread]); k > 0 && threads[e.Thread][k-1].Entered != nil {
			return fmt.Errorf("rank %d thread %d: something after a call that did not return", e.Rank, e.Thread)
		}
		threads[e.Thread] = append(threads[e.Thread], e)
	}
	if err := sc.Err(); err != nil || threads == nil {
		return err
	}
	return each(rank, threads)
}

// value looks an argument up by name, in the lists in the given order.
func (e *Event) value(name string, lists ...map[string]any) (any, bool) {
	for _, l := range lists {
		if v, ok := l[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// number is v as an integer, if it is one.
func number(v any) (int64, bool) {
	switch n := v.(type) {
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	case bool:
		if n {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// names are the names of all arguments in a stable order.
func names(m map[string]any) []string {
	var s []string
	for n := range m {
		s = append(s, n)
	}
	slices.Sort(s)
	return s
}
