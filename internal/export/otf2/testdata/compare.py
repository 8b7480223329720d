"""Compares an OTF2 archive, read with OTF2's own library, with the calls that efg reconstruct
--format jsonl lists: compare.py ARCHIVE JSONL. The archive has all optional parts.

Every call must be there, in order, with its times, arguments and results. Messages and collective
calls must be those that the arguments and results say. Prints what differs, and at the end the
numbers of what was compared.
"""
import collections
import json
import sys

import otf2
from otf2.events import *

archive, lines = sys.argv[1:]
wrong = 0


def differ(*what):
    global wrong
    wrong += 1
    if wrong < 20:
        print(*what)


def value(v):
    """The value of an attribute for one of JSON."""
    return v if isinstance(v, (int, str)) else json.dumps(v, separators=(",", ":"), ensure_ascii=False)


calls = collections.defaultdict(list)  # by rank and thread
entered = collections.defaultdict(list)  # calls that had not returned, the innermost first
with open(lines) as f:
    for line in f:
        c = json.loads(line)
        key = (c["rank"], c["thread"])
        if "op" in c:
            calls[key].append(c)
        else:
            c = c["entered"]
            while c:
                entered[key].insert(0, c)
                c = c.get("inner")

SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Sendrecv", "MPI_Sendrecv_replace"}
ISENDS = {"MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Ibsend"}
RECVS = {"MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace"}
SIZES = {"MPI_INT": 4, "MPI_DOUBLE": 8, "MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_INTEGER": 4, "MPI_DOUBLE_PRECISION": 8, "MPI_REAL": 4, "MPI_FLOAT": 4}


def peer(m, rank):
    """Whether a rank is the peer of a message. The members of an intercommunicator are those of both groups."""
    got = m.receiver if hasattr(m, "receiver") else m.sender
    first = int(m.communicator.name.split()[2]) if " between " in m.communicator.name else 0
    return got in (rank, rank + first) if isinstance(rank, int) else got == rank


def size(a, count="count", datatype="datatype"):
    n, t = a.get(count), SIZES.get(a.get(datatype))
    return None if n is None or t is None else n * t


nobody = set()  # requests of receives from MPI_PROC_NULL


