package runfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
)

// Meta describes a run as a whole. It is stored as MessagePack, by field name,
// so that later versions can add fields.
type Meta struct {
	// Tool is the name and version of the program that wrote the file.
	Tool string `msgpack:"tool,omitempty"`
	// Command is the command line that was run, including the launcher.
	Command []string `msgpack:"command,omitempty"`
	// Launcher is the command line of the launcher, if Command is that of the processes and it
	// is known.
	Launcher []string `msgpack:"launcher,omitempty"`
	// Started and Ended are the Unix times of the command in nanoseconds.
	Started int64 `msgpack:"started,omitempty"`
	Ended   int64 `msgpack:"ended,omitempty"`
	// Status is the exit status of the command, 128+n after signal n.
	Status int `msgpack:"status"`
	// StatusUnknown says that Status is 0 because it is unknown.
	StatusUnknown bool `msgpack:"status_unknown,omitempty"`
	// Time is the kind of time that was recorded: "off", "stats", RoundedStats or "trace=" and the error in
	// percent and perhaps a budget, see TraceTime.
	Time string `msgpack:"time,omitempty"`
	// Polls is PollTotals if polls that found nothing are only counted, at separate nodes;
	// otherwise all are in the sequence.
	Polls string `msgpack:"polls,omitempty"`
	// Queries and Buffers say whether local queries and buffer addresses were
	// recorded.
	Queries bool `msgpack:"queries,omitempty"`
	Buffers bool `msgpack:"buffers,omitempty"`
	// CallPath is how many calls a call path has at most; 0: callsites have no paths.
	CallPath int `msgpack:"callpath,omitempty"`
	// Counters are the counters that were read at each call, as efg.Counter.Text has them.
	Counters []string `msgpack:"counters,omitempty"`
	// Forks are the processes with children that were forked and called MPI, as Fork.Text has them: the
	// first maxForks.
	Forks []string `msgpack:"forks,omitempty"`
	// Energy is what the machines' energy counters counted while the command ran, as Energy.Text has it: the first
	// maxEnergies.
	Energy []string `msgpack:"energy,omitempty"`
	// Processors are how many processors the command could use on each host, as Processors.Text has them: the first
	// maxProcessors.
	Processors []string `msgpack:"cpus,omitempty"`
	// Sites are the source locations of the callsites. They have a block of their own.
	Sites []Site `msgpack:"-"`
}

// Fork says that children which a process forked, and which executed no other program, called MPI. Such calls
// are not recorded.
type Fork struct {
	Rank     int    // of the process in its MPI_COMM_WORLD
	Parent   int    // its process number
	Children int    // how many of its children called MPI
	PID      int    // of the first of these; 0: not known
	Call     string // what that one called first
}

// Text is how a file has it: the numbers, and the call, separated by spaces.
func (f *Fork) Text() string {
	return fmt.Sprintf("%d %d %d %d %s", f.Rank, f.Parent, f.Children, f.PID, f.Call)
}

// ForksOf are the Forks of a file, without those that no version has written.
func (m *Meta) ForksOf() (list []Fork) {
	for _, text := range m.Forks {
		var f Fork
		// The call is empty if the process was read before its child had noted it.
		if n, _ := fmt.Sscanf(text, "%d %d %d %d %s", &f.Rank, &f.Parent, &f.Children, &f.PID, &f.Call); n >= 4 {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(x, y Fork) int { return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Parent, y.Parent)) })
	return list
}

// maxForks bounds Meta.Forks.
const maxForks = 1000

// joinForks combines what is known of forked children.
func joinForks(a, b []string) []string {
	if len(a)+len(b) == 0 {
		return nil
	}
	list := slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
	return list[:min(len(list), maxForks)]
}

// PollTotals is the value of Meta.Polls.
const PollTotals = "totals"

// Site is the source location of a callsite.
type Site struct {
	// Word is the callsite's identity: word 1 of an event.
	Word uint64
	// Place is "file.c:88", with the functions inlined there, innermost first, or
	// "module+0x1234" if there is no line information.
	Place string
	// Func is the function that contains the call, "" if unknown.
	Func string
	// Parent of a call path, whose last call is at Place, is the word of the rest of the path: the
	// call of the function that contains this one. It is signature.Absent if that is where the program or the
	// thread begins, signature.Unknown if the rest is unknown, and 0 if it was not recorded.
	Parent uint64

	ref siteRef // its position; only from a file
}

// Traced reports whether Time is that of each event.
func (m *Meta) Traced() bool { return m.Time == "trace" || strings.HasPrefix(m.Time, "trace=") }

// RoundedStats is Meta.Time of a run with time statistics that are rounded when it is written.
const RoundedStats = "stats=rounded"

// TraceTime is Meta.Time of a run with the times of each event, with a relative error of parts
// in units of ErrorUnit. If budget is not 0 they may take so many bytes in each process: "trace=5",
// "trace=exact", "trace=5,32MiB".
func TraceTime(parts uint32, budget uint64) string {
	text := "trace=exact"
	if parts > 0 {
		text = "trace=" + strconv.FormatFloat(float64(parts)*100/efg.ErrorUnit, 'f', -1, 64)
	}
	if budget > 0 {
		text += "," + bytesText(budget)
	}
	return text
}

// bytesText is an exact number of bytes.
func bytesText(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	for len(units) > 1 && n%1024 == 0 {
		n, units = n/1024, units[1:]
	}
	return strconv.FormatUint(n, 10) + units[0]
}

// Module is the callsite's module, as in its definition, and the offset of the call in it; ""
// if the file does not contain it.
func (s *Site) Module() (module string, offset uint64) { return s.ref.module, s.ref.offset }

// Callsite is the word of the callsite alone: of a call path, that of its last call.
func (s *Site) Callsite() uint64 {
	if s.ref.module == "" {
		return s.Word
	}
	return s.ref.word()
}

// MakeSite returns the site of a call at an offset of a module.
func MakeSite(module string, offset uint64) Site {
	ref := siteRef{module, offset}
	return Site{Word: ref.word(), ref: ref}
}
