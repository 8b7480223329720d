// Package paje writes a run as a trace in the Pajé format, which ViTE, pj_dump and R read: hosts contain
// ranks, these threads; a call is a state of its thread, a region that the program names a state of
// another kind, a message or request a link. Times are in seconds since the run began; times before
// that are 0.
//
// The format is that of "Paje trace file format", L. M. Schnorr. Readers demand that each event is
// defined before it is used and that events are in the order of time.
package paje

import (
	"bufio"
	"cmp"
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	"github.com/efg-tools/efg/internal/export"
	slice "github.com/efg-tools/efg/internal/export/slices"
	"github.com/efg-tools/efg/internal/palette"
	"github.com/efg-tools/efg/signature"
)

// header defines the events. The number of an event is what its line begins with.
const header = `%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineLinkType 2
% Alias string
% Type string
% StartContainerType string
% EndContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineVariableType 3
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 4
% Alias string
% Type string
% Name string
% Color color
%EndEventDef
%EventDef PajeCreateContainer 5
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 6
% Time date
% Type string
% Name string
%EndEventDef
%EventDef PajePushState 7
% Time date
% Type string
% Container string
% Value string
%EndEventDef
%EventDef PajePopState 8
% Time date
% Type string
% Container string
%EndEventDef
%EventDef PajeSetVariable 9
% Time date
% Type string
% Container string
% Value double
%EndEventDef
%EventDef PajeStartLink 10
% Time date
% Type string
% Container string
% StartContainer string
% Value string
% Key string
%EndEventDef
%EventDef PajeEndLink 11
% Time date
% Type string
% Container string
% EndContainer string
% Value string
% Key string
%EndEventDef
0 Run 0 "run"
0 Host Run "host"
0 Rank Host "rank"
0 Thread Rank "thread"
1 Call Thread "call"
1 Region Thread "region"
2 Flow Run Thread Thread "message or request"
3 Sent Thread "bytes sent"
4 flow Flow "message or request" "0 0 0"
5 0.000000000 run Run 0 "run"
`

// Write writes about most slices, see slices.Write. It keeps them in memory to sort them by time.
func Write(out io.Writer, job *export.Job, most uint64) (resolution int64, err error) {
	w := &writer{containers: map[string]bool{}, values: map[value]int{}}
	if resolution, err = slice.Write(job, most, w); err != nil {
		return 0, err
	}
	b := bufio.NewWriterSize(out, 1<<16)
	b.WriteString(header)
	b.WriteString(w.definitions.String())
	w.events(b)
	return resolution, b.Flush()
}

// event is a line that follows the definitions.
type event struct {
	at     int64
	kind   kind
	thread int32 // number of the track
	value  int32 // of a state, number in values
	key    uint64
}

type kind uint8

const (
	pushState  kind = 7
	popState   kind = 8
	variable   kind = 9
	startLink  kind = 10
	endLink    kind = 11
	pushRegion kind = 12
	popRegion  kind = 13
)

// value is a name of a state of a type.
type value struct{ stateType, name string }

type writer struct {
	definitions strings.Builder
	containers  map[string]bool
	values      map[value]int
	list        []event
	threads     []string // names of the containers of tracks
	thread      int32
	last        int64
}

// Track implements slices.Sink.
func (w *writer) Track(t *slice.Track) error {
	host := t.Host
	if host == "" {
		host = "host"
	}
	rank := fmt.Sprintf("rank %d", t.Rank)
	thread := fmt.Sprintf("%s thread %d", rank, t.Thread)
	w.contain("host "+host, "Host", "run", host)
	w.contain(rank, "Rank", "host "+host, rank)
	w.contain(thread, "Thread", rank, thread)
	w.thread = int32(len(w.threads))
	w.threads = append(w.threads, thread)
	return nil
}

