// Package loops finds the loops of a program in its event flow graph, and how often they were
// iterated. Nothing is expanded into events.
//
// # What is a loop
//
// A loop is a set of nodes of which each can be reached from each other, and a header: the call
// with which an iteration begins. Nodes that differ only in the results of the call are one
// here. Loops nest. They are found by taking strongly connected components, cutting the steps
// to the header of each, and looking for components in what is left (after Tarjan, Steensgaard
// and Havlak). A component that is entered at one node only is a natural loop and that node is
// its header. One that is entered at several is irreducible, and reported as such; its header
// is the one of them with most events. First, however, the nodes of one procedure and callsite
// are merged in such a component, if that leaves fewer irreducible ones.
//
// # Loops that share a header
//
// If the first call of an outer loop's body is that of the inner loop, both have one header:
// "for (i…) { for (j…) A; B; }" gives the graph of "for (k…) { A; if (…) B; }". The branch runs
// distinguish them. The steps back to the header are put in order by the bodies that they
// close; a smaller body within a larger one is a loop
//
//   - if it is iterated equally often at each entry, but perhaps the first
//     and the last one, and more than once,
//   - or, if that holds for no body around it either, at least twice on average, with
//     no fewer than four entries.
//
// Otherwise what the larger body has more is a branch. Where bodies overlap, and one smaller
// body is within several, each of them is tried as the outer one: it is that around which all
// the rest is iterated equally often, each time. So a call in every tenth iteration makes two
// loops, one of ten iterations in another one: the calls are the same.
//
// # Counts
//
// An iteration begins with the header, or, where an inner loop has the same header, with an
// entry of that. A step into a loop from outside is an entry; the first event of a stream, if
// it is in a loop, too. Sums are exact, and so are the least and the most iterations of an
// entry: they follow from the branch runs. These are followed one by one; where all deciding
// ones repeat, the path repeats too, and is multiplied (cycleSkipper).
package loops
