/* Generated from internal/segment/layout.go by hook/internal/gen/layout. Do not edit. */
#ifndef EFG_LAYOUT_H
#define EFG_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define EFG_LAYOUT_HASH UINT64_C(0x1e16136532470e2d)
#define SEG_MAGIC 0xa47455300474645
#define SEG_VERSION 0x2
#define SEG_REF_UNIT 0x10
#define SEG_HEADER_SIZE 0x1000
#define SEG_MAXW 0x20
#define SEG_SEQ_LEVELS 0x3
#define SEG_MAX_TURNS 0x8
#define SEG_BINS 0x20
#define SEG_GROUP_BINS 0x8
#define SEG_MAX_COUNTERS 0x8
#define SEG_TALLY_BINS 0x30

typedef struct seg_anchor {
    uint64_t tick;
    uint64_t mono;
    uint64_t real;
    uint64_t width;
} seg_anchor;
_Static_assert(sizeof(seg_anchor) == 32, "seg_anchor");
_Static_assert(offsetof(seg_anchor, tick) == 0, "seg_anchor.tick");
_Static_assert(offsetof(seg_anchor, mono) == 8, "seg_anchor.mono");
_Static_assert(offsetof(seg_anchor, real) == 16, "seg_anchor.real");
_Static_assert(offsetof(seg_anchor, width) == 24, "seg_anchor.width");

typedef struct seg_counter {
    uint32_t source;
    uint32_t state;
    uint64_t config;
    uint32_t error;
    uint32_t pad0;
    uint8_t name[40];
} seg_counter;
_Static_assert(sizeof(seg_counter) == 64, "seg_counter");
_Static_assert(offsetof(seg_counter, source) == 0, "seg_counter.source");
_Static_assert(offsetof(seg_counter, state) == 4, "seg_counter.state");
_Static_assert(offsetof(seg_counter, config) == 8, "seg_counter.config");
_Static_assert(offsetof(seg_counter, error) == 16, "seg_counter.error");
_Static_assert(offsetof(seg_counter, pad0) == 20, "seg_counter.pad0");
_Static_assert(offsetof(seg_counter, name) == 24, "seg_counter.name");

