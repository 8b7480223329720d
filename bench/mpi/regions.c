/* Cost of naming regions (efg.h), recorded or not.
 *
 *   regions empty N        an empty loop
 *   regions pair N         a region is begun and ended with its name
 *   regions innermost N    and ended without it
 *   regions attribute N    an attribute, whose value counts up
 *
 * Prints nanoseconds of processor time per turn of the loop. */
#include "efg.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void turns(const char *shape, long n)
{
    if (strcmp(shape, "pair") == 0) {
        for (long i = 0; i < n; i++) {
            efg_region_begin("assembly");
            efg_region_end("assembly");
        }
    } else if (strcmp(shape, "innermost") == 0) {
        for (long i = 0; i < n; i++) {
            efg_region_begin("assembly");
            efg_region_end();
        }
    } else if (strcmp(shape, "attribute") == 0) {
        for (long i = 0; i < n; i++) efg_attribute("step", i);
    } else {
        for (long i = 0; i < n; i++) __asm__ volatile("");
    }
}

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[2]) : 0;
    if (n < 1) return 2;
    MPI_Init(&argc, &argv);
    turns(argv[1], n / 20 + 1);
    double t = cpu_ns();
    turns(argv[1], n);
    printf("%.2f\n", (cpu_ns() - t) / (double)n);
    MPI_Finalize();
    return 0;
}
