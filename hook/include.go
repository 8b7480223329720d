package hook

import (
	"embed"
	"os"
	"path/filepath"
)

//go:embed include
var headers embed.FS

// Header is efg.h.
func Header() ([]byte, error) { return headers.ReadFile("include/efg.h") }

// WriteHeaders writes what programs use that name regions and attributes, efg.h, efg.f90 and efg.py, to a
// directory, which is created if it does not exist.
func WriteHeaders(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files, err := headers.ReadDir("include")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := headers.ReadFile("include/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
