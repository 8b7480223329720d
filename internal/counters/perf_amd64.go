package counters

// perfEventOpen is the number of the system call.
const perfEventOpen = 298
