/* Generated from internal/replay/layout.go by hook/internal/gen/layout. Do not edit. */
#ifndef EFG_REPLAY_LAYOUT_H
#define EFG_REPLAY_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define RPL_MAGIC UINT64_C(0x1796c7072676665)
#define RPL_OPTION_PLACES UINT64_C(0x1)
#define RPL_OPTION_TOTALS UINT64_C(0x2)
#define RPL_OPTION_STOP UINT64_C(0x4)
#define RPL_OPTION_ABORT UINT64_C(0x8)
#define RPL_OPTION_STOP_AT_END UINT64_C(0x10)
#define RPL_STATE_FREE UINT64_C(0x1)
#define RPL_FOLLOWS UINT64_C(0x1)
#define RPL_ENDED UINT64_C(0x2)
#define RPL_DIVERGED UINT64_C(0x3)
#define RPL_FREED UINT64_C(0x4)
#define RPL_FREE UINT64_C(0x0)
#define RPL_UNDEFINED UINT64_C(0x1)
#define RPL_NOTHING UINT64_C(0x2)
#define RPL_FOUND UINT64_C(0x3)

typedef struct rpl_header {
    uint64_t magic;
    uint64_t size;
    uint32_t options;
    uint32_t state;
    uint32_t worlds;
    uint32_t streams;
    uint32_t names;
    uint32_t pad0;
    uint64_t name_table;
} rpl_header;
_Static_assert(sizeof(rpl_header) == 48, "rpl_header");
_Static_assert(offsetof(rpl_header, magic) == 0, "rpl_header.magic");
_Static_assert(offsetof(rpl_header, size) == 8, "rpl_header.size");
_Static_assert(offsetof(rpl_header, options) == 16, "rpl_header.options");
_Static_assert(offsetof(rpl_header, state) == 20, "rpl_header.state");
_Static_assert(offsetof(rpl_header, worlds) == 24, "rpl_header.worlds");
_Static_assert(offsetof(rpl_header, streams) == 28, "rpl_header.streams");
_Static_assert(offsetof(rpl_header, names) == 32, "rpl_header.names");
_Static_assert(offsetof(rpl_header, pad0) == 36, "rpl_header.pad0");
_Static_assert(offsetof(rpl_header, name_table) == 40, "rpl_header.name_table");

typedef struct rpl_world {
    uint32_t size;
    uint32_t first;
    uint64_t name;
} rpl_world;
_Static_assert(sizeof(rpl_world) == 16, "rpl_world");
_Static_assert(offsetof(rpl_world, size) == 0, "rpl_world.size");
_Static_assert(offsetof(rpl_world, first) == 4, "rpl_world.first");
_Static_assert(offsetof(rpl_world, name) == 8, "rpl_world.name");

typedef struct rpl_stream {
    uint32_t world;
    uint32_t rank;
    uint32_t thread;
    uint32_t command_size;
    uint64_t command;
    uint64_t events;
    uint64_t calls;
    uint64_t calls_size;
    uint64_t rows;
    uint32_t row_count;
    uint32_t whole;
    uint64_t followed;
    uint64_t forced;
    uint32_t state;
    uint32_t pad0;
} rpl_stream;
_Static_assert(sizeof(rpl_stream) == 88, "rpl_stream");
_Static_assert(offsetof(rpl_stream, world) == 0, "rpl_stream.world");
_Static_assert(offsetof(rpl_stream, rank) == 4, "rpl_stream.rank");
_Static_assert(offsetof(rpl_stream, thread) == 8, "rpl_stream.thread");
_Static_assert(offsetof(rpl_stream, command_size) == 12, "rpl_stream.command_size");
_Static_assert(offsetof(rpl_stream, command) == 16, "rpl_stream.command");
_Static_assert(offsetof(rpl_stream, events) == 24, "rpl_stream.events");
_Static_assert(offsetof(rpl_stream, calls) == 32, "rpl_stream.calls");
_Static_assert(offsetof(rpl_stream, calls_size) == 40, "rpl_stream.calls_size");
_Static_assert(offsetof(rpl_stream, rows) == 48, "rpl_stream.rows");
_Static_assert(offsetof(rpl_stream, row_count) == 56, "rpl_stream.row_count");
_Static_assert(offsetof(rpl_stream, whole) == 60, "rpl_stream.whole");
_Static_assert(offsetof(rpl_stream, followed) == 64, "rpl_stream.followed");
_Static_assert(offsetof(rpl_stream, forced) == 72, "rpl_stream.forced");
_Static_assert(offsetof(rpl_stream, state) == 80, "rpl_stream.state");
_Static_assert(offsetof(rpl_stream, pad0) == 84, "rpl_stream.pad0");

typedef struct rpl_row {
    uint64_t call;
    uint64_t site;
    uint64_t object;
    uint64_t text;
    uint64_t values;
    uint64_t values_size;
    uint64_t value_count;
    uint64_t words;
    uint64_t compared;
    uint64_t names;
} rpl_row;
_Static_assert(sizeof(rpl_row) == 80, "rpl_row");
_Static_assert(offsetof(rpl_row, call) == 0, "rpl_row.call");
_Static_assert(offsetof(rpl_row, site) == 8, "rpl_row.site");
_Static_assert(offsetof(rpl_row, object) == 16, "rpl_row.object");
_Static_assert(offsetof(rpl_row, text) == 24, "rpl_row.text");
_Static_assert(offsetof(rpl_row, values) == 32, "rpl_row.values");
_Static_assert(offsetof(rpl_row, values_size) == 40, "rpl_row.values_size");
_Static_assert(offsetof(rpl_row, value_count) == 48, "rpl_row.value_count");
_Static_assert(offsetof(rpl_row, words) == 56, "rpl_row.words");
_Static_assert(offsetof(rpl_row, compared) == 64, "rpl_row.compared");
_Static_assert(offsetof(rpl_row, names) == 72, "rpl_row.names");

#endif