def expect(c, records, notes):
    """Compares the records of messages inside a call with what its arguments and results say."""
    a, out, op = c["args"], c["out"], c["op"]
    if "error" in out:
        if records:
            differ("failed call with messages", c)
        return
    if "source" in a and "request" in a:
        (nobody.add if a["source"] == "MPI_PROC_NULL" else nobody.discard)((c["rank"], a["request"]))
    kinds = collections.Counter(type(r).__name__ for r, _ in records)
    if op in SENDS or op in ISENDS:
        dest = a["dest"]
        tag = a.get("sendtag", a.get("tag"))
        want = op in ISENDS and "MpiIsend" or "MpiSend"
        found = [r for r, _ in records if type(r).__name__ == want]
        if dest == "MPI_PROC_NULL":
            if found:
                differ("message to nobody", c)
        elif not found:
            notes["sends left out"] += 1
        else:
            m = found[0]
            n = size(a) if "sendcount" not in a else size(a, "sendcount", "sendtype")
            if not peer(m, dest) or m.msg_tag != tag or n is not None and m.msg_length != n:
                differ("message sent", m, c)
            notes["sends"] += 1
    if op in RECVS:
        found = [r for r, _ in records if isinstance(r, MpiRecv)]
        source = out.get("source", a.get("source"))
        tag = out.get("tag", a.get("recvtag", a.get("tag")))
        if a["source"] == "MPI_PROC_NULL":
            if found:
                differ("message from nobody", c)
        elif not found:
            notes["receives left out"] += 1
        else:
            m = found[0]
            t = SIZES.get(a.get("recvtype", a.get("datatype")))
            if not peer(m, source) or m.msg_tag != tag or t and "count" in out and m.msg_length != t * out["count"]:
                differ("message received", m, c)
            notes["receives"] += 1
    if op in ("MPI_Wait", "MPI_Test", "MPI_Waitany", "MPI_Testany") and kinds["MpiIrecv"] == 1 and "source" in out:
        m = [r for r, _ in records if isinstance(r, MpiIrecv)][0]
        if not peer(m, out["source"]) or m.msg_tag != out.get("tag"):
            differ("message completed", m, c)
    if op in ("MPI_Waitall", "MPI_Testall", "MPI_Waitsome", "MPI_Testsome"):
        got = [r for r, _ in records if isinstance(r, MpiIrecv)]
        want = [(s.get("source"), s.get("tag")) for s in out.get("statuses", [])
                if s.get("source") != "MPI_ANY_SOURCE" and (c["rank"], a["array_of_requests"][s["index"]]) not in nobody]
        lost = kinds["MpiRequestCancelled"]
        if len(got) + lost != len(want) or not lost and not all(peer(m, s) and m.msg_tag == t for m, (s, t) in zip(got, want) if None not in (s, t)):
            differ("messages completed", got, want, c)
        notes["completed"] += len(got)
    if out.get("flag") == 0 and op.startswith("MPI_Test") and op != "MPI_Test_cancelled" and (kinds["MpiIrecv"] or kinds["MpiIsendComplete"]):
        differ("completed by an unsuccessful test", c)
    if op in ("MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Reduce", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall"):
        if kinds["MpiCollectiveEnd"] == 0:
            notes["collectives left out"] += 1
        elif kinds["MpiCollectiveEnd"] != 1 or kinds["MpiCollectiveBegin"] != 1:
            differ("collective", kinds, c)
        else:
            m = [r for r, _ in records if isinstance(r, MpiCollectiveEnd)][0]
            if str(m.collective_op).split(".")[-1] != op[4:].upper() or isinstance(a.get("root"), int) and m.root != a["root"]:
                differ("collective", m, c)
            notes["collectives"] += 1


PUTS, GETS = {"MPI_Put", "MPI_Rput"}, {"MPI_Get", "MPI_Rget"}
ATOMICS = {"MPI_Accumulate": "ACCUMULATE", "MPI_Raccumulate": "ACCUMULATE", "MPI_Fetch_and_op": "FETCH_AND_ADD", "MPI_Compare_and_swap": "COMPARE_AND_SWAP",
           "MPI_Get_accumulate": "FETCH_AND_ADD", "MPI_Rget_accumulate": "FETCH_AND_ADD"}
LOCKS, UNLOCKS = {"MPI_Win_lock", "MPI_Win_lock_all"}, {"MPI_Win_unlock", "MPI_Win_unlock_all"}
WINDOWS = {"MPI_Win_create": "CREATE_HANDLE", "MPI_Win_create_dynamic": "CREATE_HANDLE", "MPI_Win_allocate": "CREATE_HANDLE_AND_ALLOCATE",
           "MPI_Win_allocate_shared": "CREATE_HANDLE_AND_ALLOCATE", "MPI_Win_fence": "BARRIER", "MPI_Win_free": ""}
accesses = {}  # by rank, window and id: target, and whether the access is complete at the origin


def one(records, kind, c):
    """The only record of a kind in a call."""
    found = [r for r, _ in records if type(r).__name__ == kind]
    if len(found) != 1:
        differ("%d records %s" % (len(found), kind), c)
        return None
    return found[0]


def expect_rma(c, records, notes):
    """Compares the records of one-sided accesses inside a call with its arguments."""
    a, op, rank = c["args"], c["op"], c["rank"]
    kinds = {type(r).__name__ for r, _ in records}
    if op in PUTS or op in GETS or op in ATOMICS:
        r = one(records, "RmaPut" if op in PUTS else "RmaGet" if op in GETS else "RmaAtomic", c)
        if r is None:
            return
        n = a.get("origin_count", 1) * SIZES.get(a.get("origin_datatype", a.get("datatype")), 0)
        if r.win.name != a["win"] or r.remote != a["target_rank"]:
            differ("access", r, c)
        if op in ATOMICS:
            if str(r.type).split(".")[-1] != (ATOMICS[op] if a.get("op") != "MPI_REPLACE" or "etch" not in op and "et_" not in op else "SWAP") or r.bytes_sent != n:
                differ("atomic access", r, c)
        elif r.bytes != n:
            differ("bytes of an access", r, c)
        accesses[rank, r.win.name, r.matching_id] = [r.remote, False]
        notes["accesses"] += 1
    elif op in LOCKS:
        r = one(records, "RmaRequestLock", c)
        shared = op == "MPI_Win_lock_all" or a["lock_type"] == "MPI_LOCK_SHARED"
        if r and (r.win.name != a["win"] or r.remote != a.get("rank", 2**32 - 1) or str(r.lock_type).endswith("SHARED") != shared):
            differ("lock", r, c)
    elif op in WINDOWS:
        r = one(records, "RmaCollectiveEnd", c)
        one(records, "RmaCollectiveBegin", c)
        if r and WINDOWS[op] not in str(r.collective_op) or r and op != "MPI_Win_fence" and str(r.collective_op).split(".")[-1] not in (WINDOWS[op], "DESTROY_HANDLE", "DESTROY_HANDLE_AND_DEALLOCATE"):
            differ("collective call on a window", r, c)
    elif op in UNLOCKS:
        one(records, "RmaReleaseLock", c)
    elif op in ("MPI_Win_start", "MPI_Win_post", "MPI_Win_complete", "MPI_Win_wait"):
        one(records, "RmaGroupSync", c)
    elif any(k.startswith("Rma") and not k.startswith("RmaOp") and k != "RmaGroupSync" and k != "RmaSync" for k in kinds):
        differ("records of accesses", kinds, c)
    for r, _ in records:
        if type(r).__name__ == "RmaOpCompleteNonBlocking":
            x = accesses[rank, r.win.name, r.matching_id]
            if x[1]:
                differ("an access is complete twice", r, c)
            x[1] = True
        elif type(r).__name__ == "RmaOpCompleteRemote":
            target, here = accesses.pop((rank, r.win.name, r.matching_id))
            if not here or a.get("rank", target) != target:
                differ("an access is complete at another target", r, c)
    everywhere = op in ("MPI_Win_fence", "MPI_Win_unlock_all", "MPI_Win_flush_all", "MPI_Win_complete", "MPI_Win_free")
    if everywhere or op in ("MPI_Win_unlock", "MPI_Win_flush"):
        left = [k for k, v in accesses.items() if k[:2] == (rank, a["win"]) and (everywhere or v[0] == a["rank"])]
        if left:
            differ("incomplete accesses", left, c)


halves = {}  # operations on files that are in progress, by rank and id


def expect_io(c, records, notes):
    """Compares the records of operations on files inside a call with its arguments."""
    a, op, rank = c["args"], c["op"], c["rank"]
    reads, writes = "read" in op, "write" in op
    if op == "MPI_File_open":
        r = one(records, "IoCreateHandle", c)
        if r and (r.handle.file.name != a["filename"] or r.handle.name != c["out"]["fh"]):
            differ("file", r, c)
    elif op == "MPI_File_close":
        one(records, "IoDestroyHandle", c)
    elif op in ("MPI_File_seek", "MPI_File_seek_shared"):
        r = one(records, "IoSeek", c)
        if r and r.offset_request != a["offset"]:
            differ("seek", r, c)
    elif op.startswith("MPI_File_") and op.endswith("_end"):
        one(records, "IoOperationComplete", c)
    elif op.startswith("MPI_File_") and (reads or writes):
        r = one(records, "IoOperationBegin", c)
        if r and (r.handle.name != a["fh"] or str(r.mode).endswith("READ") != reads or r.bytes_request != size(a)):
            differ("operation on a file", r, c)
        halves[rank, r.matching_id] = r.handle.name
        later = op.endswith("_begin") or op.startswith("MPI_File_i")
        one(records, "IoOperationIssued" if later else "IoOperationComplete", c)
        notes["operations on files"] += 1
    for r, _ in records:
        if type(r).__name__ == "IoOperationComplete" and halves.pop((rank, r.matching_id), None) != r.handle.name:
            differ("complete, but not begun", r, c)


def attributes(event):
    return {k.name: v for k, v in (event.attributes or {}).items()}


def path(context):
    """The call path that a calling context ends, as JSON Lines have it."""
    calls = []
    while context is not None:
        function, line = context.region.name, context.source_code_location
        if line is None:
            calls.append(function)
            if context.parent is not None or function not in ("unknown", "..."):
                differ("a call without a place", function, context.parent)
        else:
            place = line.file if line.line_number == 0 else "%s:%d" % (line.file, line.line_number)
            calls.append(place if function == place else function + " " + place)
        if context.region.paradigm != otf2.Paradigm.COMPILER or context.region.region_role != otf2.RegionRole.FUNCTION:
            differ("not a function", context.region)
        notes["inlined"] += " in " in function
        notes["cut"] += function == "..."
        context = context.parent
    return calls[::-1]


def check(c, enter, leave, records, notes, inner):
    """Compares a call."""
    a, b = attributes(enter), attributes(leave)
    place = a.pop("callsite")
    site = place.file if place.line_number == 0 else "%s:%d" % (place.file, place.line_number)
    context = a.pop("callpath", None)
    if (path(context) if context else None) != c.get("path"):
        differ("call path", path(context) if context else None, c)
    notes["paths"] += context is not None
    got = {k: v for k, v in a.items() if k not in ("number", "function", "lang", "large", "pmpi", "unused")}
    want = {k: value(v) for k, v in c["args"].items()}
    if got != want or {k[4:]: v for k, v in b.items()} != {k: value(v) for k, v in c["out"].items()}:
        differ("arguments", got, b, c)
    if a["number"] != c["seq"] or enter.region.name != c["op"] or site != c["site"]:
        differ("call", a["number"], enter.region.name, site, c)
    rounded = 2000 if inner else 0  # times of different depths are rounded apart
    if abs(enter.time - shift - c["t0"]) > rounded or abs(leave.time - shift - c["t1"]) > rounded:
        differ("times", enter.time - shift, leave.time - shift, c)
    expect(c, records, notes)
    if "error" not in c["out"]:
        expect_rma(c, records, notes)
        expect_io(c, records, notes)


def check_entered(c, enter, notes):
    """Compares a call that had not returned."""
    a = attributes(enter)
    place, context = a.pop("callsite"), a.pop("callpath", None)
    site = place.file if place.line_number == 0 else "%s:%d" % (place.file, place.line_number)
    if enter.region.name != c["op"] or site != c["site"] or a.get("unfinished") != 1:
        differ("call in progress", enter.region.name, site, a, c)
    if (path(context) if context else None) != c.get("path"):
        differ("call path", path(context) if context else None, c)
    got = {k: v for k, v in a.items() if k not in ("number", "function", "lang", "large", "pmpi", "unused", "unfinished")}
    if got != {k: value(v) for k, v in c["args"].items()}:
        differ("arguments", got, c)
    notes["entered"] += 1
    notes["entered with a path"] += context is not None


class Location:
    def __init__(self):
        self.stack, self.next, self.last, self.inner = [], 0, 0, False


notes = collections.Counter()
places = collections.defaultdict(Location)
with otf2.reader.open(archive) as trace:
    keys = {}
    for location in trace.definitions.locations:
        name = location.name
        rank = int(location.group.name.split()[-1])
        keys[location] = (rank, 0 if name.startswith("Master") else int(name.split()[1].split(":")[0]))
    first = min((c[0]["t0"] for c in calls.values() if c), default=0)
    shift = trace.definitions.clock_properties.global_offset - first
    for location, event in trace.events:
        here = places[location]
        if event.time < here.last:
            differ("time goes back", location, event)
        here.last = event.time
        if isinstance(event, Enter):
            here.stack.append((event, []))
        elif isinstance(event, Leave):
            if not here.stack or here.stack[-1][0].region != event.region:
                differ("not balanced", location, event)
                continue
            enter, records = here.stack.pop()
            if enter.region.paradigm != otf2.Paradigm.MPI:
                continue
            list = calls[keys[location]]
            if here.next < len(list):
                depth = sum(outer.region.paradigm == otf2.Paradigm.MPI for outer, _ in here.stack)
                check(list[here.next], enter, event, records, notes, depth > 0 or here.inner)
                here.inner = depth > 0
                if min(depth, 7) != list[here.next].get("depth", 0):
                    differ("depth", depth, list[here.next])
                notes["inner"] += depth > 0
            elif not entered[keys[location]]:
                differ("a call that was not made", location, enter)
            else:
                check_entered(entered[keys[location]].pop(0), enter, notes)
            here.next += 1
        else:
            here.stack[-1][1].append((event, len(here.stack)))
            notes[type(event).__name__] += 1
    for location, key in keys.items():
        here = places[location]
        if here.stack or here.next < len(calls[key]) or entered[key]:
            differ("incomplete", location, here.next, len(calls[key]), here.stack)
        notes["calls"] += here.next
if accesses or halves:
    differ("incomplete", accesses, halves)
print(json.dumps(notes))
sys.exit(wrong > 0)
