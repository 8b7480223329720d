package text

import (
	"bufio"
	"fmt"
	"io"
	"math/bits"
	"reflect"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/runfile"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// Dump writes the text of a run file, process by process: it needs memory for the largest one.
func Dump(w io.Writer, r *runfile.Run, progress ...func(processes uint64)) error {
	d := &dumper{w: bufio.NewWriterSize(w, 1<<16)}
	d.linef("%s", firstLine)
	d.meta(&r.Meta)
	sites, err := r.StoredSites()
	if err != nil {
		return err
	}
	for i := range sites {
		d.site(&sites[i])
	}
	for i := range r.Procs {
		p, err := r.Process(i)
		if err != nil {
			return err
		}
		d.process(p)
		if d.err != nil {
			return d.err
		}
		for _, show := range progress {
			show(uint64(i + 1))
		}
	}
	return d.w.Flush()
}

// dumper writes lines. Errors are kept in w.
type dumper struct {
	w     *bufio.Writer
	words *words
	err   error // of a sequence
}

func (d *dumper) linef(format string, args ...any) {
	fmt.Fprintf(d.w, format+"\n", args...)
}

// meta writes the nonempty fields by their names in the file, so new fields need no code here.
func (d *dumper) meta(m *runfile.Meta) {
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		name, f := metaName(v.Type().Field(i)), v.Field(i)
		if name == "" || f.IsZero() {
			continue
		}
		switch f.Kind() {
		case reflect.String:
			d.linef("meta %s %s", name, strconv.Quote(f.String()))
		case reflect.Slice:
			d.linef("meta %s%s", name, quoted(f.Interface().([]string)))
		default:
			d.linef("meta %s %v", name, f.Interface())
		}
	}
}

// metaName is the name of a field in the file, "" if it does not belong to the metadata.
func metaName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("msgpack"), ",")
	if name == "-" {
		return ""
	}
	return name
}

func quoted(list []string) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(" " + strconv.Quote(s))
	}
	return b.String()
}

func (d *dumper) site(s *runfile.Site) {
	place, fn := strconv.Quote(s.Place), strconv.Quote(s.Func)
	if module, offset := s.Module(); module != "" {
		d.linef("site %s %s %s %s", strconv.Quote(module), numberText(offset), place, fn)
		return
	}
	d.linef("site %s %s %s", numberText(s.Word), place, fn)
}

func (d *dumper) process(p *efg.Process) {
	d.linef("")
	extra := ""
	if p.Began != 0 {
		extra = fmt.Sprintf(" began %d", p.Began)
	}
	if p.Mono != 0 {
		extra += fmt.Sprintf(" mono %d", p.Mono)
	}
	if p.Gone != 0 {
		extra += fmt.Sprintf(" gone %d", p.Gone)
	}
	if p.Sum != nil {
		extra += fmt.Sprintf(" sum %#x", *p.Sum)
	}
	d.linef("process %d of %d world %#x pid %d start %d%s", p.WorldRank(), p.Size, p.World, p.PID, p.Start, extra)
	d.linef(" host %s", strconv.Quote(p.Host))
	d.linef(" mpi %s", strconv.Quote(p.MPI))
	if len(p.Command) > 0 {
		d.linef(" command%s", quoted(p.Command))
	}
	for _, a := range p.Anchors {
		d.linef(" anchor %s", AnchorText(a))
	}
	for i := range p.Counters {
		d.linef(" counter %s state %d", strconv.Quote(p.Counters[i].Text()), p.Counters[i].State)
	}
	d.words = newWords()
	for i := range p.Defs {
		d.def(i, &p.Defs[i])
	}
	for i := range p.Streams {
		d.stream(p, &p.Streams[i])
	}
}

func (d *dumper) def(n int, def *efg.Def) {
	fmt.Fprintf(d.w, " def %d %s", n, kindNames[def.Kind])
	if def.Word != def.Identity() {
		fmt.Fprintf(d.w, " =%#x", def.Word)
	}
	for _, w := range def.Words {
		fmt.Fprintf(d.w, " %s", d.words.text(w))
	}
	if len(def.Data) > 0 {
		fmt.Fprintf(d.w, " %s", strconv.Quote(string(def.Data)))
	}
	d.linef("")
	d.words.add(*def)
}

func (d *dumper) stream(p *efg.Process, s *efg.Stream) {
	fmt.Fprintf(d.w, " thread %d %s events %d dropped %d", s.Thread, endNames[s.End], s.Events, s.Dropped)
	if p.Sum == nil {
		fmt.Fprintf(d.w, " hash %#x", s.Hash)
	}
	d.linef("")
	if s.Trace != nil {
		fmt.Fprintf(d.w, "  trace error %d bound %d begin %d", s.Trace.Error, s.Trace.Bound, s.Trace.Begin)
		if s.Trace.Untimed > 0 {
			fmt.Fprintf(d.w, " untimed %d", s.Trace.Untimed)
		}
		d.linef("")
		if err := s.LoadTimes(); err != nil && d.err == nil {
			d.err = err
		}
	}
	for i := range s.Nodes {
		d.node(i, &s.Nodes[i])
	}
	if s.Pending != nil {
		d.pending(s.Pending)
	}
	if s.Checkpoints != nil {
		d.marks(s.Checkpoints)
	}
}

