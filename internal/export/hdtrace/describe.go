package hdtrace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/export"
	"github.com/efg-tools/efg/signature"
)

func jobContext(job *export.Job) context.Context {
	if job.Context == nil {
		return context.Background()
	}
	return job.Context
}

// describe writes the description of the project.
func (w *writer) describe() (err error) {
	f, err := os.Create(filepath.Join(w.dir, w.name+extension))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := bufio.NewWriter(f)
	fmt.Fprintf(b, "<Application name='%s'>\n<Description>%s</Description>\n<FileList>\n", w.name, escaped(strings.Join(w.run.Meta.Command, " ")))
	for _, name := range w.names {
		fmt.Fprintf(b, "<File name='%s' />\n", escaped(name))
	}
	b.WriteString("</FileList>\n<Topology>\n<Level name='Hostname'><Level name='Rank'><Level name='Thread'></Level></Level></Level>\n")
	w.labels(b)
	b.WriteString("</Topology>\n<CommunicatorList>\n")
	for _, c := range w.lists {
		fmt.Fprintf(b, "<Communicator name='%s'>\n", c.name)
		for _, m := range c.members {
			fmt.Fprintf(b, "  <Rank global='%d' local='%d' cid='%d' />\n", m[0], m[1], c.number)
		}
		b.WriteString("</Communicator>\n")
	}
	fmt.Fprintf(b, "</CommunicatorList>\n<Datatypes>\n%s</Datatypes>\n</Application>\n", w.types.String())
	return b.Flush()
}

// labels writes hosts, ranks and threads as a tree.
func (w *writer) labels(b *bufio.Writer) {
	var hosts []string
	ranks, threads := map[string][]int{}, map[int][]int{}
	for _, l := range w.tree {
		if len(threads[l.rank]) == 0 {
			ranks[l.host] = append(ranks[l.host], l.rank)
		}
		threads[l.rank] = append(threads[l.rank], l.thread)
		if !slices.Contains(hosts, l.host) {
			hosts = append(hosts, l.host)
		}
	}
	for _, host := range hosts {
		fmt.Fprintf(b, "<Label value='%s'>\n", host)
		for _, rank := range ranks[host] {
			fmt.Fprintf(b, "  <Label value='%d'>\n", rank)
			for _, thread := range threads[rank] {
				fmt.Fprintf(b, "    <Label value='%d' />\n", thread)
			}
			b.WriteString("  </Label>\n")
		}
		b.WriteString("</Label>\n")
	}
}

// datatype numbers a datatype, after those that it is made of.
func (p *process) datatype(word uint64) int {
	if id, ok := p.types[word]; ok {
		return id
	}
	p.types[word] = -1 // a broken file may have a type that contains itself
	if x, ok := contentsOf(p.contents[word]); ok {
		for _, t := range x.types {
			p.datatype(t)
		}
	}
	id := len(p.order)
	p.types[word], p.order = id, append(p.order, word)
	return id
}

// describeTypes describes the datatypes that a thread uses.
func (p *process) describeTypes(l label) {
	b := &p.writer.types
	fmt.Fprintf(b, "<Rank name='%d' thread='%d'>\n", l.rank, l.thread)
	for id, word := range p.order {
		if x, ok := contentsOf(p.contents[word]); ok {
			p.describeType(b, id, x)
			continue
		}
		fmt.Fprintf(b, "  <NAMED id='%d' name='%s' />\n", id, escaped(p.names.Handle(signature.Type, word)))
	}
	b.WriteString("</Rank>\n")
}

// contents is what a datatype was made of.
type contents struct {
	combiner string  // without MPI_COMBINER_
	numbers  []int64 // integers, then addresses
	count    int64   // the first of the integers, 0 if there are none
	types    []uint64
}

// contentsOf is false if it is not known, or has large counts, which have no form here.
func contentsOf(d *efg.Def) (x contents, ok bool) {
	t, ok := d.Datatype()
	combiner := signature.ConstantOf(t.Combiner)
	if !ok || combiner == nil || len(t.Counts) > 0 {
		return x, false
	}
	x.combiner, x.types = strings.TrimPrefix(combiner.Name, "MPI_COMBINER_"), t.Types
	for _, w := range slices.Concat(t.Integers, t.Addresses) {
		x.numbers = append(x.numbers, int64(w))
	}
	if len(t.Integers) > 0 {
		x.count = x.numbers[0]
	}
	return x, true
}

