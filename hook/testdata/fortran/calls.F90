! The same calls through mpif.h (-DMPIF), use mpi (-DMPI) and use mpi_f08 (-DF08):
! what is recorded must be the same. Two processes.
#if defined(F08)
#define HANDLE(t) type(t)
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#define SOURCE(s) s%MPI_SOURCE
#define IERR
#define IERRA
#else
#define HANDLE(t) integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#define SOURCE(s) s(MPI_SOURCE)
#define IERR , ierr
#define IERRA ierr
#endif

module shared
#if defined(MPIF)
  implicit none
  include 'mpif.h'
#elif defined(MPI)
  use mpi
  implicit none
#else
  use mpi_f08
  implicit none
#endif
  integer :: ierr, rank, size, other
contains

  subroutine pair_messages(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    HANDLE(MPI_Request) :: r(4)
    integer :: buf(10), got(10), i
    STATUS(s)
    STATUSES(ss, 4)
    buf = rank
    do i = 1, 3
      call MPI_Irecv(got, 10, MPI_INTEGER, other, i, comm, r(1) IERR)
      call MPI_Isend(buf, 10 - i, MPI_INTEGER, other, i, comm, r(2) IERR)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR)
    end do
    call MPI_Irecv(got, 10, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, r(1) IERR)
    call MPI_Ssend(buf, 7, MPI_INTEGER, other, 9, comm IERR)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR)
    call MPI_Sendrecv(buf, 1, MPI_INTEGER, other, 5, got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, comm, s IERR)
    if (SOURCE(s) /= other) stop 3
    call MPI_Sendrecv_replace(buf, 2, MPI_INTEGER, other, 6, other, 6, comm, MPI_STATUS_IGNORE IERR)
    call MPI_Recv(got, 10, MPI_INTEGER, MPI_PROC_NULL, 1, comm, s IERR)
    call MPI_Send_init(buf, 3, MPI_INTEGER, other, 7, comm, r(1) IERR)
    call MPI_Recv_init(got, 10, MPI_INTEGER, other, 7, comm, r(2) IERR)
    do i = 1, 2
      call MPI_Startall(2, r IERR)
      call MPI_Waitall(2, r, ss IERR)
    end do
    call MPI_Start(r(2) IERR)
    call MPI_Start(r(1) IERR)
    call MPI_Wait(r(1), s IERR)
    call MPI_Wait(r(2), s IERR)
    call MPI_Request_free(r(1) IERR)
    call MPI_Request_free(r(2) IERR)
    call MPI_Barrier(comm IERR)
  end subroutine

  ! Only the order of these receives makes them complete.
  subroutine some_of_many(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    HANDLE(MPI_Request) :: r(3)
    integer :: got(3), buf, i, k, n, indices(3)
    logical :: flag
    STATUS(s)
    STATUSES(ss, 3)
    buf = rank
    do i = 1, 3
      call MPI_Irecv(got(i), 1, MPI_INTEGER, other, 10 + i, comm, r(i) IERR)
    end do
    do i = 3, 1, -1
      call MPI_Sendrecv(buf, 0, MPI_INTEGER, other, 20, got, 0, MPI_INTEGER, other, 20, comm, &
                        MPI_STATUS_IGNORE IERR)
      call MPI_Send(buf, 1, MPI_INTEGER, other, 10 + i, comm IERR)
      call MPI_Waitany(3, r, k, s IERR)
      if (r(i) /= MPI_REQUEST_NULL) stop 4
    end do
    call MPI_Waitany(3, r, k, MPI_STATUS_IGNORE IERR)
    call MPI_Testany(3, r, k, flag, MPI_STATUS_IGNORE IERR)
    call MPI_Irecv(got(2), 1, MPI_INTEGER, other, 30, comm, r(2) IERR)
    call MPI_Send(buf, 1, MPI_INTEGER, other, 30, comm IERR)
    call MPI_Waitsome(3, r, n, indices, ss IERR)
    call MPI_Irecv(got(3), 1, MPI_INTEGER, MPI_ANY_SOURCE, 31, comm, r(3) IERR)
    call MPI_Ssend(buf, 1, MPI_INTEGER, other, 31, comm IERR)
    call MPI_Waitsome(3, r, n, indices, MPI_STATUSES_IGNORE IERR)
    call MPI_Testsome(3, r, n, indices, MPI_STATUSES_IGNORE IERR)
    call MPI_Testall(3, r, flag, MPI_STATUSES_IGNORE IERR)
    call MPI_Barrier(comm IERR)
  end subroutine

  subroutine collectives(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    HANDLE(MPI_Request) :: r
    integer :: a(8), b(8), counts(2), displs(2)
    a = 1
    counts = [2, 3]
    displs = [0, 4]
    call MPI_Bcast(a, 8, MPI_INTEGER, 1, comm IERR)
    call MPI_Allreduce(MPI_IN_PLACE, a, 8, MPI_INTEGER, MPI_SUM, comm IERR)
    call MPI_Reduce(a, b, 8, MPI_INTEGER, MPI_MAX, 0, comm IERR)
    call MPI_Gatherv(a, counts(rank + 1), MPI_INTEGER, b, counts, displs, MPI_INTEGER, 1, comm IERR)
    call MPI_Alltoallv(a, counts, displs, MPI_INTEGER, b, [counts(rank+1), counts(rank+1)], displs, MPI_INTEGER, comm IERR)
    call MPI_Ibcast(a, 8, MPI_INTEGER, 0, comm, r IERR)
    call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
    if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, comm IERR)
    else
      call MPI_Gather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 0, comm IERR)
    end if
  end subroutine

  subroutine datatypes(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    HANDLE(MPI_Datatype) :: v, s
    HANDLE(MPI_Datatype) :: types(2)
    integer(kind=MPI_ADDRESS_KIND) :: at(2)
    integer :: lens(2), x(20), y(20)
    integer :: st(2)
    call MPI_Type_vector(3, 1, 4, MPI_INTEGER, v IERR)
    call MPI_Type_commit(v IERR)
    types(1) = MPI_INTEGER
    types(2) = v
    lens = [2, 1]
    at = [0, 16]
    call MPI_Type_create_struct(2, lens, at, types, s IERR)
    call MPI_Type_commit(s IERR)
    x = rank
    call MPI_Sendrecv(x, 1, s, other, 1, y, 1, s, other, 1, comm, MPI_STATUS_IGNORE IERR)
    call MPI_Type_free(v IERR)
    call MPI_Type_free(s IERR)
    st = [4, 5]
    call MPI_Type_create_subarray(2, st, [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, v IERR)
    call MPI_Type_free(v IERR)
  end subroutine

  subroutine communicators(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    HANDLE(MPI_Comm) :: half, graph, cart
    HANDLE(MPI_Group) :: g, h
    HANDLE(MPI_Info) :: info
    integer :: dims(1)
    logical :: periods(1)
    call MPI_Comm_split(comm, rank, 0, half IERR)
    call MPI_Comm_free(half IERR)
    call MPI_Comm_split(comm, merge(1, MPI_UNDEFINED, rank == 0), 0, half IERR)
    if (rank == 0) call MPI_Comm_free(half IERR)
    call MPI_Dist_graph_create_adjacent(comm, 1, [other], MPI_UNWEIGHTED, 1, [other], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., graph IERR)
    call MPI_Comm_free(graph IERR)
    dims = 2
    periods = .true.
    call MPI_Cart_create(comm, 1, dims, periods, .false., cart IERR)
    call MPI_Comm_set_name(cart, ' a ring ' IERR)
    call MPI_Comm_free(cart IERR)
    call MPI_Comm_group(comm, g IERR)
    call MPI_Group_incl(g, 1, [1], h IERR)
    call MPI_Group_free(h IERR)
    call MPI_Group_free(g IERR)
    call MPI_Info_create(info IERR)
    call MPI_Info_set(info, 'key ', 'some value  ' IERR)
    call MPI_Info_free(info IERR)
  end subroutine

  subroutine files(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    HANDLE(MPI_File) :: f
    integer :: x(4), y(4)
    integer(kind=MPI_OFFSET_KIND) :: off
    STATUS(s)
    x = rank
    off = 16 * rank
    call MPI_File_open(comm, 'calls.dat', MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                       MPI_INFO_NULL, f IERR)
    call MPI_File_write_at(f, off, x, 4, MPI_INTEGER, MPI_STATUS_IGNORE IERR)
    call MPI_File_read_at_all(f, off, y, 4, MPI_INTEGER, s IERR)
    call MPI_File_close(f IERR)
  end subroutine

  subroutine windows(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    HANDLE(MPI_Win) :: w
    integer, save :: mem(4)
    integer :: x
    integer(kind=MPI_ADDRESS_KIND) :: disp
    disp = 2
    x = rank
    call MPI_Win_create(mem, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, w IERR)
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, w IERR)
    call MPI_Put(x, 1, MPI_INTEGER, other, disp, 1, MPI_INTEGER, w IERR)
    call MPI_Win_fence(0, w IERR)
    call MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w IERR)
    call MPI_Win_unlock(other, w IERR)
    call MPI_Win_free(w IERR)
  end subroutine

  subroutine errors(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    integer :: x, code
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN IERR)
    code = 0
    call MPI_Send(x, 1, MPI_INTEGER, 99, 1, comm, code)
    if (code == MPI_SUCCESS) stop 5
  end subroutine
end module

program calls
  use shared
  implicit none
  HANDLE(MPI_Comm) :: comm
  integer :: provided
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call MPI_Comm_size(MPI_COMM_WORLD, size IERR)
  if (size /= 2) stop 2
  other = 1 - rank
  call MPI_Comm_dup(MPI_COMM_WORLD, comm IERR)
  call pair_messages(comm)
  call some_of_many(comm)
  call collectives(comm)
  call datatypes(comm)
  call communicators(comm)
  call files(comm)
  call windows(comm)
  call errors(comm)
#if defined(MPIF) || (defined(MPI) && defined(MPICH))
  ! No interface, and an entry point that assigns to ierror, which other libraries do not have.
  call MPI_Pcontrol(7 IERR)
#else
  call MPI_Pcontrol(7)
#endif
  call MPI_Comm_free(comm IERR)
  if (rank == 0) print '(a)', 'calls: ok'
  call MPI_Finalize(IERRA)
end program
