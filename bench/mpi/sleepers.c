/* Ranks that sleep, so that a small machine holds many: most of the time inside an MPI
 * call, whose operation of our own does nothing but that. MPI libraries wait for messages
 * by asking all the time, which a few cores cannot do for hundreds of ranks.
 *
 *   sleepers MILLISECONDS [COPIES]    how long a call sleeps. It goes on until it is killed.
 *
 * COPIES: so many processes that know nothing of each other, each an MPI_COMM_WORLD of its
 * own. Hundreds that begin together take minutes of a small machine to find each other.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static useconds_t nap;

static void sleep_in_call(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
    usleep(nap);
}

/* Forgets what the launcher has told, and becomes this program with one argument. */
static void become_copy(char *milliseconds)
{
    char *argv[] = {"sleepers", milliseconds, NULL};
    char **to = environ;
    for (char **e = environ; *e != NULL; e++)
        if (strncmp(*e, "PMI", 3) != 0 && strncmp(*e, "HYD", 3) != 0 && strncmp(*e, "MPI_LOCAL", 9) != 0)
            *to++ = *e;
    *to = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv("/proc/self/exe", argv);
    _exit(1);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        for (int i = atoi(argv[2]); i > 0; i--)
            if (fork() == 0)
                become_copy(argv[1]);
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    int rank, x = 0, y = 0;
    MPI_Op op;
    nap = (useconds_t)(argc > 1 ? atoi(argv[1]) : 100) * 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(sleep_in_call, 1, &op);
    for (;;) {
        MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
        MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
}
