! SPDX-License-Identifier: GPL-3.0-or-later
!
! One race between the threads of OpenMP in Fortran: both add to an element of an
! allocated array. One has done its part long before the other comes, unless it is
! held. As a twin, both are in a critical section.
module tables
	implicit none
	integer(8), allocatable :: table(:)
contains
	subroutine make_table(count)
		integer, intent(in) :: count
		allocate(table(count))
		table = 0
	end subroutine

	subroutine add_first(place)
		integer, intent(in) :: place
		table(place) = table(place) + 1
	end subroutine

	subroutine add_second(place)
		integer, intent(in) :: place
		table(place) = table(place) + 2
	end subroutine
end module

program hunted_omp
	use omp_lib
	use tables
	implicit none
	call make_table(100)
	!$omp parallel num_threads(2)
#ifdef TWIN
	!$omp critical
#endif
	if (omp_get_thread_num() == 0) then
		call add_first(4)
	else
		call add_second(4)
	end if
#ifdef TWIN
	!$omp end critical
#endif
	!$omp end parallel
	if (table(4) > 3) stop 1
	print '(a)', 'hunted_omp: done'
end program
