/* Collectives whose members send other amounts than the others receive, one fault after
 * the other, each on its own communicator; where possible, all members make the same
 * mistake. Less is sent than received, so that blocking calls return; nonblocking ones
 * are not completed. The program ends with MPI_Abort. It prints the names of the
 * functions with the faults, and which calls the library rejected. Needs
 * 4 processes. */
#include "check.h"

#include <unistd.h>

enum { MAX = 64 };

static int rank, size, last;
static int from[MAX * MAX], to[MAX * MAX], ones[MAX], twos[MAX], odd[MAX], places[MAX];
static MPI_Aint wide[MAX];
static MPI_Datatype types[MAX];
static MPI_Request r;

static int allgather(MPI_Comm c) { return MPI_Allgather(from, 1, MPI_INT, to, 2, MPI_INT, c); }
static int alltoall(MPI_Comm c) { return MPI_Alltoall(from, 1, MPI_INT, to, 2, MPI_INT, c); }
static int iallgather(MPI_Comm c) { return MPI_Iallgather(from, 1, MPI_INT, to, 2, MPI_INT, c, &r); }
static int ialltoall(MPI_Comm c) { return MPI_Ialltoall(from, 1, MPI_INT, to, 2, MPI_INT, c, &r); }
static int allgather_types(MPI_Comm c) { return MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_FLOAT, c); }
static int allgather_none(MPI_Comm c) { return MPI_Allgather(from, 0, MPI_INT, to, 1, MPI_INT, c); }
static int allgather_last(MPI_Comm c) { return MPI_Allgather(from, 2 - (rank == last), MPI_INT, to, 2, MPI_INT, c); }
static int gather_root(MPI_Comm c) { return MPI_Gather(from, 2 - (rank == 1), MPI_INT, to, 2, MPI_INT, 1, c); }
static int igather_root(MPI_Comm c) { return MPI_Igather(from, 2 - (rank == 1), MPI_INT, to, 2, MPI_INT, 1, c, &r); }
static int gather_others(MPI_Comm c) { return MPI_Gather(from, 1 + (rank == 1), MPI_INT, to, 2, MPI_INT, 1, c); }
static int scatter_root(MPI_Comm c) { return MPI_Scatter(from, 1, MPI_INT, to, 1 + (rank == 1), MPI_INT, 1, c); }
static int scatter_others(MPI_Comm c) { return MPI_Scatter(from, 1, MPI_INT, to, 2 - (rank == 1), MPI_INT, 1, c); }
static int iscatter_root(MPI_Comm c) { return MPI_Iscatter(from, 1, MPI_INT, to, 1 + (rank == 1), MPI_INT, 1, c, &r); }

static int allgatherv(MPI_Comm c) { return MPI_Allgatherv(from, 1, MPI_INT, to, twos, places, MPI_INT, c); }
static int iallgatherv(MPI_Comm c) { return MPI_Iallgatherv(from, 1, MPI_INT, to, twos, places, MPI_INT, c, &r); }
static int alltoallv(MPI_Comm c) { return MPI_Alltoallv(from, ones, places, MPI_INT, to, twos, places, MPI_INT, c); }
static int ialltoallv(MPI_Comm c) { return MPI_Ialltoallv(from, ones, places, MPI_INT, to, twos, places, MPI_INT, c, &r); }
static int alltoallw(MPI_Comm c) { return MPI_Alltoallw(from, ones, places, types, to, twos, places, types, c); }
static int ialltoallw(MPI_Comm c) { return MPI_Ialltoallw(from, ones, places, types, to, twos, places, types, c, &r); }
static int gatherv(MPI_Comm c) { return MPI_Gatherv(from, 1, MPI_INT, to, twos, places, MPI_INT, 1, c); }
static int igatherv(MPI_Comm c) { return MPI_Igatherv(from, 1, MPI_INT, to, twos, places, MPI_INT, 1, c, &r); }
static int scatterv(MPI_Comm c) { return MPI_Scatterv(from, ones, places, MPI_INT, to, 2, MPI_INT, 1, c); }
static int iscatterv(MPI_Comm c) { return MPI_Iscatterv(from, ones, places, MPI_INT, to, 2, MPI_INT, 1, c, &r); }

static int ibcast(MPI_Comm c) { return MPI_Ibcast(to, 1 + (rank > 0), MPI_INT, 0, c, &r); }
static int ireduce(MPI_Comm c) { return MPI_Ireduce(from, to, 1 + (rank == last), MPI_INT, MPI_SUM, 0, c, &r); }
static int iallreduce(MPI_Comm c) { return MPI_Iallreduce(from, to, 1 + (rank == last), MPI_INT, MPI_SUM, c, &r); }
static int iscan(MPI_Comm c) { return MPI_Iscan(from, to, 1 + (rank == last), MPI_INT, MPI_SUM, c, &r); }
static int iexscan(MPI_Comm c) { return MPI_Iexscan(from, to, 1 + (rank == last), MPI_INT, MPI_SUM, c, &r); }
static int ireduce_scatter_block(MPI_Comm c) { return MPI_Ireduce_scatter_block(from, to, 1 + (rank == last), MPI_INT, MPI_SUM, c, &r); }
static int ireduce_scatter(MPI_Comm c) { return MPI_Ireduce_scatter(from, to, rank == last ? odd : ones, MPI_INT, MPI_SUM, c, &r); }

