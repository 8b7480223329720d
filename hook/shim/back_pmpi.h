/* Which calls are the program's, and which the MPI library's. */
#ifndef EFG_BACK_PMPI_H
#define EFG_BACK_PMPI_H

#include "back.h"

#pragma GCC visibility push(hidden)

/* find knows libraries outside the global scope. */
void bk_pmpi_start(void *(*find)(const char *name));
/* Reports whether a call that returns there is one of the MPI library, of a part
 * of it in a separate file, or of this library. */
bool bk_in_mpi(const void *caller);
/* Reports whether a call by a PMPI_ name from there is to be recorded. If so, it
 * is entered. */
int bk_enter_pmpi(const void *caller);

#pragma GCC visibility pop

#endif
