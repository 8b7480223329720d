/* One call up the stack, for x86-64: according to the tables for exceptions
 * (.eh_frame) of the function at a call. Only the rules that compilers generate
 * for C, C++ and Fortran are supported: the frame is at an offset from the stack
 * pointer or from a register that calls preserve, or at an address that is stored
 * at such an offset (functions that align their stack); and these registers are
 * saved at offsets from the frame or from %rbp. That costs a lookup in a table of
 * places; the general way would cost a microsecond per call. */
#define _GNU_SOURCE
#include "core_internal.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { BP = 6, SP = 7, RA = 16, NONE = 0xff };     /* numbers of registers */
enum { DATAREL_S4 = 0x3b, PCREL_S4 = 0x1b, UDATA4 = 0x03 };
enum { OP_DEREF = 0x06, OP_BREG0 = 0x70, OP_BREG31 = 0x8f };

typedef efg_rule rule;          /* reg is a number, 0 for an unknown frame */

/* The place of a register among those that calls preserve, NONE for others. */
static unsigned kept(uint64_t reg)
{
    static const uint8_t place[EFG_KEPT] = {BP, 3, 12, 13, 14, 15};
    for (unsigned i = 0; i < EFG_KEPT; i++)
        if (place[i] == reg)
            return i;
    return NONE;
}

/* ---- reading ---- */

typedef struct reader { const uint8_t *p, *end; bool failed; } reader;

static uint64_t fixed(reader *r, size_t n)
{
    uint64_t v = 0;
    if ((size_t)(r->end - r->p) < n) {
        r->failed = true;
        r->p = r->end;
        return 0;
    }
    memcpy(&v, r->p, n);
    r->p += n;
    return v;
}

static uint64_t leb(reader *r, bool is_signed)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)fixed(r, 1);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && byte & 0x40)
        v |= ~(uint64_t)0 << shift;
    return v;
}

static uint64_t uleb(reader *r) { return leb(r, false); }
static int64_t sleb(reader *r) { return (int64_t)leb(r, true); }

static void skip(reader *r, uint64_t n)
{
    if ((uint64_t)(r->end - r->p) < n)
        r->failed = true;
    r->p = r->failed ? r->end : r->p + n;
}

/* An address stored as its distance from where it is stored. */
static uintptr_t pcrel(reader *r)
{
    uintptr_t at = (uintptr_t)r->p;
    return at + (uintptr_t)(intptr_t)(int32_t)fixed(r, 4);
}

/* The entry at an address: its content after the length. */
static reader entry_at(uintptr_t at)
{
    uint32_t length;
    memcpy(&length, (const void *)at, sizeof length);
    reader r = {(const uint8_t *)at + 4, (const uint8_t *)at + 4, length == 0xffffffff};
    if (!r.failed)
        r.end += length;
    return r;
}

/* ---- the entries of a function ---- */

typedef struct common { uint64_t code; int64_t data; reader program; } common;

/* Reads a common entry (CIE). False: it is not of a supported kind. */
static bool read_common(uintptr_t at, common *c)
{
    reader r = entry_at(at);
    bool known = fixed(&r, 4) == 0 && fixed(&r, 1) == 1;
    const char *kinds = (const char *)r.p;
    while (fixed(&r, 1) != 0 && !r.failed)
        ;
    c->code = uleb(&r);
    c->data = sleb(&r);
    known = known && fixed(&r, 1) == RA && *kinds == 'z';
    uint64_t length = uleb(&r);
    c->program = r;
    skip(&c->program, length);
    if (r.failed || !known)
        return false;
    for (const char *k = kinds + 1; *k != '\0'; k++) {
        uint8_t encoding = *k == 'S' ? 0xff : (uint8_t)fixed(&r, 1);
        if (*k == 'P')
            skip(&r, (encoding & 7) == 0 || (encoding & 7) == 4 ? 8 : 4);
        else if (*k == 'R' ? encoding != PCREL_S4 : *k != 'L')
            return false;
    }
    return !r.failed && !c->program.failed;
}

/* ---- the instructions of a function: how its frame changes ---- */

typedef struct machine {
    reader r;
    const common *c;
    uint64_t at, until;         /* from the function's start */
    rule now, saved, first;     /* saved: by remember_state; one level */
    bool has_saved;
} machine;

