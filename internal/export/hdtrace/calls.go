package hdtrace

import "strings"

// logged are the calls with attributes, by the names of their elements, in the order in which these have them.
// Others have their times only.
var logged = attributesOf(`
Allgather size recvSize cid count tid recvCount recvtid
Allgatherv size cid count tid
Allreduce size cid count tid
Alltoall size cid count tid
Alltoallv cid
Barrier cid
Bcast size rootRank cid count tid
Bsend size count tid toRank toTag cid
Exscan size cid count tid
File_close fid
File_delete fid
File_get_size fid size
File_iread fid rid offset size count tid
File_iread_at fid rid offset size count tid
File_iread_shared fid rid
File_iwrite fid rid offset size count tid
File_iwrite_at fid rid offset size count tid
File_iwrite_shared fid rid
File_open cid name flags fid
File_preallocate fid size
File_read fid offset size count tid
File_read_all fid offset size count tid
File_read_all_begin fid rid
File_read_all_end
File_read_at fid offset size count tid
File_read_at_all fid offset size count tid
File_read_at_all_begin fid rid offset size count tid
File_read_at_all_end
File_read_ordered fid size count tid
File_read_ordered_begin fid rid
File_read_ordered_end
File_read_shared fid size count tid
File_seek fid relative-offset whence offset
File_seek_shared fid relative-offset whence offset
File_set_atomicsity fid flag
File_set_info fid
File_set_size fid size
File_set_view fid offset etid filetid representation
File_sync fid
File_write fid offset size count tid
File_write_all fid offset size count tid
File_write_all_begin fid rid
File_write_all_end
File_write_at fid offset size count tid
File_write_at_all fid offset size count tid
File_write_at_all_begin fid rid
File_write_at_all_end
File_write_ordered fid size count tid
File_write_ordered_begin fid rid
File_write_ordered_end
File_write_shared fid size count tid
Gather size recvSize root cid count tid recvCount recvtid
Gatherv size root cid count tid
Ibsend size count tid toRank toTag cid rid
Iprobe source tag cid
Irecv fromRank fromTag cid rid
Irsend size count tid toRank toTag cid rid
Isend size count tid toRank toTag cid rid
Issend size count tid toRank toTag cid rid
Recv fromRank fromTag cid
Reduce size rootRank cid count tid
Reduce_scatter cid
Rsend size count tid toRank toTag cid
Scan size cid count tid
Scatter size recvSize root cid count tid recvCount recvtid
Scatterv recvSize root cid recvCount recvtid
Send size count tid toRank toTag cid
Sendrecv size toRank toTag fromRank fromTag cid count tid
Sendrecv_replace sendSize toRank toTag fromRank fromTag cid count tid
Ssend size count tid toRank toTag cid
Type_commit tid
Type_vector oldTid
hdT_Test_nested depth
`)

func attributesOf(table string) map[string][]string {
	list := map[string][]string{}
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 0 {
			list[f[0]] = f[1:]
		}
	}
	return list
}

// elementOf is the name of the element of a procedure's calls. The table of the format spells one in another way.
func elementOf(procedure string) string {
	name := strings.TrimPrefix(procedure, "MPI_")
	if name == "File_set_atomicity" {
		return "File_set_atomicsity"
	}
	return name
}