typedef struct seg_header {
    uint64_t magic;
    uint64_t layout_hash;
    uint32_t version;
    uint32_t header_size;
    uint32_t pid;
    uint32_t state;
    int32_t rank;
    uint32_t size;
    uint64_t world;
    uint64_t mapped;
    uint64_t used;
    uint64_t start_real;
    uint64_t tick_mult;
    seg_anchor start;
    uint32_t nlater;
    uint32_t pad1;
    seg_anchor later[2];
    uint64_t dropped;
    uint32_t time_mode;
    uint32_t options;
    uint32_t demote;
    uint32_t nstreams;
    uint32_t streams;
    uint32_t ndefs;
    uint32_t defs;
    uint32_t full;
    uint32_t command_len;
    uint32_t time_error;
    uint8_t family[16];
    uint8_t host[64];
    uint8_t mpi[256];
    uint8_t command[2048];
    uint32_t machines;
    uint32_t pad2;
    uint8_t job[128];
    uint64_t time_budget;
    uint32_t ncounters;
    uint32_t values;
    seg_counter counters[8];
    uint32_t forks;
    uint32_t fork_pid;
    uint8_t fork_call[48];
} seg_header;
_Static_assert(sizeof(seg_header) == 3336, "seg_header");
_Static_assert(offsetof(seg_header, magic) == 0, "seg_header.magic");
_Static_assert(offsetof(seg_header, layout_hash) == 8, "seg_header.layout_hash");
_Static_assert(offsetof(seg_header, version) == 16, "seg_header.version");
_Static_assert(offsetof(seg_header, header_size) == 20, "seg_header.header_size");
_Static_assert(offsetof(seg_header, pid) == 24, "seg_header.pid");
_Static_assert(offsetof(seg_header, state) == 28, "seg_header.state");
_Static_assert(offsetof(seg_header, rank) == 32, "seg_header.rank");
_Static_assert(offsetof(seg_header, size) == 36, "seg_header.size");
_Static_assert(offsetof(seg_header, world) == 40, "seg_header.world");
_Static_assert(offsetof(seg_header, mapped) == 48, "seg_header.mapped");
_Static_assert(offsetof(seg_header, used) == 56, "seg_header.used");
_Static_assert(offsetof(seg_header, start_real) == 64, "seg_header.start_real");
_Static_assert(offsetof(seg_header, tick_mult) == 72, "seg_header.tick_mult");
_Static_assert(offsetof(seg_header, start) == 80, "seg_header.start");
_Static_assert(offsetof(seg_header, nlater) == 112, "seg_header.nlater");
_Static_assert(offsetof(seg_header, pad1) == 116, "seg_header.pad1");
_Static_assert(offsetof(seg_header, later) == 120, "seg_header.later");
_Static_assert(offsetof(seg_header, dropped) == 184, "seg_header.dropped");
_Static_assert(offsetof(seg_header, time_mode) == 192, "seg_header.time_mode");
_Static_assert(offsetof(seg_header, options) == 196, "seg_header.options");
_Static_assert(offsetof(seg_header, demote) == 200, "seg_header.demote");
_Static_assert(offsetof(seg_header, nstreams) == 204, "seg_header.nstreams");
_Static_assert(offsetof(seg_header, streams) == 208, "seg_header.streams");
_Static_assert(offsetof(seg_header, ndefs) == 212, "seg_header.ndefs");
_Static_assert(offsetof(seg_header, defs) == 216, "seg_header.defs");
_Static_assert(offsetof(seg_header, full) == 220, "seg_header.full");
_Static_assert(offsetof(seg_header, command_len) == 224, "seg_header.command_len");
_Static_assert(offsetof(seg_header, time_error) == 228, "seg_header.time_error");
_Static_assert(offsetof(seg_header, family) == 232, "seg_header.family");
_Static_assert(offsetof(seg_header, host) == 248, "seg_header.host");
_Static_assert(offsetof(seg_header, mpi) == 312, "seg_header.mpi");
_Static_assert(offsetof(seg_header, command) == 568, "seg_header.command");
_Static_assert(offsetof(seg_header, machines) == 2616, "seg_header.machines");
_Static_assert(offsetof(seg_header, pad2) == 2620, "seg_header.pad2");
_Static_assert(offsetof(seg_header, job) == 2624, "seg_header.job");
_Static_assert(offsetof(seg_header, time_budget) == 2752, "seg_header.time_budget");
_Static_assert(offsetof(seg_header, ncounters) == 2760, "seg_header.ncounters");
_Static_assert(offsetof(seg_header, values) == 2764, "seg_header.values");
_Static_assert(offsetof(seg_header, counters) == 2768, "seg_header.counters");
_Static_assert(offsetof(seg_header, forks) == 3280, "seg_header.forks");
_Static_assert(offsetof(seg_header, fork_pid) == 3284, "seg_header.fork_pid");
_Static_assert(offsetof(seg_header, fork_call) == 3288, "seg_header.fork_call");

typedef struct seg_published {
    uint64_t hash;
    uint32_t node;
    uint32_t pad0;
} seg_published;
_Static_assert(sizeof(seg_published) == 16, "seg_published");
_Static_assert(offsetof(seg_published, hash) == 0, "seg_published.hash");
_Static_assert(offsetof(seg_published, node) == 8, "seg_published.node");
_Static_assert(offsetof(seg_published, pad0) == 12, "seg_published.pad0");

typedef struct seg_turn {
    uint64_t run;
    uint64_t runs;
    uint32_t from;
    uint32_t to;
} seg_turn;
_Static_assert(sizeof(seg_turn) == 24, "seg_turn");
_Static_assert(offsetof(seg_turn, run) == 0, "seg_turn.run");
_Static_assert(offsetof(seg_turn, runs) == 8, "seg_turn.runs");
_Static_assert(offsetof(seg_turn, from) == 16, "seg_turn.from");
_Static_assert(offsetof(seg_turn, to) == 20, "seg_turn.to");

