/* Feeds events to the recorder, for the differential test. The argument says how
 * often the whole input is fed. Prints "ready\n" before the first event, so that
 * a parent can kill it on the way. */
#include "input.h"

int main(int argc, char **argv)
{
    read_input();
    if (start() != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    for (long times = argc > 1 ? strtol(argv[1], NULL, 10) : 1; times > 0; times--)
        feed(NULL);
    efg_end(EFG_END_FINALIZED);
    return refused != 0 ? 3 : 0;
}
