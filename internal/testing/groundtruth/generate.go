package groundtruth

import (
	"fmt"
	"slices"
	"strings"
)

// kinds maps C types to the logger's kinds of values.
var kinds = map[string]string{
	"int": "K_INT", "MPI_Fint": "K_INT", "MPI_Aint": "K_AINT", "MPI_Count": "K_COUNT",
	"MPI_Offset": "K_OFFSET", "MPI_Comm": "K_COMM", "MPI_Datatype": "K_TYPE", "MPI_Op": "K_OP",
	"MPI_Group": "K_GROUP", "MPI_Win": "K_WIN", "MPI_File": "K_FILE", "MPI_Info": "K_INFO",
	"MPI_Request": "K_REQUEST", "MPI_Message": "K_MESSAGE", "MPI_Errhandler": "K_ERRHANDLER",
	"MPI_Session": "K_SESSION", "MPI_Status": "K_STATUS", "char": "K_STRING",
}

// oldFortran are procedures whose addresses are INTEGER in Fortran.
var oldFortran = []string{"Address", "Type_extent", "Type_lb", "Type_ub", "Type_hvector",
	"Type_hindexed", "Type_struct"}

// pointerArgument are procedures that have a second Fortran name, for TYPE(C_PTR).
var pointerArgument = []string{"Alloc_mem", "Win_allocate", "Win_allocate_shared", "Win_shared_query"}

// generator writes the logger's wrappers for one MPI library.
type generator struct {
	sem *semantics
	b   strings.Builder
}

// generate returns the C source of the wrappers.
func generate(sem *semantics, protos []prototype, constants []string, library string) (string, error) {
	g := &generator{sem: sem}
	g.printf("/* Generated from mpi.h by internal/testing/groundtruth. */\n#include \"logger.h\"\n\n")
	g.printf("const char *const log_library = %q;\n\n", library)
	g.printf("#define A(v) ((int64_t)(intptr_t)(v))\n\n")
	for _, p := range protos {
		if g.skipped(p) {
			continue
		}
		if err := g.procedure(p); err != nil {
			return "", err
		}
	}
	g.printf("void log_constants(void (*add)(const char *, int64_t))\n{\n")
	for _, c := range constants {
		g.printf("    add(\"%s\", A(%s));\n", c, c)
	}
	g.printf("}\n")
	return g.b.String(), nil
}

func (g *generator) printf(format string, args ...any) {
	fmt.Fprintf(&g.b, format, args...)
}

func (g *generator) skipped(p prototype) bool {
	n := shortName(p.name)
	return g.sem.skip[n] || strings.Contains(n, "_c2f") || strings.Contains(n, "_f2c") ||
		n != strings.ToUpper(n[:1])+n[1:] || strings.HasSuffix(n, "_FN")
}

// shortName is a procedure's name without MPI_ and _c.
func shortName(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, "MPI_"), "_c")
}

func (g *generator) procedure(p prototype) error {
	short := shortName(p.name)
	names := make([]string, len(p.params))
	for i, q := range p.params {
		names[i] = g.sem.standardName(short, q.name)
	}
	g.printf("static const log_param p_%s[] = {\n", p.name)
	for i, q := range p.params {
		kind, flags := g.classify(short, q, names[i])
		length, a, b, err := g.length(short, names, i)
		if err != nil {
			return err
		}
		g.printf("    {\"%s\", %s, %s, %d, %d, %s},\n", names[i], kind, length, a, b, flags)
	}
	if len(p.params) == 0 {
		g.printf("    {\"\", K_IGNORE, L_NONE, -1, -1, 0},\n")
	}
	comm := firstOf(names, "comm", "local_comm", "comm_old", "peer_comm")
	g.printf("};\nstatic const log_proc d_%s = {\"%s\", p_%s, %d, %d, %d, %d};\n",
		p.name, short, p.name, len(p.params), comm, firstOf(names, "root", "local_leader"),
		firstOf(names, "flag"))
	g.cWrapper(p)
	for _, symbol := range fortranSymbols(p.name) {
		g.fortranWrapper(p, names, symbol)
	}
	return nil
}

