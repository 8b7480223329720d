/* Ranks 0 and 1 start programs of their own at the same time: spawnraces. The first rank of each of these, and the
 * rank that started it, print a hash over the order in which they receive messages. */
#include "check.h"

#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { CHILDREN = 3, ROUNDS = 12 };

static void send_all(MPI_Comm comm)
{
    for (int i = 0; i < ROUNDS; i++) {
        usleep((useconds_t)(rand() % 300));
        MPI_Send(&i, 1, MPI_INT, 0, i % 3, comm);
    }
}

static void receive_all(MPI_Comm comm, int senders, const char *who)
{
    uint64_t h = 1;
    MPI_Status s;
    for (int i = 0, v; i < ROUNDS * senders; i++) {
        MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
        h = (h ^ (uint64_t)(s.MPI_SOURCE << 16 | s.MPI_TAG << 8 | v)) * 1099511628211ull;
    }
    printf("%s %016llx\n", who, (unsigned long long)h);
}

int main(int argc, char **argv)
{
    struct timespec now;
    int rank;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&other);
    clock_gettime(CLOCK_MONOTONIC, &now);
    srand((unsigned)(now.tv_nsec ^ getpid() * 7919));
    if (other != MPI_COMM_NULL) {
        if (rank == 0) receive_all(MPI_COMM_WORLD, CHILDREN - 1, argv[1]);
        else send_all(MPI_COMM_WORLD);
        send_all(other);
        MPI_Comm_disconnect(&other);
    } else if (rank < 2) {
        char *line[] = { rank == 0 ? "first" : "second", NULL };
        MPI_Comm_spawn(argv[0], line, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
        receive_all(other, CHILDREN, rank == 0 ? "parent of first" : "parent of second");
        MPI_Comm_disconnect(&other);
    }
    MPI_Finalize();
    return 0;
}
