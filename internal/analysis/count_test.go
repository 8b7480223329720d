package analysis_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/efg-tools/efg/efg"
	"github.com/efg-tools/efg/internal/analysis"
	"github.com/efg-tools/efg/reconstruct"
	"github.com/efg-tools/efg/signature"
)

// counter computes what a process moves by iterating over its events, from their form as JSON.
// It knows the procedures by name.
type counter struct {
	p     *reconstruct.Process
	names *reconstruct.Names
	first int

	calls   map[string]uint64          // by procedure and place
	volumes map[string]analysis.Volume // by procedure and place
	sizes   map[string]map[int]uint64  // the same: how many messages or calls have a size of so many digits, in binary
	cells   map[[2]int]analysis.Cell   // point-to-point; -1 for a process of another world
	started map[string]*operation      // persistent requests by name
	near    map[string]*neighbourhood  // neighbours by communicator
	failure error
}

// operation is a call as JSON shows it, with the sizes of its datatypes.
type operation struct {
	op    string
	args  map[string]any
	out   map[string]any
	sizes map[string][]uint64 // by argument
	comm  uint64              // word of the communicator or window
}

func newCounter(p *reconstruct.Process, names *reconstruct.Names, first int) *counter {
	return &counter{
		p: p, names: names, first: first, calls: map[string]uint64{}, volumes: map[string]analysis.Volume{}, sizes: map[string]map[int]uint64{},
		cells: map[[2]int]analysis.Cell{}, started: map[string]*operation{}, near: map[string]*neighbourhood{},
	}
}

// count iterates over all events.
func (c *counter) count() error {
	for i := range c.p.Streams() {
		for e, err := range c.p.Events(i, reconstruct.Options{}) {
			if err != nil {
				return err
			}
			if err := c.event(e); err != nil {
				return err
			}
		}
	}
	return c.failure
}

func (c *counter) event(e *reconstruct.Event) error {
	key := e.Op() + " " + strings.TrimSpace(e.Func()+" "+e.Site())
	c.calls[key]++
	o, err := c.parse(e)
	if err != nil {
		return err
	}
	if e.Failed() {
		return nil
	}
	c.makeNeighbourhood(o)
	v := c.volumes[key]
	for _, o := range c.operations(o) {
		w := c.volume(o)
		v.Add(&w, 1)
		c.size(key, &w)
	}
	c.volumes[key] = v
	return nil
}

// size counts what one message or call moves.
func (c *counter) size(key string, v *analysis.Volume) {
	if v.Unknown > 0 {
		return
	}
	if c.sizes[key] == nil {
		c.sizes[key] = map[int]uint64{}
	}
	digits := 0
	for n := max(v.Sent, v.Received, v.Read+v.Written); n > 0; n /= 2 {
		digits++
	}
	c.sizes[key][digits]++
}

func (c *counter) parse(e *reconstruct.Event) (*operation, error) {
	var line struct {
		Op        string
		Args, Out map[string]any
	}
	d := json.NewDecoder(strings.NewReader(string(e.AppendJSON(nil))))
	d.UseNumber()
	if err := d.Decode(&line); err != nil {
		return nil, err
	}
	o := &operation{op: line.Op, args: line.Args, out: line.Out, sizes: map[string][]uint64{}, comm: e.Word(signature.ObjectWord)}
	proc := e.Proc()
	for i := 3; i < len(proc.Words); i++ {
		q := &proc.Params[proc.Words[i].Param]
		if q.Kind != signature.Type {
			continue
		}
		list := []uint64{e.Word(i)}
		if q.Len != nil {
			list, _ = e.Vec(i)
		}
		for _, w := range list {
			size, _ := c.names.TypeSize(w)
			o.sizes[q.Name] = append(o.sizes[q.Name], size)
		}
	}
	return o, nil
}

// operations are those that a call performs: its own, or those that it starts.
func (c *counter) operations(o *operation) []*operation {
	switch {
	case strings.HasSuffix(o.op, "_init") && o.args["request"] != nil:
		c.started[o.args["request"].(string)] = o
		return nil
	case o.op == "MPI_Start":
		return []*operation{c.started[o.args["request"].(string)]}
	case o.op == "MPI_Startall":
		var list []*operation
		for _, r := range o.args["array_of_requests"].([]any) {
			list = append(list, c.started[r.(string)])
		}
		return list
	}
	return []*operation{o}
}

func (o *operation) number(name string) uint64 {
	n, ok := o.args[name].(json.Number)
	if !ok {
		return 0
	}
	v, _ := n.Int64()
	return uint64(v)
}

// bytes is the size of count elements of a type; arrays are summed.
func (o *operation) bytes(count, datatype string) (total uint64) {
	if o.args[datatype] == nil {
		return 0
	}
	sizes := o.sizes[datatype]
	list, ok := o.args[count].([]any)
	if !ok {
		if len(sizes) == 0 {
			return 0
		}
		return o.number(count) * sizes[0]
	}
	for i, n := range list {
		v, _ := n.(json.Number).Int64()
		total += uint64(v) * sizes[min(i, len(sizes)-1)]
	}
	return total
}

