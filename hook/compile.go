package hook

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// compile builds a shared library of source files in dir, which then holds the
// library alone.
func compile(c compiler, dir string, files, flags, link []string, product string) error {
	src := filepath.Join(dir, "src")
	if err := extract(src); err != nil {
		return err
	}
	defer os.RemoveAll(src)
	objects := make([]string, len(files))
	errs := make([]error, len(files))
	limit := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for i, f := range files {
		objects[i] = strings.ReplaceAll(f, "/", "_") + ".o"
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			errs[i] = c.run(src, append(slices.Clone(flags), "-I.", "-c", "-o", objects[i], f)...)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return c.run(src, slices.Concat([]string{"-o", filepath.Join("..", product)}, objects, link)...)
}

// extract writes the embedded sources.
func extract(dir string) error {
	tree, err := fs.Sub(sources, "shim")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, tree)
}
