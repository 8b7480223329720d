/* Hardware counters of a test, in place of those of the machine: included before the recorder's
 * sources. The linker puts __wrap_syscall in the place of syscall. */
#ifndef PMU_H
#define PMU_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE             /* before any header */
#endif
#include <stdint.h>

#define EFG_TEST_RDPMC
uint64_t pmu_read(uint32_t counter);
#define EFG_RDPMC(counter) pmu_read(counter)

#endif
