! OpenMP threads that call MPI: each in a ring with a communicator of its own, one of them for all, and in turn.
program omp_team
  use mpi
  implicit none
  integer, parameter :: threads = 3, rounds = 6
  integer :: ierr, provided, rank, nproc, k, i, total, comms(0:threads - 1), in, requests(2)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  if (provided /= MPI_THREAD_MULTIPLE) stop 1
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  do k = 0, threads - 1
     call MPI_Comm_dup(MPI_COMM_WORLD, comms(k), ierr)
  end do

  !$omp parallel num_threads(threads) private(k, i, in, requests, ierr) shared(total)
  !$omp do schedule(static, 1)
  do k = 0, threads - 1
     do i = 1, rounds
        call MPI_Irecv(in, 1, MPI_INTEGER, modulo(rank - 1, nproc), k, comms(k), requests(1), ierr)
        call MPI_Isend(i, 1, MPI_INTEGER, modulo(rank + 1, nproc), k, comms(k), requests(2), ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        if (in /= i) stop 2
     end do
  end do
  !$omp end do
  do i = 1, rounds
     !$omp single
     call MPI_Allreduce(i, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
     if (total /= i * nproc) stop 3
     !$omp end single
  end do
  !$omp do ordered schedule(static, 1)
  do k = 0, threads - 1
     !$omp ordered
     call MPI_Bcast(total, 1, MPI_INTEGER, modulo(k, nproc), MPI_COMM_WORLD, ierr)
     !$omp end ordered
  end do
  !$omp end do
  !$omp end parallel

  do k = 0, threads - 1
     call MPI_Comm_free(comms(k), ierr)
  end do
  call MPI_Finalize(ierr)
  if (rank == 0) print '(a, i0)', 'omp_team: ok ', rounds
end program