// contain creates a container, once.
func (w *writer) contain(alias, containerType, in, name string) {
	if !w.containers[alias] {
		w.containers[alias] = true
		fmt.Fprintf(&w.definitions, "5 0.000000000 %s %s %s %s\n", quoted(alias), containerType, quoted(in), quoted(name))
	}
}

// Slice implements slices.Sink.
func (w *writer) Slice(s *slice.Slice) error {
	w.add(s.Start, pushState, w.value("Call", s.Name), 0)
	for _, f := range s.Begin {
		w.add(s.Start, startLink, 0, f)
	}
	for _, f := range s.Finish {
		w.add(s.End, endLink, 0, f)
	}
	w.add(s.End, popState, 0, 0)
	return nil
}

// Enter implements slices.Sink.
func (w *writer) Enter(name string, at int64) error {
	w.add(at, pushRegion, w.value("Region", name), 0)
	return nil
}

// Leave implements slices.Sink.
func (w *writer) Leave(at int64) error {
	w.add(at, popRegion, 0, 0)
	return nil
}

// Counter implements slices.Sink: of the bytes sent.
func (w *writer) Counter(at int64, c *slice.Counter, value uint64) error {
	if *c == slice.BytesSent {
		w.add(at, variable, 0, value)
	}
	return nil
}

func (w *writer) add(at int64, k kind, value int, key uint64) {
	at = max(at, 0)
	w.last = max(w.last, at)
	w.list = append(w.list, event{at, k, w.thread, int32(value), key})
}

// value numbers the names of states, and defines each.
func (w *writer) value(stateType, name string) int {
	v := value{stateType, name}
	n, ok := w.values[v]
	if !ok {
		n = len(w.values)
		w.values[v] = n
		fmt.Fprintf(&w.definitions, "4 v%d %s %s %s\n", n, stateType, quoted(name), colour(stateType, name))
	}
	return n
}

// events writes the events in the order of time; those of a thread at the same time as they came.
// Links that begin or end outside of what is selected are left out.
func (w *writer) events(b *bufio.Writer) {
	whole := map[uint64]int{}
	for i := range w.list {
		if k := w.list[i].kind; k == startLink || k == endLink {
			whole[w.list[i].key] |= 1 << (k - startLink)
		}
	}
	slices.SortStableFunc(w.list, func(x, y event) int { return cmp.Compare(x.at, y.at) })
	for i := range w.list {
		e := &w.list[i]
		thread := quoted(w.threads[e.thread])
		at := fmt.Sprintf("%d.%09d", e.at/1e9, e.at%1e9)
		switch e.kind {
		case pushState:
			fmt.Fprintf(b, "7 %s Call %s v%d\n", at, thread, e.value)
		case popState:
			fmt.Fprintf(b, "8 %s Call %s\n", at, thread)
		case pushRegion:
			fmt.Fprintf(b, "7 %s Region %s v%d\n", at, thread, e.value)
		case popRegion:
			fmt.Fprintf(b, "8 %s Region %s\n", at, thread)
		case variable:
			fmt.Fprintf(b, "9 %s Sent %s %d\n", at, thread, e.key)
		case startLink, endLink:
			if whole[e.key] == 3 {
				fmt.Fprintf(b, "%d %s Flow run %s flow %x\n", e.kind, at, thread, e.key)
			}
		}
	}
	fmt.Fprintf(b, "6 %d.%09d Run run\n", w.last/1e9, w.last%1e9)
}

// quoted is a text as a field: the format has no escapes.
func quoted(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r < ' ':
			return ' '
		}
		return r
	}, text)
	return `"` + text + `"`
}

// colour is that of a procedure in all pictures; calls that are drawn together and regions are grey.
func colour(stateType, name string) string {
	c := palette.Of(name)
	if stateType != "Call" || signature.ProcByName(name) == nil {
		c = color.RGBA{R: 160, G: 160, B: 160, A: 255}
	}
	return fmt.Sprintf(`"%.3f %.3f %.3f"`, float64(c.R)/255, float64(c.G)/255, float64(c.B)/255)
}
