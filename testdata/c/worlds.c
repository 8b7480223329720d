/* Worlds that start others: in a loop with other arguments, of several programs, by a started
 * world, and by two ranks at the same time. Some builds of MPICH cannot: worlds DIR */
#include "check.h"

#include <stdio.h>
#include <string.h>

/* Disconnected at the end: Open MPI 4.1 may hang in a call that starts processes after others have
 * been disconnected. */
static MPI_Comm made[8];
static int worlds;

/* Sends the parents as many messages as its argument says. */
static void worker(MPI_Comm parent, int messages)
{
    for (int i = 0; i < messages; i++)
        MPI_Send(&i, 1, MPI_INT, 0, i, parent);
}

/* Writes a file, and starts a world of its own. */
static void manager(MPI_Comm parent, char *self, char *file)
{
    int rank;
    MPI_File f;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    MPI_File_write_at(f, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    if (rank == 1) {
        char *argv[] = { "worker", "1", NULL };
        MPI_Comm other;
        MPI_Comm_spawn(self, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
        MPI_Recv(&rank, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&other);
    }
    MPI_Barrier(parent);
}

static int workers(char *self, MPI_Comm comm, int first, int last)
{
    char number[16], *argv[] = { "worker", number, NULL };
    int rank, x, error = MPI_SUCCESS;
    MPI_Comm_rank(comm, &rank);
    for (int n = first; n <= last; n++) {
        MPI_Comm other;
        snprintf(number, sizeof number, "%d", n);
        if (MPI_Comm_spawn(self, argv, 1, MPI_INFO_NULL, 0, comm, &other, &error) != MPI_SUCCESS)
            return 0;
        for (int i = 0; i < n && rank == 0; i++)
            MPI_Recv(&x, 1, MPI_INT, 0, i, other, MPI_STATUS_IGNORE);
        made[worlds++] = other;
    }
    return 1;
}

static int first_world(char *self, char *file)
{
    char *commands[] = { self, self }, *one[] = { "manager", file, NULL }, **argvs[] = { one, one };
    int counts[] = { 1, 1 }, errors[2];
    MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
    MPI_Comm other;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!workers(self, MPI_COMM_WORLD, 1, 2))
        return 0;
    MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, MPI_COMM_WORLD, &other, errors);
    MPI_Barrier(other);
    made[worlds++] = other;
    if (!workers(self, MPI_COMM_SELF, 1, 1))
        return 0;
    for (int i = 0; i < worlds; i++)
        MPI_Comm_disconnect(&made[i]);
    return 1;
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    char file[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        snprintf(file, sizeof file, "%s/worlds.data", argc > 1 ? argv[1] : ".");
        say_ok("worlds", first_world(argv[0], file));
    } else {
        if (strcmp(argv[1], "worker") == 0)
            worker(parent, atoi(argv[2]));
        else
            manager(parent, argv[0], argv[2]);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
