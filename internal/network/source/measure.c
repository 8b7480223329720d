/* Measures the network between pairs of ranks, one pair at a time; the others sleep meanwhile.
 * Rank 0 writes lines to its standard output, each of which begins with "efg-network ", so that
 * what a launcher writes does not matter:
 *
 *   mpi TEXT                      the library's version
 *   world RANKS HOSTS
 *   pair CLASS RANK RANK          the lines up to the next pair are of this one; CLASS is same-host
 *                                 or other-host
 *   half BYTES NS                 half of a round trip
 *   send NS, receive NS           what a call takes of one byte that need not be waited for
 *   gap NS                        between messages of one byte that follow each other
 *   eager BYTES                   the largest message whose sender does not wait for its receiver,
 *                                 -1 if there is no limit up to LARGEST
 *   end
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	LARGEST = 1 << 22,   /* bytes of a message */
	MOST = 1000,         /* samples of a size */
	FEWEST = 20,
	BUDGET = 20000000,   /* ns for the samples of a size */
	BURST = 200,         /* messages that follow each other */
	PATIENCE = 1000000,  /* ns after which a sender seems to wait for its receiver */
	NAP = 1000000,       /* ns between looks of ranks that are not measured */
	NAME = MPI_MAX_PROCESSOR_NAME
};

static int me, ranks;
static char *buffer;
static int64_t samples[MOST];

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void nap(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };
	nanosleep(&t, NULL);
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The lower decile: what it takes while the hosts do nothing else. */
static int64_t typical(int n)
{
	qsort(samples, (size_t)n, sizeof samples[0], ascending);
	return samples[n / 10];
}

