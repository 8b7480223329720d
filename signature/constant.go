package signature

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

//go:embed constants.tbl
var constantsText string

// Constant is a named constant or predefined handle.
type Constant struct {
	ID    int
	Name  string
	Group string // as in constants.tbl, without the set
	Set   string // E of enum:E, B of bits:B
	Size  int    // bytes of a datatype
	Bit   int    // canonical bit of a flag
	// For constants that say how a communicator was created: Copies means that it has the
	// members and topology of its parent, Joins that it has members that had no common
	// communicator before.
	Copies, Joins bool
}

// Word is the constant's word.
func (c *Constant) Word() uint64 { return Const(c.ID) }

type constTable struct {
	list   []Constant
	byName map[string]*Constant
}

var constants = sync.OnceValue(func() constTable {
	list, err := parseConstants(constantsText)
	if err != nil {
		panic(err)
	}
	t := constTable{list, make(map[string]*Constant, len(list))}
	for i := range list {
		t.byName[list[i].Name] = &list[i]
	}
	return t
})

// Constants returns all constants; Constants()[i] has number i. Callers must not change them.
func Constants() []Constant { return constants().list }

// ConstantByID returns the constant with a number, or nil.
func ConstantByID(id int) *Constant {
	l := constants().list
	if id < 0 || id >= len(l) {
		return nil
	}
	return &l[id]
}

// ConstantOf returns the constant whose word is w, or nil.
func ConstantOf(w uint64) *Constant {
	k, ok := ConstNumber(w)
	if !ok {
		return nil
	}
	return ConstantByID(k)
}

// ConstantByName returns the constant with a name, or nil.
func ConstantByName(name string) *Constant { return constants().byName[name] }

// ConstWord returns the word of a named constant, which must be in the table.
func ConstWord(name string) uint64 { return ConstantByName(name).Word() }

// FlagNames returns the names of the flags that are set in v, in the order of the table; rest
// holds the bits without a name.
func FlagNames(set string, v uint64) (names []string, rest uint64) {
	for i := range constants().list {
		c := &constants().list[i]
		if c.Group == "bits" && c.Set == set && v>>c.Bit&1 != 0 {
			names = append(names, c.Name)
			v &^= 1 << c.Bit
		}
	}
	return names, v
}

// ParseConstants reads a table of constants.
func ParseConstants(r io.Reader) ([]Constant, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return parseConstants(string(text))
}

func parseConstants(text string) ([]Constant, error) {
	most := strings.Count(text, "\n") + 1
	list := make([]Constant, 0, most)
	seen := make(map[string]bool, most)
	err := eachLine(text, "constants.tbl", func(_ int, line string) error {
		c, err := parseConstant(line)
		if err != nil {
			return err
		}
		if seen[c.Name] {
			return fmt.Errorf("%s is listed twice", c.Name)
		}
		seen[c.Name] = true
		c.ID = len(list)
		list = append(list, c)
		return nil
	})
	return list, err
}

func parseConstant(line string) (Constant, error) {
	f := strings.Fields(line)
	if len(f) < 2 {
		return Constant{}, fmt.Errorf("want NAME GROUP, got %q", line)
	}
	c := Constant{Name: f[0]}
	c.Group, c.Set, _ = strings.Cut(f[1], ":")
	for _, a := range f[2:] {
		if err := c.setAttribute(a); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *Constant) setAttribute(a string) (err error) {
	key, value, _ := strings.Cut(a, "=")
	switch key {
	case "size":
		c.Size, err = strconv.Atoi(value)
	case "bit":
		c.Bit, err = strconv.Atoi(value)
	case "copies":
		c.Copies = true
	case "joins":
		c.Joins = true
	default:
		return fmt.Errorf("unknown attribute %q", a)
	}
	return err
}
