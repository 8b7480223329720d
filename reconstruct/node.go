package reconstruct

import (
	"math/bits"
	"strconv"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/signature"
)

// node is what events with one signature have in common.
type node struct {
	proc   *signature.Proc // nil: not in the table, or not with these words
	header signature.Header
	words  []uint64
	mask   uint64

	// requests is the word of the request, or the array of requests, that the
	// call completes, tests or starts; 0: none.
	requests    int
	requestsVec bool
	completes   completion
	// flag, index and indices are the words that tell what completed; 0: none.
	flag, index, indices int
	// request is the slot word of the request that the call issues; 0: none.
	request int
	receive receiveWords
	tracked tracking

	vecs [][]uint64 // content of vec words that are not demoted, by word

	layouts [2]*layout // made when first needed
}

// completion says which requests a call completes, or looks at.
type completion uint8

const (
	completesNone completion = iota
	completesOne
	completesAny
	completesSome
	completesAll
)

var completions = map[string]completion{
	"one": completesOne, "any": completesAny, "some": completesSome, "all": completesAll,
}

// tracking says what the tracker has to do at events of a node.
type tracking uint8

const (
	trackArray  tracking = 1 << iota // an array of requests is passed
	trackPosted                      // a receive is posted with demoted arguments
	trackActive                      // persistent requests may start or complete
)

// receiveWords are the words of a call that posts a receive; 0: none.
type receiveWords struct {
	posts                                    bool
	source, tag, count, datatype, partitions int
	demoted                                  bool // one of them is
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

// findRequests finds the request parameters.
func (n *node) findRequests() {
	p := n.proc
	for i := signature.FirstWord; i < len(p.Words); i++ {
		w := &p.Words[i]
		switch {
		case p.Params[w.Param].Kind != signature.Req:
		case w.Form == signature.SlotForm:
			n.request = i
		case p.Completes != "" || p.Peeks != "" || p.Starts:
			n.requests, n.requestsVec = i, w.Form == signature.VecForm
		}
	}
	if n.header.ErrorClass() == 0 {
		n.completes = completions[p.Completes+p.Peeks] // one of them is empty
	}
	n.flag, n.index, n.indices = n.outOf("flag"), n.outOf("index"), n.outOf("array_of_indices")
}

func (n *node) findReceive() {
	p := n.proc
	if p.Issues != "recv" && p.Issues != "precv" && p.Issues != "sendrecv" {
		return
	}
	n.receive = receiveWords{
		posts:      true,
		source:     n.wordOf("source"),
		tag:        n.wordOf("recvtag", "tag"),
		count:      n.wordOf("recvcount", "count"),
		datatype:   n.wordOf("recvtype", "datatype"),
		partitions: n.wordOf("partitions"),
	}
	r := &n.receive
	for _, w := range []int{r.source, r.tag, r.count, r.datatype, r.partitions} {
		if n.mask>>w&1 != 0 && w != 0 {
			r.demoted = true
		}
	}
}

// wordOf returns the input word of the first of the parameters that the
// procedure has; 0 if it has none.
func (n *node) wordOf(names ...string) int {
	for _, name := range names {
		p := n.proc.Param(name)
		for i := 2; p >= 0 && i < len(n.proc.Words); i++ {
			if n.proc.Words[i].Param == p && !n.proc.Words[i].Out {
				return i
			}
		}
	}
	return 0
}

// outOf is wordOf for words that the call told.
func (n *node) outOf(name string) int {
	p := n.proc.Param(name)
	for i := 2; p >= 0 && i < len(n.proc.Words); i++ {
		if n.proc.Words[i].Param == p && n.proc.Words[i].Out {
			return i
		}
	}
	return 0
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

// persistent says whether the node's request is a persistent one.
func (n *node) persistent() bool { return n.proc != nil && n.proc.Persistent }

func isConst(w uint64) bool { return w>>62 == 2 }
