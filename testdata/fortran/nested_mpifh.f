C     Calls inside calls with mpif.h: a reduction operation and attribute
C     functions that call MPI.
      program nestedf
      implicit none
      include 'mpif.h'
      integer ierr, rank, nproc, op, key, x(2), y(2), i, c
      integer ncopied, ndropped
      common /counts/ ncopied, ndropped
      external addtwo, copyat, dropat

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nproc, ierr)
      ncopied = 0
      ndropped = 0
      call MPI_OP_CREATE(addtwo, .true., op, ierr)
      call MPI_COMM_CREATE_KEYVAL(copyat, dropat, key, 0_8, ierr)
      do i = 1, 4
         x(1) = rank
         x(2) = i
         call MPI_ALLREDUCE(x, y, 2, MPI_INTEGER, op, MPI_COMM_WORLD,
     &        ierr)
         call check(y(1) .eq. nproc * (nproc - 1) / 2)
         call check(y(2) .eq. nproc * i)
         call MPI_COMM_DUP(MPI_COMM_SELF, c, ierr)
         call MPI_COMM_SET_ATTR(c, key, int(i, 8), ierr)
         call again(c)
         call MPI_COMM_FREE(c, ierr)
      end do
      call check(ncopied .eq. 4)
      call check(ndropped .eq. 8)
      call MPI_COMM_FREE_KEYVAL(key, ierr)
      call MPI_OP_FREE(op, ierr)
      if (rank .eq. 0) print '(a)', 'nested ok'
      call MPI_FINALIZE(ierr)
      end

      subroutine again(c)
      implicit none
      include 'mpif.h'
      integer c, d, ierr
      call MPI_COMM_DUP(c, d, ierr)
      call MPI_COMM_FREE(d, ierr)
      end

C     Adds, and makes a message to itself.
      subroutine addtwo(a, b, n, t)
      implicit none
      include 'mpif.h'
      integer n, t, a(n), b(n), i, ierr, got, r
      call MPI_IRECV(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3,
     &     MPI_COMM_SELF, r, ierr)
      call MPI_SEND(n, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, ierr)
      call MPI_WAIT(r, MPI_STATUS_IGNORE, ierr)
      call check(got .eq. n)
      do i = 1, n
         b(i) = b(i) + a(i)
      end do
      end

      subroutine copyat(c, key, extra, in, out, flag, ierr)
      implicit none
      include 'mpif.h'
      integer c, key, ierr, ncopied, ndropped, one, two
      integer(kind=MPI_ADDRESS_KIND) extra, in, out
      logical flag
      common /counts/ ncopied, ndropped
      one = 1
      call MPI_SENDRECV(one, 1, MPI_INTEGER, 0, 5, two, 1, MPI_INTEGER,
     &     0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierr)
      ncopied = ncopied + two
      out = in
      flag = .true.
      ierr = MPI_SUCCESS
      end

      subroutine dropat(c, key, value, extra, ierr)
      implicit none
      include 'mpif.h'
      integer c, key, ierr, ncopied, ndropped
      integer(kind=MPI_ADDRESS_KIND) value, extra
      common /counts/ ncopied, ndropped
      call MPI_BARRIER(MPI_COMM_SELF, ierr)
      ndropped = ndropped + 1
      ierr = MPI_SUCCESS
      end

      subroutine check(ok)
      implicit none
      include 'mpif.h'
      logical ok
      integer ierr
      if (.not. ok) then
         print '(a)', 'nested_mpifh: wrong'
         call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      end if
      end