func (d *dumper) marks(m *efg.Checkpoints) {
	d.linef("  marks")
	d.seq("mark events", m.Events)
	d.seq("mark last", m.Last)
	for i := range m.Nodes {
		n := &m.Nodes[i]
		d.seq("mark visits", n.Visits)
		d.seq("mark left", n.Left)
		for _, s := range n.Runs {
			d.seq("mark runs", s)
		}
		for _, s := range n.Elems {
			d.seq("mark elems", s)
		}
	}
}

func (d *dumper) node(i int, n *efg.Node) {
	fmt.Fprintf(d.w, "  node %d %s", i, headerText(n.Words[0]))
	if n.Counted > 0 {
		fmt.Fprintf(d.w, " polls:%d", n.Counted)
	}
	for k := 1; k < len(n.Words); k++ {
		value := "*"
		if n.Mask>>k&1 == 0 {
			value = d.words.text(n.Words[k])
		}
		fmt.Fprintf(d.w, " %s=%s", wordName(n.Words[0], k), value)
	}
	d.linef("")
	for _, e := range n.Edges {
		if e.Count == e.Weight && e.Fixed == 1 {
			d.linef("   edge %d weight %d", e.To, e.Weight)
		} else {
			d.linef("   edge %d weight %d count %d fixed %d", e.To, e.Weight, e.Count, e.Fixed)
		}
	}
	d.seq("runs", n.Runs)
	d.seq("counts", n.Counts)
	mask := n.Mask
	for k := range n.Attrs {
		d.seq("attr "+wordName(n.Words[0], bits.TrailingZeros64(mask)), n.Attrs[k].Values)
		d.seq("elems", n.Attrs[k].Elems)
		mask &= mask - 1
	}
	if n.Stats != nil {
		d.linef("   times %d dur %s gap %s", n.Stats.Count, intervalText(&n.Stats.Dur), intervalText(&n.Stats.Gap))
	}
	d.counters(n.Counters)
	if n.Times != nil {
		d.intervals(n.Times)
		d.values(n.Times)
	}
}

func intervalText(v *efg.Interval) string { return sumsText(v.Sum, v.Min, v.Max, v.Bins[:]) }

// lineWidth is where the symbols of a sequence continue in the next line.
const lineWidth = 100

func (d *dumper) seq(name string, s *seq.Seq) {
	if s == nil {
		return
	}
	parts, err := s.Parts()
	if err != nil && d.err == nil {
		d.err = err
	}
	if parts == nil {
		d.linef("   %s %d%s", name, s.Len(), formText(s.Form()))
		d.symbols(s)
		return
	}
	d.linef("   %s %d%s parts", name, s.Len(), formText(s.Form()))
	for _, p := range parts {
		d.linef("    part %d%s", p.Len(), formText(p.Form()))
		d.symbols(p)
	}
}

func formText(form seq.Form) string {
	s := ""
	for i, flag := range formNames {
		if form>>i&1 != 0 {
			s += " " + flag
		}
	}
	return s
}

func (d *dumper) symbols(s *seq.Seq) {
	form, line := s.Form(), ""
	for y := range s.Symbols() {
		text := symbolText(y, form)
		if line != "" && len(line)+len(text) > lineWidth {
			d.linef("    :%s", line)
			line = ""
		}
		line += " " + text
	}
	if line != "" {
		d.linef("    :%s", line)
	}
}

// formNames are the names of the bits of a sequence's form.
var formNames = []string{"delta", "tokens", "relative"}

func symbolText(y seq.Symbol, form seq.Form) string {
	switch {
	case y.Distance != 0 && y.Length >= seq.Endless:
		return fmt.Sprintf("<%d:%dx>", y.Level, y.Distance)
	case y.Distance != 0:
		return fmt.Sprintf("<%d:%dx%d>", y.Level, y.Distance, y.Length)
	case form&seq.Delta != 0:
		return fmt.Sprintf("%+d", block.Unzigzag(y.Value))
	case form&seq.OfTokens != 0:
		return tokenText(y.Value)
	}
	return numberText(y.Value)
}

var languageNames = []string{"c", "fortran", "f08"}

// headerText represents a header except for its number of words and whether polls are only
// counted: procedure, language unless it is C, large, pmpi, depth, error class. A header of another
// form is a number.
func headerText(w uint64) string {
	h := signature.Header(w)
	p := signature.ProcByID(h.Proc())
	made := signature.MakeHeader(h.Proc(), h.Lang(), h.Large(), h.Words(), h.ErrorClass())
	if h.Counted() {
		made = made.AsCounted()
	}
	if h.ByPMPI() {
		made = made.AsByPMPI()
	}
	made = made.AtDepth(h.Depth())
	if p == nil || int(h.Lang()) >= len(languageNames) || made != h {
		return fmt.Sprintf("%#x", w)
	}
	s := p.Name
	if h.Lang() != signature.C {
		s += " " + languageNames[h.Lang()]
	}
	if h.Large() {
		s += " large"
	}
	if h.ByPMPI() {
		s += " pmpi"
	}
	if d := h.Depth(); d != 0 {
		s += fmt.Sprintf(" depth:%d", d)
	}
	if c := h.ErrorClass(); c != 0 {
		s += fmt.Sprintf(" error:%d", c)
	}
	return s
}

// wordName is the name of word k of events with a header.
func wordName(header uint64, k int) string {
	if p := signature.ProcByID(signature.Header(header).Proc()); p != nil && k < len(p.Words) && p.Words[k].Name != "" {
		return p.Words[k].Name
	}
	return "w" + strconv.Itoa(k)
}
