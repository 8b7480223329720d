/* Call paths: where a call returns to, where its function returns to, and so on up
 * to main or the start of the thread. A path is a callsite and the path of the
 * call of its function, so the words of a process's paths form trees.
 *
 * Unwinding notes which words of the stack its result depends on: return
 * addresses, and registers saved on the stack where a frame's size is not fixed
 * (alloca, arrays of variable length). The result is a function of the return
 * address, the frame of the wrapper and these words alone. So for a call that
 * returns to the same address, with the same frame, it is enough to compare them:
 * if they are the same, the path is. This takes nanoseconds, and it needs no
 * assumption about what the program does with its stack.
 *
 * Only the thread's own stack is read. On another one (user-level threads, signal
 * stacks), where the tables for exceptions end (code compiled at run time), and where a
 * frame depends on a register that is not on the stack, the rest of the path is unknown. */
#define _GNU_SOURCE
#include "core_internal.h"
#include "core_place.h"
#include "gen/constants.h"
#include "xxh64.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMOS = 1024,               /* lists of memos */
    BLOCK = 32 << 10,           /* bytes for memos allocated at a time */
    MAX_BLOCKS = 128,           /* more are not kept: a program's stack may vary without end */
    MAX_PATHS = 1000,           /* of a callsite: later ones are the callsite alone */
    STEP = 4,                   /* words compared at a time */
    START = 8                   /* frames of the system above main, at most */
};

/* A word of the stack, at a distance from the frame in words. */
typedef struct on_stack { uint64_t word, distance; } on_stack;

/* A known path: of a call that returns to the address, while the words are on the
 * stack. */
typedef struct memo {
    struct memo *then;          /* the one that was next the last time */
    struct memo *next;          /* with the same hash */
    const void *address;
    const char *frame;
    uint64_t path;
    bool by_tool;
    uint32_t n;                 /* a multiple of STEP: the last word is repeated */
    on_stack stack[];
} memo;

/* A path by its last call and the rest. */
typedef struct branch {
    const void *address;        /* NULL: free */
    uint64_t parent, path;
} branch;

struct efg_paths {
    unsigned depth;
    uintptr_t low, high;        /* the thread's stack */
    memo *last;
    memo *memos[MEMOS];
    char *blocks[MAX_BLOCKS];
    uint32_t nblocks, block_used;
    branch *branches;           /* open addressing */
    uint32_t size, used;
    const void **call;          /* of the path being formed: return addresses, the innermost first */
    efg_reads reads;
    efg_rules rules;
};

static void find_stack(efg_paths *p)
{
    pthread_attr_t a;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &a) != 0)
        return;
    if (pthread_attr_getstack(&a, &low, &size) == 0) {
        p->low = (uintptr_t)low;
        p->high = ((uintptr_t)low + size) & ~(uintptr_t)(sizeof(uintptr_t) - 1);
    }
    pthread_attr_destroy(&a);
}

static void paths_free(efg_paths *p)
{
    free(p->call);
    free(p->reads.word);
    efg_table_free(p->branches, p->size * sizeof *p->branches);
    efg_table_free(p, sizeof *p);
}

efg_paths *efg_paths_new(unsigned depth)
{
    efg_paths *p = efg_table_new(sizeof *p);
    if (p == NULL)
        return NULL;
    p->depth = depth;
    p->size = 256;
    p->reads.cap = 2 * (depth + START) + 8;
    p->branches = efg_table_new(p->size * sizeof *p->branches);
    p->call = calloc(depth + START + 1, sizeof *p->call);
    p->reads.word = calloc(p->reads.cap, sizeof *p->reads.word);
    if (p->branches == NULL || p->call == NULL || p->reads.word == NULL) {
        paths_free(p);
        return NULL;
    }
    find_stack(p);
    return p;
}

/* ---- paths by their calls ---- */

static branch *branch_slot(branch *table, uint32_t size, const void *address, uint64_t parent)
{
    uint32_t i = (uint32_t)(((uint64_t)(uintptr_t)address * XXP1 ^ parent) * XXP2 >> 32) & (size - 1);
    while (table[i].address != NULL && (table[i].address != address || table[i].parent != parent))
        i = (i + 1) & (size - 1);
    return &table[i];
}

static int grow_branches(efg_paths *p)
{
    branch *table = efg_table_new(2 * (size_t)p->size * sizeof *table);
    if (table == NULL)
        return -1;
    for (uint32_t i = 0; i < p->size; i++)
        if (p->branches[i].address != NULL)
            *branch_slot(table, 2 * p->size, p->branches[i].address, p->branches[i].parent) = p->branches[i];
    efg_table_free(p->branches, p->size * sizeof *table);
    p->branches = table;
    p->size *= 2;
    return 0;
}

