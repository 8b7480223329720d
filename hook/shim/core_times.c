/* What a node's times need besides counting; see seg_node_stats. A bin's low byte
 * is with its node. Its high part has a place before the byte is full, so that no
 * time is lost when there is no more space: the stream stops before. */
#include "core_fast.h"

static inline uint32_t *high_part(const seg_node_stats *t, unsigned bin)
{
    const seg_high_bins *h = efg_ptr(t->high);
    seg_bin_group *group = efg_ptr(h->groups[bin / SEG_GROUP_BINS]);
    return &group->high[bin % SEG_GROUP_BINS];
}

/* Makes room for a bin's high part. */
static int widen(seg_node_stats *t, unsigned bin)
{
    if (t->high == 0) {
        seg_high_bins *h = efg_alloc(sizeof *h, SEG_REF_UNIT);
        if (h == NULL)
            return -1;
        t->high = efg_ref(h);
    }
    uint32_t *group = &((seg_high_bins *)efg_ptr(t->high))->groups[bin / SEG_GROUP_BINS];
    if (*group == 0) {
        seg_bin_group *b = efg_alloc(sizeof *b, SEG_REF_UNIT);
        if (b == NULL)
            return -1;
        *group = efg_ref(b);
    }
    return 0;
}

/* Takes a bin from 255 to 256. What of it is done can be told at each moment. */
static void carry(seg_node_stats *t, unsigned bin)
{
    seg_high_bins *h = efg_ptr(t->high);
    uint32_t *high = high_part(t, bin);
    h->carry_to = *high + 1;
    efg_publish_barrier();
    h->carry = bin + 1;
    efg_publish_barrier();
    *high = h->carry_to;
    t->low[bin] = 0;
    efg_publish_barrier();
    h->carry = 0;
}

static int count(seg_node_stats *t, unsigned bin)
{
    if (t->low[bin] == 255) {
        carry(t, bin);
        return 0;
    }
    return ++t->low[bin] == 128 ? widen(t, bin) : 0;
}

int times_carry(seg_node_stats *t, unsigned dur, unsigned gap)
{
    efg_clock_refresh(efg_ticks());
    int err = count(t, dur) | count(t, gap);
    t->count++;
    return err;
}

static inline unsigned long_bin(uint64_t ticks)
{
    return bin_of(ticks < efg_bins.last ? ticks : efg_bins.last - 1);
}

/* A clock that went back has made a time that is negative. */
static inline uint64_t not_negative(uint64_t ticks) { return (int64_t)ticks < 0 ? 0 : ticks; }

int times_long(seg_node_stats *t, uint64_t dur, uint64_t gap)
{
    efg_clock_refresh(efg_ticks());
    dur = not_negative(dur);
    gap = not_negative(gap);
    return times_count(t, dur, gap, long_bin(dur), SEG_BINS + long_bin(gap));
}
