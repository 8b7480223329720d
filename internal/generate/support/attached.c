/* Memory for dynamic windows is at the same address in all processes. */
#define attached_at ADDRESS

static void reserve_attached(void)
{
    void *at = (void *)attached_at;
    if (mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != at) {
        perror("memory for dynamic windows");
        exit(1);
    }
}
