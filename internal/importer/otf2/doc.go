// Package otf2 reads archives of the Open Trace Format 2, versions 1 to 3, without its library:
// what Score-P, TAU and others write, and what efg export writes. FORMAT.md of the exporter draws the
// bytes.
//
// Open reads records, and knows nothing of what they mean. Read makes processes of calls of them;
// docs/import.md says what becomes of what.
//
// A reader of events holds one chunk of a file in memory. Archives may come from anywhere: what is
// not as the format demands is an Error with the file and the offset, and nothing is allocated that
// the size of a file does not justify.
package otf2
