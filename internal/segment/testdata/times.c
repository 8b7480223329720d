/* Records events whose times are given; with an argument, kills itself after so many. Reads words from standard input: for each
 * event its callsite, the gap before it and its duration, in nanoseconds. */
#include "core_internal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    uint64_t left = argc > 1 ? strtoull(argv[1], NULL, 10) : UINT64_MAX;
    uint64_t in[3], now = 0;
    efg_process_info info = {.size = 1, .family = "test", .version = ""};
    if (efg_start(&info) != 0)
        return 1;
    efg_clock_set_rate(efg_header->tick_mult = (uint64_t)1 << 32);  /* a tick is a nanosecond, */
    efg_header->options &= ~8u;                                     /* of CLOCK_MONOTONIC */
    while (fread(in, sizeof in, 1, stdin) == 1) {
        if (left-- == 0)
            raise(SIGKILL);
        efg_stream *t = efg_enter();
        if (t == NULL)
            return 1;
        t->w[0] = 1 | 3u << 24;
        t->w[1] = in[0];
        t->w[2] = EFG_ABSENT;
        efg_call_begin(t);
        if (now == 0)           /* where the stream's clock began */
            now = ((seg_stream *)efg_ptr(efg_header->streams))->first_tick;
        t->t0 = now += in[1];
        t->t1 = now += in[2];
        efg_record(t);
        efg_leave(t);
    }
    efg_end(EFG_END_FINALIZED);
    return 0;
}
