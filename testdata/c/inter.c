/* Intercommunicators: created, duplicated, split, merged; messages across:
 * inter ROUNDS */
#include "check.h"

static int rank, mine, local_rank;

static void talk(MPI_Comm inter)
{
    int remote, x = rank, y = -1;
    MPI_Status st;
    MPI_Comm_remote_size(inter, &remote);
    int to = local_rank % remote;
    if (local_rank < remote) {
        MPI_Sendrecv(&x, 1, MPI_INT, to, 1, &y, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, &st);
        CHECK(st.MPI_SOURCE == to && y % 2 == !mine);
    }
}

static void merged(MPI_Comm inter)
{
    MPI_Comm all;
    int n, sum, one = 1;
    MPI_Intercomm_merge(inter, mine, &all);
    MPI_Comm_size(all, &n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == n);
    MPI_Comm_free(&all);
}

int main(int argc, char **argv)
{
    MPI_Comm half, inter, copy, part;
    MPI_Group remote;
    int n, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int rounds = number_arg(argc, argv, 1, 4);
    mine = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
    MPI_Comm_rank(half, &local_rank);
    for (int i = 0; i < rounds; i++) {
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !mine, 40 + i, &inter);
        MPI_Comm_test_inter(inter, &flag);
        CHECK(flag);
        talk(inter);
        MPI_Comm_dup(inter, &copy);
        talk(copy);
        MPI_Comm_split(inter, 0, rank, &part);
        talk(part);
        MPI_Comm_free(&part);
        MPI_Comm_remote_group(inter, &remote);
        MPI_Group_size(remote, &n);
        MPI_Group_free(&remote);
        merged(copy);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&half);
    say_ok("inter", rounds);
    MPI_Finalize();
    return 0;
}