// result is the number of bytes that the call itself received or transferred.
func (o *operation) result(datatype string) uint64 {
	if n, ok := o.out["bytes"].(json.Number); ok {
		v, _ := n.Int64()
		return uint64(v)
	}
	n, _ := o.out["count"].(json.Number)
	v, _ := n.Int64()
	return uint64(v) * o.sizes[datatype][0]
}

// plain is the name without the prefix, the letter of nonblocking variants, and _init.
func (o *operation) plain() string {
	s := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(o.op, "MPIX_"), "MPI_"), "_init")
	if len(s) > 1 && s[0] == 'I' && s != "Init" && s != "Intercomm_create" && s != "Intercomm_merge" && s != "Initialized" {
		s = strings.ToUpper(s[1:2]) + s[2:]
	}
	return s
}

func (c *counter) volume(o *operation) (v analysis.Volume) {
	if o == nil {
		return analysis.Volume{Unknown: 1}
	}
	switch name := o.plain(); name {
	case "Send", "Bsend", "Ssend", "Rsend":
		c.sends(&v, o, o.bytes("count", "datatype"))
	case "Psend":
		c.sends(&v, o, o.bytes("count", "datatype")*o.number("partitions"))
	case "Recv", "Mrecv", "Precv":
		n := o.bytes("count", "datatype")
		if o.op == "MPI_Recv" || o.op == "MPI_Mrecv" {
			n = o.result("datatype")
		} else if name == "Precv" {
			n *= o.number("partitions")
		}
		receives(&v, o, n)
	case "Sendrecv", "Sendrecv_replace":
		suffix := [4]string{"sendcount", "sendtype", "recvcount", "recvtype"}
		if name == "Sendrecv_replace" {
			suffix = [4]string{"count", "datatype", "count", "datatype"}
		}
		c.sends(&v, o, o.bytes(suffix[0], suffix[1]))
		n := o.bytes(suffix[2], suffix[3])
		if o.op == "MPI_"+name {
			n = o.result(suffix[3])
		}
		receives(&v, o, n)
	default:
		c.otherVolume(&v, o, name)
	}
	return v
}

func (c *counter) sends(v *analysis.Volume, o *operation, n uint64) {
	if o.args["dest"] == "MPI_PROC_NULL" {
		return
	}
	v.Sent, v.Messages = n, 1
	group := c.members(o.comm)
	to := -1
	if i := int(o.number("dest")); i < len(group) && group[i] >= 0 {
		to = c.first + group[i]
	}
	cell := c.cells[[2]int{c.p.Data().Rank, to}]
	cell.Bytes += n
	cell.Messages++
	c.cells[[2]int{c.p.Data().Rank, to}] = cell
}

func receives(v *analysis.Volume, o *operation, n uint64) {
	if o.args["source"] != "MPI_PROC_NULL" && o.args["message"] != "MPI_MESSAGE_NO_PROC" {
		v.Received, v.Receives = n, 1
	}
}

func (c *counter) otherVolume(v *analysis.Volume, o *operation, name string) {
	origin := o.bytes("origin_count", "origin_datatype")
	if o.args["target_rank"] == "MPI_PROC_NULL" {
		return
	}
	switch name {
	case "Put", "Rput", "Accumulate", "Raccumulate":
		v.Sent = origin
	case "Get", "Rget":
		v.Received = origin
	case "Get_accumulate", "Rget_accumulate":
		v.Sent, v.Received = origin, o.bytes("result_count", "result_datatype")
	case "Fetch_and_op", "Compare_and_swap":
		v.Sent, v.Received = o.sizes["datatype"][0], o.sizes["datatype"][0]
	default:
		c.fileVolume(v, o, name)
	}
	if o.args["op"] == "MPI_NO_OP" {
		v.Sent = 0
	}
}

func (c *counter) fileVolume(v *analysis.Volume, o *operation, name string) {
	to := &v.Read
	verb, isFile := strings.CutPrefix(name, "File_")
	switch {
	case !isFile:
		c.collectiveVolume(v, o, name)
		return
	case strings.HasPrefix(verb, "write") || strings.HasPrefix(verb, "iwrite"):
		to = &v.Written
	case !strings.HasPrefix(verb, "read") && !strings.HasPrefix(verb, "iread"):
		return
	}
	switch {
	case strings.HasPrefix(verb, "i"):
		*to = o.bytes("count", "datatype")
	case strings.HasSuffix(verb, "_end"):
		n, _ := o.out["bytes"].(json.Number)
		v, _ := n.Int64()
		*to = uint64(v)
	case !strings.HasSuffix(verb, "_begin"):
		*to = o.result("datatype")
	}
}

