/* Persistent collectives, where the library has them: pcoll ROUNDS */
#include "check.h"

#if MPI_VERSION >= 4

enum { MAX = 16, N = 24, SCATTER = 4 };

static int rank, size;
static int s[MAX], r[N][MAX], counts[MAX], displs[MAX], bytes[MAX], one;
static MPI_Aint wide[MAX];
static MPI_Datatype types[MAX];

static void prepare(void)
{
    one = rank + 1;
    for (int i = 0; i < MAX; i++) {
        s[i] = 10 * rank + i;
        counts[i] = 1;
        displs[i] = i;
        bytes[i] = 4 * i;
        wide[i] = 4 * i;
        types[i] = MPI_INT;
    }
}

static int init_all(MPI_Request *q)
{
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Info none = MPI_INFO_NULL;
    int n = 0, me = rank == 0;
    MPI_Barrier_init(c, none, &q[n++]);
    MPI_Bcast_init(r[n], 1, MPI_INT, 0, c, none, &q[n]), n++;
    MPI_Gather_init(s, 1, MPI_INT, r[n], 1, MPI_INT, 0, c, none, &q[n]), n++;
    MPI_Gatherv_init(s, 1, MPI_INT, r[n], me ? counts : NULL, me ? displs : NULL, MPI_INT, 0, c,
                     none, &q[n]), n++;
    MPI_Scatter_init(s, 1, MPI_INT, r[n], 1, MPI_INT, 0, c, none, &q[n]), n++;
    MPI_Scatterv_init(s, me ? counts : NULL, me ? displs : NULL, MPI_INT, r[n], 1, MPI_INT, 0, c,
                      none, &q[n]), n++;
    MPI_Allgather_init(s, 1, MPI_INT, r[n], 1, MPI_INT, c, none, &q[n]), n++;
    MPI_Allgatherv_init(s, 1, MPI_INT, r[n], counts, displs, MPI_INT, c, none, &q[n]), n++;
    MPI_Alltoall_init(s, 1, MPI_INT, r[n], 1, MPI_INT, c, none, &q[n]), n++;
    MPI_Alltoallv_init(s, counts, displs, MPI_INT, r[n], counts, displs, MPI_INT, c, none, &q[n]),
        n++;
    MPI_Alltoallw_init(s, counts, bytes, types, r[n], counts, bytes, types, c, none, &q[n]), n++;
    MPI_Reduce_init(&one, r[n], 1, MPI_INT, MPI_SUM, 0, c, none, &q[n]), n++;
    MPI_Allreduce_init(&one, r[n], 1, MPI_INT, MPI_SUM, c, none, &q[n]), n++;
    MPI_Reduce_scatter_init(s, r[n], counts, MPI_INT, MPI_SUM, c, none, &q[n]), n++;
    MPI_Reduce_scatter_block_init(s, r[n], 1, MPI_INT, MPI_SUM, c, none, &q[n]), n++;
    MPI_Scan_init(&one, r[n], 1, MPI_INT, MPI_SUM, c, none, &q[n]), n++;
    MPI_Exscan_init(&one, r[n], 1, MPI_INT, MPI_SUM, c, none, &q[n]), n++;
    return n;
}

static int init_neighbours(MPI_Comm c, MPI_Request *q, int n)
{
    MPI_Info none = MPI_INFO_NULL;
    MPI_Neighbor_allgather_init(s, 1, MPI_INT, r[n], 1, MPI_INT, c, none, &q[n]), n++;
    MPI_Neighbor_allgatherv_init(s, 1, MPI_INT, r[n], counts, displs, MPI_INT, c, none, &q[n]), n++;
    MPI_Neighbor_alltoall_init(s, 1, MPI_INT, r[n], 1, MPI_INT, c, none, &q[n]), n++;
    MPI_Neighbor_alltoallv_init(s, counts, displs, MPI_INT, r[n], counts, displs, MPI_INT, c, none,
                                &q[n]), n++;
    MPI_Neighbor_alltoallw_init(s, counts, wide, types, r[n], counts, wide, types, c, none, &q[n]),
        n++;
    return n;
}

int main(int argc, char **argv)
{
    MPI_Request q[N];
    MPI_Comm ring;
    int periodic = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX);
    int rounds = number_arg(argc, argv, 1, 4);
    prepare();
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    int n = init_all(q);
    int last = init_neighbours(ring, q, n);
    for (int i = 0; i < rounds; i++) {
        /* MPICH 4.0.2 cannot start a persistent scatter twice */
        if (i == 0) {
            MPI_Startall(last, q);
        } else {
            for (int k = 0; k < last; k++)
                if (k != SCATTER)
                    MPI_Start(&q[k]);
        }
        MPI_Waitall(last, q, MPI_STATUSES_IGNORE);
        CHECK(r[12][0] == size * (size + 1) / 2 && r[8][size - 1] == 10 * (size - 1) + rank);
        CHECK(r[15][0] == (rank + 1) * (rank + 2) / 2 && r[n][0] == 10 * ((rank + size - 1) % size));
    }
    for (int k = 0; k < last; k++)
        MPI_Request_free(&q[k]);
    MPI_Comm_free(&ring);
    say_ok("pcoll", rounds);
    MPI_Finalize();
    return 0;
}

#else

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    say_ok("pcoll", 0);
    MPI_Finalize();
    return 0;
}

#endif
