package table

// Version is the version of the tables. Columns are only added: a reader that names the columns it
// wants also reads later versions. A change of a column's meaning would increase it.
const Version = 1

// Type is the type of a column's values.
type Type uint8

const (
	Integer   Type = iota // 64 bits, signed
	Boolean               // 0 or 1
	Text                  // UTF-8
	JSON                  // text that is a JSON object or array
	Timestamp             // ns since 1970, UTC
)

// String returns the type's name in the documentation.
func (t Type) String() string {
	return [...]string{"integer", "boolean", "text", "JSON", "timestamp"}[t]
}

// Textual reports whether values are in Vector.Texts; others are in Vector.Ints.
func (t Type) Textual() bool { return t == Text || t == JSON }

// Column describes a column.
type Column struct {
	Name string
	Type Type
	// Nullable columns have no value where it is absent or unknown.
	Nullable bool
	Unit     string // "" if there is none
	Doc      string
}

// Schema describes a table.
type Schema struct {
	Name    string
	Doc     string
	Columns []Column
	// Order is the number of leading columns by which rows are sorted.
	Order int
	// Matched tables need all ranks at once: their rows are not made rank by rank.
	Matched bool
}

// Schemas are all tables.
func Schemas() []*Schema {
	return []*Schema{
		&events, &messages.Schema, &calls.Schema, &nodes.Schema, &edges.Schema,
		&counters.Schema, &ranks.Schema, &waitStates.Schema, &runs.Schema,
	}
}

// ByName returns a table, nil if there is none of the name.
func ByName(name string) *Schema {
	for _, s := range Schemas() {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Column returns the number of a column, -1 if there is none of the name.
func (s *Schema) Column(name string) int {
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return i
		}
	}
	return -1
}
