// Package live examines what the processes of a job are doing, or were doing when they were
// killed: the call that each thread is in, since when, and which ranks it waits for. It reads
// their segments (internal/segment) without disturbing the processes. Package
// internal/analysis/waitfor computes the wait-for graph.
package live