// family finds the definition of a communicator's or window's family.
func (c *counter) family(word uint64, kind efg.DefKind) *efg.Def {
	for i := range c.p.Data().Defs {
		if d := &c.p.Data().Defs[i]; d.Kind == kind && d.Word == word>>24<<24 {
			return d
		}
	}
	return nil
}

// sides lists the members of both groups of a communicator in its world, own
// group first, and the position of this process.
func (c *counter) sides(word uint64) (own, other []int, me int) {
	data := c.p.Data()
	world := data.Rank - c.first
	switch word {
	case signature.ConstantByName("MPI_COMM_WORLD").Word():
		for i := range data.Size {
			own = append(own, i)
		}
		return own, nil, world
	case signature.ConstantByName("MPI_COMM_SELF").Word():
		return []int{world}, nil, 0
	}
	d := c.family(word, efg.DefComm)
	if d == nil {
		c.failure = fmt.Errorf("nothing about communicator %#x", word)
		return nil, nil, -1
	}
	own, other = expandRanges(d.Words[4:4+d.Words[3]]), expandRanges(d.Words[4+d.Words[3]:])
	at := func(list []int) int {
		for i, r := range list {
			if r == world {
				return i
			}
		}
		return -1
	}
	if at(own) < 0 && len(other) > 0 {
		own, other = other, own
	}
	return own, other, at(own)
}

func expandRanges(w []uint64) (list []int) {
	for ; len(w) > 0; w = w[3:] {
		for i := range w[1] {
			r := int(w[0] + i*w[2])
			if r >= 1<<32-1 {
				r = -1
			}
			list = append(list, r)
		}
	}
	return list
}

// members are the processes whose ranks messages name.
func (c *counter) members(word uint64) []int {
	own, other, _ := c.sides(word)
	if len(other) > 0 {
		return other
	}
	return own
}

// role reports whether the process is the root, or a leaf, of a rooted collective.
func (c *counter) role(o *operation) (isRoot, isLeaf bool) {
	_, other, me := c.sides(o.comm)
	if len(other) == 0 {
		return int(o.number("root")) == me, true
	}
	_, number := o.args["root"].(json.Number)
	return o.args["root"] == "MPI_ROOT", number
}

func (c *counter) collectiveVolume(v *analysis.Volume, o *operation, name string) {
	if strings.HasPrefix(name, "Neighbor_") {
		c.neighbourVolume(v, o, name)
		return
	}
	if !strings.Contains(" Bcast Gather Gatherv Scatter Scatterv Reduce Allreduce Scan Exscan Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce_scatter Reduce_scatter_block ", " "+name+" ") {
		return
	}
	isRoot, isLeaf := c.role(o)
	own, _, me := c.sides(o.comm)
	peers := uint64(len(c.members(o.comm)))
	data := o.bytes("count", "datatype")
	send, recv := o.bytes("sendcount", "sendtype"), o.bytes("recvcount", "recvtype")
	sends, recvs := o.bytes("sendcounts", "sendtype"), o.bytes("recvcounts", "recvtype")
	inPlace := o.args["sendbuf"] == "MPI_IN_PLACE"
	switch name {
	case "Bcast":
		if isRoot {
			v.Sent = data
		} else if isLeaf {
			v.Received = data
		}
	case "Reduce":
		if isLeaf {
			v.Sent = data
		}
		if isRoot {
			v.Received = data
		}
	case "Allreduce", "Scan", "Exscan":
		v.Sent, v.Received = data, data
	case "Gather", "Gatherv":
		if isLeaf && !inPlace {
			v.Sent = send
		}
		if isRoot {
			v.Received = recv*peers + recvs
		}
	case "Scatter", "Scatterv":
		if isRoot {
			v.Sent = send*peers + sends
		}
		if isLeaf && o.args["recvbuf"] != "MPI_IN_PLACE" {
			v.Received = recv
		}
	case "Allgather":
		v.Sent, v.Received = send, recv*peers
		if inPlace {
			v.Sent = recv
		}
	case "Allgatherv":
		v.Sent, v.Received = send, recvs
		if inPlace {
			n, _ := o.args["recvcounts"].([]any)[me].(json.Number).Int64()
			v.Sent = uint64(n) * o.sizes["recvtype"][0]
		}
	case "Alltoall", "Alltoallv":
		v.Sent, v.Received = send*peers+sends, recv*peers+recvs
		if inPlace {
			v.Sent = v.Received
		}
	case "Alltoallw":
		v.Sent, v.Received = o.bytes("sendcounts", "sendtypes"), o.bytes("recvcounts", "recvtypes")
		if inPlace {
			v.Sent = v.Received
		}
	case "Reduce_scatter":
		n, _ := o.args["recvcounts"].([]any)[me].(json.Number).Int64()
		v.Sent, v.Received = o.bytes("recvcounts", "datatype"), uint64(n)*o.sizes["datatype"][0]
	case "Reduce_scatter_block":
		v.Received = o.bytes("recvcount", "datatype")
		v.Sent = v.Received * uint64(len(own))
	}
}
