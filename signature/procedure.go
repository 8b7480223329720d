package signature

// Class says when a procedure is recorded.
type Class uint8

const (
	Event      Class = iota // in order, with time
	Definition              // in order
	Query                   // with --queries only
	Pass                    // never
	Annotation              // in order; not a procedure of MPI, takes no time
)

// OtherOps is the class of procedures for which the MPI Trace Format has no other.
const OtherOps = "MPI_OtherOps"

// Dir is the direction of a parameter.
type Dir uint8

const (
	In Dir = 1 << iota
	Out
	InOut = In | Out
)

// CType is the C type of an integer parameter.
type CType byte

const (
	NoType CType = 0   // not in this variant of the procedure
	Int    CType = 'i' // int
	Aint   CType = 'a' // MPI_Aint
	Offset CType = 'o' // MPI_Offset
	Count  CType = 'c' // MPI_Count
)

// Fortran says which Fortran interfaces have a procedure.
type FortranSupport uint8

const (
	FortranAll  FortranSupport = iota
	FortranNone                // C only
	FortranOld                 // mpif.h and mpi
	FortranF08                 // mpi_f08
)

// Param is a parameter of a procedure.
type Param struct {
	Name         string // as the MPI standard has it, in lower case
	Kind         Kind
	Set          string // E of enum:E, B of bits:B
	Small, Large CType  // integer type in NAME and in NAME_c
	Dir          Dir
	Len          *Expr  // nil: not an array
	Conds        []Cond // significant if all hold
	COnly        bool   // not in the Fortran bindings
}

// Cond is a condition under which a parameter is significant.
type Cond struct {
	Name string // root, leaf, part, leader, place
	Arg  string // the buffer of place
}

// Proc is an MPI procedure.
type Proc struct {
	ID     int
	Name   string
	Class  Class
	Params []Param

	HasLarge    bool     // has a large-count twin
	Poll        bool     // may find nothing
	Issues      string   // kind of request made; "" if none
	Persistent  bool     // the request made is persistent
	Starts      bool     // starts persistent requests
	Completes   string   // one, any, some, all; "" if none
	Peeks       string   // as Completes
	Frees       bool     // the inout handle is freed
	Ctor        string   // constant: how an object is made
	Mode        string   // send mode: "" for standard
	MTF         []string // classes in the MPI Trace Format
	Fortran     FortranSupport
	FortranFunc bool // function in Fortran
	NoIerror    bool // Fortran subroutine without ierror
	FortranInts bool // integers are default INTEGER in Fortran
	FortranCptr bool // overload with TYPE(C_PTR) in Fortran
	Varargs     bool
	Object      int    // index of the parameter in w[2], or -1
	Words       []Word // Words[i] describes w[i]; nil for class Pass
	Roles       Roles  // which of them is for what

	// Base is the procedure that this one is a variant of: MPI_Bcast of MPI_Ibcast
	// and MPI_Bcast_init, MPI_File_read_all of both its halves, MPI_Wait of
	// MPI_Test. The base of others is the procedure itself.
	Base    *Proc
	Variant Variant

	Shape Shape // NotCollective if the procedure is not collective
	Sync  Sync  // whom it waits for; of a variant, whom its completion waits for
	Scope Scope // who the members are

	Epoch    Epoch  // one-sided synchronisation
	Split    string // begin or end: half of a split collective
	Begins   bool   // begins MPI in a process
	Ends     bool   // ends it
	Anytime  bool   // may be called before it begins and after its end
	Cancels  bool   // cancels its request
	Commits  bool   // commits its datatype
	Shared   bool   // its result belongs to MPI and need not be freed
	Existing bool   // its result may exist already
	NoReturn bool
	Opens    bool // begins a region of its thread
	Closes   bool // ends the innermost one

	base, blocks string // names of the table
	file         bool   // concerns files, though no parameter is one
}

// Setup reports whether the procedure begins or ends MPI. How long that takes says more about the
// launcher than about the program: analyses show it apart.
func (p *Proc) Setup() bool { return p.Begins || p.Ends }

// OnlyFlag reports whether the procedure is a poll whose only outcome is whether something has happened,
// other than that requests are complete: a partition has arrived, an epoch has ended.
func (p *Proc) OnlyFlag() bool {
	r := &p.Roles
	return p.Poll && r.Flag != 0 && r.Source == 0 && p.Completes == "" && p.Peeks == ""
}

// Annotates reports whether the procedure is not one of MPI, but one by which programs say what they
// do; p may be nil.
func (p *Proc) Annotates() bool { return p != nil && p.Class == Annotation }

// Param returns the index of the parameter called name, or -1.
func (p *Proc) Param(name string) int {
	for i := range p.Params { // a few: quicker than a map, and smaller
		if p.Params[i].Name == name {
			return i
		}
	}
	return -1
}

// FortranParams are the indexes of the parameters of the Fortran bindings,
// without ierror.
func (p *Proc) FortranParams() []int {
	var l []int
	for i := range p.Params {
		if !p.Params[i].COnly {
			l = append(l, i)
		}
	}
	return l
}

// InSmall reports whether the variant without _c has the parameter.
func (q *Param) InSmall() bool { return !q.Kind.Integer() || q.Small != NoType }

// FileName reports whether the parameter names a file.
func (q *Param) FileName() bool { return q.Kind == Str && q.Name == "filename" }

// PortName reports whether a parameter is the name of a port.
func (q *Param) PortName() bool { return (q.Kind == Str || q.Kind == StrOut) && q.Name == "port_name" }

// Command reports whether a parameter names programs that the call starts.
func (q *Param) Command() bool {
	return q.Kind == Str && (q.Name == "command" || q.Name == "array_of_commands")
}

// String returns the name of the class in the table.
func (c Class) String() string { return classNames[c] }

var classNames = [...]string{"event", "definition", "query", "pass", "annotation"}