/* The register is saved at a distance from the frame, or from %rbp. */
static void saved_at(machine *m, uint64_t reg, int64_t distance, bool from_bp)
{
    unsigned k = kept(reg);
    if (reg == RA && (distance != -8 || from_bp))
        m->r.failed = true;
    if (k == NONE)
        return;
    m->now.saved |= (uint8_t)(1u << k);
    m->now.lost &= (uint8_t)~(1u << k);
    m->now.from_bp = (uint8_t)((m->now.from_bp & ~(1u << k)) | (unsigned)from_bp << k);
    m->now.at[k] = (int32_t)distance;
}

static void factored_at(machine *m, uint64_t reg, int64_t factored)
{
    saved_at(m, reg, factored * m->c->data, false);
}

/* Where it is saved cannot be said. */
static void lost(machine *m, uint64_t reg)
{
    unsigned k = kept(reg);
    m->r.failed |= reg == RA;
    if (k != NONE)
        m->now.lost |= (uint8_t)(1u << k);
}

static void undefined(machine *m, uint64_t reg)
{
    if (reg == RA)
        m->now.outermost = true;
    else
        lost(m, reg);
}

/* The register has the value that it has in the function's caller. */
static void same(machine *m, uint64_t reg)
{
    unsigned k = kept(reg);
    if (k == NONE)
        return;
    m->now.saved &= (uint8_t)~(1u << k);
    m->now.lost &= (uint8_t)~(1u << k);
}

static void initially(machine *m, uint64_t reg)
{
    unsigned k = kept(reg);
    same(m, reg);
    if (k != NONE && m->first.saved >> k & 1)
        saved_at(m, reg, m->first.at[k], m->first.from_bp >> k & 1);
}

static void frame_is(machine *m, uint64_t reg, int64_t offset)
{
    m->now.reg = reg == SP || kept(reg) != NONE ? (uint8_t)reg : 0;
    m->now.frame = (int32_t)offset;
    m->now.stored = false;
}

/* The instructions whose operand is in the same byte. */
static void short_step(machine *m, uint8_t op)
{
    switch (op >> 6) {
    case 1: m->at += (op & 0x3f) * m->c->code; break;                        /* advance_loc */
    case 2: factored_at(m, op & 0x3f, (int64_t)uleb(&m->r)); break;          /* offset */
    default: initially(m, op & 0x3f); break;                                 /* restore */
    }
}

static void remember(machine *m)
{
    m->r.failed |= m->has_saved;
    m->saved = m->now;
    m->has_saved = true;
}

static void restore(machine *m)
{
    m->r.failed |= !m->has_saved;
    m->now = m->saved;
    m->has_saved = false;
}

/* Reads an expression that is a register plus an offset, perhaps dereferenced.
 * False if it is another one. */
static bool simple_expression(reader *r, uint64_t *reg, int64_t *offset, bool *deref)
{
    uint64_t length = uleb(r);
    reader e = *r;
    skip(r, length);
    e.end = r->p;
    if (r->failed || e.p == e.end)
        return false;
    uint8_t op = (uint8_t)fixed(&e, 1);
    *reg = (uint64_t)(op - OP_BREG0);
    *offset = sleb(&e);
    *deref = e.p < e.end && *e.p == OP_DEREF;
    e.p += *deref;
    return op >= OP_BREG0 && op <= OP_BREG31 && !e.failed && e.p == e.end;
}

static void frame_expression(machine *m)
{
    uint64_t reg;
    int64_t offset;
    bool deref;
    if (simple_expression(&m->r, &reg, &offset, &deref)) {
        frame_is(m, reg, offset);
        m->now.stored = deref;
    } else {
        m->now.reg = 0;
    }
}

/* A register is saved at an address. */
static void saved_expression(machine *m)
{
    uint64_t saved = uleb(&m->r), reg;
    int64_t offset;
    bool deref;
    if (simple_expression(&m->r, &reg, &offset, &deref) && reg == BP && !deref)
        saved_at(m, saved, offset, true);
    else
        lost(m, saved);
}

/* A register has a value. */
static void value_expression(machine *m)
{
    lost(m, uleb(&m->r));
    skip(&m->r, uleb(&m->r));
}

