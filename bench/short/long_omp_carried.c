/* SPDX-License-Identifier: GPL-3.0-or-later */
/* omp_carried.c, for tens of milliseconds. */
#define LONGER 6
#include "omp_carried.c"
