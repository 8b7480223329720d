/* Collectives on an intercommunicator (even and odd ranks), with MPI_ROOT
 * and MPI_PROC_NULL as root: intercoll ROUNDS */
#include "check.h"

enum { MAX = 16 };

static int rank, local_rank, local, remote, mine;
static MPI_Comm inter;

/* Roots are in the group of the even ranks. */
static int root_of(int i)
{
    if (mine)
        return i % remote;
    return i % local == local_rank ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(int i)
{
    int root = root_of(i), x[MAX], y = 0, counts[MAX], displs[MAX], *c = NULL, *d = NULL;
    for (int k = 0; k < MAX; k++) {
        x[k] = 5 + k;
        counts[k] = 1;
        displs[k] = k;
    }
    if (root == MPI_ROOT) {
        c = counts;
        d = displs;
    }
    MPI_Bcast(x, 1, MPI_INT, root, inter);
    MPI_Scatter(x, 1, MPI_INT, &y, 1, MPI_INT, root, inter);
    CHECK(!mine || y == 5 + local_rank);
    MPI_Scatterv(x, c, d, MPI_INT, &y, 1, MPI_INT, root, inter);
    CHECK(!mine || y == 5 + local_rank);
    y = 100 + local_rank;
    MPI_Gather(&y, 1, MPI_INT, x, 1, MPI_INT, root, inter);
    CHECK(root != MPI_ROOT || x[remote - 1] == 100 + remote - 1);
    MPI_Gatherv(&y, 1, MPI_INT, x, c, d, MPI_INT, root, inter);
    CHECK(root != MPI_ROOT || x[remote - 1] == 100 + remote - 1);
    MPI_Reduce(&y, x, 1, MPI_INT, MPI_MIN, root, inter);
    CHECK(root != MPI_ROOT || x[0] == 100);
}

static void symmetric(void)
{
    int s[MAX], r[MAX], counts[MAX], displs[MAX], bytes[MAX];
    MPI_Datatype types[MAX];
    for (int k = 0; k < MAX; k++) {
        s[k] = 10 * rank + k;
        counts[k] = 1;
        displs[k] = k;
        bytes[k] = 4 * k;
        types[k] = MPI_INT;
    }
    MPI_Barrier(inter);
    MPI_Allgather(s, 1, MPI_INT, r, 1, MPI_INT, inter);
    CHECK(r[0] == 10 * !mine);
    MPI_Allgatherv(s, 1, MPI_INT, r, counts, displs, MPI_INT, inter);
    MPI_Alltoall(s, 1, MPI_INT, r, 1, MPI_INT, inter);
    MPI_Alltoallv(s, counts, displs, MPI_INT, r, counts, displs, MPI_INT, inter);
    CHECK(r[0] == 10 * !mine + local_rank);
    MPI_Alltoallw(s, counts, bytes, types, r, counts, bytes, types, inter);
    CHECK(r[0] == 10 * !mine + local_rank);
    int one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == remote);
}

static void scattered_reduction(void)
{
    int n = local * remote, v[MAX * MAX], r[MAX], counts[MAX];
    for (int k = 0; k < n; k++)
        v[k] = 1;
    for (int k = 0; k < local; k++)
        counts[k] = remote;
    MPI_Reduce_scatter(v, r, counts, MPI_INT, MPI_SUM, inter);
    CHECK(r[0] == remote);
    MPI_Reduce_scatter_block(v, r, remote, MPI_INT, MPI_SUM, inter);
    CHECK(r[0] == remote);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int rounds = number_arg(argc, argv, 1, 4), size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size >= 2 && size <= MAX);
    mine = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !mine, 12, &inter);
    MPI_Comm_rank(half, &local_rank);
    MPI_Comm_size(half, &local);
    MPI_Comm_remote_size(inter, &remote);
    for (int i = 0; i < rounds; i++) {
        rooted(i);
        symmetric();
        scattered_reduction();
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    say_ok("intercoll", rounds);
    MPI_Finalize();
    return 0;
}
