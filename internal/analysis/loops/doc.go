// Package loops finds the loops of a program in its event flow graph, and how often they were
// iterated. Nothing is expanded into events.
//
// # What is a loop
//
// A loop is a set of nodes, each of which can be reached from every other, and a header: the
// call with which an iteration begins. Nodes that differ only in the results of the call count
// as one. Loops nest. They are found by taking strongly connected components, cutting the steps
// to the header of each, and looking for components in what is left (after Tarjan, Steensgaard
// and Havlak). A component that is entered at only one node is a natural loop, and that node is
// its header. A component that is entered at several nodes is irreducible, and reported as
// such; its header is the entered node with the most events. Before that, the nodes of one
// procedure and callsite are merged in such a component if that leaves fewer irreducible ones.
//
// # Loops that share a header
//
// If the first call of an outer loop's body is that of the inner loop, both have one header:
// "for (i…) { for (j…) A; B; }" gives the graph of "for (k…) { A; if (…) B; }". The branch runs
// distinguish them. The steps back to the header are put in order by the bodies that they
// close; a smaller body within a larger one is a loop
//
//   - if it is iterated equally often at each entry, except perhaps the first
//     and the last one, and more than once,
//   - or, if that holds for no body around it either, at least twice on average, with
//     no fewer than four entries.
//
// Otherwise the additional part of the larger body is a branch. If bodies overlap, and a
// smaller body is within several, each of them is tried as the outer one: it is the one within
// which all the rest is iterated equally often each time. A call in every tenth iteration
// therefore makes two nested loops, the inner one of ten iterations: the calls are the same.
//
// # Counts
//
// An iteration begins with the header or, if an inner loop has the same header, with an entry
// of the inner loop. A step into a loop from outside is an entry; so is the first event of a
// stream if it is in a loop. Sums are exact, and so are the minimum and the maximum of the
// iterations of an entry: they follow from the branch runs. These are followed one by one;
// where all deciding ones repeat, the path repeats too, and its counts are multiplied
// (cycleSkipper).
package loops
