! Collectives, derived types, MPI-IO and polling with "use mpi".
program coll_usempi
  use mpi
  implicit none
  integer :: ierr, rank, nproc, i, half, color
  integer :: st(MPI_STATUS_SIZE), req, next, flags
  integer, allocatable :: counts(:), displs(:), all(:), mine(:)
  double precision :: x(4)
  double precision, volatile :: y(4)
  logical :: flag, commutes

  call MPI_Init_thread(MPI_THREAD_FUNNELED, flags, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  allocate(counts(nproc), displs(nproc), all(nproc), mine(nproc))
  counts = 1
  displs = [(i, i = 0, nproc - 1)]
  mine = [(10 * rank + i, i = 0, nproc - 1)]

  do i = 0, 2 * nproc - 1
     call rooted(mod(i, nproc))
  end do
  call MPI_Alltoallv(mine, counts, displs, MPI_INTEGER, all, counts, displs, MPI_INTEGER, &
       MPI_COMM_WORLD, ierr)
  call check(all(1) == rank)
  call MPI_Alltoallv(MPI_IN_PLACE, counts, displs, MPI_INTEGER, all, counts, displs, MPI_INTEGER, &
       MPI_COMM_WORLD, ierr)
  call check(all(1) == 10 * rank)
  call MPI_Reduce_scatter(mine, next, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  x = rank
  call MPI_Iallreduce(x, y, 4, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD, req, ierr)
  flag = .false.
  do while (.not. flag)
     call MPI_Test(req, flag, MPI_STATUS_IGNORE, ierr)
  end do
  call check(y(4) == 0)
  call MPI_Scan(MPI_IN_PLACE, x, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call in_place()
  call own_operation()
  color = mod(rank, 2)
  call MPI_Comm_split(MPI_COMM_WORLD, color, -rank, half, ierr)
  call MPI_Barrier(half, ierr)
  call MPI_Comm_free(half, ierr)
  call derived()
  call one_sided()
  call files()
  call ring()
  if (rank == 0) print '(a)', 'coll_usempi: ok'
  call MPI_Finalize(ierr)

contains

  subroutine check(ok)
    logical, intent(in) :: ok
    integer :: e
    if (ok) return
    print *, 'coll_usempi: wrong'
    call MPI_Abort(MPI_COMM_WORLD, 1, e)
  end subroutine check

  subroutine rooted(root)
    integer, intent(in) :: root
    integer :: v, got
    v = merge(root, -1, rank == root)
    call MPI_Bcast(v, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    call check(v == root)
    call MPI_Gather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
    call MPI_Gatherv(rank, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, root, &
         MPI_COMM_WORLD, ierr)
    if (rank == root) then
       call check(all(nproc) == nproc - 1)
       call MPI_Scatter(all, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
       got = all(rank + 1)
       call MPI_Reduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierr)
       call check(got == nproc * (nproc - 1) / 2)
    else
       call MPI_Scatter(all, 1, MPI_INTEGER, got, 1, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
       call check(got == rank)
       call MPI_Reduce(got, v, 1, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierr)
    end if
  end subroutine rooted

  subroutine in_place()
    integer :: n(nproc)
    all(rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 7, MPI_CHARACTER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all(nproc) == nproc - 1)
    call MPI_Allgatherv(MPI_IN_PLACE, 7, MPI_CHARACTER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all(1) == 0)
    call MPI_Alltoall(MPI_IN_PLACE, 7, MPI_CHARACTER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all(1) == rank)
    if (rank == 0) then
       call MPI_Gather(MPI_IN_PLACE, 7, MPI_CHARACTER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    else
       call MPI_Gather(rank, 1, MPI_INTEGER, all, 7, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    end if
    n = 1
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, n, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(n(1) == nproc)
  end subroutine in_place

  subroutine own_operation()
    integer :: op, a, b
    external :: largest
    call MPI_Op_create(largest, .true., op, ierr)
    a = rank
    call MPI_Allreduce(a, b, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
    call check(b == nproc - 1)
    call MPI_Op_commutative(op, commutes, ierr)
    call check(commutes)
    call MPI_Op_free(op, ierr)
  end subroutine own_operation

  subroutine derived()
    integer :: t, u, lengths(2), kinds(2), n
    integer(kind=MPI_ADDRESS_KIND) :: at(2), lb, extent
    character(len=MPI_MAX_OBJECT_NAME) :: name
    lengths = [2, 3]
    kinds = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
    at = [0_MPI_ADDRESS_KIND, 16_MPI_ADDRESS_KIND]
    call MPI_Type_create_struct(2, lengths, at, kinds, t, ierr)
    lb = 0
    extent = 64
    call MPI_Type_create_resized(t, lb, extent, u, ierr)
    call MPI_Type_commit(u, ierr)
    call MPI_Type_get_extent(u, lb, extent, ierr)
    call check(extent == 64)
    call MPI_Type_set_name(u, 'record', ierr)
    call MPI_Type_get_name(u, name, n, ierr)
    call check(name(1:n) == 'record')
    call MPI_Type_free(t, ierr)
    call MPI_Type_free(u, ierr)
    call MPI_Type_create_subarray(2, [8, 8], [4, 2], [1, 3], MPI_ORDER_FORTRAN, MPI_REAL, t, ierr)
    call MPI_Type_commit(t, ierr)
    call MPI_Type_free(t, ierr)
  end subroutine derived

  subroutine one_sided()
    integer :: win, v
    integer, volatile :: memory(4)  ! changes between calls
    integer(kind=MPI_ADDRESS_KIND) :: bytes, place
    memory = 0
    bytes = 16
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_fence(0, win, ierr)
    v = rank + 1
    place = 1
    call MPI_Put(v, 1, MPI_INTEGER, mod(rank + 1, nproc), place, 1, MPI_INTEGER, win, ierr)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
    call check(memory(2) == mod(rank + nproc - 1, nproc) + 1)
    call MPI_Win_free(win, ierr)
  end subroutine one_sided

  subroutine files()
    integer :: fh, v, w
    integer(kind=MPI_OFFSET_KIND) :: offset
    character(len=256) :: dir
    call get_command_argument(1, dir)
    call MPI_File_open(MPI_COMM_WORLD, trim(dir)//'/usempi.data', &
         MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, fh, ierr)
    call check(ierr == MPI_SUCCESS)
    offset = 4 * rank
    v = 7 * rank
    call MPI_File_write_at_all(fh, offset, v, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_File_sync(fh, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_sync(fh, ierr)
    call MPI_File_read_at(fh, offset, w, 1, MPI_INTEGER, st, ierr)
    call check(w == v)
    offset = 0
    call MPI_File_set_view(fh, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_close(fh, ierr)
  end subroutine files

  subroutine ring()
    integer :: r(2), idx, left, right
    integer, volatile :: out, in
    left = mod(rank + nproc - 1, nproc)
    right = mod(rank + 1, nproc)
    out = rank
    call MPI_Recv_init(in, 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Send_init(out, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(2), ierr)
    do i = 1, 5
       call MPI_Startall(2, r, ierr)
       flag = .false.
       do while (.not. flag)
          call MPI_Testany(2, r, idx, flag, st, ierr)
       end do
       call check(idx == 1 .or. idx == 2)
       call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
       call check(in == left)
    end do
    call MPI_Request_free(r(1), ierr)
    call MPI_Request_free(r(2), ierr)
  end subroutine ring

end program coll_usempi

subroutine largest(a, b, n, t)
  implicit none
  integer :: n, t, a(n), b(n)
  b = max(a, b)
end subroutine largest
