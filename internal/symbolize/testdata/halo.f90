module halo
  implicit none
contains
  subroutine exchange(i)
    integer, intent(inout) :: i
    call other(i) ! line 6
    i = i + 1
  end subroutine exchange
end module halo

subroutine procedure(i)
  use halo
  integer, intent(inout) :: i
  call exchange(i)
end subroutine procedure

subroutine other(i)
  integer, intent(inout) :: i
  i = i * 2
end subroutine other
