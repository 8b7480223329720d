// Package export holds what the exchange formats below it share: the selection of a part of a
// run to write, and rebuilding graphs from what was read.
package export
