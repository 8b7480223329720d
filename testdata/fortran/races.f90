! Message races in Fortran: what rank 0 prints depends on the order in which messages arrive, which
! requests complete first, and how often polls find nothing; with mpi_f08 and with the module mpi.
module racing
  use iso_fortran_env, only: int64
  implicit none
  integer, parameter :: rounds = 12
  integer(int64) :: h
contains
  subroutine mix(v)
    integer, intent(in) :: v
    h = ieor(h, int(v, int64)) * 1099511628211_int64
  end subroutine

  subroutine pause_at_random
    real :: x
    integer(int64) :: begin, now, rate
    call random_number(x)
    call system_clock(begin, rate)
    do
      call system_clock(now)
      if (real(now - begin) > x * 3e-4 * real(rate)) exit
      call yield
    end do
  end subroutine

  subroutine yield
    interface
      subroutine usleep(t) bind(c)
        import
        integer, value :: t
      end subroutine
    end interface
    call usleep(20)
  end subroutine
end module

module new
  use racing
  use mpi_f08
  implicit none
contains
  subroutine send_new(rank)
    integer, intent(in) :: rank
    integer :: i
    do i = 1, rounds
      call pause_at_random
      call MPI_Send(i, 1, MPI_INTEGER, 0, mod(rank + i, 3), MPI_COMM_WORLD)
    end do
  end subroutine

  subroutine mix_new(s, v)
    type(MPI_Status), intent(in) :: s
    integer, intent(in) :: v
    call mix(s%MPI_SOURCE * 1000 + s%MPI_TAG * 100 + v)
  end subroutine

  subroutine blocking(n)
    integer, intent(in) :: n
    type(MPI_Status) :: s
    type(MPI_Message) :: m
    integer :: i, v
    logical :: found
    do i = 1, n
      select case (mod(i, 4))
      case (0)
        call MPI_Recv(v, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, s)
      case (1)
        call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, s)
        call MPI_Recv(v, 1, MPI_INTEGER, s%MPI_SOURCE, s%MPI_TAG, MPI_COMM_WORLD, s)
      case (2)
        call MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, m, s)
        call MPI_Mrecv(v, 1, MPI_INTEGER, m, s)
      case (3)
        found = .false.
        do while (.not. found)
          call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, found, s)
          call mix(merge(1, 0, found))
        end do
        call MPI_Recv(v, 1, MPI_INTEGER, s%MPI_SOURCE, s%MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      end select
      call mix_new(s, v)
    end do
  end subroutine

  ! k receives at a time; what completes them changes.
  subroutine requests(k)
    integer, intent(in) :: k
    type(MPI_Request) :: r(k)
    type(MPI_Status) :: s(k)
    integer :: b(k), x(k), i, j, n
    logical :: found
    do i = 1, rounds
      do j = 1, k
        call MPI_Irecv(b(j), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, r(j))
      end do
      n = 0
      do while (n < k)
        x(2:) = 0
        found = .true.
        select case (mod(i, 4))
        case (0)
          call MPI_Waitany(k, r, x(1), s(1))
          j = 1
        case (1)
          call MPI_Testany(k, r, x(1), found, s(1))
          j = merge(1, 0, found)
        case (2)
          call MPI_Waitsome(k, r, j, x, s)
        case (3)
          call MPI_Testsome(k, r, j, x, s)
        end select
        call mix(j)
        n = n + j
        do j = 1, j
          call mix(x(j))
          call mix_new(s(j), b(x(j)))
        end do
      end do
    end do
  end subroutine

  subroutine persistent(k)
    integer, intent(in) :: k
    type(MPI_Request) :: r(k)
    type(MPI_Status) :: s
    integer :: b(k), i, j, x
    logical :: done
    do j = 1, k
      call MPI_Recv_init(b(j), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, r(j))
    end do
    do i = 1, rounds
      call MPI_Startall(k, r)
      do j = 1, k
        if (mod(i, 2) == 0) then
          call MPI_Waitany(k, r, x, s)
        else
          x = j
          done = .false.
          do while (.not. done)
            call MPI_Test(r(x), done, s)
            call mix(merge(1, 0, done))
          end do
        end if
        call mix(x)
        call mix_new(s, b(x))
      end do
    end do
    do j = 1, k
      call MPI_Request_free(r(j))
    end do
  end subroutine
end module

module old
  use racing
  implicit none
contains
  subroutine receive_old(k)
    use mpi
    integer, intent(in) :: k
    integer :: r(k), s(MPI_STATUS_SIZE), all(MPI_STATUS_SIZE, k), b(k), x(k), i, j, n, v, ierr
    logical :: found
    do i = 1, rounds * k
      if (mod(i, 2) == 0) then
        call MPI_Recv(v, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, s, ierr)
      else
        found = .false.
        do while (.not. found)
          call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, found, s, ierr)
          call mix(merge(1, 0, found))
        end do
        call MPI_Recv(v, 1, MPI_INTEGER, s(MPI_SOURCE), s(MPI_TAG), MPI_COMM_WORLD, s, ierr)
      end if
      call mix(s(MPI_SOURCE) * 1000 + s(MPI_TAG) * 100 + v)
    end do
    do i = 1, rounds
      do j = 1, k
        call MPI_Irecv(b(j), 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, r(j), ierr)
      end do
      n = 0
      do while (n < k)
        select case (mod(i, 3))
        case (0)
          call MPI_Waitany(k, r, x(1), all(:, 1), ierr)
          j = 1
        case (1)
          call MPI_Testsome(k, r, j, x, all, ierr)
        case (2)
          call MPI_Testall(k, r, found, all, ierr)
          j = merge(k, 0, found)
          x = [(v, v = 1, k)]
        end select
        call mix(j)
        n = n + j
        do j = 1, j
          call mix(x(j))
          call mix(all(MPI_SOURCE, j) * 1000 + all(MPI_TAG, j) * 100 + b(x(j)))
        end do
      end do
    end do
  end subroutine

  subroutine send_old(rank)
    use mpi
    integer, intent(in) :: rank
    integer :: i, ierr
    do i = 1, 2 * rounds
      call pause_at_random
      call MPI_Send(i, 1, MPI_INTEGER, 0, mod(rank + i, 3), MPI_COMM_WORLD, ierr)
      if (i == rounds) call MPI_Ssend(i, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierr)
    end do
  end subroutine
end module

program races
  use mpi_f08
  use racing
  use new
  use old
  implicit none
  integer :: rank, size, part
  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call random_seed
  do part = 1, 4
    h = 1
    if (rank == 0) then
      if (part == 1) call blocking(rounds * (size - 1))
      if (part == 2) call requests(size - 1)
      if (part == 3) call persistent(size - 1)
      if (part == 4) call receive_old(size - 1)
      print '(a, i0, z20.16)', 'part ', part, h
    else if (part < 4) then
      call send_new(rank)
    else
      call send_old(rank)
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Finalize
end program
