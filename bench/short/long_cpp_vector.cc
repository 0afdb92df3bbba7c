/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpp_vector.cc, for tens of milliseconds. */
#define LONGER 10
#include "cpp_vector.cc"
