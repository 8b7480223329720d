/* Barriers for a while, a few of them each millisecond, each with the clock before and after it:
 * rank 0 prints RANK BEFORE AFTER, ns of CLOCK_MONOTONIC, for each of each rank, and what the
 * time stamp counter was at two moments, as far from each other as possible: tick TICKS NS.
 * Arguments: seconds, and "kill" if the ranks are to be killed in the end. */
#define _GNU_SOURCE
#include "check.h"

#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#define __rdtsc() 0
#endif

enum { FEW = 4 };

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void reference(void)
{
    unsigned long long best = ~0ull, tick = 0;
    int64_t at = 0;
    for (int i = 0; i < 100; i++) {
        unsigned long long a = __rdtsc();
        int64_t ns = now();
        unsigned long long b = __rdtsc();
        if (b - a < best) {
            best = b - a;
            tick = a + (b - a) / 2;
            at = ns;
        }
    }
    printf("tick %llu %lld\n", tick, (long long)at);
}

static void print_all(int rank, int n, int64_t (*log)[2])
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t (*all)[2] = rank == 0 ? malloc((size_t)size * (size_t)n * sizeof *all) : log;
    CHECK(all != NULL);
    MPI_Gather(log, 2 * n, MPI_INT64_T, all, 2 * n, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    for (int i = 0; i < size * n; i++)
        printf("%d %lld %lld\n", i / n, (long long)all[i][0], (long long)all[i][1]);
    fflush(stdout);
    free(all);
}

int main(int argc, char **argv)
{
    int rank, n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int seconds = argc > 1 ? atoi(argv[1]) : 1, most = seconds * 1000 * FEW;
    int64_t (*log)[2] = malloc((size_t)most * sizeof *log);
    CHECK(log != NULL);
    int64_t end = now() + seconds * 1000000000ll;
    if (rank == 0)
        reference();
    for (int left = 1; left && n + FEW <= most;) {
        usleep(1000);
        for (int i = 0; i < FEW; i++, n++) {
            log[n][0] = now();
            MPI_Barrier(MPI_COMM_WORLD);
            log[n][1] = now();
        }
        left = now() < end;
        MPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        reference();
    print_all(rank, n, log);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 2 && strcmp(argv[2], "kill") == 0)
        raise(SIGKILL);
    free(log);
    MPI_Finalize();
    return 0;
}
