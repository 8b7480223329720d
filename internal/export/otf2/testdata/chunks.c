/* chunks DIR: writes the events of TestChunks with OTF2's own library. */
#include <otf2/otf2.h>

static OTF2_FlushType flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void)final;
    return OTF2_FLUSH;
}

static OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    OTF2_Archive *a = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 256 << 10, 4 << 20, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    OTF2_Archive_SetFlushCallbacks(a, &callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(a);
    OTF2_Archive_OpenEvtFiles(a);
    OTF2_Archive_OpenDefFiles(a);
    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(a, 0);
    for (uint32_t i = 0; i < 300; i++) {
        OTF2_EvtWriter_Enter(w, NULL, 1 + i / 2, 0);
        OTF2_EvtWriter_MpiIsend(w, NULL, 1 + i / 2, i, 2, 300, 70000, (uint64_t)1 << 40);
        OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, 1 + i / 2, i);
        OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, 1 + i / 2, OTF2_COLLECTIVE_OP_BCAST, 2, OTF2_UNDEFINED_UINT32, 5, 6);
        OTF2_EvtWriter_RmaWinCreate(w, NULL, 1 + i / 2, i);
        OTF2_EvtWriter_RmaWinDestroy(w, NULL, 1 + i / 2, i);
        OTF2_EvtWriter_RmaCollectiveBegin(w, NULL, 1 + i / 2);
        OTF2_EvtWriter_RmaCollectiveEnd(w, NULL, 1 + i / 2, OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE, 3, i, OTF2_UNDEFINED_UINT32, 5, 6);
        OTF2_EvtWriter_RmaGroupSync(w, NULL, 1 + i / 2, OTF2_RMA_SYNC_LEVEL_PROCESS, i, 300);
        OTF2_EvtWriter_RmaRequestLock(w, NULL, 1 + i / 2, i, OTF2_UNDEFINED_UINT32, 0, OTF2_LOCK_SHARED);
        OTF2_EvtWriter_RmaReleaseLock(w, NULL, 1 + i / 2, i, 300, 0);
        OTF2_EvtWriter_RmaSync(w, NULL, 1 + i / 2, i, 300, OTF2_RMA_SYNC_TYPE_MEMORY);
        OTF2_EvtWriter_RmaPut(w, NULL, 1 + i / 2, i, 300, 70000, 7);
        OTF2_EvtWriter_RmaGet(w, NULL, 1 + i / 2, i, 300, 70000, 7);
        OTF2_EvtWriter_RmaAtomic(w, NULL, 1 + i / 2, i, 300, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD, 4, 70000, 7);
        OTF2_EvtWriter_RmaOpCompleteNonBlocking(w, NULL, 1 + i / 2, i, 7);
        OTF2_EvtWriter_RmaOpTest(w, NULL, 1 + i / 2, i, 7);
        OTF2_EvtWriter_RmaOpCompleteRemote(w, NULL, 1 + i / 2, i, 7);
        OTF2_EvtWriter_IoCreateHandle(w, NULL, 1 + i / 2, i, OTF2_IO_ACCESS_MODE_READ_WRITE, OTF2_IO_CREATION_FLAG_CREATE, OTF2_IO_STATUS_FLAG_APPEND);
        OTF2_EvtWriter_IoDestroyHandle(w, NULL, 1 + i / 2, i);
        OTF2_EvtWriter_IoSeek(w, NULL, 1 + i / 2, i, -1, OTF2_IO_SEEK_FROM_CURRENT, OTF2_UNDEFINED_UINT64);
        OTF2_EvtWriter_IoDeleteFile(w, NULL, 1 + i / 2, 0, i);
        OTF2_EvtWriter_IoOperationBegin(w, NULL, 1 + i / 2, i, OTF2_IO_OPERATION_MODE_WRITE, OTF2_IO_OPERATION_FLAG_COLLECTIVE, 70000, 7);
        OTF2_EvtWriter_IoOperationTest(w, NULL, 1 + i / 2, i, 7);
        OTF2_EvtWriter_IoOperationIssued(w, NULL, 1 + i / 2, i, 7);
        OTF2_EvtWriter_IoOperationComplete(w, NULL, 1 + i / 2, i, 70000, 7);
        OTF2_EvtWriter_CommCreate(w, NULL, 1 + i / 2, i);
        OTF2_EvtWriter_CommDestroy(w, NULL, 1 + i / 2, i);
        OTF2_EvtWriter_Leave(w, NULL, 1 + i / 2, i % 300);
    }
    OTF2_Archive_CloseEvtWriter(a, w);
    OTF2_Archive_CloseEvtFiles(a);
    OTF2_Archive_CloseDefWriter(a, OTF2_Archive_GetDefWriter(a, 0));
    OTF2_Archive_CloseDefFiles(a);
    OTF2_Archive_CloseGlobalDefWriter(a, OTF2_Archive_GetGlobalDefWriter(a));
    return OTF2_Archive_Close(a) != OTF2_SUCCESS;
}