typedef struct seg_stream {
    uint64_t events;
    seg_published pub[2];
    uint64_t dropped;
    uint64_t call_tick;
    uint32_t next;
    uint32_t thread;
    uint32_t nodes;
    uint32_t state;
    uint64_t last_tick;
    uint64_t tid;
    uint64_t first_tick;
    uint64_t times_end;
    uint32_t times;
    uint32_t inner;
    uint64_t pad1;
    uint64_t pad2;
    uint64_t words[32];
    uint64_t made;
    uint64_t entered;
    seg_turn turns[8];
} seg_stream;
_Static_assert(sizeof(seg_stream) == 592, "seg_stream");
_Static_assert(offsetof(seg_stream, events) == 0, "seg_stream.events");
_Static_assert(offsetof(seg_stream, pub) == 8, "seg_stream.pub");
_Static_assert(offsetof(seg_stream, dropped) == 40, "seg_stream.dropped");
_Static_assert(offsetof(seg_stream, call_tick) == 48, "seg_stream.call_tick");
_Static_assert(offsetof(seg_stream, next) == 56, "seg_stream.next");
_Static_assert(offsetof(seg_stream, thread) == 60, "seg_stream.thread");
_Static_assert(offsetof(seg_stream, nodes) == 64, "seg_stream.nodes");
_Static_assert(offsetof(seg_stream, state) == 68, "seg_stream.state");
_Static_assert(offsetof(seg_stream, last_tick) == 72, "seg_stream.last_tick");
_Static_assert(offsetof(seg_stream, tid) == 80, "seg_stream.tid");
_Static_assert(offsetof(seg_stream, first_tick) == 88, "seg_stream.first_tick");
_Static_assert(offsetof(seg_stream, times_end) == 96, "seg_stream.times_end");
_Static_assert(offsetof(seg_stream, times) == 104, "seg_stream.times");
_Static_assert(offsetof(seg_stream, inner) == 108, "seg_stream.inner");
_Static_assert(offsetof(seg_stream, pad1) == 112, "seg_stream.pad1");
_Static_assert(offsetof(seg_stream, pad2) == 120, "seg_stream.pad2");
_Static_assert(offsetof(seg_stream, words) == 128, "seg_stream.words");
_Static_assert(offsetof(seg_stream, made) == 384, "seg_stream.made");
_Static_assert(offsetof(seg_stream, entered) == 392, "seg_stream.entered");
_Static_assert(offsetof(seg_stream, turns) == 400, "seg_stream.turns");

typedef struct seg_inner {
    uint64_t call_tick;
    uint32_t inner;
    uint32_t pad0;
    uint64_t words[32];
} seg_inner;
_Static_assert(sizeof(seg_inner) == 272, "seg_inner");
_Static_assert(offsetof(seg_inner, call_tick) == 0, "seg_inner.call_tick");
_Static_assert(offsetof(seg_inner, inner) == 8, "seg_inner.inner");
_Static_assert(offsetof(seg_inner, pad0) == 12, "seg_inner.pad0");
_Static_assert(offsetof(seg_inner, words) == 16, "seg_inner.words");

typedef struct seg_node {
    uint64_t run;
    uint64_t hash;
    uint32_t mask;
    uint32_t pred;
    uint32_t cur;
    uint16_t live;
    uint16_t n;
    uint32_t index;
    uint32_t next;
    uint32_t edges;
    uint32_t runs;
    uint32_t attrs;
    uint32_t counts;
    uint64_t priv;
} seg_node;
_Static_assert(sizeof(seg_node) == 64, "seg_node");
_Static_assert(offsetof(seg_node, run) == 0, "seg_node.run");
_Static_assert(offsetof(seg_node, hash) == 8, "seg_node.hash");
_Static_assert(offsetof(seg_node, mask) == 16, "seg_node.mask");
_Static_assert(offsetof(seg_node, pred) == 20, "seg_node.pred");
_Static_assert(offsetof(seg_node, cur) == 24, "seg_node.cur");
_Static_assert(offsetof(seg_node, live) == 28, "seg_node.live");
_Static_assert(offsetof(seg_node, n) == 30, "seg_node.n");
_Static_assert(offsetof(seg_node, index) == 32, "seg_node.index");
_Static_assert(offsetof(seg_node, next) == 36, "seg_node.next");
_Static_assert(offsetof(seg_node, edges) == 40, "seg_node.edges");
_Static_assert(offsetof(seg_node, runs) == 44, "seg_node.runs");
_Static_assert(offsetof(seg_node, attrs) == 48, "seg_node.attrs");
_Static_assert(offsetof(seg_node, counts) == 52, "seg_node.counts");
_Static_assert(offsetof(seg_node, priv) == 56, "seg_node.priv");

