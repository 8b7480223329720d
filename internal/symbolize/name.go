package symbolize

import (
	"debug/dwarf"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// longName is how many characters a function's name may have with its template
// arguments; without them it may have more.
const longName = 80

// functionName is what people call the function that the linker knows by a symbol: in C++ the
// name with its namespaces and classes, without parameters, as the line distinguishes
// overloads; of a Fortran module's procedure the name that debug information gives, too. Other
// symbols stay as they are.
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

// entryName returns the name that an entry of debug information has itself, "" if it
// has none. The linker's name says in which class a C++ function is.
func entryName(e *dwarf.Entry) string {
	if symbol, ok := e.Val(dwarf.AttrLinkageName).(string); ok && strings.HasPrefix(symbol, "_Z") {
		return functionName(symbol)
	}
	name, _ := e.Val(dwarf.AttrName).(string)
	return name
}
