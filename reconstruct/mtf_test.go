package reconstruct

import (
	"encoding/json"
	"strings"
	"testing"
)

// mtfLines are the objects of a process's first stream, without the names of their common
// attributes.
func mtfLines(t *testing.T, p *Process) []string {
	t.Helper()
	var out []string
	for _, l := range lines(t, p, 0, Options{Issues: true}, (*Event).AppendMTF) {
		for one := range strings.Lines(l) {
			one = strings.TrimSuffix(one, "\n")
			if !json.Valid([]byte(one)) {
				t.Errorf("not JSON: %s", one)
			}
			one = strings.NewReplacer(`"Class":`, ``, `"TraceableUnitID":"2.0.`, `"`, `"MPOperationName":`, ``, `"Communicator":"MPI_COMM_WORLD",`, ``).Replace(one)
			out = append(out, one)
		}
	}
	return out
}

func TestMTF(t *testing.T) {
	r := newRecorder(t)
	r.calls(`
		MPI_Init
		MPI_Ssend count=3 datatype=MPI_INT dest=1 tag=7 comm=MPI_COMM_WORLD
		MPI_Recv count=9 datatype=MPI_INT source=MPI_ANY_SOURCE tag=7 comm=MPI_COMM_WORLD status.source=3 status.tag=7 status.bytes=8
		MPI_Recv count=9 datatype=MPI_INT source=MPI_PROC_NULL tag=7 comm=MPI_COMM_WORLD status.source=MPI_PROC_NULL status.tag=MPI_ANY_TAG status.bytes=0
		MPI_Sendrecv sendcount=1 sendtype=MPI_INT dest=0 sendtag=4 recvcount=2 recvtype=MPI_CHAR source=0 recvtag=5 comm=MPI_COMM_WORLD status.source=0 status.tag=5 status.bytes=2
		MPI_Irecv count=4 datatype=MPI_INT source=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Isend count=1 datatype=MPI_INT dest=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Ibarrier comm=MPI_COMM_WORLD request=0
		MPI_Testany count=3 array_of_requests=[@5.0,@6.0,@7.0] index=0 flag=1 status.source=1 status.tag=7 status.bytes=16
		MPI_Testsome incount=3 array_of_requests=EFG_SAME outcount=0 array_of_indices=[] array_of_statuses=EFG_AS_POSTED
		MPI_Waitall count=3 array_of_requests=EFG_SAME array_of_statuses=EFG_AS_POSTED
		MPI_Iprobe source=1 tag=2 comm=MPI_COMM_WORLD flag=1 status.source=1 status.tag=2 status.bytes=8
		MPI_Bcast count=4 datatype=MPI_INT root=1 comm=MPI_COMM_WORLD
		MPI_Gatherv sendcount=4 sendtype=MPI_INT recvcounts=[4,4] displs=[0,4] recvtype=MPI_INT root=0 comm=MPI_COMM_WORLD
		MPI_Reduce count=4 datatype=MPI_INT op=MPI_SUM root=0 comm=MPI_COMM_WORLD
		MPI_Barrier comm=MPI_COMM_WORLD
		MPI_Reduce_scatter_block recvcount=4 datatype=MPI_INT op=MPI_SUM comm=MPI_COMM_WORLD
		MPI_Finalize
	`)
	want := []string{
		`{"MPI_Init","0","MPI_Init"}`,
		`{"Send","1","MPI_Ssend","SendDataSize":3,"SendDataType":"MPI_INT","Tag":7,"SendType":"Synchronous","Process":1}`,
		`{"Receive","2","MPI_Recv","RcvDataSize":9,"RcvDataType":"MPI_INT","Tag":7,"Process":"MPI_ANY_SOURCE","Message":{"DataType":"MPI_INT","DataSize":2,"Tag":7,"Sender":3,"Receiver":2}}`,
		`{"Receive","3","MPI_Recv","RcvDataSize":9,"RcvDataType":"MPI_INT","Tag":7,"Process":"MPI_PROC_NULL"}`,
		`{"Send","4","MPI_Sendrecv","SendDataSize":1,"SendDataType":"MPI_INT","Tag":4,"SendType":"Standard","Process":0}`,
		`{"Receive","4","MPI_Sendrecv","RcvDataSize":2,"RcvDataType":"MPI_CHAR","Tag":5,"Process":0,"Message":{"DataType":"MPI_CHAR","DataSize":2,"Tag":5,"Sender":0,"Receiver":2}}`,
		`{"NonBlockingReceive","5","MPI_Irecv","RcvDataSize":4,"RcvDataType":"MPI_INT","Tag":7,"Process":1,"Request":"req:5.0"}`,
		`{"NonBlockingSend","6","MPI_Isend","SendDataSize":1,"SendDataType":"MPI_INT","Tag":7,"SendType":"Standard","Process":1,"Request":"req:6.0"}`,
		`{"Barrier","7","MPI_Ibarrier","Request":"req:7.0"}`,
		`{"TestOperation","8","MPI_Testany","Flag":1,"NonBlockingReceive":[5],"Message":{"DataType":"MPI_INT","DataSize":4,"Tag":7,"Sender":1,"Receiver":2}}`,
		`{"TestOperation","9","MPI_Testsome","Flag":0}`,
		`{"WaitOperation","10","MPI_Waitall","NonBlockingSend":[6],"Operation":[7]}`,
		`{"ProbeOperation","11","MPI_Iprobe","Tag":2,"Flag":1,"Process":1,"Message":{"Bytes":8,"Tag":2,"Sender":1,"Receiver":2}}`,
		`{"Broadcast","12","MPI_Bcast","Process":1,"CollectiveData":{"SendSize":4,"SendDataType":"MPI_INT","RcvSize":4,"RcvDataType":"MPI_INT"}}`,
		`{"Gather","13","MPI_Gatherv","Process":0,"CollectiveData":{"SendSize":4,"SendDataType":"MPI_INT","RcvSize":[4,4],"RcvDataType":"MPI_INT"}}`,
		`{"Reduce","14","MPI_Reduce","Process":0,"CollectiveData":{"SendSize":4,"SendDataType":"MPI_INT","RcvSize":4,"RcvDataType":"MPI_INT"},"OpType":"MPI_SUM"}`,
		`{"Barrier","15","MPI_Barrier"}`,
		`{"ReduceScatter","16","MPI_Reduce_scatter_block","CollectiveData":{"SendSize":4,"SendDataType":"MPI_INT","RcvSize":4,"RcvDataType":"MPI_INT"},"OpType":"MPI_SUM"}`,
		`{"MPI_Finalize","17","MPI_Finalize"}`,
	}
	got := mtfLines(t, r.process())
	for i := range min(len(got), len(want)) {
		g := strings.Replace(got[i], `,"Communicator":"MPI_COMM_WORLD"`, ``, 1)
		if g != want[i] {
			t.Errorf("%s\nwant\n%s", g, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d objects, want %d", len(got), len(want))
	}
}

// A wait for a persistent request refers to the event that started it.
func TestMTFPersistentRequests(t *testing.T) {
	r := newRecorder(t)
	r.calls(`
		MPI_Send_init count=4 datatype=MPI_INT dest=1 tag=7 comm=MPI_COMM_WORLD request=0
		MPI_Start request=@0.0
		MPI_Wait request=@0.0
		MPI_Start request=@0.0
		MPI_Wait request=@0.0
	`)
	got := mtfLines(t, r.process())
	for i, want := range map[int]string{2: `"NonBlockingSend":[1]`, 4: `"NonBlockingSend":[3]`} {
		if !strings.Contains(got[i], want) {
			t.Errorf("%s: want %s", got[i], want)
		}
	}
}
