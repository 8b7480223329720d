/* Collectives whose members describe the same data in different ways: as derived
 * datatypes, in place, no data, as bytes. Nothing is wrong: shapes ROUNDS */
#include "check.h"

enum { MAX = 16 };

static int rank, size;
static int from[8 * MAX], to[8 * MAX], ones[MAX], twos[MAX], zeros[MAX], places[MAX];
static MPI_Aint wide[MAX];
static MPI_Datatype pair, apart, pairs[MAX], aparts[MAX];

static void derived(MPI_Comm c)
{
    MPI_Request r;
    MPI_Allgather(from, 1, pair, to, 2, MPI_INT, c);
    MPI_Allgather(from, 2, MPI_INT, to, 1, apart, c);
    MPI_Alltoall(from, 1, apart, to, 1, pair, c);
    MPI_Gather(from, 1, apart, to, 2, MPI_INT, 1, c);
    MPI_Scatter(from, 2, MPI_INT, to, 1, apart, 1, c);
    MPI_Allgatherv(from, 1, apart, to, twos, places, MPI_INT, c);
    MPI_Alltoallv(from, ones, places, pair, to, ones, places, apart, c);
    MPI_Alltoallw(from, ones, places, aparts, to, ones, places, pairs, c);
    MPI_Bcast(from, 2 - rank % 2, rank % 2 ? pair : MPI_INT, 0, c);
    MPI_Iallgather(from, 1, pair, to, 2, MPI_INT, c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ialltoall(from, 2, MPI_INT, to, 1, pair, c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void nothing(MPI_Comm c)
{
    MPI_Allgather(from, 0, MPI_INT, to, 0, MPI_FLOAT, c);
    MPI_Alltoall(from, 0, pair, to, 0, MPI_INT, c);
    MPI_Gather(from, 0, MPI_INT, to, 0, MPI_CHAR, 0, c);
    MPI_Allgatherv(from, 0, MPI_INT, to, zeros, places, pair, c);
    MPI_Alltoallv(from, zeros, places, pair, to, zeros, places, MPI_INT, c);
    MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, c);
    MPI_Bcast(NULL, 0, MPI_INT, 0, c);
}

static void in_place(MPI_Comm c)
{
    int one = 1, sum[MAX] = { 0 };
    MPI_Allgather(MPI_IN_PLACE, 7, MPI_CHAR, to, 1, MPI_INT, c);
    MPI_Alltoall(MPI_IN_PLACE, 7, MPI_CHAR, to, 1, MPI_INT, c);
    if (rank == 1) {
        MPI_Gather(MPI_IN_PLACE, 7, MPI_CHAR, to, 1, MPI_INT, 1, c);
        MPI_Scatter(from, 1, MPI_INT, MPI_IN_PLACE, 7, MPI_CHAR, 1, c);
    } else {
        MPI_Gather(&one, 1, MPI_INT, NULL, 7, MPI_CHAR, 1, c);
        MPI_Scatter(NULL, 7, MPI_CHAR, &one, 1, MPI_INT, 1, c);
    }
    MPI_Allgatherv(MPI_IN_PLACE, 7, MPI_CHAR, to, ones, places, MPI_INT, c);
    MPI_Reduce_scatter(MPI_IN_PLACE, sum, ones, MPI_INT, MPI_SUM, c);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, sum, 1, MPI_INT, MPI_SUM, c);
    MPI_Scan(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, c);
    MPI_Exscan(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, c);
}

static void as_bytes(MPI_Comm c)
{
    MPI_Allgather(from, 4, MPI_BYTE, to, 4, MPI_BYTE, c);
    MPI_Allgather(from, 4, MPI_BYTE, to, 1, MPI_INT, c);
    MPI_Alltoall(from, 2, MPI_INT, to, 8, MPI_PACKED, c);
}

/* Neighbours receive what is sent to them, others something else: a line, of which only the
 * first two are neighbours in each round. */
static void neighbours(int round)
{
    int list[2], n = 0, mine = 1 + rank % 2, theirs = 3 - mine;
    MPI_Comm c, copy;
    if (rank > 0 && (rank == 1 || round % 2))
        list[n++] = rank - 1;
    if (rank < size - 1 && (rank == 0 || round % 2))
        list[n++] = rank + 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, list, MPI_UNWEIGHTED, n, list, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    MPI_Neighbor_allgather(from, mine, MPI_INT, to, theirs, MPI_INT, c);
    MPI_Neighbor_alltoall(from, 1, apart, to, 2, MPI_INT, c);
    MPI_Neighbor_alltoallv(from, mine == 1 ? ones : twos, places, MPI_INT, to, mine == 1 ? twos : ones, places, MPI_INT, c);
    MPI_Neighbor_allgatherv(from, 1, apart, to, twos, places, MPI_INT, c);
    MPI_Neighbor_alltoallw(from, ones, wide, aparts, to, ones, wide, pairs, c);
    MPI_Comm_dup(c, &copy);
    MPI_Neighbor_allgather(from, mine, MPI_INT, to, theirs, MPI_INT, copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&c);
}

/* The sides of an intercommunicator send each other different amounts. */
static void sides(void)
{
    int side = rank % 2, mine = 1 + side, theirs = 2 - side;
    int root = rank == 0 ? MPI_ROOT : side ? 0 : MPI_PROC_NULL;
    MPI_Comm half, c;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 12, &c);
    MPI_Allgather(from, mine, MPI_INT, to, theirs, MPI_INT, c);
    MPI_Alltoall(from, mine, MPI_INT, to, theirs, MPI_INT, c);
    MPI_Allgather(from, side, MPI_INT, to, !side, MPI_INT, c);
    MPI_Allgatherv(from, 1, apart, to, twos, places, MPI_INT, c);
    MPI_Bcast(from, rank == 0 ? 2 : side ? 1 : 77, rank == 0 ? MPI_INT : pair, root, c);
    MPI_Comm_free(&c);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size >= 2 && size <= MAX);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(2, 1, 3, MPI_INT, &apart);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&apart);
    for (int i = 0; i < MAX; i++) {
        ones[i] = 1;
        twos[i] = 2;
        places[i] = 2 * i;
        wide[i] = 8 * i;
        pairs[i] = pair;
        aparts[i] = apart;
    }
    int rounds = number_arg(argc, argv, 1, 3);
    for (int i = 0; i < rounds; i++) {
        derived(MPI_COMM_WORLD);
        nothing(MPI_COMM_WORLD);
        in_place(MPI_COMM_WORLD);
        as_bytes(MPI_COMM_WORLD);
        neighbours(i);
        sides();
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&apart);
    say_ok("shapes", rounds);
    MPI_Finalize();
    return 0;
}
