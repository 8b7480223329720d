/* Calls of the stand-in MPI; in the program itself, or in a plug-in. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int MPI_Init(int *, char ***);
int MPI_Barrier(void *);
int PMPI_Barrier(void *);
int MPI_Comm_rank(void *, int *);
int PMPI_Comm_rank(void *, int *);
void pmpi_barrier_(int *, int *);
__attribute__((weak)) int MPI_Send(void *);    /* the library has none */
int MPI_Pcontrol(const int, ...);
int MPI_Sendrecv(const void *, int, void *, int, int, void *, int, void *, int, int, void *, void *);
void mpi_barrier_(int *, int *);
void mpi_barrier__(int *, int *);
void MPI_BARRIER(int *, int *);
void mpi_barrier_f08_(int *, int *);

static void all(void)
{
    int comm = 2, e1, e2, e3, e4;
    for (int i = 0; i < 2; i++) printf("barrier %d\n", MPI_Barrier((void *)2));
    printf("pcontrol %d\n", MPI_Pcontrol(8, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0));
    printf("sendrecv %d\n", MPI_Sendrecv((void *)1, 2, (void *)3, 4, 5, (void *)6, 7, (void *)8,
                                         9, 10, (void *)11, (void *)12));
    mpi_barrier_(&comm, &e1);
    mpi_barrier__(&comm, &e2);
    MPI_BARRIER(&comm, &e3);
    mpi_barrier_f08_(&comm, &e4);
    printf("fortran %d %d %d %d\n", e1, e2, e3, e4);
}

/* By PMPI_ names: of the program, and of the library in and out of a wrapper. */
static void pmpi(void)
{
    int comm = 2, e, rank;
    printf("barrier %d\n", PMPI_Barrier((void *)2));
    printf("init %d\n", MPI_Init(NULL, NULL));
    MPI_Comm_rank((void *)3, &rank);
    printf("rank %d", rank);
    PMPI_Comm_rank((void *)3, &rank);
    printf(" %d\n", rank);
    printf("barrier %d %d\n", MPI_Barrier((void *)2), PMPI_Barrier((void *)3));
    pmpi_barrier_(&comm, &e);
    printf("fortran %d\n", e);
}

static void *one_barrier(void *start)
{
    pthread_barrier_wait(start);
    return (void *)(long)MPI_Barrier((void *)1);
}

static void threads(void)
{
    pthread_t t[8];
    pthread_barrier_t start;
    long sum = 0;
    pthread_barrier_init(&start, NULL, 8);
    for (int i = 0; i < 8; i++) pthread_create(&t[i], NULL, one_barrier, &start);
    for (int i = 0; i < 8; i++) {
        void *r;
        pthread_join(t[i], &r);
        sum += (long)r;
    }
    printf("sum %ld\n", sum);
}

static void fork_after(void)
{
    MPI_Barrier((void *)1);
    fflush(stdout);
    if (fork() == 0) {
        printf("child %d %d\n", MPI_Barrier((void *)1), MPI_Barrier((void *)3));
        exit(0);
    }
    wait(NULL);
    printf("parent %d\n", MPI_Barrier((void *)2));
}

void calls(const char *what)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(what, "all")) all();
    if (!strcmp(what, "pmpi")) pmpi();
    if (!strcmp(what, "threads")) threads();
    if (!strcmp(what, "fork")) fork_after();
    if (!strcmp(what, "missing")) MPI_Send(NULL);
}
