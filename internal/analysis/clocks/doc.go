// Package clocks makes the times of several machines agree. Every message, and every collective
// call that its members cannot leave before others have entered it, says of two clocks that one
// time was not before another one. From the tightest of these inequalities follow, for each
// machine, an offset and a rate relative to a reference machine, for windows of time in which one
// line meets all of them. What is still over before its cause has begun is shifted by a
// controlled logical clock. docs/clocks.md describes both.
package clocks
