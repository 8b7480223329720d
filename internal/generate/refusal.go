package generate

import "github.com/efg-tools/efg/signature"

// refused are the procedures that a program of its own cannot call as recorded, with the reason.
// docs/replay.md lists them.
var refused = map[string]string{
	"MPI_Abort":                   "the program ends there, with processes in any state",
	"MPI_Comm_join":               "the socket is one of the program's own",
	"MPI_Register_datarep":        "its conversion functions are the program's own",
	"MPIX_Comm_revoke":            "failures of processes are not reproduced",
	"MPIX_Comm_shrink":            "failures of processes are not reproduced",
	"MPIX_Comm_failure_ack":       "failures of processes are not reproduced",
	"MPIX_Comm_failure_get_acked": "failures of processes are not reproduced",
	"MPIX_Grequest_start":         "its functions are the program's own",
}

// refusal is the reason for which calls of a procedure are not generated, "" if they are.
func refusal(p *signature.Proc) string { return refused[p.Name] }
