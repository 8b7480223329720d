/* A tool that counts calls. -DNEXT: it hands them on to what comes next, not by their
 * PMPI_ names. */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

int tool_calls;

#ifdef NEXT
#define REAL(name) ((__typeof__(&P##name))dlsym(RTLD_NEXT, #name))
#else
#define REAL(name) P##name
#endif

/* Two functions deep, the second one with a frame of a size of its own each time. */
__attribute__((noinline))
static int send(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)
{
    char *room = alloca(16 + 48 * (size_t)(tool_calls % 5));
    memset(room, 1, 16);
    int rc = REAL(MPI_Send)(b, n, t, to, tag, c);
    tool_calls += *room;
    return rc;
}

int MPI_Send(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)
{
    int rc = send(b, n, t, to, tag, c);
    tool_calls++;
    return rc;
}

int MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
    int rc = REAL(MPI_Irecv)(b, n, t, from, tag, c, r);
    tool_calls++;
    return rc;
}

int MPI_Wait(MPI_Request *r, MPI_Status *s)
{
    int rc = REAL(MPI_Wait)(r, s);
    tool_calls++;
    return rc;
}

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
    int rc = REAL(MPI_Allreduce)(in, out, n, t, op, c);
    tool_calls++;
    return rc;
}

/* It is not to see calls by this name. */
int MPI_Barrier(MPI_Comm c)
{
    tool_calls += 1000;
    return REAL(MPI_Barrier)(c);
}

int MPI_Init(int *argc, char ***argv)
{
    tool_calls += 1000;
    return REAL(MPI_Init)(argc, argv);
}