func firstOf(names []string, wanted ...string) int {
	for _, w := range wanted {
		if i := slices.Index(names, w); i >= 0 {
			return i
		}
	}
	return -1
}

// classify returns the kind and the flags of a parameter.
func (g *generator) classify(proc string, p param, name string) (kind, flags string) {
	kind, known := kinds[p.base]
	_, array := g.sem.arrays[proc][name]
	switch {
	case p.base == "char" && p.stars == 1 && p.konst && g.sem.str[name]:
		return kind, "F_IN" + g.significance(proc, name)
	case p.base == "char":
		return kind, "0"
	case p.base == "void" && g.sem.buffer[name] && p.stars == 1:
		return "K_BUFFER", "F_IN"
	case !known || p.fn || g.sem.ignore[name] || p.base == "MPI_Status" && p.konst,
		p.stars > 0 && p.array && !array:
		return "K_IGNORE", "0"
	}
	if kind == "K_INT" && strings.HasSuffix(name, "keyval") {
		kind = "K_KEYVAL"
	}
	flags = g.direction(proc, p, name, array)
	flags += g.significance(proc, name)
	if g.sem.logical[name] && p.base == "int" && !(name == "high" && proc != "Intercomm_merge") {
		flags += "|F_LOGICAL"
	}
	if p.stars > 0 && (name == "index" && strings.HasSuffix(proc, "any") || name == "array_of_indices") {
		flags += "|F_INDEX"
	}
	if slices.Contains(oldFortran, proc) && kind == "K_AINT" {
		flags += "|F_FINT"
	}
	if g.sem.size[proc] == name && name != "" {
		flags += "|F_SIZE"
	}
	return kind, flags
}

func (g *generator) direction(proc string, p param, name string, array bool) string {
	switch {
	case array && g.sem.inout[proc][name]:
		return "F_ARRAY|F_IN|F_OUT"
	case array && inputArray(proc, p):
		return "F_ARRAY|F_IN"
	case array:
		return "F_ARRAY|F_OUT"
	case p.stars > 0 && g.sem.inout[proc][name]:
		return "F_POINTER|F_IN|F_OUT"
	case p.stars > 0:
		return "F_POINTER|F_OUT"
	}
	return "F_IN"
}

// inputArray reports whether a parameter is an input array although an old prototype lacks
// const.
func inputArray(proc string, p param) bool {
	return p.konst || strings.HasPrefix(proc, "Type_") || strings.HasPrefix(proc, "Pready") ||
		strings.HasPrefix(proc, "Group_range")
}

func (g *generator) significance(proc, name string) string {
	s := ""
	if g.sem.root[proc][name] {
		s += "|F_ROOT"
	}
	if g.sem.inplace[proc][name] {
		s += "|F_INPLACE"
	}
	return s
}

// length translates the table's length expression of parameter i.
func (g *generator) length(proc string, names []string, i int) (op string, a, b int, err error) {
	expr, ok := g.sem.arrays[proc][names[i]]
	if !ok {
		return "L_NONE", -1, -1, nil
	}
	fixed := map[string]string{"size": "L_SIZE", "local": "L_LOCAL", "indegree": "L_INDEGREE",
		"outdegree": "L_OUTDEGREE", "ndims": "L_NDIMS"}
	if op, ok := fixed[expr]; ok {
		return op, -1, -1, nil
	}
	op, b = "L_PARAM", -1
	first := strings.TrimSuffix(strings.TrimPrefix(expr, "out:"), "_arg")
	if inner, ok := strings.CutPrefix(expr, "3*"); ok {
		op, first = "L_PARAM3", inner
	} else if expr == "nneighbors" {
		op, first = "L_NNEIGHBORS", "maxneighbors"
	} else if fn, rest, ok := strings.Cut(strings.TrimSuffix(expr, ")"), "("); ok {
		array, n, _ := strings.Cut(rest, ",")
		op, first = map[string]string{"sum": "L_SUM", "last": "L_LAST"}[fn], array
		b = slices.Index(names, n)
	}
	a = slices.Index(names, first)
	if a < 0 || op == "" {
		return "", 0, 0, fmt.Errorf("%s: length %q of %s not understood", proc, expr, names[i])
	}
	return op, a, b, nil
}

