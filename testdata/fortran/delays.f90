! Ranks that are late on purpose: the first part of c/delays.c (messages, a barrier, reductions
! after unequal work, a slow root). The log has the same form.
program delays
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function usleep(us) bind(c, name="usleep") result(status)
      import :: c_int
      integer(c_int), value :: us
      integer(c_int) :: status
    end function
  end interface
  integer :: ierr, rank, ranks, number, delay, i, x, status(MPI_STATUS_SIZE)
  integer(8) :: before
  double precision :: v, s
  character(len=4096) :: dir, text

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, dir)
  call get_command_argument(2, text)
  read (text, *) delay
  write (text, '(a,a,i0)') trim(dir), '/log.', rank
  open (unit=10, file=trim(text))
  number = 0
  x = 0
  v = 1

  call together
  if (rank == 0) then
    call late(1.0)
    before = now()
    call MPI_Send(x, 1, MPI_INTEGER, 1, 10, MPI_COMM_WORLD, ierr)
    call note('send', 1, 10)
  else if (rank == 1) then
    before = now()
    call MPI_Recv(x, 1, MPI_INTEGER, 0, 10, MPI_COMM_WORLD, status, ierr)
    call note('receive', 0, 10)
  else if (rank == 2) then
    before = now()
    call MPI_Ssend(x, 1, MPI_INTEGER, 3, 11, MPI_COMM_WORLD, ierr)
    call note('send', 3, 11)
  else if (rank == 3) then
    call late(1.0)
    before = now()
    call MPI_Recv(x, 1, MPI_INTEGER, 2, 11, MPI_COMM_WORLD, status, ierr)
    call note('receive', 2, 11)
  end if
  call together
  if (rank == 2) call late(1.0)
  call together
  do i = 1, 5
    call late(0.1 * rank)
    number = number + 1
    before = now()
    call MPI_Allreduce(v, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call note('sum', 0, number)
  end do
  if (rank == 1) call late(1.0)
  number = number + 1
  before = now()
  call MPI_Bcast(v, 1, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
  call note('bcast', 1, number)
  call together
  close (10)
  call MPI_Finalize(ierr)

contains

  function now() result(ns) ! CLOCK_MONOTONIC
    integer(8) :: ns
    call system_clock(ns)
  end function

  subroutine late(part)
    real, intent(in) :: part
    integer(c_int) :: ignored
    ignored = usleep(int(part * delay * 1000, c_int))
  end subroutine

  subroutine note(what, peer, tag)
    character(len=*), intent(in) :: what
    integer, intent(in) :: peer, tag
    integer(8) :: after
    after = now()
    write (10, '(a,1x,i0,1x,i0,1x,i0,1x,i0)') what, peer, tag, before, after
  end subroutine

  subroutine together
    number = number + 1
    before = now()
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call note('barrier', 0, number)
  end subroutine
end program
