// Package otf2 writes runs as archives of the Open Trace Format 2, version 3.0, without its
// library: FORMAT.md draws the bytes, docs/otf2.md says what becomes of each call.
//
// A run is walked twice. The first walk matches messages and collective calls, makes sure that none
// is received before it was sent, and finds those whose other side is not in what is written:
// readers replay both, and wait forever for what does not come. The second one writes the events,
// several processes at a time. Memory is for the graphs, for what is open, and for two chunks
// of a file.
package otf2
