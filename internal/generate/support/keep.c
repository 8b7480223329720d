/* Equal handles have one variable: while it is in use, the next one takes its place. */
static PER_THREAD struct { TYPE handle; int number; } kept_NAME[KEPT];
static PER_THREAD int kept_NAMEs;

static void keep_NAME(int number)
{
    if (NAME[number] == NULL_HANDLE)
        return;
    if (kept_NAMEs == KEPT) {
        fprintf(stderr, "more than %d handles of kind NAME\n", KEPT);
        exit(1);
    }
    kept_NAME[kept_NAMEs].handle = NAME[number];
    kept_NAME[kept_NAMEs++].number = number;
}

static void restore_NAME(int number)
{
    for (int i = kept_NAMEs - 1; i >= 0; i--)
        if (kept_NAME[i].number == number) {
            NAME[number] = kept_NAME[i].handle;
            kept_NAME[i] = kept_NAME[--kept_NAMEs];
            return;
        }
}
