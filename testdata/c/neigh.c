/* Neighbourhood collectives on Cartesian, graph and distributed graph
 * communicators, blocking and nonblocking: neigh ROUNDS */
#include "check.h"

enum { MAX = 16 };

static int rank, size;

static void alltoalls(MPI_Comm c, int in, int out)
{
    int s[MAX], r[MAX], x[MAX], counts[MAX], displs[MAX];
    MPI_Aint bytes[MAX];
    MPI_Datatype types[MAX];
    MPI_Request q[5];
    for (int i = 0; i < MAX; i++) {
        /* the same for all: a neighbour can be there twice, in any order */
        s[i] = 10 * rank;
        counts[i] = 1;
        displs[i] = i;
        bytes[i] = 4 * i;
        types[i] = MPI_INT;
        x[i] = r[i] = -1;
    }
    MPI_Neighbor_allgather(s, 1, MPI_INT, r, 1, MPI_INT, c);
    MPI_Neighbor_allgatherv(s, 1, MPI_INT, x, counts, displs, MPI_INT, c);
    for (int i = 0; i < in; i++)
        CHECK(r[i] == x[i] && (r[i] == -1 || r[i] % 10 == 0));
    MPI_Neighbor_alltoall(s, 1, MPI_INT, r, 1, MPI_INT, c);
    MPI_Neighbor_alltoallv(s, counts, displs, MPI_INT, x, counts, displs, MPI_INT, c);
    for (int i = 0; i < in; i++)
        CHECK(r[i] == x[i]);
    MPI_Neighbor_alltoallw(s, counts, bytes, types, x, counts, bytes, types, c);
    for (int i = 0; i < in; i++)
        CHECK(r[i] == x[i]);
    int y[5][MAX];
    MPI_Ineighbor_allgather(s, 1, MPI_INT, y[0], 1, MPI_INT, c, &q[0]);
    MPI_Ineighbor_allgatherv(s, 1, MPI_INT, y[1], counts, displs, MPI_INT, c, &q[1]);
    MPI_Ineighbor_alltoall(s, 1, MPI_INT, y[2], 1, MPI_INT, c, &q[2]);
    MPI_Ineighbor_alltoallv(s, counts, displs, MPI_INT, y[3], counts, displs, MPI_INT, c, &q[3]);
    MPI_Ineighbor_alltoallw(s, counts, bytes, types, y[4], counts, bytes, types, c, &q[4]);
    MPI_Waitall(5, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < in; i++)
        CHECK(r[i] == -1 || (y[2][i] == r[i] && y[3][i] == r[i] && y[4][i] == r[i]));
    (void)out;
}

static void on_cart(void)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 0 };
    MPI_Comm c;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &c);
    alltoalls(c, 4, 4);
    MPI_Comm_free(&c);
}

/* A ring in which every rank also has rank 0 as neighbour. */
static void on_graph(void)
{
    int index[MAX], edges[4 * MAX], n = 0, count, list[4 * MAX];
    MPI_Comm c;
    for (int i = 0; i < size; i++) {
        edges[n++] = (i + 1) % size;
        edges[n++] = (i + size - 1) % size;
        index[i] = n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &c);
    MPI_Graph_neighbors_count(c, rank, &count);
    MPI_Graph_neighbors(c, rank, 4 * MAX, list);
    CHECK(count == 2 && list[0] == (rank + 1) % size);
    alltoalls(c, 2, 2);
    MPI_Comm_free(&c);
}

static void on_dist_graph(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int sources[2] = { left, rank }, targets[1] = { right }, degree = 2, in, out, weighted;
    int list[2] = { right, rank }, weights[2] = { 3, 4 };
    MPI_Comm c;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    alltoalls(c, 1, 1);
    MPI_Comm_free(&c);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weights, 2, list, weights,
                                   MPI_INFO_NULL, 0, &c);
    alltoalls(c, 2, 2);
    MPI_Comm_free(&c);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, list, weights, MPI_INFO_NULL, 0, &c);
    MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
    CHECK(in == 2 && out == 2 && weighted);
    int s[MAX], sw[MAX], d[MAX], dw[MAX];
    MPI_Dist_graph_neighbors(c, in, s, sw, out, d, dw);
    CHECK(s[0] + s[1] == left + rank && d[0] + d[1] == right + rank);
    alltoalls(c, 2, 2);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX);
    int rounds = number_arg(argc, argv, 1, 3);
    for (int i = 0; i < rounds; i++) {
        on_cart();
        on_graph();
        on_dist_graph();
    }
    say_ok("neigh", rounds);
    MPI_Finalize();
    return 0;
}
