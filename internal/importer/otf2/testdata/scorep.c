/* scorep DIR: writes an archive of two ranks with OTF2's own library, with what Score-P's archives
 * have: numbers that are mapped, clocks that are corrected, records of metrics and threads, regions
 * of users, its counting of the sizes of collective calls. Values are read by TestForeign. */
#include <otf2/otf2.h>
#include <string.h>

static OTF2_FlushType flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void)final;
    return OTF2_FLUSH;
}

static OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };

/* Regions; locally each has a number that is one lower. */
static const char *const regions[] = { "unused", "main", "MPI_Init", "MPI_Finalize", "MPI_Send", "MPI_Recv", "MPI_Irecv", "MPI_Wait",
    "MPI_Bcast", "MPI_Allreduce", "MPI_Comm_split", "MPI_Allgather", "MPI_Iallreduce", "MPI_Wtime", "solve", "MPI_Alltoall",
    "MPI_Waitall", "MPI_Isend", "MPI_Testsome", "MPI_Gather", "MPI_Comm_free", "MPI_Sendrecv", "MPI_Send_c",
    "MPI_Win_create", "MPI_Win_lock", "MPI_Put", "MPI_Rget", "MPI_Fetch_and_op", "MPI_Win_flush", "MPI_Win_unlock", "MPI_Win_free",
    "MPI_File_open", "MPI_File_iwrite_at", "MPI_File_read", "MPI_File_seek", "MPI_File_close", "open" };
enum { MAIN, INIT, FINALIZE, SEND, RECV, IRECV, WAIT, BCAST, ALLREDUCE, SPLIT, ALLGATHER, IALLREDUCE, WTIME, SOLVE, ALLTOALL,
    WAITALL, ISEND, TESTSOME, GATHER, COMM_FREE, SENDRECV, SEND_C,
    WIN_CREATE, WIN_LOCK, PUT, RGET, FETCH_AND_OP, WIN_FLUSH, WIN_UNLOCK, WIN_FREE,
    FILE_OPEN, FILE_IWRITE, FILE_READ, FILE_SEEK, FILE_CLOSE, POSIX_OPEN, REGIONS };
enum { NO_TEXT = REGIONS + 1, MACHINE, NODE, HOST, RANK0, RANK1, THREAD, WORLD, METRIC_LOCATION, MPI_IO, POSIX, DATA, TEXTS };
static const char *const texts[] = { "", "machine", "node", "host", "MPI Rank 0", "MPI Rank 1", "Master thread", "MPI_COMM_WORLD", "metrics",
    "MPI-IO", "POSIX", "out/data" };

#define METRICS ((uint64_t)1 << 32) /* location */

static OTF2_EvtWriter *w;
static uint64_t now;
static uint64_t tick(void) { return now += 20; } /* 10 ns */
static void enter(int region) { OTF2_EvtWriter_Enter(w, NULL, tick(), region); }
static void leave(int region) { OTF2_EvtWriter_Leave(w, NULL, tick(), region); }
static void call(int region) { enter(region), leave(region); }

static void collective(int region, OTF2_CollectiveOp op, uint32_t comm, uint32_t root, uint64_t sent, uint64_t received)
{
    enter(region);
    OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, now);
    if (op == OTF2_COLLECTIVE_OP_CREATE_HANDLE)
        OTF2_EvtWriter_CommCreate(w, NULL, tick(), 2);
    OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, tick(), op, comm, root, sent, received);
    leave(region);
}

