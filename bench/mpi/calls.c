/* Cost of an MPI call, in shapes that are hard for a recorder. One rank, cheap
 * calls to itself, so that what is added is a large part of what is measured.
 *
 *   calls six 1 N         six different calls in a loop
 *   calls deep K N        the same, K calls below main
 *   calls cycle K N       K callsites, each with its own signature, in a cycle
 *   calls random K N      K callsites in random order
 *   calls varied K N      one callsite, 8 counts and K tags in random order
 *   calls memory K N      as cycle; prints the process's resident KiB instead
 *
 * Prints nanoseconds of processor time per call: on a busy machine that is
 * closer to the truth than the time on the wall. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROBE(n) static void p##n(void) { int f; MPI_Iprobe(0, n, MPI_COMM_SELF, &f, MPI_STATUS_IGNORE); }
#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define HUNDRED(m, n) TEN(m, n##0) TEN(m, n##1) TEN(m, n##2) TEN(m, n##3) TEN(m, n##4) \
                      TEN(m, n##5) TEN(m, n##6) TEN(m, n##7) TEN(m, n##8) TEN(m, n##9)
#define THOUSAND(m, n) HUNDRED(m, n##0) HUNDRED(m, n##1) HUNDRED(m, n##2) HUNDRED(m, n##3) HUNDRED(m, n##4) \
                       HUNDRED(m, n##5) HUNDRED(m, n##6) HUNDRED(m, n##7) HUNDRED(m, n##8) HUNDRED(m, n##9)
#define ALL(m) THOUSAND(m, 1) THOUSAND(m, 2) THOUSAND(m, 3) THOUSAND(m, 4) THOUSAND(m, 5) \
               THOUSAND(m, 6) THOUSAND(m, 7) THOUSAND(m, 8) THOUSAND(m, 9)
#define NAME(n) p##n,

ALL(PROBE)
static void (*const site[])(void) = {ALL(NAME)};
enum { SITES = sizeof site / sizeof *site };

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static long six(long n)
{
    int a = 1, b = 0, flag;
    MPI_Request r[2];
    MPI_Status st[2];
    for (long i = 0; i < n; i += 6) {
        MPI_Irecv(&b, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &r[0]);
        MPI_Isend(&a, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &r[1]);
        MPI_Waitall(2, r, st);
        MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        MPI_Barrier(MPI_COMM_SELF);
    }
    return n;
}

static __attribute__((noinline)) long deep(long k, long n)
{
    long calls = k > 1 ? deep(k - 1, n) : six(n);
    __asm__ volatile("" ::: "memory");  /* something is left to do: the call is not made a jump */
    return calls;
}

static long cycle(long k, long n)
{
    for (long i = 0, at = 0; i < n; i++) {
        site[at]();
        if (++at == k)
            at = 0;
    }
    return n;
}

static long random_order(long k, long n)
{
    uint64_t x = 88172645463325252u;
    for (long i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        site[x % (uint64_t)k]();
    }
    return n;
}

static long varied(long k, long n)
{
    uint64_t x = 88172645463325252u;
    char buffer[8] = "";
    for (long i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        MPI_Send(buffer, 1 + (int)(x % 8), MPI_CHAR, MPI_PROC_NULL, (int)((x >> 3) % (uint64_t)k), MPI_COMM_SELF);
    }
    return n;
}

static long shape(const char *name, long k, long n)
{
    if (strcmp(name, "six") == 0)
        return six(n);
    if (strcmp(name, "deep") == 0)
        return deep(k, n);
    if (strcmp(name, "varied") == 0)
        return varied(k, n);
    return strcmp(name, "random") == 0 ? random_order(k, n) : cycle(k, n);
}

static long resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    long k = atol(argv[2]), n = atol(argv[3]);
    if (k < 1 || k > SITES || n < 1)
        return 2;
    MPI_Init(&argc, &argv);
    shape(argv[1], k, n / 20 + 3 * k);
    double t = cpu_ns();
    long calls = shape(argv[1], k, n);
    if (strcmp(argv[1], "memory") == 0)
        printf("%ld\n", resident_kib());
    else
        printf("%.2f\n", (cpu_ns() - t) / (double)calls);
    MPI_Finalize();
    return 0;
}
