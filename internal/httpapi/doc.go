// Package httpapi answers questions about recorded runs, and about jobs that are being
// recorded, over HTTP. openapi.yaml describes what it answers, docs/api.md how to ask.
//
// A question is answered with the same document as the command of its name writes with
// --json. Answers about a run file that is finished do not change: they have an ETag,
// and a bounded number of bytes of them is kept, compressed. Of a job that runs a
// snapshot is made and asked.
//
// # Who may ask
//
// At the unix socket the kernel says who asks: the user of this process, and root. At
// TCP no one knows, so every question needs the token (guard.go). Whatever the way, only
// reading is possible, and what is named in a URL is looked up among what there is, never
// made into a path.
package httpapi
