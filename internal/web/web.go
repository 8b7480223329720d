// Package web is the page that shows runs: plain files, made from internal/web/src by
// internal/web/build, which a server of the HTTP API serves beside it. They load nothing from
// elsewhere.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files are the files of the page; it begins with index.html.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // dist is a valid path
	}
	return files
}
