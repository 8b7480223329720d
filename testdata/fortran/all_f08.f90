! The mpi_f08 interface: typed handles, ierror left out, statuses ignored and
! not, completion in any order, derived types, MPI-IO.
program all_f08
  use mpi_f08
  implicit none
  integer :: rank, nproc, left, right, i, sums
  type(MPI_Comm) :: ring

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [nproc], [.true.], .false., ring)
  call MPI_Cart_shift(ring, 0, 1, left, right)
  do i = 1, 9
     call halo(mod(i, 3))
  end do
  call blocking()
  call collectives()
  call derived()
  call files()
  call polling()
  call persistent()
  call matched()
  sums = rank
  call MPI_Allreduce(MPI_IN_PLACE, sums, 1, MPI_INTEGER, MPI_SUM, ring)
  call MPI_Comm_free(ring)
  if (rank == 0) print '(a,i0)', 'all_f08: ok ', sums
  call MPI_Finalize()

contains

  subroutine check(ok)
    logical, intent(in) :: ok
    if (ok) return
    print *, 'all_f08: wrong'
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine check

  subroutine halo(way)
    integer, intent(in) :: way
    double precision, asynchronous :: a(10, 0:11)
    type(MPI_Request) :: r(4)
    type(MPI_Status) :: st(4)
    integer :: idx, n, k, list(4), ierr
    a = rank
    call MPI_Irecv(a(:, 0), 10, MPI_DOUBLE_PRECISION, left, 1, ring, r(1))
    call MPI_Irecv(a(:, 11), 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 2, ring, r(2), ierr)
    call MPI_Isend(a(:, 10), 10, MPI_DOUBLE_PRECISION, right, 1, ring, r(3))
    call MPI_Isend(a(:, 1), 10, MPI_DOUBLE_PRECISION, left, 2, ring, r(4))
    if (way == 0) then
       call MPI_Waitall(4, r, st)
       call check(st(1)%MPI_SOURCE == left .and. st(2)%MPI_TAG == 2)
       call MPI_Get_count(st(2), MPI_DOUBLE_PRECISION, n)
       call check(n == 10)
    else if (way == 1) then
       ! the value of the index differs between versions of MPICH: not checked
       do k = 1, 4
          call MPI_Waitany(4, r, idx, MPI_STATUS_IGNORE)
       end do
       call check(all(r == MPI_REQUEST_NULL))
    else
       k = 0
       do while (k < 4)
          call MPI_Waitsome(4, r, n, list, MPI_STATUSES_IGNORE)
          k = k + n
       end do
    end if
    call check(a(1, 0) == left .and. a(10, 11) == right)
  end subroutine halo

  subroutine blocking()
    integer :: v, w, n
    type(MPI_Status) :: st
    v = rank
    call MPI_Sendrecv(v, 1, MPI_INTEGER, right, 3, w, 1, MPI_INTEGER, left, 3, ring, st)
    call check(w == left .and. st%MPI_TAG == 3)
    call MPI_Sendrecv_replace(v, 1, MPI_INTEGER, right, 4, left, 4, ring, MPI_STATUS_IGNORE)
    call check(v == left)
    call MPI_Recv(v, 1, MPI_INTEGER, MPI_PROC_NULL, 4, ring, st)
    call MPI_Get_count(st, MPI_INTEGER, n)
    call check(n == 0 .and. st%MPI_SOURCE == MPI_PROC_NULL)
  end subroutine blocking

  subroutine collectives()
    integer :: counts(nproc), displs(nproc), v(nproc), w(nproc), x
    type(MPI_Datatype) :: types(nproc)
    type(MPI_Request) :: r
    integer :: k
    counts = 1
    displs = [(k, k = 0, nproc - 1)]
    v = [(10 * rank + k, k = 0, nproc - 1)]
    call MPI_Alltoall(v, 1, MPI_INTEGER, w, 1, MPI_INTEGER, ring)
    call check(w(1) == rank)
    types = MPI_INTEGER
    call MPI_Alltoallw(v, counts, 4 * displs, types, w, counts, 4 * displs, types, ring)
    call check(w(nproc) == 10 * (nproc - 1) + rank)
    call MPI_Gatherv(v, 1, MPI_INTEGER, w, counts, displs, MPI_INTEGER, nproc - 1, ring)
    call MPI_Ibcast(v, nproc, MPI_INTEGER, 0, ring, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(v(nproc) == nproc - 1)
    x = 1
    w(rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 7, MPI_CHARACTER, w, 1, MPI_INTEGER, ring)
    call check(w(nproc) == nproc - 1)
    call MPI_Alltoall(MPI_IN_PLACE, 7, MPI_CHARACTER, w, 1, MPI_INTEGER, ring)
    call check(w(1) == rank)
    call MPI_Exscan(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, ring)
    call check(rank == 0 .or. x == rank)
  end subroutine collectives

  subroutine derived()
    type(MPI_Datatype) :: t
    type(MPI_Comm) :: copy
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: v(12), w(12), n
    v = rank
    call MPI_Type_indexed(3, [1, 2, 1], [0, 4, 9], MPI_INTEGER, t)
    call MPI_Type_commit(t)
    call MPI_Sendrecv(v, 1, t, right, 6, w, 1, t, left, 6, ring, MPI_STATUS_IGNORE)
    call MPI_Type_free(t)
    call check(w(5) == left .and. t == MPI_DATATYPE_NULL)
    call MPI_Comm_dup(ring, copy)
    call MPI_Comm_set_name(copy, 'a copy')
    call MPI_Comm_get_name(copy, name, n)
    call check(name(1:n) == 'a copy')
    call MPI_Comm_free(copy)
  end subroutine derived

  subroutine files()
    type(MPI_File) :: f
    type(MPI_Status) :: st
    integer :: v(2), w(2), n
    character(len=256) :: dir
    call get_command_argument(1, dir)
    call MPI_File_open(ring, trim(dir)//'/f08.data', &
         MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, f)
    v = rank
    call MPI_File_write_at(f, int(8 * rank, MPI_OFFSET_KIND), v, 2, MPI_INTEGER, st)
    call MPI_Get_count(st, MPI_INTEGER, n)
    call check(n == 2)
    call MPI_File_read_at_all(f, int(8 * rank, MPI_OFFSET_KIND), w, 2, MPI_INTEGER, &
         MPI_STATUS_IGNORE)
    call check(all(w == v))
    call MPI_File_close(f)
  end subroutine files

  subroutine polling()
    type(MPI_Request) :: r(2)
    type(MPI_Status) :: st(2)
    integer, asynchronous :: v, w
    integer :: idx, n, list(2)
    logical :: flag
    v = rank
    call MPI_Irecv(w, 1, MPI_INTEGER, left, 7, ring, r(1))
    call MPI_Isend(v, 1, MPI_INTEGER, right, 7, ring, r(2))
    flag = .false.
    do while (.not. flag)
       call MPI_Testany(2, r, idx, flag, st(1))
    end do
    n = 0
    do while (n == 0)
       call MPI_Testsome(2, r, n, list, st)
    end do
    call check(w == left .and. all(r == MPI_REQUEST_NULL))
    call MPI_Testall(2, r, flag, MPI_STATUSES_IGNORE)
    call check(flag)
  end subroutine polling

  subroutine persistent()
    type(MPI_Request) :: r(2)
    type(MPI_Status) :: st(2)
    integer, asynchronous :: v, w
    integer :: k
    call MPI_Recv_init(w, 1, MPI_INTEGER, left, 8, ring, r(1))
    call MPI_Send_init(v, 1, MPI_INTEGER, right, 8, ring, r(2))
    do k = 1, 4
       v = 10 * rank + k
       call MPI_Startall(2, r)
       call MPI_Waitall(2, r, st)
       call check(w == 10 * left + k)
    end do
    call MPI_Request_free(r(1))
    call MPI_Request_free(r(2))
  end subroutine persistent

  subroutine matched()
    type(MPI_Message) :: m
    type(MPI_Status) :: st
    type(MPI_Request) :: r
    integer :: v, w
    v = rank
    call MPI_Isend(v, 1, MPI_INTEGER, right, 9, ring, r)
    call MPI_Mprobe(MPI_ANY_SOURCE, 9, ring, m, st)
    call check(st%MPI_SOURCE == left)
    call MPI_Mrecv(w, 1, MPI_INTEGER, m, MPI_STATUS_IGNORE)
    call check(w == left)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
  end subroutine matched

end program all_f08
