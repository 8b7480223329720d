// Package daemon keeps recordings without anybody asking for each: it finds the
// segments of processes that the hook records into its spool directory, follows who is
// running, and seals a job that has ended into one run file in its store.
//
// # Directories
//
// The spool is in memory (/dev/shm/efg-UID), private to the user. The file "hook" in it
// tells the hook that there is a daemon, and how to record; "socket" takes what
// processes say when they begin. NAME.seg are segments, NAME.seg.job the job that each was
// found to be of: when its process is gone that could not be found out any more.
//
// The store (the user's state directory) has for each run NAME.efg and NAME.json (Summary).
//
// # Several machines
//
// Each machine's daemon has a lock in the store (.nodes/NODE.lock) and one in its spool. Names
// of runs are taken by making NAME.sealing or the directory NAME, which only one can do. What
// is on a machine of a launch that has processes on others, too, becomes a part,
// NAME/part-NODE.efg; see part.go for how the others find the directory. Whoever finds all
// ranks in it merges them to NAME.efg, then writes NAME.json, then removes the claim and the
// parts; each step may be repeated, by any machine.
//
// # Nothing lost, nothing twice
//
// A job is sealed in steps, of which each may be repeated, and each is on disk before the
// next begins: NAME.sealing names its segments; NAME.efg is made of them (written beside,
// synced, renamed); NAME.json is written; the segments are removed; NAME.sealing is
// removed. Whoever finds NAME.sealing at the start goes on: without NAME.json the run
// file is made again, with it the segments in the list are removed. A segment that comes
// later for the same job is in no list; it becomes a run of its own.
package daemon
