// Command build bundles the page: internal/web/src and the libraries of package-lock.json
// into internal/web/dist, which is committed, so that building efg needs no npm.
//
//	make web
//
// With -o it writes to another directory. The same sources yield the same bytes.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	out := flag.String("o", filepath.Join("internal", "web", "dist"), "directory to write to")
	flag.Parse()
	modules, err := findModules(filepath.Join("internal", "web"))
	if err == nil {
		err = build(filepath.Join("internal", "web"), modules, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// findModules finds the directory of npm packages that scripts/setup.sh fills.
func findModules(web string) (string, error) {
	lock, err := os.ReadFile(filepath.Join(web, "package-lock.json"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "efg", "web-"+hex.EncodeToString(sum[:6]), "node_modules")
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("%w; scripts/setup.sh web installs the npm packages of the page", err)
	}
	return dir, nil
}

func build(web, modules, out string) error {
	src := filepath.Join(web, "src")
	files, err := bundle(src, modules)
	if err != nil {
		return err
	}
	if files["index.html"], err = os.ReadFile(filepath.Join(src, "index.html")); err != nil {
		return err
	}
	if files["icon.svg"], err = os.ReadFile(filepath.Join(src, "icon.svg")); err != nil {
		return err
	}
	if files["LICENSES.txt"], err = licences(modules); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// bundle makes app.js and app.css.
func bundle(src, modules string) (map[string][]byte, error) {
	modules, err := filepath.Abs(modules)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: filepath.Join(src, "app.jsx"), OutputPath: "app"},
		},
		NodePaths:         []string{modules},
		Bundle:            true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone, // LICENSES.txt has them
		Outdir:            "out",
	})
	if len(result.Errors) > 0 {
		text := api.FormatMessages(result.Errors, api.FormatMessagesOptions{})
		return nil, errors.New(strings.Join(text, "\n"))
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	return files, nil
}

// licences joins the licences of the packages that are bundled.
func licences(modules string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("The page of efg contains the following third-party software.\n")
	for _, name := range []string{"preact", "uplot"} {
		text, err := os.ReadFile(filepath.Join(modules, name, "LICENSE"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n---- %s ----\n\n%s\n", name, bytes.TrimSpace(text))
	}
	return b.Bytes(), nil
}
