/* A message race in a program that uses only sessions, if MPI has them: what rank 0 prints depends on the order in which
 * messages arrive. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 12 };

static void race(MPI_Comm comm)
{
    int rank, size;
    unsigned long hash = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    srand((unsigned)getpid());
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 1, v; k < size && rank == 0; k++) {
            MPI_Status s;
            MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
            hash = hash * 31 + (unsigned long)s.MPI_SOURCE;
        }
        if (rank > 0) {
            usleep((useconds_t)(rand() % 300));
            MPI_Send(&i, 1, MPI_INT, 0, i, comm);
        }
    }
    if (rank == 0)
        printf("race %016lx\n", hash);
}

int main(int argc, char **argv)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    (void)argc, (void)argv;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "efg.race", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    race(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
#else
    MPI_Init(&argc, &argv);
    race(MPI_COMM_WORLD);
    MPI_Finalize();
#endif
    return 0;
}
