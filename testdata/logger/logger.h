/* Runtime of the tests' linear logger: writes a line for each MPI call of the
 * program, and continues it if callbacks made calls meanwhile. It shares nothing with efg; see README.md in the folder above.
 * The wrappers that use it are generated from mpi.h by internal/testing/groundtruth.
 */
#ifndef LOGGER_H
#define LOGGER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum log_lang { LANG_C, LANG_FORTRAN, LANG_F08, LANG_F08TS };

enum log_kind {
    K_IGNORE, K_INT, K_AINT, K_COUNT, K_OFFSET, K_BUFFER, K_STRING, K_STATUS, K_KEYVAL,
    K_COMM, K_TYPE, K_OP, K_GROUP, K_WIN, K_FILE, K_INFO, K_REQUEST, K_MESSAGE,
    K_ERRHANDLER, K_SESSION
};

enum log_flag {
    F_IN = 1, F_OUT = 2, F_ARRAY = 4,
    F_POINTER = 8,     /* the C binding passes a scalar by address */
    F_LOGICAL = 16,
    F_ROOT = 32,       /* significant at the root only */
    F_INPLACE = 64,    /* not significant if sendbuf is MPI_IN_PLACE */
    F_INDEX = 128,     /* counted from 1 in Fortran */
    F_FINT = 256,      /* INTEGER in Fortran though MPI_Aint in C */
    F_SIZE = 512       /* datatype whose size is logged with the call */
};

/* How long an array is. a and b are parameter numbers. */
enum log_length {
    L_NONE, L_PARAM, L_PARAM3, L_SIZE, L_LOCAL, L_INDEGREE, L_OUTDEGREE, L_NDIMS,
    L_SUM, L_LAST, L_NNEIGHBORS
};

typedef struct log_param {
    const char *name;
    uint8_t kind, length;
    int8_t a, b;
    uint16_t flags;
} log_param;

typedef struct log_proc {
    const char *name;       /* without MPI_ and without _c */
    const log_param *params;
    int n;
    int8_t comm, root, flag;    /* parameter numbers or -1 */
} log_proc;

typedef struct log_call {
    const log_proc *proc;
    int64_t *args;          /* values (C scalars) or addresses */
    const size_t *lengths;  /* hidden string lengths, Fortran only */
    struct log_thread *thread;
    enum log_lang lang;
    MPI_Status one;         /* stands in for an ignored status */
    MPI_Status *many;       /* the same for arrays; malloc'ed */
    int depth;              /* number of calls of the thread that it is inside of */
} log_call;

#define LOG_FRAME __builtin_frame_address(0)

/* Writes the inputs. Returns 0 if the call is not to be logged (made by the
 * MPI library, or in a forked child). Replaces ignored statuses in args. */
int log_begin(log_call *c, const log_proc *p, enum log_lang lang, int64_t *args,
              const size_t *lengths, void *frame);
/* Writes the outputs and ends the line; returns rc. */
int log_end(log_call *c, int rc);
/* Next definition of a symbol after this library. Ends the process if there is none. */
void *log_real(const char *name);
/* Definition of a symbol of the MPI library, or NULL. */
void *log_symbol(const char *name);
/* Generated: calls add for each named constant of mpi.h. */
void log_constants(void (*add)(const char *name, int64_t value));
/* Generated: soname of the MPI library, for programs that load it locally. */
extern const char *const log_library;

#ifdef OMPI_PREDEFINED_GLOBAL
/* Predefined handles are data symbols of the MPI library: find them by name,
 * or a process without MPI could not load the logger. */
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)log_symbol(#global))
#endif

#endif
