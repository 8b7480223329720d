! Calls inside calls with mpi_f08: a reduction operation and attribute functions that call MPI.
module callbacks
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: copied = 0, dropped = 0
contains
  subroutine check(ok)
    logical, intent(in) :: ok
    if (.not. ok) then
      print '(a)', 'nested_f08: wrong'
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end subroutine

  ! Adds, and reduces something else meanwhile.
  subroutine add(a, b, n, t)
    type(c_ptr), value :: a, b
    integer :: n
    type(MPI_Datatype) :: t
    integer, pointer :: x(:), y(:)
    integer :: all
    call MPI_Allreduce(n, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_SELF)
    call check(all == n)
    call c_f_pointer(a, x, [n])
    call c_f_pointer(b, y, [n])
    y = y + x
  end subroutine

  subroutine copy(c, key, extra, in, out, flag, ierr)
    type(MPI_Comm) :: c
    integer :: key, ierr, one, two
    integer(kind=MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    one = 1
    call MPI_Sendrecv(one, 1, MPI_INTEGER, 0, 5, two, 1, MPI_INTEGER, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    copied = copied + two
    out = in
    flag = .true.
    ierr = MPI_SUCCESS
  end subroutine

  subroutine drop(c, key, value, extra, ierr)
    type(MPI_Comm) :: c
    integer :: key, ierr
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    call MPI_Barrier(MPI_COMM_SELF)
    dropped = dropped + 1
    ierr = MPI_SUCCESS
  end subroutine
end module

program nested
  use callbacks
  implicit none
  type(MPI_Op) :: op
  type(MPI_Comm) :: c, d
  integer :: rank, nproc, key, x(2), y(2), i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc)
  call MPI_Op_create(add, .true., op)
  call MPI_Comm_create_keyval(copy, drop, key, 0_MPI_ADDRESS_KIND)
  do i = 1, 4
    x = [rank, i]
    call MPI_Allreduce(x, y, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(y(1) == nproc * (nproc - 1) / 2 .and. y(2) == nproc * i)
    call MPI_Comm_dup(MPI_COMM_SELF, c)
    call MPI_Comm_set_attr(c, key, int(i, MPI_ADDRESS_KIND))
    call MPI_Comm_dup(c, d)
    call MPI_Comm_free(d)
    call MPI_Comm_free(c)
  end do
  call check(copied == 4 .and. dropped == 8)
  call MPI_Comm_free_keyval(key)
  call MPI_Op_free(op)
  if (rank == 0) print '(a)', 'nested ok'
  call MPI_Finalize()
end program
