/* Waits for so many seconds. */
static void compute(double seconds)
{
    struct timespec t = { .tv_sec = (time_t)seconds };
    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
}
