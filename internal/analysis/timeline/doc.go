// Package timeline computes what each rank did over time, for a picture: for each pixel of a
// row of ranks, the procedure that took most of the time. The run must have the times of each
// event (efg run --time trace).
//
// Time is divided into cells of 2^level nanoseconds since the run began; a view is of the level
// whose cells are pixels of at least the resolution that was requested. So the pixels of one
// view are sums of those of others, and computed cells are reused: they are kept, 4,096 of a
// stream together, in a cache of bounded size, and those of a long interval are computed from
// those of its halves. What is not in the cache is computed by walking the events of that
// interval, from the preceding checkpoint of the stream. A query can limit the number of these
// events: the answer then says what is missing, and repeating the query continues where it
// ended.
//
// # Encoding
//
// View.Encode writes a line of JSON, and after it bytes. The line is an object:
//
//	schema        "efg-timeline/1"
//	begin, end    of the run, ns since it began; not less than what was recorded
//	work          from when the first rank has left MPI_Init to when the last one enters
//	              MPI_Finalize; of many ranks 64 are looked at
//	from, to      of the first pixel's start, and of the last one's end
//	pixel         ns
//	width         pixels of a row
//	rows          of each row: [first rank, last rank, ranks, ranks that were read]
//	members       of each row: its ranks, as in "0,3-5"; absent if rows are of neighbours
//	complete      no limit of events was met: all pixels are exact
//	legend        {"op", "class", "colour", "time"} of each procedure with time in the view, longest
//	              first; time is in ns, of all ranks together. class is one of
//	              p2p, wait, poll, collective, one-sided, file, other.
//	share         the second array of bytes is there
//	slices        null if they were not asked for, or are more than was requested; else
//	              each call that lies in the view, in the order of ranks, threads and
//	              time: [rank, thread, start, end, procedure, site]. The procedure is a
//	              number as in the pixels, or 252 if it has no time in the view; site is
//	              an index into sites
//	unfinished    indices of slices of calls that had not returned, which end when the process was gone, or with the run;
//	              absent if there are none
//	sites         "function file:line"; "" if there are no slices
//
// Then rows × width bytes follow, the first row first:
//
//	0         most of the time passed outside MPI
//	1 … 250   in procedure number n of the legend (the first is 1)
//	251       in one that is not in the legend, which has 250 at most
//	254       not looked at for the limit of events
//	255       nothing was recorded: not begun yet, ended, or killed outside MPI
//
// Time of a row is that of all threads of its ranks. Where time was recorded in a part
// of a pixel only, that part counts. With share as many bytes follow again: the part of the
// recorded time that is in MPI, from 0 to 254; 255 where nothing is known.
package timeline
