/* Callsites as words; see core_place.c. */
#ifndef EFG_CORE_PLACE_H
#define EFG_CORE_PLACE_H

#include <stdint.h>

/* Word of the call that returns to the address; defines it. 0: in no module.
 * Slow: callers cache the result by address. */
uint64_t efg_place_word(const void *return_address);

/* The same for the last call of a call path, of which parent is the rest: a word,
 * or one of the constants EFG_ABSENT, there is no rest, and EFG_UNKNOWN. */
uint64_t efg_place_below(const void *return_address, uint64_t parent);

#endif
