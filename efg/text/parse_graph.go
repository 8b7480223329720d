package text

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/efg/block"
	"github.com/efg-tools/efg/efg/seq"
	"github.com/efg-tools/efg/signature"
)

// openSeq is a sequence, or a part of a long one, whose symbols follow.
type openSeq struct {
	line    int
	n       uint64
	form    seq.Form
	symbols []seq.Symbol
	put     **seq.Seq
	long    bool
	part    *openSeq // the last one
	parts   []*seq.Seq
}

// finish returns the sequence.
func (q *openSeq) finish() (*seq.Seq, error) {
	if !q.long {
		return seq.Make(q.n, q.form, q.symbols)
	}
	if err := q.endPart(); err != nil {
		return nil, err
	}
	return seq.MakeLong(q.n, q.form, q.parts)
}

func (q *openSeq) endPart() error {
	if q.part == nil {
		return nil
	}
	s, err := q.part.finish()
	q.part, q.parts = nil, append(q.parts, s)
	return err
}

func (p *parser) threadLine() error {
	if err := p.in(p.proc != nil, "process"); err != nil {
		return err
	}
	thread, err := p.number("thread", 32)
	if err != nil {
		return err
	}
	if n := len(p.proc.Streams); n > 0 && uint64(p.proc.Streams[n-1].Thread) >= thread {
		return p.errorf("thread %d after %d", thread, p.proc.Streams[n-1].Thread)
	}
	name, err := p.word("an end")
	if err != nil {
		return err
	}
	end := slices.Index(endNames, name)
	if end < 0 {
		return p.errorf("%q: a thread ends in one of %s", name, strings.Join(endNames, ", "))
	}
	p.proc.Streams = append(p.proc.Streams, efg.Stream{Thread: uint32(thread), End: efg.End(end), Checkpoints: efg.NoCheckpoints()})
	p.stream, p.node, p.marks = &p.proc.Streams[len(p.proc.Streams)-1], nil, nil
	p.places[[2]int{len(p.proc.Streams) - 1, -1}] = p.line
	if p.stream.Events, err = p.named("events", 64); err != nil {
		return err
	}
	if p.stream.Dropped, err = p.named("dropped", 64); err != nil {
		return err
	}
	if p.proc.Sum == nil {
		p.stream.Hash, err = p.named("hash", 64)
	}
	return err
}

func (p *parser) nodeLine() error {
	if err := p.in(p.stream != nil && p.marks == nil, "thread without marks"); err != nil {
		return err
	}
	n, err := p.number("number", 32)
	if err == nil && n != uint64(len(p.stream.Nodes)) {
		err = p.errorf("node %d: the next one is %d", n, len(p.stream.Nodes))
	}
	if err != nil {
		return err
	}
	p.stream.Nodes = append(p.stream.Nodes, efg.Node{})
	p.node = &p.stream.Nodes[n]
	if p.stream.Trace != nil {
		p.node.Times = &efg.Times{}
	}
	p.places[[2]int{len(p.proc.Streams) - 1, int(n)}] = p.line
	header, err := p.header()
	if err == nil {
		header, err = p.counted(header)
	}
	if err != nil {
		return err
	}
	p.node.Words, p.node.Mask, err = p.wordList(header)
	return err
}

// wordList reads NAME=WORD for each word after the header; mask contains those that are NAME=*.
func (p *parser) wordList(header uint64) (words []uint64, mask uint64, err error) {
	words = []uint64{header}
	for k := 1; p.more(); k++ {
		if k == signature.MaxWords {
			return nil, 0, p.errorf("more than %d words", signature.MaxWords)
		}
		v, open, err := p.namedWord(header, k)
		if err != nil {
			return nil, 0, err
		}
		words = append(words, v)
		if open {
			mask |= 1 << k
		}
	}
	if n := len(words); n < signature.FirstWord {
		return nil, 0, p.at(p.end, fmt.Errorf("the line ends before %s=", wordName(header, n)))
	}
	if signature.ProcByID(signature.Header(header).Proc()) != nil && header>>24&0xff == 0 {
		words[0] |= uint64(len(words)) << 24
	}
	return words, mask, nil
}

// header reads a header, without its number of words unless it is a number.
func (p *parser) header() (uint64, error) {
	name, err := p.word("a procedure")
	if err != nil {
		return 0, err
	}
	if isNumber(name) {
		v, err := parseNumber(name)
		if err != nil {
			return 0, p.errorf("%w", err)
		}
		return v, nil
	}
	proc := signature.ProcByName(name)
	if proc == nil {
		return 0, p.errorf("no MPI procedure %q", name)
	}
	lang := signature.C
	for i, l := range languageNames {
		if p.option(l) {
			lang = signature.Language(i)
			break
		}
	}
	large, pmpi := p.option("large"), p.option("pmpi")
	depth, err := p.numbered("depth:", signature.MaxDepth)
	if err != nil {
		return 0, err
	}
	class, err := p.numbered("error:", math.MaxUint16)
	if err != nil {
		return 0, err
	}
	h := signature.MakeHeader(proc.ID, lang, large, 0, uint16(class))
	if pmpi {
		h = h.AsByPMPI()
	}
	return uint64(h.AtDepth(int(depth))), nil
}