static void windows(uint32_t peer)
{
    const uint32_t none = OTF2_UNDEFINED_UINT32;
    enter(WIN_CREATE), OTF2_EvtWriter_RmaCollectiveBegin(w, NULL, now), OTF2_EvtWriter_RmaWinCreate(w, NULL, now, 0);
    OTF2_EvtWriter_RmaCollectiveEnd(w, NULL, tick(), OTF2_COLLECTIVE_OP_CREATE_HANDLE, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, none, 0, 0), leave(WIN_CREATE);
    enter(WIN_LOCK), OTF2_EvtWriter_RmaAcquireLock(w, NULL, tick(), 0, peer, 1, OTF2_LOCK_SHARED), leave(WIN_LOCK);
    enter(PUT), OTF2_EvtWriter_RmaPut(w, NULL, tick(), 0, peer, 48, 1), leave(PUT);
    enter(RGET), OTF2_EvtWriter_RmaGet(w, NULL, tick(), 0, peer, 56, 2), leave(RGET);
    enter(FETCH_AND_OP), OTF2_EvtWriter_RmaAtomic(w, NULL, tick(), 0, peer, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD, 8, 8, 3), leave(FETCH_AND_OP);
    enter(WAIT), OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, NULL, tick(), 0, 2), leave(WAIT);
    enter(WIN_FLUSH), OTF2_EvtWriter_RmaOpCompleteRemote(w, NULL, tick(), 0, 1), leave(WIN_FLUSH);
    enter(WIN_UNLOCK), OTF2_EvtWriter_RmaOpCompleteRemote(w, NULL, tick(), 0, 2);
    OTF2_EvtWriter_RmaReleaseLock(w, NULL, tick(), 0, peer, 1), leave(WIN_UNLOCK);
    enter(WIN_FREE), OTF2_EvtWriter_RmaWinDestroy(w, NULL, tick(), 0), leave(WIN_FREE);
}

/* MPI opens a file itself in MPI_File_open. */
static void files(void)
{
    enter(FILE_OPEN), enter(POSIX_OPEN);
    OTF2_EvtWriter_IoCreateHandle(w, NULL, tick(), 1, OTF2_IO_ACCESS_MODE_READ_WRITE, OTF2_IO_CREATION_FLAG_TRUNCATE, OTF2_IO_STATUS_FLAG_NONE), leave(POSIX_OPEN);
    OTF2_EvtWriter_IoCreateHandle(w, NULL, tick(), 0, OTF2_IO_ACCESS_MODE_READ_WRITE, OTF2_IO_CREATION_FLAG_CREATE | OTF2_IO_CREATION_FLAG_UNIQUE,
        OTF2_IO_STATUS_FLAG_APPEND | OTF2_IO_STATUS_FLAG_DELETE_ON_CLOSE), leave(FILE_OPEN);
    enter(FILE_IWRITE), OTF2_EvtWriter_IoOperationBegin(w, NULL, tick(), 0, OTF2_IO_OPERATION_MODE_WRITE, OTF2_IO_OPERATION_FLAG_NON_BLOCKING, 64, 1);
    OTF2_EvtWriter_IoOperationIssued(w, NULL, tick(), 0, 1), leave(FILE_IWRITE);
    enter(TESTSOME), OTF2_EvtWriter_IoOperationTest(w, NULL, tick(), 0, 1), leave(TESTSOME);
    enter(WAIT), OTF2_EvtWriter_IoOperationComplete(w, NULL, tick(), 0, 64, 1), leave(WAIT);
    enter(FILE_SEEK), OTF2_EvtWriter_IoSeek(w, NULL, tick(), 0, -8, OTF2_IO_SEEK_FROM_END, 56), leave(FILE_SEEK);
    enter(FILE_READ), OTF2_EvtWriter_IoOperationBegin(w, NULL, tick(), 0, OTF2_IO_OPERATION_MODE_READ, OTF2_IO_OPERATION_FLAG_NONE, 32, 2);
    OTF2_EvtWriter_IoOperationComplete(w, NULL, tick(), 0, 8, 2), leave(FILE_READ);
    enter(FILE_CLOSE), OTF2_EvtWriter_IoDestroyHandle(w, NULL, tick(), 0), leave(FILE_CLOSE);
}

