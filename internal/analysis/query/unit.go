package query

import (
	"slices"
	"strings"
	"sync"

	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/signature"
)

// unit is what a query selects or counts.
type unit struct {
	messages bool
	// matches reports whether an operation belongs to the unit.
	matches func(o *analysis.Operation, op string) bool
}

// done reports whether an operation takes place with the call: a persistent one
// does when it is started.
func done(o *analysis.Operation) bool { return !o.Prepared }

func ofKind(kinds ...analysis.OperationKind) *unit {
	return &unit{matches: func(o *analysis.Operation, _ string) bool { return done(o) && slices.Contains(kinds, o.Kind) }}
}

var kindUnits = map[string]*unit{
	"OPERATION":      {matches: func(o *analysis.Operation, _ string) bool { return !o.Proc.Annotates() }},
	"ANNOTATION":     {matches: func(o *analysis.Operation, _ string) bool { return o.Proc.Annotates() }},
	"MESSAGE":        {messages: true, matches: func(o *analysis.Operation, _ string) bool { return done(o) && o.Kind == analysis.SendOperation }},
	"POINT_TO_POINT": ofKind(analysis.SendOperation, analysis.ReceiveOperation),
	"SEND":           ofKind(analysis.SendOperation),
	"RECEIVE":        ofKind(analysis.ReceiveOperation),
	"RECV":           ofKind(analysis.ReceiveOperation),
	"COLLECTIVE":     ofKind(analysis.CollectiveOperation),
	"ONE_SIDED":      ofKind(analysis.OneSidedOperation),
	"FILE":           ofKind(analysis.FileOperation),
	"BCAST":          ofClass("Broadcast"),
	"WAIT":           ofClass("WaitOperation"),
	"TEST":           ofClass("TestOperation"),
	"PROBE":          ofClass("ProbeOperation"),
}

// unitNamed finds what a word selects: kinds of operations, collectives by class or name,
// classes of the MPI Trace Format, procedures. It is nil if nothing has that name.
func unitNamed(word string) *unit {
	name := strings.ToUpper(word)
	short := strings.TrimSuffix(strings.TrimSuffix(name, "S"), "_OPERATION")
	if u := kindUnits[short]; u != nil {
		return u
	}
	if op := procedureNamed(name); op != "" {
		return &unit{matches: func(_ *analysis.Operation, of string) bool { return of == op }}
	}
	for _, n := range []string{name, short} {
		if class := classes()[strings.ReplaceAll(n, "_", "")]; class != "" {
			return ofClass(class)
		}
	}
	for _, n := range []string{name, short} {
		if shape := shapes()[n]; shape {
			return ofShape(n)
		}
	}
	return nil
}

func ofClass(class string) *unit {
	return &unit{matches: func(o *analysis.Operation, _ string) bool {
		return o.Class == class && (done(o) || o.Kind != analysis.CollectiveOperation)
	}}
}

func ofShape(shape string) *unit {
	return &unit{matches: func(o *analysis.Operation, _ string) bool {
		return done(o) && o.Proc != nil && shapeOf(o.Proc) == shape
	}}
}

// classes are the classes of the MPI Trace Format, by their names in capitals.
var classes = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for _, p := range signature.Procs() {
		for _, c := range p.MTF {
			table[strings.ToUpper(c)] = c
		}
	}
	return table
})

// procedureNamed returns a procedure's name in its usual spelling.
func procedureNamed(name string) string { return procedures()[name] }

var procedures = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for _, p := range signature.Procs() {
		table[strings.ToUpper(p.Name)] = p.Name
	}
	return table
})

// shapeOf is the name, in capitals, of the collective that a procedure is a variant of.
func shapeOf(p *signature.Proc) string {
	return strings.ToUpper(strings.TrimPrefix(p.Base.Name, "MPI_"))
}

// shapes are the names of all collectives.
var shapes = sync.OnceValue(func() map[string]bool {
	table := map[string]bool{}
	for _, p := range signature.Procs() {
		if p.Issues == "coll" {
			table[shapeOf(&p)] = true
		}
	}
	return table
})
