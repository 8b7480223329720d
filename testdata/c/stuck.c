/* Jobs that hang, and jobs that only seem to: argument 1 says how, argument 2 how many
 * seconds a rank computes. After `rounds` of healthy communication,
 *
 *     recv      every rank receives from its neighbour before it sends
 *     ssend     every rank sends synchronously to its neighbour before it receives
 *     pair      ranks 0 and 1 receive from each other, the others are in a barrier
 *     wait      the same cycle as recv, with nonblocking receives and MPI_Waitall
 *     barrier   the last rank does not enter the barrier: it waits for a message
 *     slow      the last rank computes, the others are in a barrier
 *     chain     rank r waits for rank r + 1, the last one computes
 *     any       every rank receives from any source
 *     master    rank 0 receives from any source, the others compute
 *     beat      ten steps a second, as long as the file of the next argument is there (hold: slow)
 *     exit      the last rank has exited, the others wait for a message from it
 */
#include "check.h"
#include <string.h>
#include <unistd.h>

static int rank, size, next, before;

static void ring(void)
{
    int in = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 3, &in, 1, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == before);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void receive(int from)
{
    int x;
    MPI_Recv(&x, 1, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to) { MPI_Send(&rank, 1, MPI_INT, to, 7, MPI_COMM_WORLD); }

static void hang(const char *how, unsigned seconds)
{
    int x, last = size - 1;
    if (!strcmp(how, "recv")) {
        receive(before);
        send(next);
    } else if (!strcmp(how, "ssend")) {
        MPI_Ssend(&rank, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
        receive(before);
    } else if (!strcmp(how, "pair")) {
        if (rank < 2) receive(1 - rank);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(how, "wait")) {
        MPI_Request r[2];
        int in[2];
        MPI_Irecv(in, 1, MPI_INT, before, 7, MPI_COMM_WORLD, r);
        MPI_Irecv(in + 1, 1, MPI_INT, before, 8, MPI_COMM_WORLD, r + 1);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    } else if (!strcmp(how, "barrier")) {
        if (rank == last) receive(0);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(how, "slow")) {
        if (rank == last) sleep(seconds);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(how, "chain")) {
        if (rank == last) sleep(seconds);
        else receive(rank + 1);
        if (rank > 0) send(rank - 1);
    } else if (!strcmp(how, "any")) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "master")) {
        if (rank > 0) sleep(seconds);
        for (int i = 1; i < size && rank == 0; i++)
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank > 0) send(0);
    } else if (!strcmp(how, "exit")) {
        if (rank == last) _exit(0);
        receive(last);
    }
}

static void hold(const char *file)
{
    while (rank == size - 1 && access(file, F_OK) == 0)
        usleep(10000);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void beat(const char *file)
{
    for (int on = 1; on;) {
        ring();
        if (rank == 0) on = access(file, F_OK) == 0;
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        usleep(100000);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (int i = 0; i < 5; i++)
        ring();
    if (argc > 2 && !strcmp(argv[1], "beat")) beat(argv[2]);
    else if (argc > 2 && !strcmp(argv[1], "hold")) hold(argv[2]);
    else hang(argc > 1 ? argv[1] : "", (unsigned)number_arg(argc, argv, 2, 1));
    say_ok("stuck", size);
    MPI_Finalize();
    return 0;
}
