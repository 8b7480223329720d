/* Threads that do not end before MPI does. */
static int ended; /* MPI has */

static void stay(void)
{
    pthread_mutex_lock(&turn);
    while (!ended)
        pthread_cond_wait(&changed, &turn);
    pthread_mutex_unlock(&turn);
}

static void end_threads(int first, int last)
{
    pthread_mutex_lock(&turn);
    ended = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&turn);
    join_threads(first, last);
}
