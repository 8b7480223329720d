/* Sizes that determine the lengths of array arguments. */
#include "back_topology.h"

int bk_local_size(bk_thread *b, MPI_Comm comm)
{
    const bk_comm *c = bk_comm_info(b, comm);
    return c != NULL ? c->size : 0;
}

static int topology(bk_thread *b, MPI_Comm comm)
{
    int t = MPI_UNDEFINED;
    if (bk_comm_info(b, comm) != NULL) PMPI_Topo_test(comm, &t);
    return t;
}

int bk_cart_dims(bk_thread *b, MPI_Comm comm)
{
    int n = 0;
    if (topology(b, comm) == MPI_CART) PMPI_Cartdim_get(comm, &n);
    return n;
}

static void graph_dims(bk_thread *b, MPI_Comm comm, int *nodes, int *edges)
{
    *nodes = *edges = 0;
    if (topology(b, comm) == MPI_GRAPH) PMPI_Graphdims_get(comm, nodes, edges);
}

int bk_graph_nodes(bk_thread *b, MPI_Comm comm)
{
    int nodes, edges;
    graph_dims(b, comm, &nodes, &edges);
    return nodes;
}

int bk_graph_edges(bk_thread *b, MPI_Comm comm)
{
    int nodes, edges;
    graph_dims(b, comm, &nodes, &edges);
    return edges;
}

int bk_graph_degree(bk_thread *b, MPI_Comm comm, int rank)
{
    int n = 0;
    if (rank >= 0 && rank < bk_graph_nodes(b, comm)) PMPI_Graph_neighbors_count(comm, rank, &n);
    return n;
}

static void neighbours(bk_thread *b, const bk_comm *c, MPI_Comm comm, int degree[2])
{
    int weighted;
    degree[0] = degree[1] = 0;
    switch (topology(b, comm)) {
    case MPI_CART:
        degree[0] = degree[1] = 2 * bk_cart_dims(b, comm);
        break;
    case MPI_GRAPH:
        degree[0] = degree[1] = bk_graph_degree(b, comm, c->rank);
        break;
    case MPI_DIST_GRAPH:
        PMPI_Dist_graph_neighbors_count(comm, &degree[0], &degree[1], &weighted);
        break;
    default:
        break;
    }
}

static int degree(bk_thread *b, MPI_Comm comm, int which)
{
    bk_comm *c = (bk_comm *)bk_comm_info(b, comm);
    if (c == NULL) return 0;
    if (c->degree[which] < 0) {
        int d[2];
        neighbours(b, c, comm, d);
        c->degree[0] = d[0];
        c->degree[1] = d[1];
    }
    return c->degree[which];
}

int bk_indegree(bk_thread *b, MPI_Comm comm) { return degree(b, comm, 0); }
int bk_outdegree(bk_thread *b, MPI_Comm comm) { return degree(b, comm, 1); }
