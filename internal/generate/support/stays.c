/* Threads that are there until the process ends. */
static int staying;

static void stay(void)
{
    pthread_mutex_lock(&turn);
    staying++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&turn);
    for (;;)
        pause();
}

/* Waits until so many threads have made their last calls. */
static void wait_until_stay(int count)
{
    pthread_mutex_lock(&turn);
    while (staying < count)
        pthread_cond_wait(&changed, &turn);
    pthread_mutex_unlock(&turn);
}
