/* Special addresses: MPI_BOTTOM, MPI_IN_PLACE and the "ignore" arguments, in C
 * and in the Fortran interfaces. */
#define _GNU_SOURCE
#include "back_fortran.h"

#include <dlfcn.h>

#if __has_include(<ISO_Fortran_binding.h>)
#include <ISO_Fortran_binding.h>
#endif

enum sentinel { BOTTOM, IN_PLACE, UNWEIGHTED, WEIGHTS_EMPTY, STATUS, STATUSES, ERRCODES,
                SENTINELS };

static const char *const names[2][SENTINELS] = {
    { BK_SYM_BOTTOM, BK_SYM_IN_PLACE, BK_SYM_UNWEIGHTED, BK_SYM_WEIGHTS_EMPTY, BK_SYM_STATUS,
      BK_SYM_STATUSES, BK_SYM_ERRCODES },
    { BK_SYM_F08_BOTTOM, BK_SYM_F08_IN_PLACE, BK_SYM_F08_UNWEIGHTED, BK_SYM_F08_WEIGHTS_EMPTY,
      BK_SYM_F08_STATUS, BK_SYM_F08_STATUSES, BK_SYM_F08_ERRCODES },
};

static void *symbols[2][SENTINELS];   /* in mpif.h or mpi_f08 */
bool bk_buffers;

/* The executable's copy takes precedence over the library's; find knows libraries
 * outside the global scope. */
void bk_fortran_start(void *(*find)(const char *name))
{
    for (int f = 0; f < 2; f++)
        for (int s = 0; s < SENTINELS; s++) {
            void *p = dlsym(RTLD_DEFAULT, names[f][s]);
            symbols[f][s] = p != NULL ? p : find(names[f][s]);
        }
    bk_buffers = efg_option_buffers();
}

static bool is(const bk_thread *b, enum sentinel s, const void *p)
{
    int f08 = b->lang == BK_F08;
    const void *at = symbols[f08][s];
    if (at == NULL || p == NULL) return false;
    bool pointer = BK_SENTINEL_IS_POINTER && !f08;
    return pointer ? *(const void *const *)at == p : at == p;
}

bool bk_status_ignored_f(const bk_thread *b, const void *status)
{
    return is(b, STATUS, status);
}

bool bk_statuses_ignored_f(const bk_thread *b, const void *statuses)
{
    return is(b, STATUSES, statuses);
}

/* In C a null pointer and MPI_BOTTOM are the same. */
bk_cold uint64_t bk_buffer_slow(const bk_thread *b, const void *p)
{
    if (b->lang == BK_C) {
        if (p == MPI_IN_PLACE) return K(MPI_IN_PLACE);
        if (p == MPI_BOTTOM) return K(MPI_BOTTOM);
    } else {
        if (is(b, IN_PLACE, p)) return K(MPI_IN_PLACE);
        if (is(b, BOTTOM, p)) return K(MPI_BOTTOM);
        if (p == NULL) return K(EFG_NULL);
    }
    return bk_buffers ? efg_buffer_word(p) : 0;
}

uint64_t bk_weights(const bk_thread *b, const void *p)
{
    if (b->lang == BK_C) {
        if (p == MPI_UNWEIGHTED) return K(MPI_UNWEIGHTED);
        return p == MPI_WEIGHTS_EMPTY ? K(MPI_WEIGHTS_EMPTY) : 0;
    }
    if (is(b, UNWEIGHTED, p)) return K(MPI_UNWEIGHTED);
    return is(b, WEIGHTS_EMPTY, p) ? K(MPI_WEIGHTS_EMPTY) : 0;
}

uint64_t bk_errcodes(const bk_thread *b, const void *p)
{
    bool ignored = b->lang == BK_C ? p == (const void *)MPI_ERRCODES_IGNORE : is(b, ERRCODES, p);
    return ignored ? K(MPI_ERRCODES_IGNORE) : 0;
}

bool bk_descriptor_contiguous(const void *d)
{
#ifdef CFI_VERSION
    const CFI_cdesc_t *a = d;
    CFI_index_t step = (CFI_index_t)a->elem_len;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i].extent != 1 && a->dim[i].sm != step) return false;
        step *= a->dim[i].extent;     /* that of the last one may be unknown */
    }
    return true;
#else
    (void)d;
    return false;
#endif
}
