// Package efg is the event flow graph of a recorded program: streams, nodes, edges, their
// times, walks through them, and the builder. Package runfile below it stores graphs, package
// seq has their compressed sequences. This program prints every call of every rank of a run,
// in order:
//
//	file, err := runfile.OpenRun("run.efg")
//	check(err)
//	run, err := reconstruct.NewRun(file)
//	check(err)
//	for i := range file.Procs {
//		process, err := run.Process(i)
//		check(err)
//		for thread := range process.Streams() {
//			for event, err := range process.Events(thread, reconstruct.Options{}) {
//				check(err)
//				fmt.Printf("%s\n", event.AppendText(nil))
//			}
//		}
//	}
//
// Most questions need no walk through the events. The graph has a node for each distinct call,
// with its arguments, and an edge for each step from one to the next: Stream.Visits is how many
// calls a node stands for, and seq.JoinRuns iterates over varying arguments, equal ones
// together. The time that this takes does not grow with the number of calls.
//
// The graph follows "event flow graphs" as published: nodes are signatures, edges are
// observed steps, and the branch runs at a node carry sequence numbers. Nothing here knows
// MPI: words get their meaning from package signature.
//
// FORMAT.md specifies the graph.
package efg
