/* Integers that may be constants of one ABI, and error classes. */
#include "back_const.h"

uint64_t bk_rank_slow(int64_t v)
{
    if (v == MPI_ANY_SOURCE) return K(MPI_ANY_SOURCE);
    if (v == MPI_PROC_NULL) return K(MPI_PROC_NULL);
    if (v == MPI_ROOT) return K(MPI_ROOT);
    if (v == MPI_UNDEFINED) return K(MPI_UNDEFINED);
    return (uint64_t)v;
}

uint64_t bk_tag_slow(int64_t v)
{
    return v == MPI_ANY_TAG ? K(MPI_ANY_TAG) : (uint64_t)v;
}

uint64_t bk_undefined_slow(int64_t v)
{
    return v == MPI_UNDEFINED ? K(MPI_UNDEFINED) : (uint64_t)v;
}

uint64_t bk_darg(int64_t v)
{
    return v == MPI_DISTRIBUTE_DFLT_DARG ? K(MPI_DISTRIBUTE_DFLT_DARG) : (uint64_t)v;
}

uint64_t bk_bool(int64_t v) { return v != 0; }
uint64_t bk_number(int64_t v) { return (uint64_t)v; }

enum { USER_CLASS = 0x8000 };   /* signature.UserErrorClass */

uint64_t bk_error_class_word(int64_t class_)
{
    uint64_t w = bk_enum_errclass(class_);
    return w >> 63 ? w : USER_CLASS | (uint64_t)(class_ - MPI_ERR_LASTCODE);
}

/* Reports whether the program added this code. Only while MPI_COMM_WORLD may be
 * queried. */
static bool is_added(int rc)
{
    int begun = 0, ended = 0, found = 0, *last = NULL;
    if (PMPI_Initialized(&begun) != MPI_SUCCESS || !begun) return false;
    if (PMPI_Finalized(&ended) != MPI_SUCCESS || ended) return false;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &found);
    return found && last != NULL && rc > MPI_ERR_LASTCODE && rc <= *last;
}

/* A call also returns what a callback returned, which need not be a code: asking
 * for the class of such a number is an error. */
uint64_t bk_error_class(int rc)
{
    int class_ = MPI_ERR_UNKNOWN;
    if (BK_ANY_CODE_HAS_CLASS || EFG_IS_CONST(bk_enum_errclass(rc)) || is_added(rc))
        PMPI_Error_class(rc, &class_);
    return bk_error_class_word(class_) & 0xffff;
}
