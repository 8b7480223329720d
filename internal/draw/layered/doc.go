// Package layered places the boxes of a directed graph in layers, so that edges go down the
// page where the graph allows, and routes the edges around the boxes.
//
// The steps are those of Sugiyama: edges that close a cycle are reversed (a depth-first search
// finds them), boxes are assigned to layers by the longest paths that lead to them, edges over
// several layers get a point in each of them, sweeps order the layers by the barycentres of
// neighbours so that few edges cross, and the alignments of Brandes and Köpf determine
// coordinates, with long edges straight. Each edge has room for its label in a layer between
// those of boxes. The time grows with the points of the edges: some seconds for a hundred
// thousand.
package layered
