// Package whatif predicts how long a run would have taken under other conditions: with other
// computations, or on another network. It is one forward model of the recorded dependencies.
//
// # Model
//
// Each thread goes through its recorded calls in their order. Between two calls it computes, for as
// long as it did, times the factors of a Scenario. A call then ends
//
//	max(when the thread is there, when the last thing that it depends on is there) + local
//
// What a call depends on are the operations of other threads that package match finds: the send of
// a message that is received, the posting of a receive that a send has waited for, the members of
// a collective that its procedure waits for. It is there when the other thread has posted it, on
// the predicted time, and the network has carried it.
//
// Local is what is left of the recorded time of a call: after it was entered and after what it
// depends on was there. So under the recorded conditions the prediction is what was recorded, and
// other conditions change what they change: a scenario's network replaces the part of these times
// that the recorded network is responsible for, as far as its parameters tell.
//
// # Network
//
// The parameters are those of LogGPS: a message of n bytes is there o + L + (n-1)·G after its send
// was called. A collective of p members takes ⌈log₂ p⌉ rounds of messages, those in which each
// member has a block for each other p-1. Whether a send waits for its receive is as recorded. On
// an ideal network calls take no time at all, and wait for what they depend on.
//
// The parameters of the recorded network are found in the record (see Fit), unless they are given.
// With Scenario.Modelled each call takes what those of its kind typically take (see typical): how far that is
// from the recorded time shows how well the run can be described without the times of each call.
//
// A loop of unsuccessful polls counts as one call.
package whatif
