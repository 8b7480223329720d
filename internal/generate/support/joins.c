static void join_threads(int first, int last)
{
    for (int i = first; i <= last; i++)
        pthread_join(threads[i], NULL);
}
