/* Ways to die: fail WAY ITERATIONS. The last rank dies after ITERATIONS
 * rounds of a loop: kill, exit, _exit, abort, segv; or it is killed at any
 * moment after about ITERATIONS microseconds: any; or it starts other programs
 * in the loop: fork. */
#include "check.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *way)
{
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "exit") == 0)
        exit(3);
    if (strcmp(way, "_exit") == 0)
        _exit(4);
    if (strcmp(way, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(way, "segv") == 0)
        *(volatile int *)0 = 1;
}

/* A child that kills its parent with SIGKILL after a while. */
static void arm(int microseconds)
{
    if (fork() == 0) {
        usleep((useconds_t)microseconds);
        kill(getppid(), SIGKILL);
        _exit(0);
    }
}

static void start_others(void)
{
    int status = -1;
    pid_t p = fork();
    if (p == 0) {
        execlp("true", "true", (char *)NULL);
        _exit(9);
    }
    CHECK(p > 0 && waitpid(p, &status, 0) == p && status == 0);
    p = fork();
    if (p == 0)
        _exit(7);   /* no exec: the child must not touch what its parent records */
    CHECK(p > 0 && waitpid(p, &status, 0) == p && WEXITSTATUS(status) == 7);
    CHECK(system("exit 3") == 3 << 8);
}

int main(int argc, char **argv)
{
    int rank, size;
    const char *way = argc > 1 ? argv[1] : "kill";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = number_arg(argc, argv, 2, 50);
    if (strcmp(way, "any") == 0) {
        if (rank == size - 1)
            arm(n);
        n = 100000000;
    }
    for (int i = 0; i < n; i++) {
        int left = (rank + size - 1) % size, right = (rank + 1) % size, in, out = i;
        MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(in == i);
        if (rank == size - 1 && strcmp(way, "fork") == 0 && i % 10 == 0)
            start_others();
    }
    if (rank == size - 1)
        die(way);
    MPI_Barrier(MPI_COMM_WORLD);
    say_ok("fail", n);
    MPI_Finalize();
    return 0;
}
