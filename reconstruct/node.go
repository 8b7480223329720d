package reconstruct

import (
	"math/bits"
	"strconv"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// node is what events with one signature have in common.
type node struct {
	proc   *signature.Proc // nil if the table does not have it, or not with these words
	header signature.Header
	words  []uint64
	mask   uint64

	// requests is the word of the request, or of the array of requests, that the call
	// completes, tests or starts; 0 if there is none.
	requests    int
	requestsVec bool
	completes   completion
	// flag, index and indices are the words that say what completed; 0 if there is none.
	flag, index, indices int
	// request is the slot word of the request that the call issues; 0 if there is none.
	request int
	receive receiveWords
	tracked tracking

	vecs [][]uint64 // by word: content of array words that are not demoted

	layouts [4]*layout // created when first needed
}

// completion says which requests a call completes or inspects.
type completion uint8

const (
	completesNone completion = iota
	completesOne
	completesAny
	completesSome
	completesAll
)

var completions = map[string]completion{
	signature.CompletesOne: completesOne, signature.CompletesAny: completesAny, signature.CompletesSome: completesSome,
	signature.CompletesAll: completesAll,
}

// tracking says what the tracker has to do for the events of a node.
type tracking uint8

const (
	trackArray  tracking = 1 << iota // an array of requests is passed
	trackPosted                      // a receive is posted with demoted arguments
	trackActive                      // persistent requests may start or complete
)

// receiveWords are the words of a call that posts a receive.
type receiveWords struct {
	posts       bool
	source, tag int
	signature.Payload
	demoted bool // one of these words is demoted
}

func (n *node) prepare(from *efg.Node, vecs map[uint64][]uint64) {
	n.words, n.mask = from.Words, from.Mask
	n.header = signature.Header(from.Words[0])
	p := signature.ProcByID(n.header.Proc())
	if p == nil || len(p.Words) != len(from.Words) {
		return
	}
	n.proc = p
	n.findVecs(vecs)
	n.findRequests()
	n.findReceive()
	if n.requestsVec {
		n.tracked |= trackArray
	}
	if n.receive.demoted && n.request != 0 {
		n.tracked |= trackPosted
	}
}

func (n *node) findVecs(vecs map[uint64][]uint64) {
	for i := signature.FirstWord; i < len(n.words); i++ {
		if n.proc.Words[i].Form != signature.VecForm {
			continue
		}
		if n.vecs == nil {
			n.vecs = make([][]uint64, len(n.words))
		}
		n.vecs[i] = vecs[n.words[i]]
	}
}

// findRequests finds the words of requests.
func (n *node) findRequests() {
	p, r := n.proc, &n.proc.Roles
	n.request = r.Request
	if p.Completes != "" || p.Peeks != "" || p.Starts {
		n.requests, n.requestsVec = r.Requests, p.Vector(r.Requests)
	}
	if n.header.ErrorClass() == 0 {
		n.completes = completions[p.Completes+p.Peeks] // at most one of them is set
	}
	n.flag, n.index, n.indices = r.Flag, r.Index, r.Indices
}

func (n *node) findReceive() {
	p := n.proc
	if p.Roles.Request == 0 || !p.Receives() {
		return
	}
	n.receive = receiveWords{posts: true, source: p.Roles.Source, tag: p.Roles.RecvTag, Payload: p.Roles.Recv}
	r := &n.receive
	for _, w := range []int{r.source, r.tag, r.Count, r.Type, r.Parts} {
		if n.mask>>w&1 != 0 && w != 0 {
			r.demoted = true
		}
	}
}

// attrOf returns the number of a demoted word's attribute stream.
func (n *node) attrOf(word int) int {
	return bits.OnesCount64(n.mask & (1<<word - 1))
}

func (n *node) demoted(word int) bool { return n.mask>>word&1 != 0 }

func (n *node) op() string {
	if n.proc == nil {
		return "procedure " + strconv.Itoa(n.header.Proc())
	}
	return n.proc.Name
}

// called is the name by which the program called it, in C.
func (n *node) called() string {
	if n.header.ByPMPI() && n.proc != nil {
		return "P" + n.op()
	}
	return n.op()
}

// persistent reports whether the node's request is a persistent one.
func (n *node) persistent() bool { return n.proc != nil && n.proc.Persistent }