static void step(machine *m)
{
    reader *r = &m->r;
    uint8_t op = (uint8_t)fixed(r, 1);
    uint64_t reg;
    if (op >> 6 != 0) {
        short_step(m, op);
        return;
    }
    switch (op) {
    case 0x00: break;                                                   /* nop */
    case 0x02: m->at += fixed(r, 1) * m->c->code; break;                /* advance_loc1 */
    case 0x03: m->at += fixed(r, 2) * m->c->code; break;
    case 0x04: m->at += fixed(r, 4) * m->c->code; break;
    case 0x05: reg = uleb(r); factored_at(m, reg, (int64_t)uleb(r)); break; /* offset_extended */
    case 0x06: initially(m, uleb(r)); break;
    case 0x07: undefined(m, uleb(r)); break;
    case 0x08: same(m, uleb(r)); break;                                 /* same_value */
    case 0x09: reg = uleb(r); uleb(r); lost(m, reg); break;             /* register */
    case 0x0a: remember(m); break;
    case 0x0b: restore(m); break;
    case 0x0c: reg = uleb(r); frame_is(m, reg, (int64_t)uleb(r)); break;    /* def_cfa */
    case 0x0d: frame_is(m, uleb(r), m->now.frame); break;
    case 0x0e: m->now.frame = (int32_t)uleb(r); break;
    case 0x0f: frame_expression(m); break;                              /* def_cfa_expression */
    case 0x10: saved_expression(m); break;
    case 0x11: reg = uleb(r); factored_at(m, reg, sleb(r)); break;
    case 0x12: reg = uleb(r); frame_is(m, reg, sleb(r) * m->c->data); break;
    case 0x13: m->now.frame = (int32_t)(sleb(r) * m->c->data); break;
    case 0x14: reg = uleb(r); uleb(r); lost(m, reg); break;             /* val_offset */
    case 0x15: reg = uleb(r); sleb(r); lost(m, reg); break;
    case 0x16: value_expression(m); break;
    case 0x2e: uleb(r); break;                                          /* GNU_args_size */
    default: r->failed = true; break;
    }
}

static void run(machine *m, reader program)
{
    m->r = program;
    while (!m->r.failed && m->r.p < m->r.end && m->at <= m->until) {
        step(m);
        if (m->at > m->until)
            break;
    }
}

/* The rule at pc of the function whose entry (FDE) is at an address. */
static rule rule_in(uintptr_t entry, uintptr_t pc)
{
    common c;
    reader r = entry_at(entry);
    uintptr_t here = (uintptr_t)r.p;
    uint32_t back = (uint32_t)fixed(&r, 4);
    if (r.failed || back == 0 || !read_common(here - back, &c))
        return (rule){0};
    uintptr_t start = pcrel(&r);
    uint64_t size = fixed(&r, 4);
    skip(&r, uleb(&r));
    if (r.failed || pc - start >= size)
        return (rule){0};
    machine m = {.c = &c, .until = pc - start};
    run(&m, c.program);
    m.first = m.now;
    if (!m.r.failed)
        run(&m, r);
    return m.r.failed ? (rule){0} : m.now;
}

/* ---- the tables of a library ---- */

typedef struct query { uintptr_t pc, table; size_t size; } query;

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    query *q = arg;
    bool here = false;
    const ElfW(Phdr) *table = NULL;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        here |= ph->p_type == PT_LOAD && q->pc - info->dlpi_addr - ph->p_vaddr < ph->p_memsz;
        if (ph->p_type == PT_GNU_EH_FRAME)
            table = ph;
    }
    if (here && table != NULL) {
        q->table = info->dlpi_addr + table->p_vaddr;
        q->size = table->p_memsz;
    }
    return here;
}

/* The address of the entry of the function at pc, from the sorted table made by
 * the linker; 0 if there is none. */
static uintptr_t entry_of(uintptr_t pc)
{
    query q = {.pc = pc};
    dl_iterate_phdr(visit, &q);
    if (q.table == 0)
        return 0;
    reader r = {(const uint8_t *)q.table, (const uint8_t *)q.table + q.size, false};
    const uint32_t kinds = PCREL_S4 << 8 | UDATA4 << 16 | (uint32_t)DATAREL_S4 << 24 | 1;
    if (fixed(&r, 4) != kinds)
        return 0;
    fixed(&r, 4);
    uint64_t n = fixed(&r, 4), low = 0;
    if (r.failed || n == 0 || (uint64_t)(r.end - r.p) / 8 < n)
        return 0;
    const int32_t (*rows)[2] = (const void *)r.p;
    int64_t at = (int64_t)(pc - q.table);
    for (uint64_t high = n; high - low > 1; ) {
        uint64_t mid = low + (high - low) / 2;
        if (rows[mid][0] <= at)
            low = mid;
        else
            high = mid;
    }
    return rows[low][0] <= at ? q.table + (uintptr_t)(intptr_t)rows[low][1] : 0;
}

