package query

import (
	"encoding/json"
	"fmt"
)

// appendJSON appends a value of a table.
func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Appendf(b, "%q", fmt.Sprint(v))
	}
	return append(b, text...)
}

// AppendJSON appends the rows as JSON Lines, one object for each.
func (t *Table) AppendJSON(b []byte) []byte {
	for _, row := range t.Rows {
		for i, v := range row {
			sep := byte(',')
			if i == 0 {
				sep = '{'
			}
			b = append(appendJSON(append(b, sep), t.Columns[i]), ':')
			b = appendJSON(b, v)
		}
		b = append(b, "}\n"...)
	}
	return b
}
