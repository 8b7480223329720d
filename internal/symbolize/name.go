package symbolize

import (
	"debug/dwarf"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// longName is the maximum length of a function's name with template arguments; without them it
// may be longer.
const longName = 80

// functionName is the human-readable name of the function with a symbol: in C++ the name with
// its namespaces and classes, without parameters, because the line distinguishes overloads; for
// a procedure of a Fortran module the name that debug information also has. Other symbols stay
// as they are.
func functionName(symbol string) string {
	if _, procedure, ok := strings.Cut(symbol, "_MOD_"); ok && strings.HasPrefix(symbol, "__") {
		return procedure
	}
	options := []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams, demangle.NoABITags, demangle.MaxLength(12)}
	name, err := demangle.ToString(symbol, options...)
	if err != nil || len(name) > longName {
		name, err = demangle.ToString(symbol, append(options, demangle.NoTemplateParams)...)
	}
	if err != nil {
		return symbol
	}
	return name
}

// entryName returns the name in an entry of debug information itself, "" if there is none. The
// linker's name includes the class of a C++ function.
func entryName(e *dwarf.Entry) string {
	if symbol, ok := e.Val(dwarf.AttrLinkageName).(string); ok && strings.HasPrefix(symbol, "_Z") {
		return functionName(symbol)
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	return name
}
