/* Calls by PMPI_ names. */
#ifndef EFG_BACK_PMPI_H
#define EFG_BACK_PMPI_H

#include "back.h"

#pragma GCC visibility push(hidden)

/* find knows libraries outside the global scope. */
void bk_pmpi_start(void *(*find)(const char *name));
/* Reports whether a call by a PMPI_ name from there is to be recorded. If so, it
 * is entered. */
int bk_enter_pmpi(const void *caller);

#pragma GCC visibility pop

#endif
