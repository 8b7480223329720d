/* Threads make their first calls one after another, in the order in which they are numbered. Such a call may return much
 * later: it has begun when the thread has spent a millisecond of processor time since it was about to make it, or, where
 * calls wait without that, a tenth of a second has passed. */
static struct { clockid_t clock; double processor, time; int state; } entered[THREADS]; /* state 1: about to, 2: returned */

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 1e99;
}

static int has_entered(int thread)
{
    pthread_mutex_lock(&turn);
    int state = entered[thread].state;
    int waits = state == 1 && seconds_of(entered[thread].clock) < entered[thread].processor + 1e-3
                && seconds_of(CLOCK_MONOTONIC) < entered[thread].time + 0.1;
    pthread_mutex_unlock(&turn);
    return state != 0 && !waits;
}

static void enter(int thread)
{
    if (entered[thread].state != 0)
        return;
    while (thread > 1 && !has_entered(thread - 1))
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    pthread_mutex_lock(&turn);
    pthread_getcpuclockid(pthread_self(), &entered[thread].clock);
    entered[thread].processor = seconds_of(entered[thread].clock);
    entered[thread].time = seconds_of(CLOCK_MONOTONIC);
    entered[thread].state = 1;
    pthread_mutex_unlock(&turn);
}

static void has_returned(int thread)
{
    if (entered[thread].state == 2)
        return;
    pthread_mutex_lock(&turn);
    entered[thread].state = 2;
    pthread_mutex_unlock(&turn);
}