// numbered reads the number after a prefix, if the next field has that; otherwise it is 0.
func (p *parser) numbered(prefix string, most uint64) (uint64, error) {
	if !p.more() {
		return 0, nil
	}
	text, ok := strings.CutPrefix(p.fields[p.next].text, prefix)
	if !ok {
		return 0, nil
	}
	p.next++
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > most {
		return 0, p.errorf("%s%q is no number up to %d", prefix, text, most)
	}
	return n, nil
}

// counted reads polls:N, if it is there, and returns the header of such polls.
func (p *parser) counted(header uint64) (uint64, error) {
	if !p.more() {
		return header, nil
	}
	n, ok := strings.CutPrefix(p.fields[p.next].text, "polls:")
	if !ok {
		return header, nil
	}
	p.next++
	var err error
	if p.node.Counted, err = strconv.ParseUint(n, 10, 64); err != nil {
		return 0, p.errorf("%q is no number of polls", n)
	}
	return uint64(signature.Header(header).AsCounted()), nil
}

// namedWord reads NAME=WORD or NAME=*, which leaves the word open.
func (p *parser) namedWord(header uint64, k int) (v uint64, open bool, err error) {
	text, err := p.word("a word")
	if err != nil {
		return 0, false, err
	}
	name, value, ok := strings.Cut(text, "=")
	if want := wordName(header, k); !ok || name != want {
		return 0, false, p.errorf("%q: want %s=", text, want)
	}
	if value == "*" {
		return 0, true, nil
	}
	if v, err = p.words.parse(value); err != nil {
		return 0, false, p.errorf("%w", err)
	}
	return v, false, nil
}

func (p *parser) edgeLine() error {
	if err := p.in(p.node != nil, "node"); err != nil {
		return err
	}
	to, err := p.number("node", 32)
	if err != nil {
		return err
	}
	e := efg.Edge{To: uint32(to), Fixed: 1}
	if e.Weight, err = p.named("weight", 64); err != nil {
		return err
	}
	e.Count = e.Weight
	if p.more() {
		if e.Count, err = p.named("count", 64); err != nil {
			return err
		}
		if e.Fixed, err = p.named("fixed", 64); err != nil {
			return err
		}
		if e.Fixed == 1<<64-1 {
			return p.errorf("fixed %d", e.Fixed)
		}
	}
	p.node.Edges = append(p.node.Edges, e)
	return nil
}

// openSeq reads a sequence's length and form; its symbols are on the next lines.
func (p *parser) openSeq(put **seq.Seq) error {
	if *put != nil {
		return p.errorf("the node has this sequence already")
	}
	q, err := p.seqHead()
	if err != nil {
		return err
	}
	p.seq, q.put, q.long = q, put, p.option("parts")
	return nil
}

func (p *parser) seqHead() (*openSeq, error) {
	n, err := p.number("length", 64)
	if err != nil {
		return nil, err
	}
	q := &openSeq{line: p.line, n: n}
	for i, name := range formNames {
		if p.option(name) {
			q.form |= 1 << i
		}
	}
	return q, nil
}

// partLine begins the next part of a long sequence.
func (p *parser) partLine() error {
	if err := p.in(p.seq != nil && p.seq.long, "sequence in parts"); err != nil {
		return err
	}
	if err := p.seq.endPart(); err != nil {
		return p.errorf("the part before: %w", err)
	}
	q, err := p.seqHead()
	p.seq.part = q
	return err
}

func (p *parser) endSeq() error {
	q := p.seq
	if q == nil {
		return nil
	}
	p.seq = nil
	s, err := q.finish()
	if err != nil {
		return &Error{File: p.scanner.file, Line: q.line, Column: 1, Cause: err}
	}
	*q.put = s
	p.places[s] = q.line
	return nil
}

// checkSeqs checks whether a node's sequences have their values.
func (p *parser) checkSeqs(n *efg.Node) (line int, err error) {
	check := func(s *seq.Seq) {
		if s != nil && err == nil {
			line, err = p.places[s], s.Check()
		}
	}
	check(n.Runs)
	check(n.Counts)
	for i := range n.Attrs {
		check(n.Attrs[i].Values)
		check(n.Attrs[i].Elems)
	}
	return line, err
}

func (p *parser) runsLine() error {
	if err := p.in(p.node != nil, "node"); err != nil {
		return err
	}
	return p.openSeq(&p.node.Runs)
}

func (p *parser) countsLine() error {
	if err := p.in(p.node != nil, "node"); err != nil {
		return err
	}
	return p.openSeq(&p.node.Counts)
}

