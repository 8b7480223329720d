package otf2

// measured ends a record of less than 255 bytes that begins with its kind and a length, which it sets.
func measured(b []byte) []byte {
	b[1] = byte(len(b) - 2)
	return b
}

// short appends a record with one reference.
func short(b []byte, kind byte, ref uint32) []byte { return measured(u32(append(b, kind, 0), ref)) }

// Records about windows. The destination of all is empty.

func rmaCollectiveEnd(b []byte, c *collective, level uint32) []byte {
	b = u32(u32(u32(append(b, eventRmaCollectiveEnd, 0, c.op), level), c.comm), c.root)
	return measured(u64(u64(b, c.sent), c.received))
}

func groupSyncRecord(b []byte, level, window, group uint32) []byte {
	return measured(u32(u32(u32(append(b, eventRmaGroupSync, 0), level), window), group))
}

func lockRecord(b []byte, kind byte, window, target uint32, lock byte) []byte {
	return measured(append(u64(u32(u32(append(b, kind, 0), window), target), 0), lock))
}

func unlockRecord(b []byte, window, target uint32) []byte {
	return measured(u64(u32(u32(append(b, eventRmaReleaseLock, 0), window), target), 0))
}

func syncRecord(b []byte, window, target uint32) []byte {
	const ofMemory = 0
	return measured(append(u32(u32(append(b, eventRmaSync, 0), window), target), ofMemory))
}

func accessRecord(b []byte, kind byte, window, target uint32, bytes, id uint64) []byte {
	return measured(u64(u64(u32(u32(append(b, kind, 0), window), target), bytes), id))
}

func atomicRecord(b []byte, window, target uint32, atomic byte, sent, received, id uint64) []byte {
	b = append(u32(u32(append(b, eventRmaAtomic, 0), window), target), atomic)
	return measured(u64(u64(u64(b, sent), received), id))
}

func completionRecord(b []byte, kind byte, window uint32, id uint64) []byte {
	return measured(u64(u32(append(b, kind, 0), window), id))
}

// Records about files.

// mpiIO is the paradigm of files.
const mpiIO = 0

func createHandleRecord(b []byte, handle uint32, mode byte, creation, status uint32) []byte {
	return measured(u32(u32(append(u32(append(b, eventIoCreateHandle, 0), handle), mode), creation), status))
}

func seekRecord(b []byte, handle uint32, offset int64, whence byte, result uint64) []byte {
	return measured(u64(append(i64(u32(append(b, eventIoSeek, 0), handle), offset), whence), result))
}

func deleteFileRecord(b []byte, file uint32) []byte {
	return measured(u32(append(b, eventIoDeleteFile, 0, mpiIO), file))
}

func beginRecord(b []byte, handle uint32, mode byte, flags uint32, bytes, id uint64) []byte {
	b = append(u32(append(b, eventIoOperationBegin, 0), handle), mode)
	return measured(u64(u64(u32(b, flags), bytes), id))
}

func operationRecord(b []byte, kind byte, handle uint32, id uint64) []byte {
	return measured(u64(u32(append(b, kind, 0), handle), id))
}

func completeRecord(b []byte, handle uint32, bytes, id uint64) []byte {
	return measured(u64(u64(u32(append(b, eventIoOperationComplete, 0), handle), bytes), id))
}