/* a ring */
static int neighbor_allgather(MPI_Comm c) { return MPI_Neighbor_allgather(from, 1, MPI_INT, to, 2, MPI_INT, c); }
static int neighbor_allgatherv(MPI_Comm c) { return MPI_Neighbor_allgatherv(from, 1, MPI_INT, to, twos, places, MPI_INT, c); }
static int neighbor_alltoall(MPI_Comm c) { return MPI_Neighbor_alltoall(from, 1, MPI_INT, to, 2, MPI_INT, c); }
static int neighbor_alltoallv(MPI_Comm c) { return MPI_Neighbor_alltoallv(from, ones, places, MPI_INT, to, twos, places, MPI_INT, c); }
static int neighbor_alltoallw(MPI_Comm c) { return MPI_Neighbor_alltoallw(from, ones, wide, types, to, twos, wide, types, c); }
static int ineighbor_allgather(MPI_Comm c) { return MPI_Ineighbor_allgather(from, 1, MPI_INT, to, 2, MPI_INT, c, &r); }
static int ineighbor_alltoallv(MPI_Comm c) { return MPI_Ineighbor_alltoallv(from, ones, places, MPI_INT, to, twos, places, MPI_INT, c, &r); }

/* even and odd ranks; the root is rank 0 */
static int root(void) { return rank == 0 ? MPI_ROOT : rank % 2 ? 0 : MPI_PROC_NULL; }
static int inter_bcast(MPI_Comm c) { return MPI_Bcast(to, 1 + rank % 2, MPI_INT, root(), c); }
static int inter_gather(MPI_Comm c) { return MPI_Gather(from, 1, MPI_INT, to, 2, MPI_INT, root(), c); }
static int inter_scatter(MPI_Comm c) { return MPI_Scatter(from, 1, MPI_INT, to, 2, MPI_INT, root(), c); }
static int inter_gatherv(MPI_Comm c) { return MPI_Gatherv(from, 1, MPI_INT, to, twos, places, MPI_INT, root(), c); }
static int inter_scatterv(MPI_Comm c) { return MPI_Scatterv(from, ones, places, MPI_INT, to, 2, MPI_INT, root(), c); }
static int inter_allgather(MPI_Comm c) { return MPI_Iallgather(from, 1, MPI_INT, to, 1 + rank % 2, MPI_INT, c, &r); }
static int inter_allgatherv(MPI_Comm c) { return MPI_Iallgatherv(from, 1, MPI_INT, to, twos, places, MPI_INT, c, &r); }
static int inter_alltoall(MPI_Comm c) { return MPI_Ialltoall(from, 1, MPI_INT, to, 2, MPI_INT, c, &r); }
static int inter_alltoallv(MPI_Comm c) { return MPI_Ialltoallv(from, ones, places, MPI_INT, to, twos, places, MPI_INT, c, &r); }
static int inter_alltoallw(MPI_Comm c) { return MPI_Ialltoallw(from, ones, places, types, to, twos, places, types, c, &r); }
static int inter_reduce(MPI_Comm c) { return MPI_Ireduce(from, to, 1 + rank % 2, MPI_INT, MPI_SUM, root(), c, &r); }
static int inter_allreduce(MPI_Comm c) { return MPI_Iallreduce(from, to, 1 + rank % 2, MPI_INT, MPI_SUM, c, &r); }
static int inter_reduce_scatter_block(MPI_Comm c) { return MPI_Ireduce_scatter_block(from, to, 1 + rank % 2, MPI_INT, MPI_SUM, c, &r); }
static int inter_reduce_scatter(MPI_Comm c) { return MPI_Ireduce_scatter(from, to, rank % 2 ? twos : ones, MPI_INT, MPI_SUM, c, &r); }

#if MPI_VERSION >= 4
#define NONE MPI_INFO_NULL, &r
static int allgather_init(MPI_Comm c) { return MPI_Allgather_init(from, 1, MPI_INT, to, 2, MPI_INT, c, NONE); }
static int alltoall_init(MPI_Comm c) { return MPI_Alltoall_init(from, 1, MPI_INT, to, 2, MPI_INT, c, NONE); }
static int gather_init(MPI_Comm c) { return MPI_Gather_init(from, 2 - (rank == 1), MPI_INT, to, 2, MPI_INT, 1, c, NONE); }
static int scatter_init(MPI_Comm c) { return MPI_Scatter_init(from, 1, MPI_INT, to, 1 + (rank == 1), MPI_INT, 1, c, NONE); }
static int bcast_init(MPI_Comm c) { return MPI_Bcast_init(to, 1 + (rank > 0), MPI_INT, 0, c, NONE); }
static int scan_init(MPI_Comm c) { return MPI_Scan_init(from, to, 1 + (rank == last), MPI_INT, MPI_SUM, c, NONE); }
static int allgatherv_init(MPI_Comm c) { return MPI_Allgatherv_init(from, 1, MPI_INT, to, twos, places, MPI_INT, c, NONE); }
static int alltoallv_init(MPI_Comm c) { return MPI_Alltoallv_init(from, ones, places, MPI_INT, to, twos, places, MPI_INT, c, NONE); }
static int alltoallw_init(MPI_Comm c) { return MPI_Alltoallw_init(from, ones, places, types, to, twos, places, types, c, NONE); }
static int neighbor_alltoall_init(MPI_Comm c) { return MPI_Neighbor_alltoall_init(from, 1, MPI_INT, to, 2, MPI_INT, c, NONE); }
#endif

