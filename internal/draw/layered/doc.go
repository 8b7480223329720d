// Package layered places the boxes of a directed graph in layers, so that edges go down the
// page as far as the graph lets them, and routes the edges around the boxes.
//
// The steps are those of Sugiyama: edges that close a cycle are reversed (a depth-first search
// finds them), boxes get layers by the longest paths that lead to them, edges over several
// layers get points in each of them, sweeps order the layers by the barycentres of neighbours
// so that few edges cross, and the alignments of Brandes and Köpf give coordinates, with long
// edges straight. Each edge has room for its label in a layer between those of boxes. The time
// grows with the points that edges take up: some seconds for a hundred thousand.
package layered
