// Package importer makes processes of calls that other recorders wrote: calls, in order, become the
// graph that efg's own recorder would have made of them. The packages below it read formats.
//
// What a source does not have stays absent (signature.Absent). The recorder's conventions are
// applied here: the names of requests, arrays that are as the call before left them, and statuses
// that follow from the call that posted the receive.
package importer
