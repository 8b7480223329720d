// Package efg holds the event flow graph of a recorded program, its builder, the
// compressed sequences it is made of, and the run file that stores it. This program
// prints every call of every rank of a run, in order:
//
//	file, err := efg.OpenRun("run.efg")
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
// Most questions need no walk through the events. The graph has a node for each distinct
// call, with its arguments, and an edge for each step from one to the next: Stream.Visits
// tells how many calls a node stands for, and seq.JoinRuns goes through arguments that vary, equal
// ones together. The time that this takes does not grow with the number of calls.
//
// The graph follows "event flow graphs" as published: nodes are signatures, edges are
// observed steps, and the branch runs at a node carry sequence numbers. Nothing here knows
// MPI: words get their meaning from package signature.
//
// FORMAT.md specifies the run file. Readers take damaged and hostile files: errors tell
// what is wrong where, and memory is bounded by the size of the file.
package efg
