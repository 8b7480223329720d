// Package daemon records programs without efg run: it finds the segments that the hook records
// into its spool directory, tracks which processes are running, and seals each job that has
// ended as a run file in its store.
//
// # Directories
//
// The spool is in memory (/dev/shm/efg-UID), private to the user. The file "hook" in it tells
// the hook that there is a daemon, and how to record; processes register at "socket" when they
// start. NAME.seg are segments; NAME.seg.job is the job of each, which could not be determined
// after its process has ended.
//
// The store (the user's state directory) has for each run NAME.efg and NAME.json (Summary).
//
// # Several machines
//
// Each machine's daemon has a lock in the store (.nodes/NODE.lock) and one in its spool. A
// machine reserves the name of a run by creating NAME.sealing or the directory NAME, at which
// only one can succeed. The processes on one machine of a launch on several machines become a
// part, NAME/part-NODE.efg; see part.go for how the others find the directory. The daemon that
// finds all ranks in it merges them to NAME.efg, then writes NAME.json, then removes the claim
// and the parts; each step may be repeated, by any machine.
//
// # Nothing lost, nothing twice
//
// A job is sealed in idempotent steps, each of which is on disk before the next begins:
// NAME.sealing names its segments; NAME.efg is made from them (written beside, synced,
// renamed); NAME.json is written; the segments are removed; NAME.sealing is removed. A daemon
// that finds NAME.sealing at its start continues: without NAME.json the run file is written
// again, with it the segments in the list are removed. A segment that appears later for the
// same job is in no list; it becomes a separate run.
package daemon