/* The entry; a new one has path 0. NULL when out of memory. */
static branch *branch_of(efg_paths *p, const void *address, uint64_t parent)
{
    branch *b = branch_slot(p->branches, p->size, address, parent);
    if (b->address != NULL)
        return b;
    if (2 * p->used >= p->size) {
        if (grow_branches(p) != 0)
            return NULL;
        b = branch_slot(p->branches, p->size, address, parent);
    }
    p->used++;
    *b = (branch){address, parent, 0};
    return b;
}

/* Parents that no path has. NOT_RECORDED: of a path that is cut there. */
enum { NOT_RECORDED = 0, COUNT = 1 };

/* The word of a path whose last call returns to the address; 0 if that is in no
 * module. */
static uint64_t path_of(efg_paths *p, const void *address, uint64_t parent)
{
    branch *b = branch_of(p, address, parent);
    if (b != NULL && b->path != 0)
        return b->path;
    uint64_t path = parent == NOT_RECORDED ? efg_place_word(address) : efg_place_below(address, parent);
    if (b != NULL)
        b->path = path;
    return path;
}

/* The parent of paths below one. Code in no module, and all around it, is unknown. */
static uint64_t as_parent(uint64_t path)
{
    return path != 0 ? path : EFG_CONST(EFG_K_EFG_UNKNOWN);
}

/* Reports whether p->call[0 .. n), below parent, is new. */
static bool is_new(const efg_paths *p, unsigned n, uint64_t parent)
{
    while (n-- > 0) {
        const branch *b = branch_slot(p->branches, p->size, p->call[n], parent);
        if (b->address == NULL)
            return true;
        parent = as_parent(b->path);
    }
    return false;
}

/* Reports whether the callsite may have one more path. */
static bool may_add(efg_paths *p)
{
    branch *count = branch_of(p, p->call[0], COUNT);
    return count != NULL && count->path++ < MAX_PATHS;
}

/* The word of p->call[0 .. n), whose outermost call is below parent. */
static uint64_t intern(efg_paths *p, unsigned n, uint64_t parent)
{
    if (is_new(p, n, parent) && !may_add(p))
        return path_of(p, p->call[0], NOT_RECORDED);
    while (--n > 0)
        parent = as_parent(path_of(p, p->call[n], parent));
    return path_of(p, p->call[0], parent);
}

/* ---- unwinding ---- */

/* Moves from the wrapper's caller to the function that the call returns to: the
 * wrapper of a Fortran name is called by a function of this library. */
static bool to_address(efg_paths *p, efg_frame *f, const void *address)
{
    for (unsigned i = 0; f->pc != (uintptr_t)address; i++)
        if (i == 2 || efg_unwind(f, &p->rules) != EFG_UP)
            return false;
    return true;
}

/* Leaves the libraries preloaded before this one. False: the call is a tool's own. */
static bool leave_tools(efg_paths *p, efg_frame *f)
{
    for (unsigned i = 0; efg_in_tool((const void *)f->pc); i++)
        if (i == p->depth || efg_unwind(f, &p->rules) != EFG_UP)
            return false;
    return !efg_in_system((const void *)f->pc);
}

/* Removes the functions that call main, or the thread's function. */
static unsigned without_start(const efg_paths *p, unsigned n)
{
    if (n > 1)
        n--;                    /* the outermost function, which no other has called */
    while (n > 1 && efg_in_system(p->call[n - 1]))
        n--;
    return n;
}

/* Unwinds, and returns the word of the path. */
static uint64_t unwound(efg_paths *p, efg_frame *f)
{
    unsigned n = 0;
    efg_step step = EFG_UP;
    for (; step == EFG_UP && n < p->depth + START; step = efg_unwind(f, &p->rules))
        p->call[n++] = (const void *)f->pc;
    if (step == EFG_UP)
        n = p->depth + 1;
    if (step == EFG_OUTERMOST)
        n = without_start(p, n);
    if (n > p->depth)
        return intern(p, p->depth, NOT_RECORDED);
    return intern(p, n, step == EFG_OUTERMOST ? EFG_ABSENT : EFG_CONST(EFG_K_EFG_UNKNOWN));
}

