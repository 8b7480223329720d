// Package mtf writes a recorded run in a compact form of the MPI Trace Format,
// whose patterns hold what a program repeats, and reads it again. FORMAT.md
// specifies the form.
package mtf
