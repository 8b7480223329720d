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

// support is support, with variables that each thread has of its own.
func (e *emitter) support(name string, replace ...string) string {
	private := ""
	if e.threads > 1 {
		private = "_Thread_local "
	}
	return support(name, append(replace, "PER_THREAD ", private)...)
}

// globals writes what the functions use.
func (e *emitter) globals(out *bytes.Buffer) {
	if e.threads > 1 {
		fmt.Fprintf(out, "enum { THREADS = %d };\n", e.threads)
	}
	e.variables(out)
	e.handles(out)
	e.buffers(out)
	if e.first != nil {
		out.WriteString(e.support("ranks.c", "RANKS", strconv.Itoa(e.ranks)))
	}
	if e.needs["neighbour"] {
		wrap := make([]int, len(e.place.wrap))
		for d, w := range e.place.wrap {
			if w {
				wrap[d] = 1
			}
		}
		out.WriteString(e.support("neighbour.c", "DIMS", list64(e.place.dims), "WRAP", list64(wrap), "COUNT", strconv.Itoa(len(wrap))))
	}
	if e.needs["next"] {
		out.WriteString(e.support("next.c"))
	}
	if e.needs["wide"] {
		out.WriteString(e.support("wide.c"))
	}
	if e.needs["double"] {
		out.WriteString(e.support("double.c"))
	}
	if e.needs["gather"] {
		out.WriteString(e.support("gather.c", "BATCH", strconv.FormatInt(max(e.scratch, 1), 10)))
	}
	for _, kind := range kindsInOrder {
		t := handleTypes[kind]
		if e.needs["keep "+t.name] {
			out.WriteString(e.support("keep.c", "NULL_HANDLE", t.null, "TYPE", t.ctype, "NAME", t.name, "KEPT", "4096"))
		}
		if e.needs["take "+t.name] {
			out.WriteString(e.support("take.c", "TYPE", t.ctype, "NAME", t.name, "TAKEN", strconv.Itoa(e.taking)))
		}
		if e.needs["pick "+t.name] {
			out.WriteString(e.support("pick.c", "TYPE", t.ctype, "NAME", t.name, "PICKED", strconv.Itoa(max(e.picked, 1))))
		}
	}
	if e.needs["compute"] {
		out.WriteString(e.support(e.opt.ComputeWith + ".c"))
	}
	if e.needs["launched"] {
		out.WriteString(e.support("launched.c"))
	}
	if e.world.attached > 0 {
		out.WriteString(e.support("attached.c", "ADDRESS", fmt.Sprintf("%#xL", attachedAt), "SIZE", strconv.FormatInt(e.world.attached, 10)))
	}
	e.threadSupport(out)
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
	outcomes := ""
	for _, name := range []string{"flag", "outcount", "slot"} {
		if e.needs[name] {
			outcomes += ", " + name
		}
	}
	if e.threads == 1 {
		names, outcomes = names+outcomes, ""
	}
	fmt.Fprintf(out, "static int %s;\n", names)
	if outcomes != "" {
		fmt.Fprintf(out, "%s int %s;\n", e.static(), outcomes[2:])
	}
	for _, v := range []struct{ need, declaration string }{
		{"status", "MPI_Status status"},
		{"statuses", fmt.Sprintf("MPI_Status statuses[%d]", e.mostRequests())},
		{"text", "char text[8192]"},
		{"left", "jmp_buf left"},
		{"left", "int leaving"},
		{"address", "void *address"},
		{"allocated", "void *allocated[4096]"},
		{"allocated", "int allocations"},
		{"scratch", fmt.Sprintf("int scratch[%d]", e.scratch)},
	} {
		if e.needs[v.need] {
			fmt.Fprintf(out, "%s %s;\n", e.static(), v.declaration)
		}
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
			dims := ""
			if b.name == "in" && e.threads > 1 {
				dims = "[THREADS]"
			}
			fmt.Fprintf(out, "static _Alignas(%d) char %s%s[%d];\n", align, b.name, dims, max(b.size, align))
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