/* ---- unwinding ---- */

static const rule *rule_at(uintptr_t pc, efg_rules *rules)
{
    unsigned i = (unsigned)(pc * 0x9E3779B185EBCA87ull >> 56);
    if (rules->pc[i] != pc) {
        uintptr_t entry = entry_of(pc - 1);     /* the call is in the function, what follows may not be */
        rules->rule[i] = entry != 0 ? rule_in(entry, pc - 1) : (rule){0};
        rules->pc[i] = pc;
    }
    return &rules->rule[i];
}

_Static_assert(sizeof ((efg_rules *)0)->pc / sizeof(uintptr_t) == 256, "the hash has 8 bits");

/* Enters that what is found depends on a word of the stack; NULL is none. */
static void note(efg_frame *f, const uintptr_t *word)
{
    efg_reads *log = f->reads;
    if (log == NULL || word == NULL)
        return;
    if (log->n < log->cap)
        log->word[log->n] = word;
    log->n++;
}

/* The word at an address, NULL if it is not in the part of the stack that may be
 * read. */
static const uintptr_t *word_at(const efg_frame *f, uintptr_t at)
{
    bool ours = at % sizeof at == 0 && at >= f->low && at <= f->high - sizeof at;
    return ours ? (const uintptr_t *)at : NULL;
}

/* The value of a register that rules may refer to; false if it is unknown. */
static bool value_of(efg_frame *f, unsigned reg, uintptr_t *value)
{
    unsigned k = kept(reg);
    if (reg == SP) {
        *value = f->sp;
        return true;
    }
    if (k == NONE || f->from[k] == NULL)
        return false;
    note(f, f->from[k]);
    *value = *f->from[k];
    return true;
}

/* Where the caller's stack pointer will be; 0: unknown. */
static uintptr_t frame_of(efg_frame *f, const rule *r)
{
    uintptr_t at;
    if (!value_of(f, r->reg, &at))
        return 0;
    at += (uintptr_t)(intptr_t)r->frame;
    if (!r->stored)
        return at;
    const uintptr_t *word = word_at(f, at);
    note(f, word);
    return word != NULL ? *word : 0;
}

/* The places where the caller's registers are saved. */
static void restore_registers(efg_frame *f, const rule *r, uintptr_t up)
{
    uintptr_t bp = 0;
    bool has_bp = r->from_bp != 0 && value_of(f, BP, &bp);
    for (unsigned k = 0; k < EFG_KEPT; k++) {
        bool by_bp = r->from_bp >> k & 1;
        if (r->lost >> k & 1)
            f->from[k] = NULL;
        else if (r->saved >> k & 1)
            f->from[k] = by_bp && !has_bp ? NULL : word_at(f, (by_bp ? bp : up) + (uintptr_t)(intptr_t)r->at[k]);
    }
}

efg_frame efg_caller_frame(const void *frame)
{
    const uintptr_t *w = frame;
    return (efg_frame){
        .pc = w[1], .sp = (uintptr_t)(w + 2), .low = (uintptr_t)w, .high = UINTPTR_MAX & ~(uintptr_t)7, .from = {w},
    };
}

efg_step efg_unwind(efg_frame *f, efg_rules *rules)
{
    const rule *r = rule_at(f->pc, rules);
    if (r->outermost)
        return EFG_OUTERMOST;
    uintptr_t up = r->reg != 0 ? frame_of(f, r) : 0;
    const uintptr_t *ra = up > f->sp ? word_at(f, up - sizeof up) : NULL;
    if (ra == NULL)
        return EFG_LOST;
    restore_registers(f, r, up);
    note(f, ra);
    if (*ra == 0)
        return EFG_OUTERMOST;
    f->pc = *ra;
    f->sp = up;
    return EFG_UP;
}
