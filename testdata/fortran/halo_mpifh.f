C     Halo exchange with mpif.h: the old way, fixed form.
      program halof
      implicit none
      include 'mpif.h'
      integer n, iters
      parameter (n = 16, iters = 12)
      integer ierr, rank, nproc, left, right, i, k, sum, idx, cnt
      integer req(4), stats(MPI_STATUS_SIZE, 4), st(MPI_STATUS_SIZE)
      integer indices(4), column, cart, dims(1)
      logical periods(1), flag
      double precision a(n, 0:n+1), x, y
      integer counts(16), displs(16), all(16)

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nproc, ierr)
      dims(1) = nproc
      periods(1) = .true.
      call MPI_CART_CREATE(MPI_COMM_WORLD, 1, dims, periods, .false.,
     &     cart, ierr)
      call MPI_CART_SHIFT(cart, 0, 1, left, right, ierr)
      call MPI_TYPE_VECTOR(n, 1, 1, MPI_DOUBLE_PRECISION, column, ierr)
      call MPI_TYPE_COMMIT(column, ierr)
      a = rank
      do i = 1, iters
         call MPI_IRECV(a(1, 0), 1, column, left, 1, cart, req(1), ierr)
         call MPI_IRECV(a(1, n+1), n, MPI_DOUBLE_PRECISION,
     &        MPI_ANY_SOURCE, 2, cart, req(2), ierr)
         call MPI_ISEND(a(1, n), 1, column, right, 1, cart, req(3),
     &        ierr)
         call MPI_ISEND(a(1, 1), n, MPI_DOUBLE_PRECISION, left, 2, cart,
     &        req(4), ierr)
         if (mod(i, 4) .eq. 0) then
            call MPI_WAITALL(4, req, MPI_STATUSES_IGNORE, ierr)
         else if (mod(i, 4) .eq. 1) then
            call MPI_WAITALL(4, req, stats, ierr)
            call check(stats(MPI_SOURCE, 2) .eq. right)
            call MPI_GET_COUNT(stats(1, 1), column, cnt, ierr)
            call check(cnt .eq. 1)
         else if (mod(i, 4) .eq. 2) then
            do k = 1, 4
               call MPI_WAITANY(4, req, idx, st, ierr)
               call check(idx .ge. 1 .and. idx .le. 4)
               call check(req(idx) .eq. MPI_REQUEST_NULL)
            end do
            call MPI_WAITANY(4, req, idx, MPI_STATUS_IGNORE, ierr)
C           not checked: MPICH 4.0 gives MPI_UNDEFINED + 1
         else
            k = 0
            do while (k .lt. 4)
               call MPI_TESTSOME(4, req, cnt, indices,
     &              MPI_STATUSES_IGNORE, ierr)
               k = k + cnt
            end do
         end if
         call check(a(1, 0) .eq. left .and. a(n, n+1) .eq. right)
      end do

      x = rank
      call MPI_ALLREDUCE(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     &     cart, ierr)
      call check(y .eq. nproc * (nproc - 1) / 2)
      sum = rank
      call MPI_ALLREDUCE(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_MAX,
     &     cart, ierr)
      call check(sum .eq. nproc - 1)
      do i = 1, nproc
         counts(i) = 1
         displs(i) = i - 1
      end do
      call MPI_ALLGATHERV(rank, 1, MPI_INTEGER, all, counts, displs,
     &     MPI_INTEGER, cart, ierr)
      call check(all(nproc) .eq. nproc - 1)
      call MPI_IPROBE(MPI_ANY_SOURCE, MPI_ANY_TAG, cart, flag, st, ierr)
      call check(.not. flag)
      call MPI_RECV(x, 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 3, cart,
     &     MPI_STATUS_IGNORE, ierr)
      call MPI_TYPE_FREE(column, ierr)
      call MPI_COMM_SET_NAME(cart, 'the ring', ierr)
      call MPI_COMM_FREE(cart, ierr)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) print '(a,f6.1)', 'halo_mpifh: ok', y
      call MPI_FINALIZE(ierr)
      end

      subroutine check(ok)
      logical ok
      include 'mpif.h'
      integer ierr
      if (.not. ok) then
         print *, 'halo_mpifh: wrong'
         call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      end if
      end
