package generate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// handleTypes are the C types of handles, and the names of the program's variables.
var handleTypes = map[signature.Kind]struct{ ctype, name, null string }{
	signature.Comm:   {"MPI_Comm", "comm", "MPI_COMM_NULL"},
	signature.Win:    {"MPI_Win", "win", "MPI_WIN_NULL"},
	signature.File:   {"MPI_File", "file", "MPI_FILE_NULL"},
	signature.Group:  {"MPI_Group", "group", "MPI_GROUP_NULL"},
	signature.Type:   {"MPI_Datatype", "datatype", "MPI_DATATYPE_NULL"},
	signature.Op:     {"MPI_Op", "op", "MPI_OP_NULL"},
	signature.Errh:   {"MPI_Errhandler", "errhandler", "MPI_ERRHANDLER_NULL"},
	signature.Info:   {"MPI_Info", "info", "MPI_INFO_NULL"},
	signature.Msg:    {"MPI_Message", "message", "MPI_MESSAGE_NULL"},
	signature.Req:    {"MPI_Request", "request", "MPI_REQUEST_NULL"},
	signature.Sess:   {"MPI_Session", "session", "MPI_SESSION_NULL"},
	signature.Keyval: {"int", "keyval", "MPI_KEYVAL_INVALID"},
}

// ctypes are the names of C's integer types.
var ctypes = map[signature.CType]string{signature.Int: "int", signature.Aint: "MPI_Aint", signature.Offset: "MPI_Offset", signature.Count: "MPI_Count"}

// ctype is the type of an integer parameter in a call.
func (n *node) ctype(q *signature.Param) string {
	t := q.Small
	if n.header.Large() {
		t = q.Large
	}
	if s, ok := ctypes[t]; ok {
		return s
	}
	return "int"
}

// number is the text of an integer word.
func number64(q *signature.Param, w uint64) string {
	if c := signature.ConstantOf(w); special(w) {
		if c == nil || c.Group == "pseudo" {
			return "0"
		}
		return c.Name
	}
	if q.Kind == signature.ErrClass {
		return strings.Replace(reconstruct.ErrorName(uint16(w)), "+", " + ", 1)
	}
	if q.Kind == signature.Bits {
		names, rest := signature.FlagNames(q.Set, w)
		if rest != 0 || len(names) == 0 {
			names = append(names, strconv.FormatUint(rest, 10))
		}
		return strings.Join(names, " | ")
	}
	v := int64(w)
	if q.Name == "target_disp" && v >= attachedAt {
		return fmt.Sprintf("attached_at + %d", v-attachedAt)
	}
	if v > 1<<31-1 || v < -1<<31 {
		return strconv.FormatInt(v, 10) + "L"
	}
	return strconv.FormatInt(v, 10)
}

// literal is a string in C.
func literal(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~' || c == '?':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
