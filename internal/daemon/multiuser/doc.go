// Package multiuser records the programs of all users of a machine with one service of root's,
// and keeps them apart.
//
// The service itself reads none of the users' data. For each user whose programs record, or who
// sends a request, it starts a child, efg daemon as that user, so that the kernel separates
// users: no child can read another's data, whatever is in a segment. The service learns from
// the kernel (SO_PEERCRED) which user connects to it, and looks the user up in the machine's
// name service.
//
//	programs, commands ── socket ──▶ service ── starts, as the user ──▶ efg daemon ──▶ spool, store
//	questions          ── http   ──▶ service ── socket of root's ─────▶ efg daemon
//
// A program records into its user's spool whether there is a child or not; a child finds the
// segments. A child, or the service, may therefore be killed at any moment: the next one
// continues.
//
// # What a hostile user can do
//
// A child belongs to its user, who may kill it, stop it, or make it do something else. It has
// nothing that is not the user's, except a pipe to the service, on which only five words are
// understood, and a socket for requests from the user and from root, who get its answers. It is
// restarted with increasing delays. A user who occupies the path of another's spool has it
// moved away as soon as the other records. Connections, lookups of users that are unknown,
// lines of log, and children at once are bounded.
package multiuser
