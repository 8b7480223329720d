// Package regions follows the regions that a program names (efg.h): which of them are open at each
// event of a thread, what is done in them, and which are not balanced.
//
// Regions nest, per thread. An end without a name ends the innermost region. One with a name ends the
// innermost region of that name and those in it, which the program never ended; if none of that name is
// open, it ends the innermost region, as if the name were wrong. An end when nothing is open does
// nothing. All of these are faults of the program, and none stops an analysis.
//
// The stream is not expanded: repeats in which as many regions begin as end are passed once.
package regions