typedef struct seg_node_stats {
    uint64_t count;
    uint64_t dur_sum;
    uint64_t dur_min;
    uint64_t dur_max;
    uint64_t gap_sum;
    uint64_t gap_min;
    uint64_t gap_max;
    uint32_t high;
    uint32_t pad0;
    uint8_t low[64];
} seg_node_stats;
_Static_assert(sizeof(seg_node_stats) == 128, "seg_node_stats");
_Static_assert(offsetof(seg_node_stats, count) == 0, "seg_node_stats.count");
_Static_assert(offsetof(seg_node_stats, dur_sum) == 8, "seg_node_stats.dur_sum");
_Static_assert(offsetof(seg_node_stats, dur_min) == 16, "seg_node_stats.dur_min");
_Static_assert(offsetof(seg_node_stats, dur_max) == 24, "seg_node_stats.dur_max");
_Static_assert(offsetof(seg_node_stats, gap_sum) == 32, "seg_node_stats.gap_sum");
_Static_assert(offsetof(seg_node_stats, gap_min) == 40, "seg_node_stats.gap_min");
_Static_assert(offsetof(seg_node_stats, gap_max) == 48, "seg_node_stats.gap_max");
_Static_assert(offsetof(seg_node_stats, high) == 56, "seg_node_stats.high");
_Static_assert(offsetof(seg_node_stats, pad0) == 60, "seg_node_stats.pad0");
_Static_assert(offsetof(seg_node_stats, low) == 64, "seg_node_stats.low");

typedef struct seg_tally {
    uint64_t sum;
    uint64_t min;
    uint64_t max;
    uint32_t bins[48];
} seg_tally;
_Static_assert(sizeof(seg_tally) == 216, "seg_tally");
_Static_assert(offsetof(seg_tally, sum) == 0, "seg_tally.sum");
_Static_assert(offsetof(seg_tally, min) == 8, "seg_tally.min");
_Static_assert(offsetof(seg_tally, max) == 16, "seg_tally.max");
_Static_assert(offsetof(seg_tally, bins) == 24, "seg_tally.bins");

typedef struct seg_node_counter {
    uint64_t count;
    uint64_t pad0;
    seg_tally call;
    seg_tally before;
} seg_node_counter;
_Static_assert(sizeof(seg_node_counter) == 448, "seg_node_counter");
_Static_assert(offsetof(seg_node_counter, count) == 0, "seg_node_counter.count");
_Static_assert(offsetof(seg_node_counter, pad0) == 8, "seg_node_counter.pad0");
_Static_assert(offsetof(seg_node_counter, call) == 16, "seg_node_counter.call");
_Static_assert(offsetof(seg_node_counter, before) == 232, "seg_node_counter.before");

typedef struct seg_high_bins {
    uint32_t groups[8];
    uint32_t carry;
    uint32_t carry_to;
    uint64_t pad0;
} seg_high_bins;
_Static_assert(sizeof(seg_high_bins) == 48, "seg_high_bins");
_Static_assert(offsetof(seg_high_bins, groups) == 0, "seg_high_bins.groups");
_Static_assert(offsetof(seg_high_bins, carry) == 32, "seg_high_bins.carry");
_Static_assert(offsetof(seg_high_bins, carry_to) == 36, "seg_high_bins.carry_to");
_Static_assert(offsetof(seg_high_bins, pad0) == 40, "seg_high_bins.pad0");

typedef struct seg_bin_group {
    uint32_t high[8];
} seg_bin_group;
_Static_assert(sizeof(seg_bin_group) == 32, "seg_bin_group");
_Static_assert(offsetof(seg_bin_group, high) == 0, "seg_bin_group.high");

