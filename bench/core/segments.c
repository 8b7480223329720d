/* Creates real segments of simulated ranks: reads the ranks' events from standard
 * input (written by package internal/testing/sim) and feeds each rank's to the recorder, in
 * a separate process. Environment: as for the recorder.
 *
 * Input: little-endian words. For each rank: rank, size, world, number of words
 * that follow, and these words, which are records of
 *   1 kind word nwords nbytes words… bytes (padded to a word)     a definition
 *   2 n words… nvec (index len elements…)…                          an event
 */
#include "efg_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t define(const uint64_t *in)
{
    uint64_t nw = in[2], nb = in[3];
    efg_def((enum efg_def_kind)in[0], in[1], in + 4, (uint32_t)nw, in + 4 + nw, (uint32_t)nb);
    return 4 + nw + (nb + 7) / 8;
}

static size_t add(efg_stream *t, const uint64_t *in)
{
    size_t n = in[0], i = 1 + n;
    memcpy(t->w, in + 1, n * 8);
    for (uint64_t nvec = in[i++]; nvec > 0; nvec--) {
        efg_vec_word(t, (unsigned)in[i], in + i + 2, (uint32_t)in[i + 1]);
        i += 2 + in[i + 1];
    }
    efg_call_begin(t);
    efg_call_end(t);
    efg_record(t);
    return i;
}

/* One rank. Returns the exit status. */
static int record(const uint64_t head[4], const uint64_t *in)
{
    efg_process_info info = {.rank = (int32_t)head[0], .size = (int32_t)head[1], .world = head[2],
                             .family = "openmpi", .version = "simulated"};
    if (efg_start(&info) != 0)
        return 1;
    for (size_t i = 0; i < head[3];) {
        efg_stream *t;
        if (in[i] == 1) {
            i += 1 + define(in + i + 1);
            continue;
        }
        if ((t = efg_enter()) == NULL)
            return 1;
        i += 1 + add(t, in + i + 1);
        efg_leave(t);
    }
    efg_end(EFG_END_FINALIZED);
    return 0;
}

int main(void)
{
    uint64_t head[4];
    int status = 0;
    while (status == 0 && fread(head, sizeof head, 1, stdin) == 1) {
        uint64_t *in = malloc(head[3] * 8);
        if (in == NULL || fread(in, 8, head[3], stdin) != head[3])
            return 2;
        pid_t child = fork();
        if (child == 0)
            _exit(record(head, in));
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 2;
        free(in);
    }
    return status == 0 ? 0 : 3;
}