enum kind { INTRA, RING, INTER };

#define FAULT(kind, name) {kind, #name, name}

static const struct fault {
    enum kind on;
    const char *name;
    int (*make)(MPI_Comm);
} faults[] = {
    FAULT(INTRA, allgather), FAULT(INTRA, alltoall), FAULT(INTRA, iallgather), FAULT(INTRA, ialltoall),
    FAULT(INTRA, allgather_types), FAULT(INTRA, allgather_none), FAULT(INTRA, allgather_last), FAULT(INTRA, gather_root),
    FAULT(INTRA, igather_root), FAULT(INTRA, gather_others), FAULT(INTRA, scatter_root), FAULT(INTRA, scatter_others),
    FAULT(INTRA, iscatter_root), FAULT(INTRA, allgatherv), FAULT(INTRA, iallgatherv), FAULT(INTRA, alltoallv),
    FAULT(INTRA, ialltoallv), FAULT(INTRA, alltoallw), FAULT(INTRA, ialltoallw), FAULT(INTRA, gatherv), FAULT(INTRA, igatherv),
    FAULT(INTRA, scatterv), FAULT(INTRA, iscatterv), FAULT(RING, neighbor_allgather), FAULT(RING, neighbor_allgatherv),
    FAULT(RING, neighbor_alltoall), FAULT(RING, neighbor_alltoallv), FAULT(RING, neighbor_alltoallw),
    FAULT(RING, ineighbor_allgather), FAULT(RING, ineighbor_alltoallv), FAULT(INTER, inter_bcast), FAULT(INTER, inter_gather),
    FAULT(INTER, inter_scatter), FAULT(INTER, inter_gatherv), FAULT(INTER, inter_scatterv), FAULT(INTER, inter_allgather),
    FAULT(INTER, inter_allgatherv), FAULT(INTER, inter_alltoall), FAULT(INTER, inter_alltoallv), FAULT(INTER, inter_alltoallw),
    FAULT(INTER, inter_reduce), FAULT(INTER, inter_allreduce), FAULT(INTER, inter_reduce_scatter_block),
    FAULT(INTER, inter_reduce_scatter), FAULT(INTRA, ibcast), FAULT(INTRA, ireduce), FAULT(INTRA, iallreduce), FAULT(INTRA, iscan),
    FAULT(INTRA, iexscan), FAULT(INTRA, ireduce_scatter_block), FAULT(INTRA, ireduce_scatter),
#if MPI_VERSION >= 4
    FAULT(INTRA, allgather_init), FAULT(INTRA, alltoall_init), FAULT(INTRA, gather_init), FAULT(INTRA, scatter_init),
    FAULT(INTRA, bcast_init), FAULT(INTRA, scan_init), FAULT(INTRA, allgatherv_init), FAULT(INTRA, alltoallv_init),
    FAULT(INTRA, alltoallw_init), FAULT(RING, neighbor_alltoall_init),
#endif
};

enum { FAULTS = sizeof faults / sizeof *faults };

static MPI_Comm make_comm(enum kind on)
{
    int ring = 1;
    MPI_Comm half, c;
    switch (on) {
    case INTRA:
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        break;
    case RING:
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &c);
        break;
    default:
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 12, &c);
    }
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    return c;
}

int main(int argc, char **argv)
{
    static MPI_Comm comms[FAULTS];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 4);
    last = size - 1;
    for (int i = 0; i < MAX; i++) {
        ones[i] = 1;
        twos[i] = odd[i] = 2;
        places[i] = 8 * i;
        wide[i] = 8 * i;
        types[i] = MPI_INT;
    }
    odd[0] = odd[1] = odd[2] = 1;
    for (int i = 0; i < FAULTS; i++)
        comms[i] = make_comm(faults[i].on);
    for (int i = 0; i < FAULTS; i++) {
        int error = faults[i].make(comms[i]);
        if (rank == 0) {
            printf("%s%s\n", error ? "refused " : "", faults[i].name);
            fflush(stdout);
        }
    }
    usleep(500000); /* the others are as far */
    MPI_Abort(MPI_COMM_WORLD, 3);
    return 0;
}
