// Package gxl writes a recorded run as a document of the Graph Exchange Language
// (GXL 1.0) that holds the MPI Trace Format's metamodel and the trace as an
// instance of it, and reads such documents again. docs/exchange.md describes
// them.
package gxl
