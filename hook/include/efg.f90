! Regions and attributes in the record that efg makes of a program: what the program calls its
! phases, and values that it says about them.
!
!     use efg
!     call efg_region_begin("assembly")
!     call efg_attribute("step", step)
!     ...
!     call efg_region_end("assembly")
!
! Compile this file with the program, which needs no library (before glibc 2.34: -ldl). Where efg does
! not record it, each of these calls costs one test.
!
! Regions nest. They belong to the thread, and may be ended with their name, which is then checked when
! the record is read, or without one. An attribute belongs to the innermost region that is open; its
! value is an integer, a real or a character string. Trailing blanks do not count.
module efg
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_procpointer, c_associated, c_funptr, &
    c_int64_t, c_null_char, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private
  public :: efg_region_begin, efg_region_end, efg_attribute

  interface efg_attribute
    module procedure attribute_int32, attribute_int64, attribute_real32, attribute_real64, attribute_string
  end interface

  abstract interface
    subroutine hook_region(name, length) bind(C)
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine
    subroutine hook_int(name, length, number) bind(C)
      import :: c_char, c_size_t, c_int64_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
      integer(c_int64_t), value :: number
    end subroutine
    subroutine hook_double(name, length, number) bind(C)
      import :: c_char, c_size_t, c_double
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
      real(c_double), value :: number
    end subroutine
    subroutine hook_string(name, length, text, text_length) bind(C)
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*), text(*)
      integer(c_size_t), value :: length, text_length
    end subroutine
    subroutine hook_end(name, length) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: name
      integer(c_size_t), value :: length
    end subroutine
  end interface

  interface
    function dlsym(handle, name) bind(C, name="dlsym")
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: dlsym
    end function
  end interface

  procedure(hook_region), pointer, save :: region_begin => null()
  procedure(hook_region), pointer, save :: region_end => null()
  procedure(hook_end), pointer, save :: innermost_end => null()
  procedure(hook_int), pointer, save :: attribute_int => null()
  procedure(hook_double), pointer, save :: attribute_double => null()
  procedure(hook_string), pointer, save :: attribute_text => null()

  ! What is known about the hook. Threads that find out at once find the same.
  integer, parameter :: unknown = 0, absent = 1, present_ = 2
  integer, save :: hook = unknown

  ! In the length of a name: the hook records where the procedures of this module are called, not
  ! where they call it. For that they must not leave their stack frame to it, as they might if the call
  ! of the hook were the last thing they do: they assign to a volatile variable afterwards.
  integer(c_size_t), parameter :: from_module = -huge(0_c_size_t) - 1_c_size_t

contains

  logical function recorded()
    type(c_funptr) :: f
    if (hook == unknown) then
      f = found("efg_hook_region_begin")
      if (c_associated(f)) then
        call c_f_procpointer(f, region_begin)
        call c_f_procpointer(found("efg_hook_region_end"), region_end)
        call c_f_procpointer(found("efg_hook_region_end"), innermost_end)
        call c_f_procpointer(found("efg_hook_attribute_int"), attribute_int)
        call c_f_procpointer(found("efg_hook_attribute_double"), attribute_double)
        call c_f_procpointer(found("efg_hook_attribute_string"), attribute_text)
        hook = present_
      else
        hook = absent
      end if
    end if
    recorded = hook == present_
  end function

  function found(name) result(f)
    character(len=*), intent(in) :: name
    type(c_funptr) :: f
    f = dlsym(c_null_ptr, name // c_null_char)
  end function

  ! The length for the hook.
  pure integer(c_size_t) function marked(name)
    character(len=*), intent(in) :: name
    marked = ior(int(len_trim(name), c_size_t), from_module)
  end function

  subroutine efg_region_begin(name)
    character(len=*), intent(in) :: name
    integer, volatile :: last
    if (hook == absent) return
    if (recorded()) call region_begin(name, marked(name))
    last = 0
  end subroutine

  subroutine efg_region_end(name)
    character(len=*), intent(in), optional :: name
    integer, volatile :: last
    if (hook == absent) return
    if (.not. recorded()) return
    if (present(name)) then
      call region_end(name, marked(name))
    else
      call innermost_end(c_null_ptr, from_module)
    end if
    last = 0
  end subroutine

  subroutine attribute_int32(name, value)
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: value
    integer, volatile :: last
    if (hook == absent) return
    if (recorded()) call attribute_int(name, marked(name), int(value, c_int64_t))
    last = 0
  end subroutine

  subroutine attribute_int64(name, value)
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: value
    integer, volatile :: last
    if (hook == absent) return
    if (recorded()) call attribute_int(name, marked(name), value)
    last = 0
  end subroutine

  subroutine attribute_real32(name, value)
    character(len=*), intent(in) :: name
    real(real32), intent(in) :: value
    integer, volatile :: last
    if (hook == absent) return
    if (recorded()) call attribute_double(name, marked(name), real(value, c_double))
    last = 0
  end subroutine

  subroutine attribute_real64(name, value)
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: value
    integer, volatile :: last
    if (hook == absent) return
    if (recorded()) call attribute_double(name, marked(name), value)
    last = 0
  end subroutine

  subroutine attribute_string(name, value)
    character(len=*), intent(in) :: name, value
    integer, volatile :: last
    if (hook == absent) return
    if (recorded()) call attribute_text(name, marked(name), value, int(len_trim(value), c_size_t))
    last = 0
  end subroutine

end module