// describeType writes an element with the arguments that made a datatype.
func (p *process) describeType(b *strings.Builder, id int, x contents) {
	old, all := p.types[x.types[0]], x.numbers
	begin := fmt.Sprintf("  <%s id='%d' name=''", x.combiner, id)
	n := int(min(uint64(x.count), uint64(len(all))))
	at := func(i int) int64 {
		if i < len(all) {
			return all[i]
		}
		return 0
	}
	switch x.combiner {
	case "DUP":
		fmt.Fprintf(b, "%s oldType='%d' />\n", begin, old)
	case "CONTIGUOUS":
		fmt.Fprintf(b, "%s count='%d' oldType='%d' />\n", begin, at(0), old)
	case "VECTOR", "HVECTOR", "HVECTOR_INTEGER":
		fmt.Fprintf(b, "%s count='%d' blocklength='%d' stride='%d' oldType='%d' />\n", begin, at(0), at(1), at(2), old)
	case "RESIZED":
		fmt.Fprintf(b, "%s lowerBound='%d' extend='%d' oldType='%d' />\n", begin, at(0), at(1), old)
	case "INDEXED", "HINDEXED", "HINDEXED_INTEGER":
		fmt.Fprintf(b, "%s count='%d' oldType='%d' >\n", begin, at(0), old)
		for i := range n {
			fmt.Fprintf(b, "    <BLOCK len='%d' index='%d' />\n", at(1+i), at(1+n+i))
		}
		fmt.Fprintf(b, "  </%s>\n", x.combiner)
	case "INDEXED_BLOCK", "HINDEXED_BLOCK":
		fmt.Fprintf(b, "%s count='%d' oldType='%d' blockLength='%d'>\n", begin, at(0), old, at(1))
		for i := range n {
			fmt.Fprintf(b, "    <Block displacement='%d' />\n", at(2+i))
		}
		fmt.Fprintf(b, "  </%s>\n", x.combiner)
	case "STRUCT", "STRUCT_INTEGER":
		fmt.Fprintf(b, "%s count='%d' >\n", begin, at(0))
		for i := range min(n, len(x.types)) {
			fmt.Fprintf(b, "    <Type id='%d' displacement='%d' blocklen='%d'/>\n", p.types[x.types[i]], at(1+n+i), at(1+i))
		}
		fmt.Fprintf(b, "  </%s>\n", x.combiner)
	case "SUBARRAY":
		fmt.Fprintf(b, "%s count='%d' order='%s' oldType='%d'>\n", begin, at(0), constant(at(1+3*n)), old)
		for i := range n {
			fmt.Fprintf(b, "    <Dimension size='%d' subsize='%d' start='%d' />\n", at(1+i), at(1+n+i), at(1+2*n+i))
		}
		fmt.Fprintf(b, "  </%s>\n", x.combiner)
	case "DARRAY":
		n = int(min(uint64(at(2)), uint64(len(all))))
		fmt.Fprintf(b, "%s size='%d' order='%s' rank='%d' dims='%d' oldType='%d'>\n", begin, at(0), constant(at(3+4*n)), at(1), at(2), old)
		for i := range n {
			fmt.Fprintf(b, "    <Dimension gsize='%d' distrib='%s' darg='%s' psize='%d' />\n", at(3+i), constant(at(3+n+i)), constant(at(3+2*n+i)), at(3+3*n+i))
		}
		fmt.Fprintf(b, "  </%s>\n", x.combiner)
	default:
		fmt.Fprintf(b, "%s oldType='%d' />\n", begin, old)
	}
}

// constant is the name of a constant, or the number itself.
func constant(v int64) string {
	if c := signature.ConstantOf(uint64(v)); c != nil {
		return c.Name
	}
	return fmt.Sprint(v)
}
