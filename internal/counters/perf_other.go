//go:build !amd64

package counters

// perfEventOpen is the number of the system call where Linux has the common numbers.
const perfEventOpen = 241
