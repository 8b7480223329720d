// Package live says what the processes of a job are doing, or were doing when they
// were killed: the call that each thread is in, since when, and whom it waits for. It
// reads their segments (internal/segment); the processes notice nothing. Who waits for whom
// is what package internal/analysis/waitfor finds out.
package live