static uint64_t unwind_path(efg_paths *p, const void *address, const void *frame, bool *by_tool)
{
    *by_tool = false;
    p->reads.n = 0;
    if ((uintptr_t)frame < p->low || (uintptr_t)frame + 16 > p->high) {
        p->call[0] = address;
        return intern(p, 1, EFG_CONST(EFG_K_EFG_UNKNOWN));
    }
    efg_frame f = efg_caller_frame(frame);
    f.high = p->high;
    f.reads = &p->reads;
    if (f.pc != (uintptr_t)address)
        p->reads.word[p->reads.n++] = (const uintptr_t *)frame + 1;
    if (!to_address(p, &f, address)) {
        p->call[0] = address;
        return intern(p, 1, EFG_CONST(EFG_K_EFG_UNKNOWN));
    }
    if (efg_in_tool(address)) {
        efg_frame own = f;
        *by_tool = leave_tools(p, &f);
        if (!*by_tool)
            f = own;
    }
    return unwound(p, &f);
}

/* ---- memos ---- */

static inline bool fits(const memo *m, const void *address, const char *frame)
{
    if (m->address != address || m->frame != frame)
        return false;
    const uint64_t *w = (const uint64_t *)frame;
    uint64_t d = 0;
    for (const on_stack *s = m->stack, *end = s + m->n; s != end; s += STEP) {
        d |= s[0].word ^ w[s[0].distance];
        d |= s[1].word ^ w[s[1].distance];
        d |= s[2].word ^ w[s[2].distance];
        d |= s[3].word ^ w[s[3].distance];
    }
    return d == 0;
}

static memo **memos_of(efg_paths *p, const void *address, const void *frame)
{
    uint64_t h = ((uint64_t)(uintptr_t)address * XXP1 ^ (uintptr_t)frame) * XXP2;
    return &p->memos[(h >> 40) % MEMOS];
}

static void forget_memos(efg_paths *p)
{
    memset(p->memos, 0, sizeof p->memos);
    p->last = NULL;
    p->nblocks = p->block_used = 0;
}

/* Space for a memo of n words; NULL when out of memory. */
static memo *new_memo(efg_paths *p, uint32_t n)
{
    uint32_t bytes = (uint32_t)(sizeof(memo) + n * sizeof ((memo *)0)->stack[0]);
    if (bytes > BLOCK)
        return NULL;
    if (p->nblocks == 0 || p->block_used + bytes > BLOCK) {
        if (p->nblocks == MAX_BLOCKS)
            forget_memos(p);
        if (p->blocks[p->nblocks] == NULL && (p->blocks[p->nblocks] = efg_table_new(BLOCK)) == NULL)
            return NULL;
        p->nblocks++;
        p->block_used = 0;
    }
    memo *m = (memo *)(p->blocks[p->nblocks - 1] + p->block_used);
    p->block_used += bytes;
    return m;
}

/* Keeps what was found. NULL: it depends on more than can be kept. */
static memo *keep(efg_paths *p, const void *address, const char *frame, uint64_t path, bool by_tool)
{
    const efg_reads *r = &p->reads;
    uint32_t n = r->n == 0 ? 0 : (r->n + STEP - 1) / STEP * STEP;
    memo *m = r->n <= r->cap ? new_memo(p, n) : NULL;
    if (m == NULL)
        return NULL;
    memo **list = memos_of(p, address, frame);
    *m = (memo){.next = *list, .address = address, .frame = frame, .path = path, .by_tool = by_tool, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        const uintptr_t *word = r->word[i < r->n ? i : r->n - 1];
        m->stack[i].word = *word;
        m->stack[i].distance = (uint64_t)(word - (const uintptr_t *)frame);
    }
    return *list = m;
}

/* The memo that fits, moved to the front of its list. */
static memo *find_memo(efg_paths *p, const void *address, const char *frame)
{
    memo **list = memos_of(p, address, frame);
    for (memo **at = list, *m; (m = *at) != NULL; at = &m->next)
        if (fits(m, address, frame)) {
            *at = m->next;
            m->next = *list;
            return *list = m;
        }
    return NULL;
}

/* The path of a call that the last one does not lead to, as far as that is known. */
static __attribute__((noinline)) uint64_t unexpected(efg_paths *p, const void *address, const void *frame, bool *by_tool)
{
    memo *last = p->last, *m = find_memo(p, address, frame);
    if (m == NULL) {
        uint64_t path = unwind_path(p, address, frame, by_tool);
        if ((m = keep(p, address, frame, path, *by_tool)) == NULL)
            return path;
        last = p->last;         /* NULL if all memos before were dropped */
    }
    if (last != NULL)
        last->then = m;
    p->last = m;
    *by_tool = m->by_tool;
    return m->path;
}

uint64_t efg_path_word(efg_paths *p, const void *address, const void *frame, bool *by_tool)
{
    memo *m = p->last != NULL ? p->last->then : NULL;
    if (unlikely(m == NULL || !fits(m, address, frame)))
        return unexpected(p, address, frame, by_tool);
    p->last = m;
    *by_tool = m->by_tool;
    return m->path;
}
