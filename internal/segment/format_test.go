package segment

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// dump lists a segment's records field by field, for FORMAT.md. Zero fields are omitted; fields
// that differ from run to run are shown as dots.
type dump struct {
	data []byte
	at   map[uint64]string
}

var varies = map[string]bool{
	"PID": true, "StartReal": true, "FirstTick": true, "Tick": true, "Mono": true, "Real": true, "Width": true,
	"TickMult": true, "TID": true, "Priv": true, "Options": true, "CommandLen": true,
	"Host": true, "Command": true,
}

func (d *dump) record(name string, ref uint32, to any) {
	off := uint64(ref) * RefUnit
	v := reflect.ValueOf(to).Elem()
	decode(d.data[off:], to)
	d.at[off] = fmt.Sprintf("%06x  %s\n", off, name) + d.fields(off, "", v)
}

func (d *dump) fields(off uint64, prefix string, v reflect.Value) string {
	var b strings.Builder
	for i := range v.NumField() {
		f, name := v.Type().Field(i), prefix+v.Type().Field(i).Name
		at := off + uint64(f.Offset)
		bytes := d.data[at : at+uint64(f.Type.Size())]
		switch {
		case f.Type.Kind() == reflect.Struct && slices.Max(bytes) != 0:
			b.WriteString(d.fields(at, name+".", v.Field(i)))
		case f.Type.Kind() == reflect.Array && f.Type.Elem().Kind() == reflect.Struct && slices.Max(bytes) != 0:
			for k := range v.Field(i).Len() {
				elem := v.Field(i).Index(k)
				b.WriteString(d.fields(at+uint64(k)*uint64(elem.Type().Size()), fmt.Sprintf("%s[%d].", name, k), elem))
			}
		case !varies[f.Name] && slices.Max(bytes) == 0:
		case varies[f.Name]:
			fmt.Fprintf(&b, "%06x    %-23s  %s\n", at, strings.Repeat(".. ", min(len(bytes), 8)), name)
		default:
			fmt.Fprintf(&b, "%06x    %-23s  %s%s\n", at, inHex(bytes), name, value(f.Type, bytes))
		}
	}
	return b.String()
}

func inHex(b []byte) string { return strings.TrimSpace(fmt.Sprintf("% x", b[:min(len(b), 8)])) }

func value(t reflect.Type, b []byte) string {
	switch t.Kind() {
	case reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return fmt.Sprintf(" %q", text(b))
		}
		return ""
	case reflect.Uint16:
		return fmt.Sprint(" ", binary.LittleEndian.Uint16(b))
	case reflect.Uint32, reflect.Int32:
		return fmt.Sprintf(" %#x", binary.LittleEndian.Uint32(b))
	}
	return fmt.Sprintf(" %#x", binary.LittleEndian.Uint64(b))
}

func (d *dump) raw(off, n uint64, name string) {
	d.at[off] = fmt.Sprintf("%06x    %-23s  %s\n", off, inHex(d.data[off:off+n]), name)
}

func (d *dump) seq(name string, ref uint32) {
	if ref == 0 {
		return
	}
	var s Seq
	d.record(name, ref, &s)
	left := s.State[s.Sel].NBytes
	for c := s.First; c != 0; {
		var k Chunk
		d.record("Chunk", c, &k)
		n := min(left, uint64(k.Cap))
		d.raw(uint64(c)*RefUnit+uint64(unsafe.Sizeof(k)), n, "code")
		left -= n
		c = k.Next
	}
}

func (d *dump) node(ref uint32) (next uint32) {
	var n Node
	d.record("Node", ref, &n)
	for i := range uint64(n.N) {
		d.raw(uint64(ref)*RefUnit+uint64(unsafe.Sizeof(n))+8*i, 8, fmt.Sprintf("word %d", i))
	}
	d.seq("Seq, runs", n.Runs)
	d.seq("Seq, counts", n.Counts)
	for e := n.Edges; e != 0; {
		var edge Edge
		d.record("Edge", e, &edge)
		e = edge.Next
	}
	return n.Next
}

func (d *dump) String() string {
	var offsets []uint64
	for off := range d.at {
		offsets = append(offsets, off)
	}
	slices.Sort(offsets)
	var b strings.Builder
	for _, off := range offsets {
		b.WriteString(d.at[off])
	}
	var lines []string
	for l := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(l, " \n")+"\n")
	}
	return strings.Join(lines, "")
}

// FORMAT.md shows the segment of seven barriers at two callsites.
func TestFormatExample(t *testing.T) {
	p := newProgram(0, 1)
	p.defs.Add(efg.Def{Kind: efg.DefString, Word: 0x51, Data: []byte("an example")})
	for _, site := range []uint64{0xa, 0xa, 0xb, 0xa, 0xa, 0xb, 0xa} {
		proc := signature.ProcByName("MPI_Barrier")
		header := uint64(signature.MakeHeader(proc.ID, signature.C, false, 3, 0))
		p.events = append(p.events, efg.Input{Words: []uint64{header, site, signature.Const(1)}})
	}
	dir := t.TempDir()
	if out, err := feedCommand(feeder(t), dir, p.encode(), 24).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	d := &dump{data: data, at: map[uint64]string{}}
	var h Header
	d.record("Header", 0, &h)
	var def Def
	d.record("Def", h.Defs, &def)
	d.raw(uint64(h.Defs)*RefUnit+uint64(unsafe.Sizeof(def)), uint64(def.NBytes), "data")
	var s Stream
	d.record("Stream", h.Streams, &s)
	for n := s.Nodes; n != 0; {
		n = d.node(n)
	}
	doc, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), "```\n"+d.String()+"```\n") {
		t.Errorf("FORMAT.md does not have the example:\n%s", d)
	}
}
