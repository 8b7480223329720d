package runfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/efg-tools/efg/efg"
)

// withCallsites is a process that has callsites at these offsets of modules.
func withCallsites(modules []string, offsets ...uint64) (p *efg.Process, sites []Site) {
	p = sampleProcess(0)
	for _, path := range modules {
		module := efg.Def{Kind: efg.DefModule, Data: []byte(path)}
		module.Word = module.Identity()
		p.Defs = append(p.Defs, module)
		for _, offset := range offsets {
			site := efg.Def{Kind: efg.DefSite, Words: []uint64{module.Word, offset}}
			site.Word = site.Identity()
			p.Defs = append(p.Defs, site)
			sites = append(sites, Site{Word: site.Word, Place: siteRef{path, offset}.place()})
		}
	}
	return p, sites
}

// Strings and sites come back from the index, whatever is in them, and an independent reader finds the same.
func TestTablesInTheIndex(t *testing.T) {
	modules := []string{"/lib/libb.so\x00abc", "/lib/liba.so\x00\n\x1b\n", "odd", "e\x00\x1b"}
	p, all := withCallsites(modules, 4096, 17, 1<<40)
	named := slices.Clone(all)
	for i := range named {
		named[i].Func = fmt.Sprintf("f%d", i/2)
	}
	named[1].Place, named[2].Place = "a.c:1", ""
	strange := slices.Clone(named)
	strange[3].Place, strange[4].Func = "two\nlines\x1b", "\x1b"
	for name, sites := range map[string][]Site{
		"all": all, "none": nil, "some": named[2:9], "named": named, "strange": strange,
		"more":           append(slices.Clone(named), MakeSite("/lib/libc.so\x00d", 99), Site{Word: 77, Place: "+0x0"}, Site{Word: 78}),
		"without module": {{Word: 7, Place: "x+0x1"}},
	} {
		q := *p
		q.Command = []string{"a", name}
		if name == "strange" {
			q.Command = []string{"a", "b\nc", "\x1b"}
		}
		data := encode(t, []*efg.Process{&q}, Meta{Tool: "efg", Sites: sites})
		r := openBytes(t, data)
		if r.tables == nil {
			t.Fatalf("%s: the tables are not in the index", name)
		}
		got, err := r.Sites()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want, have := sitesText(sites), sitesText(got); want != have {
			t.Errorf("%s: sites are\n%s\nnot\n%s", name, have, want)
		}
		if c := r.Procs[0].Command; !slices.Equal(c, q.Command) {
			t.Errorf("%s: command %q", name, c)
		}
		if want, have := shown(t, data), independently(t, data); name != "strange" && want != have { // quotes differ in the text of both
			t.Errorf("%s: another reader finds\n%s\nnot\n%s", name, have, want)
		}
	}
}

func sitesText(sites []Site) string {
	var lines []string
	for _, s := range sites {
		lines = append(lines, fmt.Sprintf("%x %q %q\n", s.Word, s.Place, s.Func))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// Many strings have a block of their own.
func TestManyTextsAreABlock(t *testing.T) {
	p := sampleProcess(0)
	for i := range fewTexts {
		d := efg.Def{Kind: efg.DefString, Data: fmt.Appendf(nil, "string %d", i)}
		d.Word = d.Identity()
		p.Defs = append(p.Defs, d)
	}
	r := openBytes(t, encode(t, []*efg.Process{p}, sampleMeta(p)))
	if r.tables != nil {
		t.Error("the tables are in the index")
	}
	if sites, err := r.Sites(); err != nil || len(sites) != 1 {
		t.Errorf("%d sites, %v", len(sites), err)
	}
}

// Each bit of the trailer, and of the header, counts.
func TestChangedTrailer(t *testing.T) {
	data := encode(t, []*efg.Process{sampleProcess(0)}, Meta{})
	for i := range 8 * (headerSize + shortTrailer) {
		at := i / 8
		if at >= headerSize {
			at += len(data) - headerSize - shortTrailer
		}
		changed := bytes.Clone(data)
		changed[at] ^= 1 << (i % 8)
		if _, err := NewRun(bytes.NewReader(changed), int64(len(changed))); err == nil {
			t.Errorf("bit %d of byte %d of %d was not missed", i%8, at, len(data))
		}
	}
}

// Files with the features of development versions are refused with a line that says so.
func TestUnreleasedFeatures(t *testing.T) {
	for bit := range 5 {
		if bit == 0 {
			continue // calls in progress
		}
		data := encode(t, []*efg.Process{sampleProcess(0)}, Meta{})
		data[12] |= 1 << bit
		_, err := NewRun(bytes.NewReader(data), int64(len(data)))
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "never released") {
			t.Errorf("feature %d: %v", 1<<bit, err)
		}
	}
}
