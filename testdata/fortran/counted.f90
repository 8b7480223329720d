! Touches at least 2,000 pages before an MPI_Allreduce.
program counted
    use mpi
    implicit none
    integer :: ierr, x = 1, y
    real(8), allocatable :: a(:)
    call MPI_Init(ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    allocate (a(2000 * 512))
    a = 1
    x = int(a(1000))
    call MPI_Allreduce(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Finalize(ierr)
end program
