! SPDX-License-Identifier: GPL-3.0-or-later
!
! Two threads add to a sum of all, the second one later. Correct: atomically.
module totals
	implicit none
	integer(8), volatile :: total = 0
contains
	subroutine add(amount)
		integer(8), intent(in) :: amount
#ifdef TWIN
		!$omp atomic
#endif
		total = total + amount ! RACE a
	end subroutine
end module

program fortran_omp
	use omp_lib
	use totals
	use, intrinsic :: iso_c_binding
	implicit none
	interface
		integer(c_int) function usleep(time) bind(c)
			import c_int
			integer(c_int), value :: time
		end function
	end interface
	integer(c_int) :: status
	!$omp parallel num_threads(2) private(status)
	status = usleep(1000 + 20000 * omp_get_thread_num())
	call add(5_8)
	!$omp end parallel
	print *, total
end program
