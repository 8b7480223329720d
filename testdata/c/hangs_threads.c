/* Programs of two ranks with two threads each, some of which hang: hangs_threads KIND. First
 * all threads exchange messages, each pair on its own communicator.
 *
 * one    a thread of rank 0 waits for a message that is never sent; its other thread and
 *        that of rank 1 continue for ever
 * both   a thread of each rank waits for a message that the other sends only afterwards;
 *        the other threads continue for ever
 * all    the same for both threads of each rank
 */
#include "check.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static int rank, both, all;
static MPI_Comm comms[2];

static void exchange(MPI_Comm comm)
{
    int x;
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 3, &x, 1, MPI_INT, 1 - rank, 3, comm, MPI_STATUS_IGNORE);
    CHECK(x == 1 - rank);
}

static void *hanging(void *comm)
{
    int x;
    for (int i = 0; i < 3; i++) exchange(*(MPI_Comm *)comm);
    if (rank == 0 || both) {
        MPI_Recv(&x, 1, MPI_INT, 1 - rank, 5, *(MPI_Comm *)comm, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, 1 - rank, 5, *(MPI_Comm *)comm);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    all = argc > 1 && !strcmp(argv[1], "all");
    both = all || (argc > 1 && !strcmp(argv[1], "both"));
    pthread_create(&thread, NULL, hanging, &comms[1]);
    if (all) hanging(&comms[0]);
    for (;;) {
        exchange(comms[0]);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
}
