// Package httpapi serves recorded runs, and jobs that are being recorded, over HTTP.
// openapi.yaml describes the API, docs/api.md its use.
//
// A request is answered with the same document that the command of its name writes with --json.
// Answers about a finished run file do not change: they have an ETag, and are cached,
// compressed, up to a bounded size. Requests about a running job use a snapshot.
//
// # Access
//
// On the unix socket the kernel identifies the client, and only the user of this process and
// root are served. TCP does not identify it, so every request needs the token (guard.go). In
// either case access is read-only, and names in a URL are looked up in the list of runs, never
// turned into a path.
package httpapi
