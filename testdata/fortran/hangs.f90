! Programs that hang, each because of one fault, after some healthy rounds: hangs KIND.
program hangs
  use mpi
  implicit none
  integer :: ierr, rank, nproc, other, i, x(1), y(1)
  character(len=32) :: kind

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  call get_command_argument(1, kind)
  other = mod(rank + 1, nproc)
  x = rank
  do i = 1, 3
     call MPI_Sendrecv(x, 1, MPI_INTEGER, other, 3, y, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, &
          MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
     call MPI_Bcast(y, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
     call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do

  select case (kind)
  case ('reduce_allreduce')
     if (rank == 0) then
        call MPI_Reduce(x, y, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
     else
        call MPI_Allreduce(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
     end if
  case ('recv_recv')
     call MPI_Recv(y, 1, MPI_INTEGER, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
     call MPI_Send(x, 1, MPI_INTEGER, other, 5, MPI_COMM_WORLD, ierr)
  end select
  call MPI_Finalize(ierr)
end program hangs