typedef struct seg_edge {
    uint32_t to;
    uint32_t next;
    uint32_t index;
    uint32_t varies;
    uint64_t runs;
    uint64_t steps;
} seg_edge;
_Static_assert(sizeof(seg_edge) == 32, "seg_edge");
_Static_assert(offsetof(seg_edge, to) == 0, "seg_edge.to");
_Static_assert(offsetof(seg_edge, next) == 4, "seg_edge.next");
_Static_assert(offsetof(seg_edge, index) == 8, "seg_edge.index");
_Static_assert(offsetof(seg_edge, varies) == 12, "seg_edge.varies");
_Static_assert(offsetof(seg_edge, runs) == 16, "seg_edge.runs");
_Static_assert(offsetof(seg_edge, steps) == 24, "seg_edge.steps");

typedef struct seg_varies {
    uint64_t fixed;
    uint64_t count;
} seg_varies;
_Static_assert(sizeof(seg_varies) == 16, "seg_varies");
_Static_assert(offsetof(seg_varies, fixed) == 0, "seg_varies.fixed");
_Static_assert(offsetof(seg_varies, count) == 8, "seg_varies.count");

typedef struct seg_attr {
    uint32_t values;
    uint32_t elems;
} seg_attr;
_Static_assert(sizeof(seg_attr) == 8, "seg_attr");
_Static_assert(offsetof(seg_attr, values) == 0, "seg_attr.values");
_Static_assert(offsetof(seg_attr, elems) == 4, "seg_attr.elems");

typedef struct seg_seq_state {
    uint64_t n;
    uint64_t nbytes;
    uint32_t d[3];
    uint32_t pad0;
    uint64_t m[3];
} seg_seq_state;
_Static_assert(sizeof(seg_seq_state) == 56, "seg_seq_state");
_Static_assert(offsetof(seg_seq_state, n) == 0, "seg_seq_state.n");
_Static_assert(offsetof(seg_seq_state, nbytes) == 8, "seg_seq_state.nbytes");
_Static_assert(offsetof(seg_seq_state, d) == 16, "seg_seq_state.d");
_Static_assert(offsetof(seg_seq_state, pad0) == 28, "seg_seq_state.pad0");
_Static_assert(offsetof(seg_seq_state, m) == 32, "seg_seq_state.m");

typedef struct seg_seq {
    uint32_t sel;
    uint32_t flags;
    uint32_t first;
    uint32_t turns;
    uint64_t priv;
    seg_seq_state state[2];
} seg_seq;
_Static_assert(sizeof(seg_seq) == 136, "seg_seq");
_Static_assert(offsetof(seg_seq, sel) == 0, "seg_seq.sel");
_Static_assert(offsetof(seg_seq, flags) == 4, "seg_seq.flags");
_Static_assert(offsetof(seg_seq, first) == 8, "seg_seq.first");
_Static_assert(offsetof(seg_seq, turns) == 12, "seg_seq.turns");
_Static_assert(offsetof(seg_seq, priv) == 16, "seg_seq.priv");
_Static_assert(offsetof(seg_seq, state) == 24, "seg_seq.state");

typedef struct seg_chunk {
    uint32_t next;
    uint32_t cap;
} seg_chunk;
_Static_assert(sizeof(seg_chunk) == 8, "seg_chunk");
_Static_assert(offsetof(seg_chunk, next) == 0, "seg_chunk.next");
_Static_assert(offsetof(seg_chunk, cap) == 4, "seg_chunk.cap");

typedef struct seg_def {
    uint32_t next;
    uint32_t kind;
    uint64_t word;
    uint32_t nwords;
    uint32_t nbytes;
    uint64_t pad0;
} seg_def;
_Static_assert(sizeof(seg_def) == 32, "seg_def");
_Static_assert(offsetof(seg_def, next) == 0, "seg_def.next");
_Static_assert(offsetof(seg_def, kind) == 4, "seg_def.kind");
_Static_assert(offsetof(seg_def, word) == 8, "seg_def.word");
_Static_assert(offsetof(seg_def, nwords) == 16, "seg_def.nwords");
_Static_assert(offsetof(seg_def, nbytes) == 20, "seg_def.nbytes");
_Static_assert(offsetof(seg_def, pad0) == 24, "seg_def.pad0");

#endif