func (p *parser) attrLine() error {
	if err := p.in(p.node != nil, "node"); err != nil {
		return err
	}
	name, err := p.word("a word's name")
	if err != nil {
		return err
	}
	mask := p.node.Mask
	for range p.node.Attrs {
		mask &= mask - 1
	}
	if mask == 0 {
		return p.errorf("%s: no word of this kind left without values", name)
	}
	if want := wordName(p.node.Words[0], bits.TrailingZeros64(mask)); name != want {
		return p.errorf("values of %s in place of %s", name, want)
	}
	p.node.Attrs = append(p.node.Attrs, efg.Attr{})
	return p.openSeq(&p.node.Attrs[len(p.node.Attrs)-1].Values)
}

func (p *parser) elemsLine() error {
	if err := p.in(p.node != nil && len(p.node.Attrs) > 0, "attr"); err != nil {
		return err
	}
	return p.openSeq(&p.node.Attrs[len(p.node.Attrs)-1].Elems)
}

func (p *parser) symbolsLine() error {
	q := p.seq
	if q != nil && q.long {
		q = q.part
	}
	if err := p.in(q != nil, "sequence"); err != nil {
		return err
	}
	for p.more() {
		text, err := p.word("a symbol")
		if err != nil {
			return err
		}
		y, err := parseSymbol(text, q.form)
		if err != nil {
			return p.errorf("%w", err)
		}
		q.symbols = append(q.symbols, y)
	}
	return nil
}

func parseSymbol(s string, form seq.Form) (seq.Symbol, error) {
	if strings.HasPrefix(s, "<") {
		return parseRepeat(s)
	}
	if form&seq.Delta != 0 {
		d, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return seq.Symbol{}, fmt.Errorf("%q is no difference", s)
		}
		return seq.Symbol{Value: block.Zigzag(d)}, nil
	}
	read := parseNumber
	if form&seq.OfTokens != 0 {
		read = parseToken
	}
	v, err := read(s)
	return seq.Symbol{Value: v}, err
}

func parseRepeat(s string) (y seq.Symbol, err error) {
	bad := fmt.Errorf("%q: want <LEVEL:DISTANCExLENGTH>", s)
	level, rest, ok := strings.Cut(strings.TrimPrefix(s, "<"), ":")
	distance, length, ok2 := strings.Cut(rest, "x")
	length, ok3 := strings.CutSuffix(length, ">")
	if !ok || !ok2 || !ok3 {
		return y, bad
	}
	l, err1 := strconv.ParseUint(level, 10, 8)
	d, err2 := strconv.ParseUint(distance, 10, 32)
	m, err3 := uint64(seq.Endless), error(nil)
	if length != "" {
		m, err3 = strconv.ParseUint(length, 10, 64)
	}
	if err1 != nil || err2 != nil || err3 != nil || d == 0 {
		return y, bad
	}
	return seq.Symbol{Level: int(l), Distance: d, Length: m}, nil
}

func (p *parser) checkpointsLine() error {
	if err := p.in(p.stream != nil, "thread"); err != nil {
		return err
	}
	p.node, p.marks = nil, p.stream.Checkpoints
	return nil
}

// checkpointLine reads a sequence of checkpoints; visits is the first one of a node.
func (p *parser) checkpointLine() error {
	if err := p.in(p.marks != nil, "marks"); err != nil {
		return err
	}
	name, err := p.word("a sequence's name")
	if err != nil {
		return err
	}
	m := p.marks
	if name == "visits" {
		m.Nodes = append(m.Nodes, efg.NodeCheckpoints{})
	}
	if name == "events" {
		return p.openSeq(&m.Events)
	}
	if name == "last" {
		return p.openSeq(&m.Last)
	}
	if err := p.in(len(m.Nodes) > 0, "mark visits"); err != nil {
		return err
	}
	n := &m.Nodes[len(m.Nodes)-1]
	switch name {
	case "visits":
		return p.openSeq(&n.Visits)
	case "left":
		return p.openSeq(&n.Left)
	case "runs":
		n.Runs = append(n.Runs, nil)
		return p.openSeq(&n.Runs[len(n.Runs)-1])
	case "elems":
		n.Elems = append(n.Elems, nil)
		return p.openSeq(&n.Elems[len(n.Elems)-1])
	}
	return p.errorf("%q is no sequence of marks", name)
}

func (p *parser) timesLine() error {
	if err := p.in(p.node != nil, "node"); err != nil {
		return err
	}
	count, err := p.number("count", 64)
	if err != nil {
		return err
	}
	p.node.Stats = &efg.Stats{Count: count}
	if err := p.interval("dur", &p.node.Stats.Dur); err != nil {
		return err
	}
	return p.interval("gap", &p.node.Stats.Gap)
}

func (p *parser) interval(name string, v *efg.Interval) error {
	return p.sums(name, &v.Sum, &v.Min, &v.Max, v.Bins[:])
}
