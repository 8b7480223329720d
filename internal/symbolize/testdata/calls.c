/* Marks are labels whose source lines the test knows. */
#define MARK(name) __asm__ volatile(".globl " #name "\n" #name ": nop")

int sink;

static inline __attribute__((always_inline)) void inner(int i)
{
    sink += i;
    MARK(mark_inner); /* line 9 */
}

__attribute__((noinline, section(".text.far"))) void far_away(int i)
{
    sink -= i;
    MARK(mark_far); /* line 15 */
}

__attribute__((noinline)) void outer(int i)
{
    inner(i);
    MARK(mark_outer); /* line 21 */
}

extern void procedure_(int *i);

int main(int argc, char **argv)
{
    (void)argv;
    outer(argc);
    far_away(argc);
    procedure_(&argc);
    return 0;
}
