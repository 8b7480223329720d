/* Like a solver on an unstructured mesh: each process has its own neighbours and sizes on
 * several levels that get coarser, and exchanges with them in each step of a
 * multigrid cycle: mesh STEPS */
#include "check.h"
#include <math.h>

enum { MAX = 64, LEVELS = 4, ROOM = 4096 };

struct level {
    int n, peer[MAX], count[MAX];
};

static int rank, size;
static struct level levels[LEVELS];
static double in[MAX][ROOM], out[ROOM];

/* A number that two processes agree on without communication. */
static unsigned shared(int a, int b, int level)
{
    unsigned x = (unsigned)(a < b ? a * 131 + b : b * 131 + a) * 2654435761u + (unsigned)level * 40503u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

/* Processes lie in a plane and are neighbours if they are close to each other. */
static void build(struct level *l, int level)
{
    l->n = 0;
    for (int p = 0; p < size; p++) {
        if (p == rank || (level > 1 && (p % (1 << level) || rank % (1 << level))))
            continue;
        unsigned s = shared(p, rank, 0);
        int near = (p > rank ? p - rank : rank - p) < 3 || s % 5 == 0;
        if (!near)
            continue;
        l->peer[l->n] = p;
        l->count[l->n++] = 1 + (int)(shared(p, rank, level + 1) % 900) / (1 << level);
    }
}

static void exchange(const struct level *l, int tag)
{
    MPI_Request r[2 * MAX];
    for (int i = 0; i < l->n; i++)
        MPI_Irecv(in[i], l->count[i], MPI_DOUBLE, l->peer[i], tag, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < l->n; i++)
        MPI_Isend(out, l->count[i], MPI_DOUBLE, l->peer[i], tag, MPI_COMM_WORLD, &r[l->n + i]);
    MPI_Waitall(2 * l->n, r, MPI_STATUSES_IGNORE);
}

static void cycle(int level)
{
    exchange(&levels[level], 10 + level);
    exchange(&levels[level], 10 + level);
    if (level + 1 < LEVELS) {
        cycle(level + 1);
        exchange(&levels[level], 20 + level);
    } else {
        double own = 1, all;
        MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX);
    int steps = number_arg(argc, argv, 1, 60);
    for (int level = 0; level < LEVELS; level++)
        build(&levels[level], level);
    double error = 1;
    for (int s = 0; s < steps; s++) {
        int cycles = 1 + s % 3;
        for (int c = 0; c < cycles; c++)
            cycle(0);
        double own = exp(-0.1 * s), all;
        MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        error = all;
    }
    say_ok("mesh", error);
    MPI_Finalize();
    return 0;
}