func (g *generator) cWrapper(p prototype) {
	var decl, values, args []string
	for _, q := range p.params {
		decl = append(decl, q.text)
		if q.base == "..." {
			continue
		}
		values = append(values, "A("+q.name+")")
		if q.base == "MPI_Status" && !q.konst {
			args = append(args, fmt.Sprintf("(MPI_Status *)(intptr_t)a_[%d]", len(values)-1))
		} else {
			args = append(args, q.name)
		}
	}
	list := strings.Join(decl, ", ")
	if list == "" {
		list, values = "void", []string{"0"}
	}
	g.printf("int %s(%s)\n{\n", p.name, list)
	g.printf("    static __typeof__(%s) *real_;\n    int64_t a_[] = {%s};\n    log_call c_;\n",
		p.name, strings.Join(values, ", "))
	g.printf("    if (!real_)\n        real_ = (__typeof__(real_))log_real(\"%s\");\n", p.name)
	g.printf("    int on_ = log_begin(&c_, &d_%s, LANG_C, a_, NULL, LOG_FRAME);\n", p.name)
	g.printf("    int rc_ = real_(%s);\n", strings.Join(args, ", "))
	g.printf("    return on_ ? log_end(&c_, rc_) : rc_;\n}\n\n")
}

// fortranSymbols are the names by which Fortran calls a procedure. Those that a library does
// not have are never called.
func fortranSymbols(name string) []string {
	lower := strings.ToLower(name)
	if base, ok := strings.CutSuffix(lower, "_c"); ok {
		return []string{base + "_f08_large_", base + "_f08ts_large_"}
	}
	s := []string{lower + "_", lower + "_f08_", lower + "_f08ts_"}
	if slices.Contains(pointerArgument, shortName(name)) {
		s = append(s, lower+"_cptr_", lower+"_cptr_f08_")
	}
	return s
}

func langOf(symbol string) string {
	switch {
	case strings.Contains(symbol, "_f08ts_"):
		return "LANG_F08TS"
	case strings.Contains(symbol, "_f08_"):
		return "LANG_F08"
	}
	return "LANG_FORTRAN"
}

func (g *generator) fortranWrapper(p prototype, names []string, symbol string) {
	var decl, values, args, lengths []string
	drop := slices.Contains(names, "argc")
	for i, q := range p.params {
		if drop && (names[i] == "argc" || names[i] == "argv") || q.base == "..." {
			values = append(values, "0")
			continue
		}
		v := fmt.Sprintf("p%d", i)
		decl = append(decl, "void *"+v)
		values = append(values, "A("+v+")")
		args = append(args, fmt.Sprintf("(void *)(intptr_t)a_[%d]", i))
		if q.base == "char" {
			lengths = append(lengths, fmt.Sprintf("l%d", i))
		}
	}
	decl = append(decl, "MPI_Fint *ierr")
	args = append(args, "e_")
	types := strings.Repeat("void *, ", len(decl)-1) + "MPI_Fint *"
	for _, l := range lengths {
		decl = append(decl, "size_t "+l)
		args = append(args, l)
		types += ", size_t"
	}
	if len(values) == 0 {
		values = []string{"0"}
	}
	g.printf("void %s(%s);\nvoid %s(%s)\n{\n", symbol, strings.Join(decl, ", "), symbol, strings.Join(decl, ", "))
	g.printf("    static void (*real_)(%s);\n    int64_t a_[] = {%s};\n", types, strings.Join(values, ", "))
	hidden := "NULL"
	if len(lengths) > 0 {
		hidden = "l_"
		g.printf("    size_t l_[] = {%s};\n", strings.Join(lengths, ", "))
	}
	g.printf("    MPI_Fint rc_ = 0, *e_ = ierr ? ierr : &rc_;\n    log_call c_;\n")
	g.printf("    if (!real_)\n        real_ = (__typeof__(real_))log_real(\"%s\");\n", symbol)
	g.printf("    int on_ = log_begin(&c_, &d_%s, %s, a_, %s, LOG_FRAME);\n", p.name, langOf(symbol), hidden)
	g.printf("    real_(%s);\n    if (on_)\n        log_end(&c_, *e_);\n}\n\n", strings.Join(args, ", "))
}
