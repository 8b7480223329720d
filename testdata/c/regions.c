/* Regions and attributes (efg.h): nested, recursive, of several threads, before MPI_Init and after
 * MPI_Finalize, unbalanced; `regions [kill]`: a rank is killed in the middle of a region. */
#include "check.h"
#include "efg.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* Helpers that are called from several regions. */
static double total(double x)
{
    double sum = 0;
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void multigrid(int level)
{
    efg_region_begin("level");
    efg_attribute("level", level);
    total(level);
    if (level > 0) {
        multigrid(level - 1);
        if (level % 2) multigrid(level - 1);
    }
    efg_region_end("level");
}

static void steps(int n)
{
    static const char *const kinds[] = { "predictor", "corrector", "a \"quoted\" name, 100 %", "" };
    for (int i = 0; i < n; i++) {
        efg_region_begin("step");
        efg_attribute("step", i);
        efg_attribute("time", 0.125 * i);
        efg_attribute("residual", exp(-i) * (1 + rank));
        efg_attribute("kind", kinds[i % 4]);
        efg_region_begin(i % 3 ? "assembly" : "remeshing");
        total(i);
        efg_region_end();
        efg_region_begin("solve");
        for (int k = 0; k < 3; k++) total(k);
        efg_region_end("solve");
        efg_region_end("step");
    }
}

static void values(void)
{
    const int64_t integers[] = { 0, -1, INT64_MAX, INT64_MIN, INT64_MIN + 1, (int64_t)1 << 62, -((int64_t)1 << 62), 1 << 20, UINT32_MAX };
    const double doubles[] = { 0.0, -0.0, 1, 2, -2, DBL_MAX, DBL_MIN, DBL_EPSILON, INFINITY, -INFINITY, 1e300, 0.1 };
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) efg_attribute("integer", integers[i]);
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) efg_attribute("double", doubles[i]);
    efg_attribute("float", 0.5f);
    efg_attribute("char", 'x');
    efg_attribute("unsigned", 4000000000u);
    efg_attribute("absent", (const char *)NULL);
}

/* A thread that makes no call of MPI, but one that annotates. */
static void *thread(void *name)
{
    for (int i = 0; i < 100; i++) {
        char label[32];
        snprintf(label, sizeof label, "%s %d", (const char *)name, i % 10);
        efg_region_begin(label);
        efg_attribute("i", i);
        efg_region_end(label);
    }
    efg_region_begin("never ended");
    return NULL;
}

static void threads(void)
{
    pthread_t id[2];
    char *const names[] = { "left", "right" };
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&id[i], NULL, thread, names[i]) == 0);
    for (int i = 0; i < 2; i++) CHECK(pthread_join(id[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    int kill_one = argc > 1 && strcmp(argv[1], "kill") == 0;
    efg_region_begin("program");
    efg_attribute("argc", argc);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps(40);
    multigrid(4);
    values();
    threads();
    CHECK(total(1) == size);
    efg_region_end("of another name");
    efg_region_end();    /* none is open */
    efg_region_begin("open at the end");
    if (kill_one) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1) raise(SIGKILL);
        total(2);
    }
    for (int i = 0; i < 5; i++) MPI_Pcontrol(i - 1);
    MPI_Finalize();
    efg_attribute("after", "MPI_Finalize");
    return 0;
}
