/* Callsites as words; see core_place.c. */
#ifndef EFG_CORE_PLACE_H
#define EFG_CORE_PLACE_H

#include <stdint.h>

/* Word of the call that returns to the address; defines it. 0: in no module.
 * Slow: callers cache the result by address. */
uint64_t efg_place_word(const void *return_address);

#endif