static void events(int rank)
{
    const uint32_t peer = 1 - rank, none = OTF2_UNDEFINED_UINT32;
    OTF2_EvtWriter_ProgramBegin(w, NULL, tick(), 1, 0, NULL);
    enter(MAIN);
    call(INIT);
    call(WTIME);
    OTF2_Type type = OTF2_TYPE_UINT64;
    OTF2_MetricValue value = { .unsigned_int = 77 };
    OTF2_EvtWriter_Metric(w, NULL, tick(), 0, 1, &type, &value);
    if (rank == 0) {
        enter(SEND), OTF2_EvtWriter_MpiSend(w, NULL, tick(), 1, 1, 7, 4000), leave(SEND);
    } else {
        enter(RECV), OTF2_EvtWriter_MpiRecv(w, NULL, tick(), 0, 1, 7, 4000), leave(RECV);
    }
    enter(SENDRECV);
    OTF2_EvtWriter_MpiSend(w, NULL, tick(), peer, 1, 20 + rank, 100 + rank);
    OTF2_EvtWriter_MpiRecv(w, NULL, tick(), peer, 1, 20 + peer, 100 + peer);
    leave(SENDRECV);
    enter(IRECV), OTF2_EvtWriter_MpiIrecvRequest(w, NULL, tick(), 5), leave(IRECV);
    enter(ISEND), OTF2_EvtWriter_MpiIsend(w, NULL, tick(), peer, 1, 9, 80, 6), leave(ISEND);
    call(SOLVE);
    enter(TESTSOME), OTF2_EvtWriter_MpiRequestTest(w, NULL, tick(), 5), OTF2_EvtWriter_MpiIsendComplete(w, NULL, tick(), 6), leave(TESTSOME);
    enter(WAITALL), OTF2_EvtWriter_MpiIrecv(w, NULL, tick(), peer, 1, 9, 80, 5), leave(WAITALL);
    enter(IRECV), OTF2_EvtWriter_MpiIrecvRequest(w, NULL, tick(), 8), leave(IRECV);
    enter(WAIT), OTF2_EvtWriter_MpiRequestCancelled(w, NULL, tick(), 8), leave(WAIT);
    collective(BCAST, OTF2_COLLECTIVE_OP_BCAST, 1, 0, rank == 0 ? 2 * 40 : 0, 40);
    collective(GATHER, OTF2_COLLECTIVE_OP_GATHER, 1, 1, 24, rank == 1 ? 2 * 24 : 0);
    collective(ALLREDUCE, OTF2_COLLECTIVE_OP_ALLREDUCE, 1, none, 2 * 8, 2 * 8);
    collective(SPLIT, OTF2_COLLECTIVE_OP_CREATE_HANDLE, 1, none, 0, 0);
    collective(ALLGATHER, OTF2_COLLECTIVE_OP_ALLGATHER, 2, none, 2 * 4, 2 * 4);
    collective(ALLTOALL, OTF2_COLLECTIVE_OP_ALLTOALL, 2, none, 2 * 16, 2 * 16);
    enter(IALLREDUCE), OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, tick(), 9), leave(IALLREDUCE);
    OTF2_EvtWriter_ThreadFork(w, NULL, tick(), OTF2_PARADIGM_OPENMP, 2);
    OTF2_EvtWriter_ParameterInt(w, NULL, tick(), 0, -5);
    enter(WAIT);
    OTF2_EvtWriter_NonBlockingCollectiveComplete(w, NULL, tick(), OTF2_COLLECTIVE_OP_ALLREDUCE, 2, none, 2 * 32, 2 * 32, 9);
    leave(WAIT);
    collective(COMM_FREE, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, 2, none, 0, 0);
    enter(SEND_C), OTF2_EvtWriter_MpiSend(w, NULL, tick(), OTF2_UNDEFINED_UINT32, 1, 3, (uint64_t)1 << 40), leave(SEND_C);
    windows(peer);
    files();
    call(FINALIZE);
    leave(MAIN);
    OTF2_EvtWriter_ProgramEnd(w, NULL, tick(), 0);
}

