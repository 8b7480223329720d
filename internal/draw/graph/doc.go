// Package graph writes the event flow graph of a stream in the formats of other
// programs: DOT and GraphML with everything that is known of it, SVG and
// PNG to look at. Loops can be collapsed to one node each, nodes coloured by
// their share of time, calls or bytes.
package graph
