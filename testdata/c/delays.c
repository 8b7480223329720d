/* Ranks that are late on purpose: a late sender, a late receiver, the last at a barrier, unequal
 * work in a loop with reductions, a chain of delays over all ranks, a slow root, nonblocking
 * messages and collectives, a polling loop. Each call is logged with CLOCK_MONOTONIC before and
 * after it:
 *
 *     send DEST TAG BEFORE AFTER       also wait-send, in which the send is complete
 *     receive SOURCE TAG BEFORE AFTER  also wait-receive, poll-receive
 *     barrier|sum|reduce|bcast|wait-sum ROOT NUMBER BEFORE AFTER
 *     start-... : a call that starts one of these, or has part of a message ready; other : any other
 *
 * Arguments: directory of the logs log.RANK; delay in milliseconds. Needs 4 ranks or more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "check.h"

static FILE *out;
static int rank, ranks, number;
static long delay; /* ms */

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void late(double part)
{
	long ns = (long)(part * delay * 1000000);
	struct timespec t = {ns / 1000000000, ns % 1000000000};
	nanosleep(&t, NULL);
}

#define LOG(what, peer, tag, call)                                               \
	do {                                                                     \
		long long before = now(), after;                                 \
		call;                                                            \
		after = now();                                                   \
		fprintf(out, "%s %d %d %lld %lld\n", what, peer, tag, before, after); \
	} while (0)

static void together(void)
{
	number++;
	LOG("barrier", 0, number, MPI_Barrier(MPI_COMM_WORLD));
}

static void messages(void)
{
	int x = 0;
	if (rank == 0) {
		late(1);
		LOG("send", 1, 10, MPI_Send(&x, 1, MPI_INT, 1, 10, MPI_COMM_WORLD));
	} else if (rank == 1) {
		LOG("receive", 0, 10, MPI_Recv(&x, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	} else if (rank == 2) {
		LOG("send", 3, 11, MPI_Ssend(&x, 1, MPI_INT, 3, 11, MPI_COMM_WORLD));
	} else if (rank == 3) {
		late(1);
		LOG("receive", 2, 11, MPI_Recv(&x, 1, MPI_INT, 2, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
}

/* Each rank is late in turn, and receives what the previous one sent late. */
static void chain(void)
{
	int x = 0;
	if (rank > 0)
		LOG("receive", rank - 1, 20, MPI_Recv(&x, 1, MPI_INT, rank - 1, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	late(0.5);
	if (rank + 1 < ranks)
		LOG("send", rank + 1, 20, MPI_Send(&x, 1, MPI_INT, rank + 1, 20, MPI_COMM_WORLD));
}

static void collectives(void)
{
	double x = 1, y;
	if (rank == 2)
		late(1);
	together();
	for (int i = 0; i < 5; i++) {
		late(0.1 * rank);
		number++;
		LOG("sum", 0, number, MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
	}
	together();
	if (rank == 1)
		late(1);
	number++;
	LOG("bcast", 1, number, MPI_Bcast(&x, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD));
	together();
	if (rank == 3)
		late(1);
	number++;
	LOG("reduce", 0, number, MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
}

static void nonblocking(void)
{
	int x = 0, flag = 0;
	double v = 1, sum;
	MPI_Request q;
	if (rank == 0) {
		late(1);
		LOG("start-send", 1, 30, MPI_Isend(&x, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &q));
		LOG("wait-send", 1, 30, MPI_Wait(&q, MPI_STATUS_IGNORE));
	} else if (rank == 1) {
		LOG("start-receive", 0, 30, MPI_Irecv(&x, 1, MPI_INT, 0, 30, MPI_COMM_WORLD, &q));
		late(0.4);
		LOG("wait-receive", 0, 30, MPI_Wait(&q, MPI_STATUS_IGNORE));
	} else if (rank == 2) {
		late(1);
		LOG("send", 3, 31, MPI_Send(&x, 1, MPI_INT, 3, 31, MPI_COMM_WORLD));
	} else if (rank == 3) {
		LOG("start-receive", 2, 31, MPI_Irecv(&x, 1, MPI_INT, 2, 31, MPI_COMM_WORLD, &q));
		LOG("poll-receive", 2, 31, while (!flag) MPI_Test(&q, &flag, MPI_STATUS_IGNORE));
	}
	together();
	if (rank == 2)
		late(1);
	number++;
	LOG("start-sum", 0, number, MPI_Iallreduce(&v, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q));
	late(0.3);
	LOG("wait-sum", 0, number, MPI_Wait(&q, MPI_STATUS_IGNORE));
}

/* Partitioned messages (MPI 4) whose last part is ready late; of one the first part, too, for which the
 * receiver polls. */
static void partitioned(void)
{
#if MPI_VERSION >= 4
	int x[2] = {0}, flag = 0;
	MPI_Request q;
	if (rank == 0 || rank == 2) {
		int first = rank == 0 ? 40 : 42;
		LOG("other", 0, 0, MPI_Psend_init(x, 2, 1, MPI_INT, rank + 1, 40, MPI_COMM_WORLD, MPI_INFO_NULL, &q));
		LOG("other", 0, 0, MPI_Start(&q));
		if (rank == 2)
			late(0.7);
		LOG("start-send", rank + 1, first, MPI_Pready(0, q));
		late(1);
		LOG("start-send", rank + 1, first + 1, MPI_Pready(1, q));
		LOG("wait-send", rank + 1, first + 1, MPI_Wait(&q, MPI_STATUS_IGNORE));
	} else if (rank == 1 || rank == 3) {
		int first = rank == 1 ? 40 : 42;
		LOG("other", 0, 0, MPI_Precv_init(x, 2, 1, MPI_INT, rank - 1, 40, MPI_COMM_WORLD, MPI_INFO_NULL, &q));
		LOG("start-receive", rank - 1, first + 1, MPI_Start(&q));
		if (rank == 3)
			LOG("poll-receive", 2, first, while (!flag) MPI_Parrived(q, 0, &flag));
		LOG("wait-receive", rank - 1, first + 1, MPI_Wait(&q, MPI_STATUS_IGNORE));
	}
	if (rank < 4)
		LOG("other", 0, 0, MPI_Request_free(&q));
#endif
}

int main(int argc, char **argv)
{
	char name[4096];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	CHECK(argc > 2 && ranks >= 4);
	snprintf(name, sizeof name, "%s/log.%d", argv[1], rank);
	out = fopen(name, "w");
	CHECK(out != NULL);
	delay = atol(argv[2]);
	together();
	messages();
	together();
	chain();
	together();
	collectives();
	together();
	nonblocking();
	together();
	partitioned();
	together();
	fclose(out);
	MPI_Finalize();
	return 0;
}
