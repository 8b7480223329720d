/* Calls whose call paths are hard to find: frames of varying size, aligned
 * frames, recursion, callbacks of the C library, functions that end in a call,
 * a callsite reached by many paths with the same stack pointer, code that is
 * reached by longjmp, and threads. */
#include <alloca.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HERE __attribute__((noinline))
#define AND_MORE() __asm__ volatile("")     /* the call before is not the last thing that a function does */

static HERE void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    AND_MORE();
}

/* The same return address and stack pointer, from three places. */
static HERE void one(void) { meet(); AND_MORE(); }
static HERE void two(void) { meet(); AND_MORE(); }
static HERE void three(void) { meet(); AND_MORE(); }

static HERE void tail(void) { meet(); }

static HERE void sized(size_t n)
{
    char *p = alloca(n);
    memset(p, 1, n);
    __asm__ volatile("" ::"r"(p) : "memory");
    meet();
    AND_MORE();
}

static HERE void array(int n)
{
    volatile double v[n];
    for (int i = 0; i < n; i++)
        v[i] = i;
    sized((size_t)v[n - 1] * 8 + 8);
    AND_MORE();
}

static HERE void aligned(int n)
{
    double v[8] __attribute__((aligned(64)));
    for (int i = 0; i < 8; i++)
        v[i] = n + i;
    __asm__ volatile("" ::"r"(v) : "memory");
    array((int)v[0]);
    AND_MORE();
}

/* Aligned, and of varying size: the frame is found through another register. */
static HERE void both(int n)
{
    double v[8] __attribute__((aligned(64)));
    char *p = alloca((size_t)n);
    memset(p, 0, (size_t)n);
    __asm__ volatile("" ::"r"(v), "r"(p) : "memory");
    meet();
    AND_MORE();
}

static HERE void down(int n)
{
    if (n > 0)
        down(n - 1);
    else
        aligned(3);
    AND_MORE();
}

static HERE void left(int n);
static HERE void right(int n)
{
    if (n > 0)
        left(n - 1);
    meet();
    AND_MORE();
}
static HERE void left(int n)
{
    if (n > 0)
        right(n - 1);
    meet();
    AND_MORE();
}

static int order(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    MPI_Barrier(MPI_COMM_SELF);
    return x < y ? -1 : x > y;
}

static jmp_buf back;
static HERE void jump(int n)
{
    meet();
    if (n == 0)
        longjmp(back, 1);
    if (n > 0)
        jump(n - 1);
    AND_MORE();
}

static void *work(void *arg)
{
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_SELF);
        if (i % 2 == (int)(intptr_t)arg)
            MPI_Barrier(MPI_COMM_SELF);
    }
    return NULL;
}

static void at_exit(void) { meet(); MPI_Finalize(); AND_MORE(); }

int main(int argc, char **argv)
{
    int provided, numbers[] = {5, 3, 1, 4, 2};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    atexit(at_exit);
    for (int i = 0; i < 30; i++) {
        one();
        two();
        if (i % 3 == 0)
            three();
        tail();
        sized((size_t)(i * 37 % 200 + 1));
        array(i % 5 + 1);
        aligned(i % 4 + 1);
        both(i * 53 % 300 + 1);
        down(i % 6);
        left(i % 5);
    }
    qsort(numbers, sizeof numbers / sizeof *numbers, sizeof *numbers, order);
    for (volatile int i = 0; i < 3; i++)
        if (setjmp(back) == 0)
            jump(i);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t t[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
        for (int i = 0; i < 2; i++)
            pthread_join(t[i], NULL);
    }
    return 0;
}
