/* Calls from stacks that are not the thread's own, and through code that no table describes: coroutines,
 * handlers of signals on their own stack and on the thread's, code that was made at run time. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define HERE __attribute__((noinline))
#define AND_MORE() __asm__ volatile("")     /* the call before is not the last thing that a function does */

enum { STACK = 256 << 10, ROUNDS = 4 };

static ucontext_t home, here[2];

static HERE void in_coroutine(int n)
{
    MPI_Barrier(MPI_COMM_SELF);
    swapcontext(&here[n], &home);
    AND_MORE();
}

static void coroutine(int n)
{
    for (;;)
        in_coroutine(n);
}

static HERE void resume(int n)
{
    swapcontext(&home, &here[n]);
    MPI_Comm_size(MPI_COMM_SELF, &(int){0});
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, n, MPI_COMM_SELF);
    AND_MORE();
}

static HERE void from_handler(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    AND_MORE();
}
static void on_own_stack(int s) { (void)s; from_handler(); AND_MORE(); }
static void on_thread_stack(int s) { (void)s; from_handler(); AND_MORE(); }

static HERE void interrupted(int signal) { raise(signal); AND_MORE(); }

static HERE void from_generated(void)
{
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_SELF);
    AND_MORE();
}

/* sub $8,%rsp; call *%rdi; add $8,%rsp; ret */
static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};

static HERE void generated(void (*run)(void (*)(void)))
{
    run(from_generated);
    AND_MORE();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    char *stacks = malloc(3 * STACK);
    for (int n = 0; n < 2; n++) {
        getcontext(&here[n]);
        here[n].uc_stack.ss_sp = stacks + n * STACK;
        here[n].uc_stack.ss_size = STACK;
        makecontext(&here[n], (void (*)(void))coroutine, 1, n);
    }
    sigaltstack(&(stack_t){.ss_sp = stacks + 2 * STACK, .ss_size = STACK}, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_own_stack, .sa_flags = SA_ONSTACK}, NULL);
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_thread_stack}, NULL);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    for (int i = 0; i < ROUNDS; i++) {
        resume(0);
        resume(1);
        interrupted(SIGUSR1);
        interrupted(SIGUSR2);
        generated((void (*)(void (*)(void)))(uintptr_t)page);
    }
    MPI_Finalize();
    free(stacks);
    return 0;
}
