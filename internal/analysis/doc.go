// Package analysis answers questions about a recorded run on its graphs: how often a call was
// made, what data it moved where, and how long it took. Nothing is expanded into events. Where
// arguments of a node vary, the attribute streams of those that matter are iterated together,
// folded (seq.JoinRuns). The cost grows with the graphs, not with the events.
//
// # Bytes
//
// Bytes are elements times the size of the datatype: what the program moves, not
// what the library puts on the wire. A call that failed moves nothing.
//
//   - Send, nonblocking send, Sendrecv: Sent is the message. To MPI_PROC_NULL goes
//     nothing. A persistent (or partitioned) send moves its message each time it
//     is started: the bytes are with the MPI_Start or MPI_Startall.
//
//   - Receive, Sendrecv: Received is the message that came. A nonblocking receive,
//     when posted or started, counts with the size that it was posted with;
//     completing it counts nothing more.
//
//   - One-sided: a put or accumulate sends, a get receives, an atomic that fetches
//     does both. With MPI_NO_OP nothing is sent.
//
//   - Collective: Sent is what the process contributes (its send buffer): the root
//     of a broadcast the message once, a member of MPI_Alltoall as many blocks as
//     there are members, of a reduction its operand, of a neighbourhood
//     collective a block for each neighbour that exists. With MPI_IN_PLACE it is
//     the part of the receive buffer that stands for it; at the root of a gather or scatter
//     it is nothing. Received is what the call fills of the
//     receive buffer. A nonblocking collective counts when it is issued, a persistent one
//     when it is started.
//
//   - Files: Read and Written are the bytes that the call transferred, as its status
//     tells; of nonblocking calls those asked for; of split calls they are with the end.
//
// Events of unknown size (a datatype without description, the neighbours in a graph created by
// MPI_Dist_graph_create) are counted in Unknown, and their bytes as 0.
package analysis
