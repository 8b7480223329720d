// Package efficiency computes how well a run uses its processors, as the multiplicative tree of
// the POP project: parallel efficiency is load balance times communication efficiency, which is
// serialisation times transfer; with several runs computation scaling is a further factor.
//
// Useful time is that outside of MPI, of the thread of each process that runs longest. MPI_Init
// and MPI_Finalize, and what is before and after them, are left out. The time of a run is that of
// the process that takes longest in between.
//
// Serialisation and transfer need the time of the run on an ideal network, without latency and
// with unlimited bandwidth: the recorded dependencies are followed with the recorded
// computations, and calls that take no time but wait for what they depend on.
package efficiency
