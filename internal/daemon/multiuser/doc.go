// Package multiuser records the programs of all users of a machine with one service of root's,
// and keeps them apart.
//
// The service itself looks at nothing of a user's. For each user whose programs record, or who
// asks, it starts a child, efg daemon as that user, so that it is the kernel who keeps users
// apart: no child can read what is another's, whatever is in a segment. The service knows from
// the kernel (SO_PEERCRED) which user a process is that connects to it, and from the machine's
// name service who that is.
//
//	programs, commands ── socket ──▶ service ── starts, as the user ──▶ efg daemon ──▶ spool, store
//	questions          ── http   ──▶ service ── socket of root's ─────▶ efg daemon
//
// A program records into its user's spool whether there is a child or not; a child finds
// what is there. So a child, or the service, may be killed at any moment: the next one goes on.
//
// # What a hostile user can do
//
// A child belongs to its user, who may kill it, stop it, or make it do something else: it has
// nothing that is not the user's, but for a pipe to the service, on which only five words are
// understood, and a socket at which it is asked by the user and by root. What it answers goes
// to these. It is started again later and later. Who takes the place of another's spool has it
// put away as soon as the other records. Connections, lookups of users that are unknown, lines
// of log, and children at once are bounded.
package multiuser
