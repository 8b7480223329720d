/* A known number of page faults before each call, in each thread: 100 before the k-th MPI_Allreduce of the
 * main thread, 50 before each MPI_Iprobe of another one. Prints how many the system counted between the two
 * calls of MPI_Barrier around the former. On request it closes high descriptors and forks in between, or kills itself.
 * usage: counted [close] [fork] [kill] */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 10 };

static void touch(size_t pages)
{
    char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)p)[i * PAGE] = 1;
    munmap(p, pages * PAGE);
}

static void *other(void *unused)
{
    int found;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
        touch(50);
    }
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
    return unused;
}

static int has(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return 1;
    return 0;
}

static long faults(void)
{
    struct rusage r;
    getrusage(RUSAGE_THREAD, &r);
    return r.ru_minflt + r.ru_majflt;
}

static void forked(void)
{
    pid_t child = fork();
    if (child == 0) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        touch(1000);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

int main(int argc, char **argv)
{
    int level, rank, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int lowest = dup(0);
    if (lowest < 0 || lowest > 200)         /* for select() */
        return 1;
    close(lowest);
    MPI_Barrier(MPI_COMM_WORLD);
    long before = faults();
    for (int i = 0; i < ROUNDS; i++) {
        touch(100);
        MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (i == ROUNDS / 2 && has(argc, argv, "close"))
            for (int fd = 200; fd < 70000; fd++)    /* MPI has lower ones */
                close(fd);
        if (i == ROUNDS / 2 && has(argc, argv, "fork"))
            forked();
    }
    long after = faults();
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_t t;
    if (pthread_create(&t, NULL, other, NULL) != 0 || pthread_join(t, NULL) != 0)
        return 1;
    printf("faults %ld\n", after - before);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (has(argc, argv, "kill"))
        raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
