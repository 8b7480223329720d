// Package jsondoc defines the JSON documents with the results of analyses: the output of the
// commands with --json, and the answers of the HTTP API. Members may be added to a document;
// those that exist stay, or its version is raised.
package jsondoc

import (
	"encoding/json"
	"io"
)

// Write writes a document as the commands do.
func Write(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	if _, ok := v.(interface{ compact() }); !ok {
		enc.SetIndent("", "  ")
	}
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// compact: a matrix has too many entries for a line each.
func (*Matrix) compact() {}
