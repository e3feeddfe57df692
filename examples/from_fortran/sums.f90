! Prefix sums of many series with one call. C's b[p][n] is Fortran's b(n, p): a series lies in one piece in both.
program sums
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    implicit none

    interface
        integer(c_size_t) function sums_bulk_workspace(p, threads) bind(c)
            import :: c_size_t, c_long, c_int
            integer(c_long), value :: p
            integer(c_int), value :: threads
        end function
        integer(c_int) function sums_bulk(b, p, workspace, threads) bind(c)
            import :: c_float, c_long, c_int, c_int8_t
            real(c_float), intent(inout) :: b(*)
            integer(c_long), value :: p
            integer(c_int8_t), intent(inout) :: workspace(*)
            integer(c_int), value :: threads
        end function
    end interface

    integer, parameter :: n = 1024
    integer(c_long), parameter :: p = 2000
    integer(c_int), parameter :: threads = 4
    real(c_float), allocatable :: one(:, :), bulk(:, :)
    integer(c_int8_t), allocatable :: workspace(:)
    integer :: i, k

    allocate (one(n, p), bulk(n, p), workspace(sums_bulk_workspace(p, threads)))
    call random_number(one)
    bulk = one

    do k = 1, int(p)
        do i = 2, n
            one(i, k) = one(i - 1, k) + one(i, k)
        end do
    end do
    if (sums_bulk(bulk, p, workspace, threads) /= 0) error stop 'sums_bulk failed'

    if (any(bulk /= one)) then
        write (error_unit, '(a)') 'different'
        error stop 1
    end if
    print '(i0, a, i0, a)', p, ' series of ', n, ' numbers: equal'
end program
