package sim

import (
	"math/rand/v2"

	"github.com/efg-tools/efg/signature"
)

// maxSignatures bounds Config.Signatures.
const maxSignatures = 4096

var (
	randomText = newText("random")

	randomInit     = randomText.call("MPI_Init", 12, "main", nil)
	randomSends    = randomCalls("MPI_Send", 1000)
	randomRecvs    = randomCalls("MPI_Recv", 1000+maxSignatures)
	randomBarrier  = randomText.call("MPI_Barrier", 20, "main", map[string]any{"comm": "MPI_COMM_WORLD"})
	randomFinalize = randomText.call("MPI_Finalize", 21, "main", nil)
)

// randomCalls is the number of calls in the code, each with one signature.
func randomCalls(proc string, line int) []*callsite {
	l := make([]*callsite, maxSignatures)
	for i := range l {
		l[i] = randomText.call(proc, line+i, "message", map[string]any{"datatype": "MPI_DOUBLE"})
	}
	return l
}

// random is pairs of ranks that exchange one of a number of messages, either way, in random
// order. A rank without a partner sends nothing.
func random(r *rank) {
	partner := r.number ^ 1
	peer := uint64(partner)
	if partner >= r.Ranks {
		peer = signature.ProcNull
	}
	dice := rand.New(rand.NewPCG(r.Seed, streamSeed(r.number/2, streamProgram)))
	r.call(randomInit)
	for range r.Steps {
		k := dice.IntN(r.Signatures)
		sends := dice.IntN(2) == r.number&1
		count := uint64(8 + k%97)
		switch {
		case sends:
			r.send(randomSends[k], count, peer, uint64(k))
		case peer == signature.ProcNull:
			r.receive(randomRecvs[k], count, peer, uint64(k), [3]uint64{signature.ProcNull, signature.AnyTag, 0})
		default:
			r.receive(randomRecvs[k], count, peer, uint64(k), [3]uint64{peer, uint64(k), 8 * count})
		}
	}
	r.call(randomBarrier)
	r.call(randomFinalize)
}