static void send(int bytes, int to) { MPI_Send(buffer, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD); }
static void receive(int bytes, int from) { MPI_Recv(buffer, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

/* A typical round trip, in ns; of the first rank, which decides when there are enough. */
static int64_t round_trip(int bytes, int peer, int first)
{
	int n = 0, more = 1;
	for (int64_t begin = now(); more;) {
		for (int i = 0; i < FEWEST; i++) {
			int64_t start = now();
			if (first) {
				send(bytes, peer);
				receive(bytes, peer);
			} else {
				receive(bytes, peer);
				send(bytes, peer);
			}
			samples[n++] = now() - start;
		}
		more = n < MOST && now() - begin < BUDGET;
		if (first)
			MPI_Send(&more, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
		else
			MPI_Recv(&more, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return typical(n);
}

/* Calls of one byte: the first rank sends after the other is in its receive, or long before. */
static int64_t sending(int peer, int first)
{
	int n = MOST / 2;
	for (int i = 0; i < n; i++) {
		int64_t start = now();
		if (first) {
			send(1, peer);
			samples[i] = now() - start;
			receive(1, peer);
		} else {
			receive(1, peer);
			send(1, peer);
		}
	}
	return typical(n);
}

static int64_t receiving(int peer, int first, int64_t trip)
{
	int n = MOST / 4;
	for (int i = 0; i < n; i++) {
		if (first) {
			send(1, peer);
			for (int64_t until = now() + 10 * trip; now() < until;)
				;
			int64_t start = now();
			receive(1, peer); /* it is there */
			samples[i] = now() - start;
		} else {
			receive(1, peer);
			send(1, peer);
		}
	}
	return typical(n);
}

static int64_t gap(int peer, int first, int64_t trip)
{
	int n = FEWEST;
	for (int i = 0; i < n; i++) {
		int64_t start = now();
		for (int k = 0; k < BURST; k++) {
			if (first)
				send(1, peer);
			else
				receive(1, peer);
		}
		if (first)
			receive(1, peer);
		else
			send(1, peer);
		int64_t took = now() - start - trip;
		samples[i] = (took > 0 ? took : 0) / (BURST - 1);
	}
	return typical(n);
}

/* Whether the sender of so many bytes waits for its receiver, which posts the receive only when the
 * sender says so: no matter how busy the hosts are, a message that was sent before needs none. */
static int waits(int bytes, int peer, int first)
{
	int sent = 0;
	if (first) {
		MPI_Request r;
		MPI_Isend(buffer, bytes, MPI_CHAR, peer, 3, MPI_COMM_WORLD, &r);
		for (int64_t until = now() + PATIENCE; !sent && now() < until;)
			MPI_Test(&r, &sent, MPI_STATUS_IGNORE);
		MPI_Send(&sent, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&sent, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(buffer, bytes, MPI_CHAR, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return !sent;
}

static int eager(int peer, int first)
{
	int low = 0, high = 1; /* low does not wait, high does */
	while (high <= LARGEST && !waits(high, peer, first)) {
		low = high;
		high *= 2;
	}
	if (high > LARGEST)
		return -1;
	while (high - low > 1) {
		int middle = low + (high - low) / 2;
		if (waits(middle, peer, first))
			high = middle;
		else
			low = middle;
	}
	return low;
}

/* What one rank of a pair finds, for rank 0: a text. */
static void measure(int peer, int first, char *text, size_t room)
{
	size_t used = 0;
	int64_t trip = 0;
	for (int bytes = 1; bytes <= LARGEST; bytes *= 2) {
		int64_t took = round_trip(bytes, peer, first);
		if (bytes == 1)
			trip = took;
		used += (size_t)snprintf(text + used, room - used, "efg-network half %d %.1f\n", bytes, (double)took / 2);
	}
	int64_t s = sending(peer, first), r = receiving(peer, first, trip), g = gap(peer, first, trip);
	int limit = eager(peer, first);
	snprintf(text + used, room - used, "efg-network send %lld\nefg-network receive %lld\nefg-network gap %lld\nefg-network eager %d\n",
		 (long long)s, (long long)r, (long long)g, limit);
}

/* All ranks meet here; those that wait sleep, so that those that are measured have a processor. */
static void meet(void)
{
	MPI_Request r;
	int done = 0;
	MPI_Ibarrier(MPI_COMM_WORLD, &r);
	for (MPI_Test(&r, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&r, &done, MPI_STATUS_IGNORE))
		nap(NAP);
}

static void pair(int a, int b, const char *class)
{
	static char text[1 << 13];
	text[0] = 0;
	if (me == a || me == b)
		measure(me == a ? b : a, me == a, text, sizeof text);
	meet();
	if (a != 0 && me == a)
		MPI_Send(text, sizeof text, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
	if (me == 0) {
		if (a != 0)
			MPI_Recv(text, sizeof text, MPI_CHAR, a, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("efg-network pair %s %d %d\n%s", class, a, b, text);
		fflush(stdout);
	}
	meet();
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int most = argc > 1 ? atoi(argv[1]) : 1; /* pairs of a class */
	char *names = calloc((size_t)ranks, NAME), own[NAME] = "";
	int *host = calloc((size_t)ranks, sizeof *host), *first = calloc((size_t)ranks, sizeof *first), length, hosts = 0;
	buffer = calloc(LARGEST, 1);
	if (!names || !host || !first || !buffer)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(buffer, 1, LARGEST);
	MPI_Get_processor_name(own, &length);
	MPI_Allgather(own, NAME, MPI_CHAR, names, NAME, MPI_CHAR, MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++) {
		int h = 0;
		while (h < hosts && strcmp(names + (size_t)first[h] * NAME, names + (size_t)i * NAME))
			h++;
		if (h == hosts)
			first[hosts++] = i;
		host[i] = h;
	}
	if (me == 0) {
		char version[MPI_MAX_LIBRARY_VERSION_STRING];
		MPI_Get_library_version(version, &length);
		version[strcspn(version, "\r\n")] = 0;
		printf("efg-network mpi %s\nefg-network world %d %d\n", version, ranks, hosts);
		fflush(stdout);
	}
	int done = 0;
	for (int i = 0; i < ranks && done < most; i++) { /* a rank and the next one on its host */
		int j = i + 1;
		while (j < ranks && host[j] != host[i])
			j++;
		if (j < ranks && ++done)
			pair(i, j, "same-host");
	}
	for (int h = 0; h + 1 < hosts && h < most; h++)
		pair(first[h], first[h + 1], "other-host");
	if (me == 0)
		printf("efg-network end\n");
	MPI_Finalize();
	return 0;
}
