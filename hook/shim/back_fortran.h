/* Special addresses, in C and Fortran. */
#ifndef EFG_BACK_FORTRAN_H
#define EFG_BACK_FORTRAN_H

#include "back_thread.h"

#pragma GCC visibility push(hidden)

void bk_fortran_start(void *(*find)(const char *name));
uint64_t bk_buffer_slow(const bk_thread *b, const void *p);
extern bool bk_buffers;                  /* --buffers */

/* The word of a buffer argument. C: both libraries use small numbers or -1. */
static inline uint64_t bk_buffer(const bk_thread *b, const void *p)
{
    if (bk_likely((uintptr_t)p + 1 > 2 && b->lang == BK_C && !bk_buffers)) return 0;
    return bk_buffer_slow(b, p);
}
static inline bool bk_in_place(uint64_t word) { return word == K(MPI_IN_PLACE); }
/* MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY as constants, 0 for an array. */
uint64_t bk_weights(const bk_thread *b, const void *p);
/* Fortran: reports whether this argument is the "ignore" sentinel. */
bool bk_status_ignored_f(const bk_thread *b, const void *status);
bool bk_statuses_ignored_f(const bk_thread *b, const void *statuses);
static inline bool bk_status_ignored(const bk_thread *b, const void *status)
{
    return b->lang == BK_C ? status == MPI_STATUS_IGNORE : bk_status_ignored_f(b, status);
}
static inline bool bk_statuses_ignored(const bk_thread *b, const void *statuses)
{
    return b->lang == BK_C ? statuses == MPI_STATUSES_IGNORE : bk_statuses_ignored_f(b, statuses);
}
/* A constant passed in place of an array; 0 for an array. */
uint64_t bk_errcodes(const bk_thread *b, const void *p);
/* First word of an array descriptor: the data's address (mpi_f08, TS 29113). */
static inline const void *bk_descriptor_base(const void *d)
{
    return d != NULL ? *(const void *const *)d : NULL;
}

/* Reports whether the array that a descriptor describes is known to be contiguous. */
bool bk_descriptor_contiguous(const void *d);

#pragma GCC visibility pop

#endif
