/* Threads wait for calls of others: each counts those of its calls that others wait for. */
static long long calls_made[THREADS];

/* The thread has made a call that others wait for. */
static void made(int thread)
{
    pthread_mutex_lock(&turn);
    calls_made[thread]++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&turn);
}

/* Waits until a thread has made so many of the calls that others wait for. */
static void wait_for(int thread, long long calls)
{
    pthread_mutex_lock(&turn);
    while (calls_made[thread] < calls)
        pthread_cond_wait(&changed, &turn);
    pthread_mutex_unlock(&turn);
}
