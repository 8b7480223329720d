! Calls by both names, through mpif.h and mpi_f08. Two processes.
program calls
#ifdef F08
    use mpi_f08
    implicit none
    type(MPI_Request) :: r
#else
    implicit none
    include 'mpif.h'
    integer :: r
#endif
    integer :: rank, n, i, ierr
    double precision :: in(4), out(4)
    call PMPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call PMPI_Comm_size(MPI_COMM_WORLD, n, ierr)
    out = rank
    do i = 1, 3
        call PMPI_Irecv(in, 4, MPI_DOUBLE_PRECISION, mod(rank + n - 1, n), i, MPI_COMM_WORLD, r, ierr)
        call MPI_Send(out, 4, MPI_DOUBLE_PRECISION, mod(rank + 1, n), i, MPI_COMM_WORLD, ierr)
        call PMPI_Wait(r, MPI_STATUS_IGNORE, ierr)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call PMPI_Bcast(out, 4, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a)', 'calls: ok'
    call PMPI_Finalize(ierr)
end program
