/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kinds_inlined.c as C++. */
#include "kinds_inlined.c"
