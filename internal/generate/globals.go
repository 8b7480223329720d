package generate

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/signature"
)

// kindsInOrder are the kinds of handles in the order of their declarations.
var kindsInOrder = []signature.Kind{signature.Sess, signature.Group, signature.Comm, signature.Type, signature.Op, signature.Win, signature.File, signature.Info, signature.Errh, signature.Keyval, signature.Msg, signature.Req}

// support returns the text of a file of support, with words replaced.
func support(name string, replace ...string) string {
	text, err := supportFiles.ReadFile("support/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return strings.NewReplacer(replace...).Replace(string(text)) + "\n"
}

// globals writes what the functions use.
func (e *emitter) globals(out *bytes.Buffer) {
	e.variables(out)
	e.handles(out)
	e.buffers(out)
	if e.first != nil {
		out.WriteString(support("ranks.c", "RANKS", strconv.Itoa(e.ranks)))
	}
	if e.needs["neighbour"] {
		wrap := make([]int, len(e.place.wrap))
		for d, w := range e.place.wrap {
			if w {
				wrap[d] = 1
			}
		}
		out.WriteString(support("neighbour.c", "DIMS", list64(e.place.dims), "WRAP", list64(wrap), "COUNT", strconv.Itoa(len(wrap))))
	}
	if e.needs["next"] {
		out.WriteString(support("next.c"))
	}
	if e.needs["gather"] {
		out.WriteString(support("gather.c", "BATCH", strconv.FormatInt(max(e.scratch, 1), 10)))
	}
	for _, kind := range kindsInOrder {
		t := handleTypes[kind]
		if e.needs["keep "+t.name] {
			out.WriteString(support("keep.c", "NULL_HANDLE", t.null, "TYPE", t.ctype, "NAME", t.name, "KEPT", "4096"))
		}
		if e.needs["take "+t.name] {
			out.WriteString(support("take.c", "TYPE", t.ctype, "NAME", t.name, "TAKEN", strconv.Itoa(e.taking)))
		}
		if e.needs["pick "+t.name] {
			out.WriteString(support("pick.c", "TYPE", t.ctype, "NAME", t.name, "PICKED", strconv.Itoa(max(e.picked, 1))))
		}
	}
	if e.needs["compute"] {
		out.WriteString(support(e.opt.ComputeWith + ".c"))
	}
	if e.needs["launched"] {
		out.WriteString(support("launched.c"))
	}
	if e.world.attached > 0 {
		out.WriteString(support("attached.c", "ADDRESS", fmt.Sprintf("%#xL", attachedAt), "SIZE", strconv.FormatInt(e.world.attached, 10)))
	}
	e.scratchFiles(out)
	e.startedWorlds(out)
	e.functionsOf(out)
	if e.tables.Len() > 0 {
		out.Write(e.tables.Bytes())
		out.WriteString("\n")
	}
	e.prepare(out)
}

func (e *emitter) variables(out *bytes.Buffer) {
	names := "rank"
	if e.needs["size"] || e.first != nil {
		names += ", size"
	}
	for _, name := range []string{"flag", "outcount", "slot"} {
		if e.needs[name] {
			names += ", " + name
		}
	}
	fmt.Fprintf(out, "static int %s;\n", names)
	if e.needs["status"] {
		out.WriteString("static MPI_Status status;\n")
	}
	if e.needs["statuses"] {
		fmt.Fprintf(out, "static MPI_Status statuses[%d];\n", e.mostRequests())
	}
	if e.needs["text"] {
		out.WriteString("static char text[8192];\n")
	}
	if e.needs["left"] {
		out.WriteString("static jmp_buf left;\nstatic int leaving;\n")
	}
	if e.needs["address"] {
		out.WriteString("static void *address;\n")
	}
	if e.needs["allocated"] {
		out.WriteString("static void *allocated[4096];\nstatic int allocations;\n")
	}
	if e.needs["scratch"] {
		fmt.Fprintf(out, "static int scratch[%d];\n", e.scratch)
	}
}

// mostRequests is the length of the longest array of requests.
func (e *emitter) mostRequests() int64 {
	most := int64(1)
	for _, p := range e.procs {
		for _, n := range p.list() {
			if r := n.proc.Roles.Requests; r != 0 {
				for _, v := range n.values[r].vecs {
					most = max(most, int64(len(v)))
				}
			}
		}
	}
	return most
}

func (e *emitter) handles(out *bytes.Buffer) {
	for _, kind := range kindsInOrder {
		if n := e.counts[kind] + uint64(len(e.extras[kind])); n > 0 {
			t := handleTypes[kind]
			fmt.Fprintf(out, "static %s %s[%d];\n", t.ctype, t.name, n)
		}
	}
}

// buffers declares memory for data.
func (e *emitter) buffers(out *bytes.Buffer) {
	for _, b := range []struct {
		name string
		size int64
	}{{"out", e.out.high - e.out.low}, {"in", e.in.high - e.in.low}, {"pool", e.pooled}} {
		if e.needs[b.name] {
			fmt.Fprintf(out, "static _Alignas(%d) char %s[%d];\n", align, b.name, max(b.size, align))
		}
	}
	out.WriteString("\n")
}

func (e *emitter) functionsOf(out *bytes.Buffer) {
	for _, name := range e.sortedNeeds("function ") {
		f, ok := functions[name]
		if !ok {
			base := name[:strings.LastIndex(name, "_")]
			f = functions[base]
		}
		result := "void"
		if strings.Contains(f.body, "return") {
			result = "int"
		}
		body := f.body
		if result == "void" && e.needs["left"] {
			body += "\n    if (leaving)\n        longjmp(left, 1);"
		}
		fmt.Fprintf(out, "static %s %s%s\n{\n    %s\n}\n\n", result, name, f.params, body)
	}
}

// initial are the statements that give variables their first values.
func (e *emitter) initial() []string {
	var list []string
	for _, kind := range kindsInOrder {
		t := handleTypes[kind]
		if e.needs["keep "+t.name] || kind == signature.Req && e.needs["gather"] {
			list = append(list, fmt.Sprintf("for (int i = 0; i < %d; i++)", e.counts[kind]), fmt.Sprintf("    %s[i] = %s;", t.name, t.null))
		}
		var words []uint64
		for w := range e.extras[kind] {
			words = append(words, w)
		}
		slices.Sort(words)
		for _, w := range words {
			list = append(list, fmt.Sprintf("%s[%d] = %s;", t.name, e.extras[kind][w], constantHandle(kind, w)))
		}
	}
	return list
}

func (e *emitter) prepare(out *bytes.Buffer) {
	list := e.initial()
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(out, "static void prepare(void)\n{\n    %s\n}\n\n", strings.Join(list, "\n    "))
}
