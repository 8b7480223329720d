// Package graph writes the event flow graph of a stream in common formats: DOT and GraphML with
// all its data, SVG and PNG for viewing. Loops can be collapsed to one node each, nodes
// coloured by their share of time, calls or bytes.
package graph
