/* Reading arguments: what a parameter's value is in either language, which
 * sentinels it can be, how long an array is. */
#ifndef VALUES_H
#define VALUES_H

#include "logger.h"

enum value_sentinel { S_NONE, S_IN_PLACE, S_BOTTOM, S_NULL };

/* Value of element i at p, as the C binding would hold it. */
int64_t value_at(const log_call *c, const log_param *p, const void *address, int64_t i);
/* Value of scalar parameter k. */
int64_t value_of(const log_call *c, int k);
/* Address of array or by-address parameter k, or NULL if it is a sentinel. */
const void *value_address(const log_call *c, int k);
int64_t value_length(const log_call *c, int k);
enum value_sentinel value_sentinel(const log_call *c, int k);
int value_ignored_status(const log_call *c, int k);
/* Is parameter k significant in this call? */
int value_significant(const log_call *c, int k);
/* Bytes of an element of a datatype. */
int64_t value_type_size(MPI_Datatype type);

#endif
