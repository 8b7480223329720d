/* An MPI program that starts others, and ends as argument 1 says. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What another child does with MPI, and its own child. */
static void call(int calls)
{
    int n;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &n);
    fflush(stdout);
    if (calls == 2 && fork() == 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &n);
        _exit(0);
    }
    wait(NULL);
}

static int child(int exec, int calls)
{
    fflush(stdout);
    pid_t p = fork();
    if (p == 0) {
        if (exec) execlp("sh", "sh", "-c", "exit 4", (char *)NULL);
        int flag;
        MPI_Initialized(&flag);    /* a call that a fork may make */
        if (calls) call(calls);
        _exit(flag ? 6 : 0);
    }
    int status;
    waitpid(p, &status, 0);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    int a = system("exit 3") >> 8, b = child(1, 0), c = child(0, 0);
    if (!strcmp(end, "well") && rank == 1) c += child(0, 2) + child(0, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("children %d %d %d\n", a, b, c);
    fflush(stdout);
    usleep(300000);    /* all have left the barrier */
    if (!strcmp(end, "kill") && rank == 1) raise(SIGKILL);
    if (!strcmp(end, "exit")) exit(5);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (strcmp(end, "fail")) return 0;
    usleep(300000);    /* a launcher kills the others */
    return 7;
}
