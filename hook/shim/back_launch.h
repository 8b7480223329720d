/* What the launcher says about this process. */
#ifndef EFG_BACK_LAUNCH_H
#define EFG_BACK_LAUNCH_H

#include "back.h"

#pragma GCC visibility push(hidden)

efg_process_info bk_launched_as(void);
/* Equal in all processes of one MPI_COMM_WORLD, and different from others of the
 * machine if the launcher distinguishes them; not 0. */
uint64_t bk_launch_name(void);
/* The arguments of the process, each ended by NUL; returns the length. */
size_t bk_launch_arguments(char *text, size_t size);

#pragma GCC visibility pop

#endif
