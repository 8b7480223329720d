package signature

// Kind is what a parameter is for.
type Kind uint8

const (
	Num      Kind = iota // integer
	NumU                 // integer or MPI_UNDEFINED
	Color                // colour of a split
	Darg                 // distribution argument
	Peer                 // rank of the other side
	Root                 // root of a collective
	Rank                 // any other rank
	Tag                  // message tag
	Index                // position in an array argument
	Flag                 // LOGICAL
	Weights              // integers, MPI_UNWEIGHTED or MPI_WEIGHTS_EMPTY
	ErrClass             // error class
	ErrCodes             // error codes or MPI_ERRCODES_IGNORE
	Enum                 // one of a set of constants
	Bits                 // flags of a set
	Comm
	Win
	File
	Group
	Type
	Op
	Errh
	Info
	Msg
	Req
	Sess
	Keyval
	Buf      // choice buffer
	Str      // string
	StrOut   // string written by the call
	Status   // of an operation that receives or probes
	Statuses // array of them
	FStatus  // of a file operation
	Opaque   // not recorded
	Int64    // any 64-bit integer: two words
	Double   // double-precision number: two words
)

var kindNames = [...]string{
	"num", "numu", "color", "darg", "peer", "root", "rank", "tag", "index", "flag", "weights",
	"errclass", "errcodes", "enum", "bits", "comm", "win", "file", "group", "type", "op", "errh",
	"info", "msg", "req", "sess", "keyval", "buf", "str", "strout", "status", "statuses",
	"fstatus", "opaque", "int64", "double",
}

// String returns the name of the kind in the table.
func (k Kind) String() string { return kindNames[k] }

// Integer reports whether parameters of the kind are integers in C.
func (k Kind) Integer() bool { return k <= Bits }

// Handle reports whether parameters of the kind are handles of MPI objects.
func (k Kind) Handle() bool { return k >= Comm && k <= Sess }

// Object reports whether words of the kind may be the object of an event, w[2].
func (k Kind) Object() bool { return k == Comm || k == Win || k == File }

// Ident reports whether words of the kind are content hashes with a definition.
func (k Kind) Ident() bool { return k == Group || k == Type || k == Op || k == Str }

// Wide reports whether values of the kind may be any 64 bits. They take two words, because some of
// them would look like a constant or the id of an object in one.
func (k Kind) Wide() bool { return k == Int64 || k == Double }

// Local reports whether new objects of the kind are named by an id.
func (k Kind) Local() bool { return k >= Errh && k <= Keyval }

func kindByName(name string) (Kind, bool) {
	for i, n := range kindNames {
		if n == name {
			return Kind(i), true
		}
	}
	return 0, false
}