static void definitions(OTF2_Archive *a, const uint64_t *counts)
{
    OTF2_GlobalDefWriter *d = OTF2_Archive_GetGlobalDefWriter(a);
    OTF2_GlobalDefWriter_WriteClockProperties(d, 2000000000, 1000, 100000, 1700000000000000000);
    for (int i = 0; i <= REGIONS; i++)
        OTF2_GlobalDefWriter_WriteString(d, i, regions[i]);
    for (int i = NO_TEXT; i < TEXTS; i++)
        OTF2_GlobalDefWriter_WriteString(d, i, texts[i - NO_TEXT]);
    OTF2_GlobalDefWriter_WriteParameter(d, 0, MAIN + 1, OTF2_PARAMETER_TYPE_INT64);
    OTF2_GlobalDefWriter_WriteMetricMember(d, 0, SOLVE + 1, NO_TEXT, OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, NO_TEXT);
    const OTF2_MetricMemberRef member = 0;
    OTF2_GlobalDefWriter_WriteMetricClass(d, 0, 1, &member, OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, MACHINE, MACHINE, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 1, HOST, NODE, 0);
    for (int i = 0; i <= REGIONS; i++) {
        bool mpi = strncmp(regions[i], "MPI_", 4) == 0;
        OTF2_GlobalDefWriter_WriteRegion(d, i, i, i, NO_TEXT, OTF2_REGION_ROLE_FUNCTION, mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_COMPILER, OTF2_REGION_FLAG_NONE, NO_TEXT, 0, 0);
    }
    for (int rank = 0; rank < 2; rank++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(d, rank, RANK0 + rank, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1, OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(d, rank, THREAD, OTF2_LOCATION_TYPE_CPU_THREAD, counts[rank], rank);
    }
    OTF2_GlobalDefWriter_WriteLocation(d, METRICS, METRIC_LOCATION, OTF2_LOCATION_TYPE_METRIC, 0, 0);
    const uint64_t members[] = { 0, 1 };
    OTF2_GlobalDefWriter_WriteGroup(d, 0, NO_TEXT, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, members);
    OTF2_GlobalDefWriter_WriteGroup(d, 1, NO_TEXT, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 0, NULL);
    OTF2_GlobalDefWriter_WriteGroup(d, 2, NO_TEXT, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, members);
    OTF2_GlobalDefWriter_WriteComm(d, 0, NO_TEXT, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteComm(d, 1, WORLD, 2, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_GlobalDefWriter_WriteComm(d, 2, NO_TEXT, 2, 1, OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS);
    OTF2_GlobalDefWriter_WriteRmaWin(d, 0, NO_TEXT, 1, OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
    for (int i = 0; i < 2; i++)
        OTF2_GlobalDefWriter_WriteIoParadigm(d, i, MPI_IO + i, MPI_IO + i, i == 0 ? OTF2_IO_PARADIGM_CLASS_PARALLEL : OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL);
    OTF2_GlobalDefWriter_WriteIoRegularFile(d, 0, DATA, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (int i = 0; i < 2; i++)
        OTF2_GlobalDefWriter_WriteIoHandle(d, i, NO_TEXT, 0, i, OTF2_IO_HANDLE_FLAG_NONE, i == 0 ? 1 : OTF2_UNDEFINED_COMM, i == 0 ? OTF2_UNDEFINED_IO_HANDLE : 0);
    OTF2_Archive_CloseGlobalDefWriter(a, d);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    OTF2_Archive *a = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 256 << 10, 4 << 20, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    OTF2_Archive_SetFlushCallbacks(a, &callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(a);
    OTF2_Archive_SetCreator(a, "Score-P 8.4");
    OTF2_Archive_OpenEvtFiles(a);
    uint64_t counts[2];
    for (int rank = 0; rank < 2; rank++) {
        now = 980 - 100 * rank; /* the clock of rank 1 is behind */
        w = OTF2_Archive_GetEvtWriter(a, rank);
        events(rank);
        OTF2_EvtWriter_GetNumberOfEvents(w, &counts[rank]);
        OTF2_Archive_CloseEvtWriter(a, w);
    }
    OTF2_Archive_CloseEvtWriter(a, OTF2_Archive_GetEvtWriter(a, METRICS));
    OTF2_Archive_CloseEvtFiles(a);
    OTF2_Archive_OpenDefFiles(a);
    OTF2_Archive_CloseDefWriter(a, OTF2_Archive_GetDefWriter(a, METRICS));
    for (int rank = 0; rank < 2; rank++) {
        OTF2_DefWriter *d = OTF2_Archive_GetDefWriter(a, rank);
        uint64_t numbers[REGIONS];
        for (int i = 0; i < REGIONS; i++)
            numbers[i] = i + 1;
        OTF2_IdMap *map = OTF2_IdMap_CreateFromUint64Array(REGIONS, numbers, false);
        OTF2_DefWriter_WriteMappingTable(d, OTF2_MAPPING_REGION, map);
        OTF2_IdMap_Free(map);
        OTF2_DefWriter_WriteClockOffset(d, 0, 100 * rank, 0);
        OTF2_DefWriter_WriteClockOffset(d, 100000, 100 * rank, 0);
        OTF2_Archive_CloseDefWriter(a, d);
    }
    OTF2_Archive_CloseDefFiles(a);
    definitions(a, counts);
    return OTF2_Archive_Close(a) != OTF2_SUCCESS;
}
