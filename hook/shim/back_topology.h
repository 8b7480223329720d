/* Sizes that determine the lengths of array arguments. */
#ifndef EFG_BACK_TOPOLOGY_H
#define EFG_BACK_TOPOLOGY_H

#include "back_comm.h"

#pragma GCC visibility push(hidden)

/* Sizes in the communicator's topology; 0 if it has no topology of that kind. */
int bk_local_size(bk_thread *b, MPI_Comm comm);
int bk_indegree(bk_thread *b, MPI_Comm comm);
int bk_outdegree(bk_thread *b, MPI_Comm comm);
int bk_cart_dims(bk_thread *b, MPI_Comm comm);
int bk_graph_nodes(bk_thread *b, MPI_Comm comm);
int bk_graph_edges(bk_thread *b, MPI_Comm comm);
int bk_graph_degree(bk_thread *b, MPI_Comm comm, int rank);

#pragma GCC visibility pop

#endif
