#ifndef PATHS_H
#define PATHS_H

#include "output.h"

/* Reports whether call paths are wanted; ends the process if libunwind, which is
 * loaded only then, is not there. */
int paths_wanted(void);
/* Writes the line of a call of a procedure, with the functions that are active. */
void paths_put(out_file *o, const char *procedure);

#endif
