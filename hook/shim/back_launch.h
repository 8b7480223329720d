/* What the launcher says about this process. */
#ifndef EFG_BACK_LAUNCH_H
#define EFG_BACK_LAUNCH_H

#include "back.h"

#pragma GCC visibility push(hidden)

efg_process_info bk_launched_as(void);

#pragma GCC visibility pop

#endif
