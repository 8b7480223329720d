package runfile

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/efg-tools/efg/signature"
)

var updateHeaders = flag.Bool("headers", false, "write headers.txt anew: files that were written with another one cannot be read any more")

// common are calls that many programs make, in the order in which they may follow each other.
const common = `Init Init_thread Comm_group Group_incl Comm_create Group_free Comm_split Comm_dup Cart_create
	Bcast Allreduce Reduce Barrier Type_contiguous Type_vector Type_create_struct Type_commit Op_create Send Recv
	Isend Irecv Wait Waitall Waitany Waitsome Test Testall Iprobe Probe Sendrecv Send_init Recv_init Start Startall
	Request_free Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Reduce_scatter Scan
	Iallreduce Ibcast Ibarrier Win_create Put Get Accumulate Win_fence Win_free
	File_open File_write_at_all File_close Type_free Op_free Comm_free Finalize`

func TestCommonHeaders(t *testing.T) {
	var b strings.Builder
	for language := range uint64(2) {
		for _, name := range strings.Fields(common) {
			p := signature.ProcByName("MPI_" + name)
			if p == nil {
				t.Fatal(name)
			}
			header := uint64(p.ID) | language<<16 | uint64(len(p.Words))<<24
			fmt.Fprint(&b, header)
			for k := 1; k < len(p.Words); k++ {
				fmt.Fprintf(&b, " %d", classOf(header, k))
			}
			b.WriteByte('\n')
		}
	}
	if *updateHeaders {
		if err := os.WriteFile("headers.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != knownHeaders {
		t.Errorf("headers.txt is not what the table of procedures says; a changed list is a new version of event blocks")
	}
}
