// Package export holds what the exchange formats below it share: which part of a
// run is written, and how the graphs of what is read are made again.
package export
