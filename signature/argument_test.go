package signature

import "testing"

// The datatypes of a pair are in the table, and their sizes add up to its size.
func TestPairs(t *testing.T) {
	for name := range pairs {
		c, size := ConstantByName(name), 0
		if c == nil {
			t.Fatalf("no %s", name)
		}
		for _, b := range c.Basics() {
			if b == nil {
				t.Fatalf("%s: a datatype that is not in the table", name)
			}
			size += b.Size
		}
		if size != c.Size {
			t.Errorf("%s has %d bytes, its datatypes %d", name, c.Size, size)
		}
	}
	if n := len(ConstantByName("MPI_LB").Basics()); n != 0 {
		t.Errorf("MPI_LB has %d basic datatypes", n)
	}
}

// Arguments that are valid only for some procedures.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		proc, param string
		null, below bool // a null handle, a number below 0 is valid
	}{
		{"MPI_Send", "count", false, false}, {"MPI_Send", "tag", false, false}, {"MPI_Send", "comm", false, true},
		{"MPI_Wait", "request", true, true}, {"MPI_Start", "request", false, true}, {"MPI_Cancel", "request", false, true},
		{"MPI_Comm_dup_with_info", "info", true, true}, {"MPI_Info_set", "info", false, true},
		{"MPI_File_set_errhandler", "file", true, true}, {"MPI_File_read", "fh", false, true},
		{"MPI_Type_vector", "stride", false, true}, {"MPI_Type_vector", "blocklength", false, false},
		{"MPI_Put", "target_disp", false, true}, {"MPI_Comm_split", "key", false, true},
	} {
		p := ProcByName(c.proc)
		q := &p.Params[p.Param(c.param)]
		if p.TakesNull(q) != c.null || q.NonNegative() == c.below {
			t.Errorf("%s of %s: takes null %v, not negative %v", c.param, c.proc, p.TakesNull(q), q.NonNegative())
		}
	}
}
