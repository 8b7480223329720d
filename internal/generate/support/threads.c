/* The threads of a process, other than the first one. */
static pthread_t threads[THREADS];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void run_thread(int thread);

static void *begin_thread(void *number)
{
    run_thread((int)(intptr_t)number);
    return NULL;
}

static void start_threads(int first, int last)
{
    for (int i = first; i <= last; i++)
        if (pthread_create(&threads[i], NULL, begin_thread, (void *)(intptr_t)i) != 0) {
            fprintf(stderr, "cannot start thread %d\n", i);
            exit(1);
        }
}
