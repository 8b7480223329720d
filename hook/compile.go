package hook

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// compile builds a product in dir, which then holds only the library.
func (b *builder) compile(ctx context.Context, p *product, c compiler, dir string) error {
	src := filepath.Join(dir, "src")
	if err := extract(src); err != nil {
		return err
	}
	defer os.RemoveAll(src)
	flags := p.flags
	if p.ask != nil {
		more, err := p.ask(ctx, c, dir)
		if err != nil {
			return err
		}
		flags = slices.Concat(flags, more)
	}
	if err := b.compileFiles(ctx, p.files, flags, c, src); err != nil {
		return err
	}
	objects := make([]string, len(p.files))
	for i, f := range p.files {
		objects[i] = object(f)
	}
	return c.run(ctx, src, slices.Concat([]string{"-o", filepath.Join("..", p.name)}, objects, p.link)...)
}

func object(file string) string { return strings.ReplaceAll(file, "/", "_") + ".o" }

// compileFiles compiles the files, one per processor at a time, the longest first, so that none
// of these runs alone at the end.
func (b *builder) compileFiles(ctx context.Context, files, flags []string, c compiler, src string) error {
	var mu sync.Mutex
	var failed error
	done := 0
	limit := make(chan struct{}, runtime.NumCPU())
	var wg sync.WaitGroup
	for _, f := range bySize(files) {
		limit <- struct{}{}
		mu.Lock()
		end := failed != nil
		mu.Unlock()
		if end {
			break
		}
		wg.Go(func() {
			defer func() { <-limit }()
			err := c.run(ctx, src, append(slices.Clone(flags), "-I.", "-c", "-o", object(f), f)...)
			mu.Lock()
			defer mu.Unlock()
			if failed == nil {
				failed = err
			}
			if done++; b.opt.Progress != nil && failed == nil {
				b.opt.Progress(done, len(files))
			}
		})
	}
	wg.Wait()
	return failed
}

// bySize sorts source files, the longest first.
func bySize(files []string) []string {
	size := func(file string) int64 {
		fi, err := fs.Stat(sources, "shim/"+file)
		if err != nil {
			return 0
		}
		return fi.Size()
	}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(size(b), size(a)) })
	return files
}

// extract writes the embedded sources.
func extract(dir string) error {
	tree, err := fs.Sub(sources, "shim")
	if err != nil {
		return err
	}
	return os.CopyFS(dir, tree)
}
